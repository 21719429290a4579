// The product over several ranks, as threads of this process, is bit for bit the product of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/gemm/grid.hpp"
#include "suite/gemm/verify.hpp"
#include "suite/testing/thread_transport.hpp"

namespace tidemark {
namespace {

Gemm product(std::uint64_t m, std::uint64_t n, std::uint64_t k, GemmInputs inputs) {
  return {.m = m, .n = n, .k = k, .inputs = inputs, .seed = 5, .route = PanelRoute::relay};
}

/// Runs every rank's share in a thread and says what each handed back. With a seed the shards come
/// in an order drawn from it.
std::vector<std::pair<Gemm, RunResult>> run_ranks(const Gemm& whole, std::uint32_t ranks,
                                                  Fault fault_of_last = kNoFault,
                                                  std::optional<std::uint64_t> seed = {}) {
  Exchange exchange;
  std::vector<ThreadTransport> transports;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) transports.emplace_back(exchange, rank, seed);
  std::vector<std::pair<Gemm, RunResult>> results(ranks);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        const Gemm gemm = distributed_gemm(whole, rank, ranks, &transports[rank]);
        results[rank] = {gemm, make_device(DeviceKind::virtual_device,
                                           rank + 1 == ranks ? fault_of_last : kNoFault)
                                   ->run(gemm)};
      });
  }
  return results;
}

/// C of all ranks, put together.
std::vector<std::uint8_t> assembled(const Gemm& whole,
                                    const std::vector<std::pair<Gemm, RunResult>>& results) {
  const std::uint64_t size = whole.output == GemmOutput::f32 ? 4 : 2;
  std::vector<std::uint8_t> c(whole.m * whole.n * size, 0xee);
  for (const auto& [gemm, result] : results)
    for (std::uint64_t i = 0; i < gemm.rows.count && gemm.cols.count > 0; ++i)
      std::memcpy(c.data() + ((gemm.rows.first + i) * whole.n + gemm.cols.first) * size,
                  result.bytes.data() + i * gemm.cols.count * size, gemm.cols.count * size);
  return c;
}

std::vector<std::uint8_t> on_one_rank(const Gemm& whole) {
  return make_device(DeviceKind::virtual_device)->run(distributed_gemm(whole, 0, 1, nullptr)).bytes;
}

TEST(DistributedGemm, IsBitForBitTheProductOfOneRank) {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 6U}) {
    const Gemm whole = product(130, 97, 263, GemmInputs::normal);
    EXPECT_EQ(assembled(whole, run_ranks(whole, ranks)), on_one_rank(whole)) << ranks;
  }
}

TEST(DistributedGemm, IsBitForBitTheSameInBf16) {
  Gemm whole = product(64, 70, 500, GemmInputs::normal);
  whole.output = GemmOutput::bf16;
  EXPECT_EQ(assembled(whole, run_ranks(whole, 4)), on_one_rank(whole));
}

TEST(DistributedGemm, IsBitForBitTheSameInWhateverOrderChunksArrive) {
  Gemm whole = product(260, 300, 70, GemmInputs::normal);
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    whole.output = output;
    const std::vector<std::uint8_t> right = on_one_rank(whole);
    for (std::uint32_t ranks = 1; ranks <= 8; ++ranks)
      for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_EQ(assembled(whole, run_ranks(whole, ranks, kNoFault, seed)), right)
            << ranks << " ranks, seed " << seed;
  }
}

TEST(DistributedGemm, IsBitForBitTheSameBehindItsGather) {
  Gemm whole = product(130, 97, 263, GemmInputs::normal);
  whole.route = PanelRoute::nccl;
  EXPECT_EQ(assembled(whole, run_ranks(whole, 4)), on_one_rank(whole));
}

TEST(DistributedGemm, WorksWhereRanksOwnNothing) {
  for (const Gemm& whole : {product(1, 97, 33, GemmInputs::small_integers),
                            product(89, 1, 72, GemmInputs::small_integers),
                            product(2, 3, 1, GemmInputs::small_integers),
                            product(1, 1, 1, GemmInputs::small_integers)}) {
    const auto results = run_ranks(whole, 6);
    EXPECT_EQ(assembled(whole, results), on_one_rank(whole)) << whole.m << "x" << whole.n;
    for (const auto& [gemm, result] : results) EXPECT_TRUE(verify_gemm(gemm, result, 0).empty());
  }
}

TEST(DistributedGemm, EveryRankPassesItsVerification) {
  for (const auto& [gemm, result] : run_ranks(product(257, 131, 300, GemmInputs::normal), 4)) {
    const auto found = verify_gemm(gemm, result, 0);
    EXPECT_TRUE(found.empty()) << found.front().text;
  }
}

TEST(DistributedGemm, WrongRankIsTheOnlyOneThatFails) {
  const auto results = run_ranks(product(64, 60, 64, GemmInputs::small_integers), 4,
                                 fault_named("gemm_shard_stale"));
  for (std::size_t rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(verify_gemm(results[rank].first, results[rank].second, 0).empty()) << rank;
  const auto found = verify_gemm(results[3].first, results[3].second, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 32);
  EXPECT_EQ(found[0].coordinate[1], 59);
}

TEST(DistributedGemm, RankThatReadsTooEarlyIsTheOnlyOneThatFails) {
  for (const char* const fault : {"gemm_flag_early", "gemm_flag_of_last_epoch"}) {
    // No seed: asked for another shard, such a transport may bring the one that is early.
    const auto results =
        run_ranks(product(64, 60, 64, GemmInputs::small_integers), 4, fault_named(fault));
    for (std::size_t rank = 0; rank < 3; ++rank)
      EXPECT_TRUE(verify_gemm(results[rank].first, results[rank].second, 0).empty())
          << fault << " " << rank;
    EXPECT_EQ(results[3].second.fault, DeviceFault::none) << results[3].second.note;
    EXPECT_FALSE(verify_gemm(results[3].first, results[3].second, 0).empty()) << fault;
  }
}

/// One shard never comes beside the product.
class WithholdingTransport : public Transport {
 public:
  WithholdingTransport(Transport& transport, std::uint32_t id, std::size_t shard)
      : transport_(transport), id_(id), shard_(shard) {}

  void start(const PanelBuffer& panel) override {
    if (panel.id == id_) beside_ = panel.epoch > 1;
    transport_.start(panel);
  }
  bool ready(std::uint32_t id, std::size_t index) override {
    return !(beside_ && id == id_ && index == shard_) && transport_.ready(id, index);
  }
  void abort() noexcept override { transport_.abort(); }

 private:
  Transport& transport_;
  std::uint32_t id_;
  std::size_t shard_;
  bool beside_ = false;
};

TEST(DistributedGemm, ShardThatNeverComesIsNamedByRankAndPlaceInBoundedTime) {
  Exchange exchange;
  std::vector<ThreadTransport> transports;
  for (std::uint32_t rank = 0; rank < 4; ++rank) transports.emplace_back(exchange, rank);
  WithholdingTransport withholding(transports[0], 0, 3);
  std::vector<RunResult> results(4);
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < 4; ++rank)
      threads.emplace_back([&, rank] {
        Gemm gemm =
            distributed_gemm(product(256, 256, 64, GemmInputs::normal), rank, 4, &transports[rank]);
        if (rank == 0) gemm.transport = &withholding;
        gemm.deadline_s = rank == 0 ? 0.5 : 3;  // the others need not give up first
        results[rank] = make_device(DeviceKind::virtual_device)->run(gemm);
      });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(results[0].fault, DeviceFault::others_late);
  EXPECT_EQ(results[0].note,
            "waits for GPU 1: panel A, shard 3 (rows 96 to 128) not ready within 0.5 s");
  EXPECT_EQ(results[1].fault, DeviceFault::others_late);  // its rows were not taken
}

TEST(DistributedGemm, MeasuresEveryRankOverManyRounds) {
  Exchange exchange;
  std::vector<ThreadTransport> transports;
  for (std::uint32_t rank = 0; rank < 3; ++rank) transports.emplace_back(exchange, rank);
  std::vector<Measurement> measurements(3);
  std::vector<Gemm> gemms(3);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        gemms[rank] =
            distributed_gemm(product(48, 46, 48, GemmInputs::normal), rank, 3, &transports[rank]);
        measurements[rank] = make_device(DeviceKind::virtual_device)
                                 ->measure(gemms[rank], {.warmups = 1, .samples = 6});
      });
  }
  for (std::size_t rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(verify_gemm(gemms[rank], measurements[rank].last, 0).empty()) << rank;
  for (const Measurement& measurement : measurements) {
    EXPECT_EQ(measurement.fault, DeviceFault::none) << measurement.note;
    ASSERT_EQ(measurement.samples.size(), 6U);
    for (const TimedSample& sample : measurement.samples) {
      EXPECT_GE(sample.total_ns, sample.exchange_ns);
      EXPECT_GE(sample.total_ns, sample.wait_ns);
      EXPECT_GT(sample.wait_ns, 0);
    }
  }
  for (std::size_t i = 0; i < 6; ++i) {
    double total = 0, local = 0;
    for (const Measurement& measurement : measurements) {
      total = std::max(total, measurement.samples[i].total_ns);
      local = std::max(local, measurement.samples[i].local_ns);
    }
    EXPECT_GT(local, 0);
    for (const Measurement& measurement : measurements) {
      EXPECT_EQ(measurement.samples[i].slowest_total_ns, total);
      EXPECT_EQ(measurement.samples[i].slowest_local_ns, local);
    }
  }
}

/// Of all tiles and ranks.
std::uint64_t digest_of(const std::vector<std::pair<Gemm, RunResult>>& results) {
  std::uint64_t sum = 0;
  for (const auto& [gemm, result] : results)
    for (const std::uint64_t digest : told_digests(gemm, result.bytes)) sum += digest;
  return sum;
}

TEST(DistributedGemm, DigestsAddUpToTheSameWordOverAnyNumberOfRanks) {
  const Gemm whole = product(130, 97, 263, GemmInputs::normal);
  const std::uint64_t right = digest_of(run_ranks(whole, 1));
  EXPECT_NE(right, 0U);
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks)
    EXPECT_EQ(digest_of(run_ranks(whole, ranks)), right) << ranks;
}

/// What is found against each of `ranks` ranks that computed the same product, the last of them on
/// a device with `fault`.
std::vector<std::vector<Miscompare>> vote_of(std::uint32_t ranks, Fault fault) {
  Exchange exchange;
  std::vector<ThreadTransport> transports;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) transports.emplace_back(exchange, rank);
  std::vector<std::vector<Miscompare>> found(ranks);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        const RunContext context{
            .rank = rank, .ranks = ranks, .transport = &transports[rank], .routes = {}};
        Gemm whole = product(300, 97, 263, GemmInputs::normal);
        whole.output = GemmOutput::bf16;
        const Gemm gemm = voted_gemm(std::move(whole), context);
        const auto device =
            make_device(DeviceKind::virtual_device, rank + 1 == ranks ? fault : kNoFault);
        found[rank] = verify_gemm(gemm, device->run(gemm), 0, *device);
      });
  }
  return found;
}

TEST(DistributedGemm, RanksThatComputeTheSameProductAgree) {
  for (const std::uint32_t ranks : {2U, 3U, 8U})
    for (const std::vector<Miscompare>& found : vote_of(ranks, kNoFault))
      EXPECT_TRUE(found.empty()) << found.front().text;
}

// One unit in the last place of one element of bf16: within every bound of a check of its own.
TEST(DistributedGemm, RankThatIsOneBitOffIsOutvoted) {
  const std::vector<std::vector<Miscompare>> found = vote_of(3, fault_named("gemm_ulp"));
  EXPECT_TRUE(found[0].empty());
  EXPECT_TRUE(found[1].empty());
  ASSERT_FALSE(found[2].empty());
  EXPECT_EQ(found[2].back().text,
            "this GPU, rank 2, differs from most of 3 GPUs in 1 of 2 tiles of the same C, first in "
            "rows 0 to 255, columns 0 to 96");
}

}  // namespace
}  // namespace tidemark
