// Products that run while their panels arrive, over a transport that brings each shard when the
// test has it so.
#include "kernels/virtual/gemm/gemm_panels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/payload.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/virtual_device.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::uint32_t kPanels[] = {kPanelA, kPanelB};

/// Plays all ranks but rank 0. A shard of theirs comes when it was asked for as often as `patience`
/// says, right away where that says nothing; with its bytes, then its word.
class ScriptedTransport : public Transport {
 public:
  using Place = std::pair<std::uint32_t, std::size_t>;  // panel id and shard

  void start(const PanelBuffer& panel) override {
    started.push_back(panel);
    flights_[panel.id] = panel;
    std::erase_if(asked_, [&](const auto& one) { return one.first.first == panel.id; });
    if (panel.id == kPanelEverybody) poisoned_at_barrier.push_back(is_poisoned());
  }

  bool ready(std::uint32_t id, std::size_t index) override {
    const PanelBuffer& panel = flights_.at(id);
    const Shard& shard = panel.shards.at(index);
    if (shard.owner == 0) return !own_kept;
    if (silent.contains({id, index}) && (panel.epoch != 1 || silent_in_epoch_1)) return false;
    if (asked_[{id, index}]++ < patience[{id, index}]) return false;
    if (id == kPanelA || id == kPanelB) bring(panel, shard);
    if (id == kPanelTimes) bring_times(panel, shard);
    if (panel.arrived != nullptr)
      std::atomic_ref(panel.arrived[index]).store(panel.epoch, std::memory_order_release);
    return true;
  }

  void abort() noexcept override { ++aborted; }

  std::vector<std::pair<std::uint32_t, bool>> epochs_of(std::uint32_t id) const {
    std::vector<std::pair<std::uint32_t, bool>> epochs;
    for (const PanelBuffer& panel : started)
      if (panel.id == id) epochs.emplace_back(panel.epoch, panel.last);
    return epochs;
  }

  std::map<Place, int> patience;
  std::set<Place> silent;  // never comes; in the first epoch only with:
  bool silent_in_epoch_1 = false;
  bool own_kept = false;  // the others have not taken this rank's shards yet
  std::vector<PanelBuffer> started;
  std::vector<bool> poisoned_at_barrier;  // whether all rows of the others were
  std::vector<double> times = {0, 0};     // total and local of rank 1, ns, each sample
  int aborted = 0;

 private:
  static std::uint16_t* row_of(const PanelBuffer& panel, std::uint64_t row) {
    return reinterpret_cast<std::uint16_t*>(panel.base + row * panel.row_bytes);
  }

  bool is_poisoned() const {
    bool poisoned = true;
    for (const std::uint32_t id : kPanels) {
      const auto found = flights_.find(id);
      if (found == flights_.end()) return false;
      for (const Shard& shard : found->second.shards)
        for (std::uint64_t row = shard.first_row; row < shard.first_row + shard.rows; ++row)
          poisoned = poisoned && (shard.owner == 0 || *row_of(found->second, row) == 0xffff);
    }
    return poisoned;
  }

  static void bring(const PanelBuffer& panel, const Shard& shard) {
    const GemmOperand operand = panel.id == kPanelA ? GemmOperand::a : GemmOperand::b;
    for (std::uint64_t row = shard.first_row; row < shard.first_row + shard.rows; ++row)
      for (std::uint64_t k = 0; k < panel.row_bytes / 2; ++k)
        row_of(panel, row)[k] = gemm_element(GemmInputs::small_integers, operand, kSeed, row, k);
  }

  void bring_times(const PanelBuffer& panel, const Shard& shard) const {
    for (std::uint64_t row = shard.first_row; row < shard.first_row + shard.rows; ++row)
      std::memcpy(panel.base + row * panel.row_bytes, times.data(), 2 * sizeof(double));
  }

  std::map<std::uint32_t, PanelBuffer> flights_;
  std::map<Place, int> asked_;
};

/// 3 x 2 tiles, of whose rows ranks 0 and 1 own every other 64 of A and one half each of B, in two
/// chunks.
Gemm chunked(Transport* transport) {
  Gemm gemm = whole_product({192, 128, 72}, GemmInputs::small_integers);
  gemm.seed = kSeed;
  gemm.route = PanelRoute::relay;
  gemm.transport = transport;
  gemm.deadline_s = 10;
  gemm.a_shards = {{1, 0, 64}, {0, 64, 64}, {1, 128, 64}};
  gemm.b_shards = {{0, 0, 32}, {0, 32, 32}, {1, 64, 32}, {1, 96, 32}};
  gemm.everybody = {{0, 0, 1}, {1, 1, 1}};
  return gemm;
}

RunResult alone() { return run_virtual_gemm(chunked(nullptr), kNoFault); }

bool is_nan_at(const RunResult& result, std::uint64_t row, std::uint64_t col) {
  float value = 0;
  std::memcpy(&value, result.bytes.data() + (row * 128 + col) * sizeof value, sizeof value);
  return std::isnan(value);
}

TEST(GemmArrivals, ProductBesideItsGatherIsThatOfOneRank) {
  ScriptedTransport transport;
  transport.patience = {{{kPanelA, 0}, 5}, {{kPanelA, 2}, 2}, {{kPanelB, 3}, 7}};
  const RunResult result = run_virtual_gemm(chunked(&transport), kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, alone().bytes);
  EXPECT_EQ(transport.aborted, 0);
}

TEST(GemmArrivals, ReferenceEngineWaitsForAllOfItAndIsNeverWrong) {
  ScriptedTransport transport;
  transport.patience = {{{kPanelA, 0}, 5}, {{kPanelB, 3}, 7}};
  Gemm gemm = chunked(&transport);
  gemm.engine = GemmEngine::reference;
  for (const Fault fault : {kNoFault, kFaultGemmFlagEarly, kFaultGemmFlagOfLastEpoch})
    EXPECT_EQ(run_virtual_gemm(gemm, fault).bytes, alone().bytes);
}

TEST(GemmArrivals, RunGathersTwiceAndPoisonsBeforeTheBarrierBetween) {
  ScriptedTransport transport;
  run_virtual_gemm(chunked(&transport), kNoFault);
  const std::vector<std::pair<std::uint32_t, bool>> expected = {{1, false}, {2, true}};
  EXPECT_EQ(transport.epochs_of(kPanelA), expected);
  EXPECT_EQ(transport.epochs_of(kPanelB), expected);
  EXPECT_EQ(transport.poisoned_at_barrier, std::vector<bool>{true});
  ASSERT_EQ(transport.started.size(), 5U);
  EXPECT_EQ(transport.started[2].id, kPanelEverybody);
}

TEST(GemmArrivals, RouteThatDoesNotDeliverBesideGathersOnceWithoutWords) {
  ScriptedTransport transport;
  Gemm gemm = chunked(&transport);
  gemm.route = PanelRoute::nccl;
  EXPECT_EQ(run_virtual_gemm(gemm, kNoFault).bytes, alone().bytes);
  ASSERT_EQ(transport.started.size(), 2U);
  EXPECT_EQ(transport.started[0].arrived, nullptr);
}

/// The panels and C of chunked(), for products that are watched from inside.
struct Inside {
  explicit Inside(Transport& transport) : gemm(chunked(&transport)) {
    gemm.deadline_s = 0.05;
    a = make_gemm_panel(gemm, GemmOperand::a);
    b = make_gemm_panel(gemm, GemmOperand::b);
    bytes.assign(192 * 128 * 4 + 2 * kGuardBytes, 0xff);
    c = {.output = gemm.output, .rows = 192, .cols = 128, .bytes = bytes};
  }

  /// Whether the 64 rows from `row` on are those of C, from column `first` to `end`.
  bool is_done(std::uint64_t row, std::uint64_t first, std::uint64_t end) const {
    const RunResult right = alone();
    for (std::uint64_t i = row; i < row + 64; ++i)
      if (std::memcmp(bytes.data() + c.offset_of(i, first),
                      right.bytes.data() + (i * 128 + first) * 4, (end - first) * 4) != 0)
        return false;
    return true;
  }
  bool is_untouched(std::uint64_t row, std::uint64_t first, std::uint64_t end) const {
    for (std::uint64_t i = row; i < row + 64; ++i)
      for (std::uint64_t at = c.offset_of(i, first); at < c.offset_of(i, end); ++at)
        if (bytes[at] != 0xff) return false;
    return true;
  }

  Gemm gemm;
  GemmPanel a, b;
  std::vector<std::uint8_t> bytes;
  GemmBlock c;
};

TEST(GemmArrivals, TilesThatDoNotNeedAMissingShardAreComputedAndItIsNamedInTime) {
  ScriptedTransport transport;
  transport.silent = {{kPanelA, 0}, {kPanelB, 3}};
  Inside inside(transport);
  const auto start = std::chrono::steady_clock::now();
  std::string late;
  {
    GemmArrivals arrivals(inside.gemm, inside.a, inside.b, {2, true}, kNoFault);
    EXPECT_FALSE(multiply_blocked(inside.a, inside.b, inside.c, kNoFault, &arrivals));
    late = arrivals.late();
    EXPECT_GE(arrivals.wait_ns(), 5e7);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(late, "waits for GPU 1: panel A, shard 0 (rows 0 to 64) not ready within 0.05 s");
  EXPECT_EQ(transport.aborted, 1);
  EXPECT_TRUE(inside.is_untouched(0, 0, 128));
  for (const std::uint64_t row : {64U, 128U}) {
    EXPECT_TRUE(inside.is_done(row, 0, 64)) << row;
    EXPECT_TRUE(inside.is_untouched(row, 64, 128)) << row;
  }
}

TEST(GemmArrivals, FirstTileIsOneThatNeedsOwnRowsOnly) {
  ScriptedTransport transport;
  Inside inside(transport);
  GemmArrivals arrivals(inside.gemm, inside.a, inside.b, {2, true}, kNoFault);
  const std::vector<GemmTileStart> tiles = {{0, 0}, {0, 64}, {64, 0}, {64, 64}};
  EXPECT_EQ(arrivals.next(tiles), std::optional<std::size_t>(2));
  EXPECT_EQ(arrivals.wait_ns(), 0);
  // Nothing was asked for yet, so that all else has to be waited for.
  const std::vector<GemmTileStart> others = {{0, 0}, {64, 64}};
  EXPECT_EQ(arrivals.next(others), std::optional<std::size_t>(0));
  EXPECT_GT(arrivals.wait_ns(), 0);
  EXPECT_TRUE(arrivals.finish());
}

TEST(GemmArrivals, TileIsNotTakenBeforeEveryChunkOfItIsThere) {
  ScriptedTransport transport;
  transport.silent = {{kPanelB, 3}};
  Inside inside(transport);
  GemmArrivals arrivals(inside.gemm, inside.a, inside.b, {2, true}, kNoFault);
  const std::vector<GemmTileStart> tiles = {{64, 64}};  // its rows 96 to 128 of B are shard 3
  EXPECT_EQ(arrivals.next(tiles), std::nullopt);
  EXPECT_NE(arrivals.late().find("panel B, shard 3 (rows 96 to 128)"), std::string::npos)
      << arrivals.late();
}

TEST(GemmArrivals, WordsOfAnEarlierGatherDoNotCount) {
  ScriptedTransport transport;
  transport.silent = {{kPanelA, 2}};
  Inside inside(transport);
  inside.a.arrived = {1, 1, 1};
  GemmArrivals arrivals(inside.gemm, inside.a, inside.b, {2, true}, kNoFault);
  const std::vector<GemmTileStart> tiles = {{128, 0}};
  EXPECT_EQ(arrivals.next(tiles), std::nullopt);
}

TEST(GemmArrivals, PanelsAreKeptUntilTheOthersHaveTakenTheirs) {
  ScriptedTransport transport;
  transport.own_kept = true;
  Inside inside(transport);
  {
    GemmArrivals arrivals(inside.gemm, inside.a, inside.b, {2, true}, kNoFault);
    EXPECT_TRUE(multiply_blocked(inside.a, inside.b, inside.c, kNoFault, &arrivals));
    EXPECT_FALSE(arrivals.finish());
    EXPECT_NE(arrivals.late().find("waits until others have read panel A, shard 1"),
              std::string::npos)
        << arrivals.late();
  }
  EXPECT_EQ(transport.aborted, 1);
}

TEST(GemmArrivals, RunThatWaitsInVainSaysThatOthersAreLate) {
  for (const bool silent_in_epoch_1 : {false, true}) {
    ScriptedTransport transport;
    transport.silent = {{kPanelB, 2}};
    transport.silent_in_epoch_1 = silent_in_epoch_1;
    Gemm gemm = chunked(&transport);
    gemm.deadline_s = 0.01;
    const RunResult result = run_virtual_gemm(gemm, kNoFault);
    EXPECT_EQ(result.fault, DeviceFault::others_late);
    EXPECT_EQ(result.note,
              "waits for GPU 1: panel B, shard 2 (rows 64 to 96) not ready within 0.01 s");
    EXPECT_EQ(transport.aborted, 1);
  }
}

TEST(GemmArrivals, MeasurementTakesAnEpochForEachRunAndExchangesTheTimes) {
  ScriptedTransport transport;
  transport.times = {1e15, 5e14};
  const Measurement measured =
      measure_virtual_gemm(chunked(&transport), {.warmups = 1, .samples = 2}, kNoFault);
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  const std::vector<std::pair<std::uint32_t, bool>> expected = {
      {1, false}, {2, false}, {3, false}, {4, true}};
  EXPECT_EQ(transport.epochs_of(kPanelA), expected);
  EXPECT_EQ(transport.epochs_of(kPanelB), expected);
  // One before each run, one behind each sample.
  EXPECT_EQ(transport.poisoned_at_barrier, (std::vector<bool>{false, false, false, true, false}));
  EXPECT_EQ(transport.epochs_of(kPanelTimes).size(), 1U);
  ASSERT_EQ(measured.samples.size(), 2U);
  for (const TimedSample& sample : measured.samples) {
    EXPECT_GT(sample.wait_ns, 0);
    EXPECT_GT(sample.exchange_ns, 0);
    EXPECT_GE(sample.total_ns, sample.exchange_ns);
    EXPECT_GE(sample.total_ns, sample.wait_ns);
    EXPECT_GT(sample.local_ns, 0);
    EXPECT_EQ(sample.slowest_total_ns, 1e15);
    EXPECT_EQ(sample.slowest_local_ns, 5e14);
  }
  EXPECT_EQ(measured.last.bytes, alone().bytes);
}

TEST(GemmArrivals, SlowestOfASampleIsThatOfThisRankWhereNoOtherIsSlower) {
  ScriptedTransport transport;
  const Measurement measured =
      measure_virtual_gemm(chunked(&transport), {.warmups = 0, .samples = 3}, kNoFault);
  ASSERT_EQ(measured.samples.size(), 3U);
  for (const TimedSample& sample : measured.samples) {
    EXPECT_EQ(sample.slowest_total_ns, sample.total_ns);
    EXPECT_EQ(sample.slowest_local_ns, sample.local_ns);
  }
}

TEST(GemmArrivals, ExchangeOfTimesThatIsNotAnsweredSaysThatOthersAreLate) {
  ScriptedTransport transport;
  transport.silent = {{kPanelTimes, 1}};
  Gemm gemm = chunked(&transport);
  gemm.deadline_s = 0.01;
  const Measurement measured = measure_virtual_gemm(gemm, {.warmups = 0, .samples = 2}, kNoFault);
  EXPECT_EQ(measured.fault, DeviceFault::others_late);
  EXPECT_TRUE(measured.last.bytes.empty());
  EXPECT_NE(measured.note.find("waits for GPU 1: times of the samples, shard 1 (rows 2 to 4)"),
            std::string::npos)
      << measured.note;
}

TEST(GemmArrivals, NothingIsExchangedOrTimedAloneWithoutATransport) {
  const Measurement measured =
      measure_virtual_gemm(chunked(nullptr), {.warmups = 0, .samples = 1}, kNoFault);
  ASSERT_EQ(measured.samples.size(), 1U);
  EXPECT_EQ(measured.samples[0].wait_ns, 0);
  EXPECT_EQ(measured.samples[0].local_ns, 0);
  EXPECT_EQ(measured.samples[0].slowest_total_ns, 0);
  EXPECT_EQ(measured.samples[0].slowest_local_ns, 0);
}

/// Which elements of C are NaN, as `expected` says by row and column.
template <typename Expected>
void expect_nan_where(const RunResult& result, const Expected& expected) {
  ASSERT_EQ(result.bytes.size(), 192U * 128 * 4);
  std::size_t wrong = 0;
  for (std::uint64_t row = 0; row < 192; ++row)
    for (std::uint64_t col = 0; col < 128; ++col)
      wrong += is_nan_at(result, row, col) != expected(row, col) ? 1 : 0;
  EXPECT_EQ(wrong, 0U);
}

TEST(GemmArrivalFaults, WordSetEarlyLetsTheLastShardBeReadBeforeItIsThere) {
  ScriptedTransport transport;
  const Gemm gemm = chunked(&transport);
  const auto in_last_shard = [](std::uint64_t, std::uint64_t col) { return col >= 96; };
  expect_nan_where(run_virtual_gemm(gemm, kFaultGemmFlagEarly), in_last_shard);
  // The product alone, behind the last sample, finds all bytes, and must not hide what it was.
  const Measurement measured =
      measure_virtual_gemm(gemm, {.warmups = 1, .samples = 2}, kFaultGemmFlagEarly);
  EXPECT_EQ(measured.fault, DeviceFault::none) << measured.note;
  expect_nan_where(measured.last, in_last_shard);
}

TEST(GemmArrivalFaults, WordOfTheLastEpochLetsAllShardsBeReadBeforeTheyAreThere) {
  ScriptedTransport transport;
  const Gemm gemm = chunked(&transport);
  const auto foreign = [](std::uint64_t row, std::uint64_t col) {
    return row < 64 || row >= 128 || col >= 64;
  };
  expect_nan_where(run_virtual_gemm(gemm, kFaultGemmFlagOfLastEpoch), foreign);
  const Measurement measured =
      measure_virtual_gemm(gemm, {.warmups = 1, .samples = 2}, kFaultGemmFlagOfLastEpoch);
  EXPECT_EQ(measured.fault, DeviceFault::none) << measured.note;
  expect_nan_where(measured.last, foreign);
}

TEST(GemmArrivalFaults, ShowWithoutATransportToo) {
  const Gemm gemm = chunked(nullptr);
  expect_nan_where(run_virtual_gemm(gemm, kFaultGemmFlagEarly),
                   [](std::uint64_t row, std::uint64_t) { return row == 191; });
  expect_nan_where(run_virtual_gemm(gemm, kFaultGemmFlagOfLastEpoch),
                   [](std::uint64_t, std::uint64_t col) { return col >= 64; });
}

}  // namespace
}  // namespace tidemark
