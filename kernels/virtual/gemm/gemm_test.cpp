// The virtual matrix multiplication against products worked out in the test.
#include "kernels/virtual/virtual_device.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark {
namespace {

Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  Gemm gemm = whole_product({m, n, k}, GemmInputs::small_integers);
  gemm.seed = 11;
  return gemm;
}

/// Element (i, j) of C by its definition, in whole numbers.
int product_at(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  int sum = 0;
  for (std::uint64_t k = 0; k < gemm.k; ++k)
    sum += static_cast<int>(from_bf16(gemm_element(gemm.inputs, GemmOperand::a, gemm.seed, i, k)) *
                            from_bf16(gemm_element(gemm.inputs, GemmOperand::b, gemm.seed, j, k)));
  return sum;
}

float f32_at(const RunResult& result, std::size_t index) {
  float value = 0;
  std::memcpy(&value, result.bytes.data() + 4 * index, sizeof value);
  return value;
}

std::uint16_t bf16_at(const RunResult& result, std::size_t index) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, result.bytes.data() + 2 * index, sizeof bits);
  return bits;
}

/// How many elements of an fp32 result differ from the definition.
std::size_t wrong_elements(const Gemm& gemm, const RunResult& result) {
  std::size_t wrong = 0;
  for (std::uint64_t i = 0; i < gemm.rows.count; ++i)
    for (std::uint64_t j = 0; j < gemm.cols.count; ++j)
      if (f32_at(result, i * gemm.cols.count + j) !=
          static_cast<float>(product_at(gemm, gemm.rows.first + i, gemm.cols.first + j)))
        ++wrong;
  return wrong;
}

/// A transport whose peers never answer.
class SilentTransport : public Transport {
 public:
  void start(const PanelBuffer&) override { ++started; }
  bool ready(std::uint32_t id, std::size_t) override { return id != silent_panel; }
  void abort() noexcept override { ++aborted; }

  std::uint32_t silent_panel = 0;
  int started = 0;
  int aborted = 0;
};

/// Brings the rows of rank 1 as they should be, but only in the first `rounds` gathers of a panel.
class BringingTransport : public Transport {
 public:
  explicit BringingTransport(int rounds) : rounds_(rounds) {}

  void start(const PanelBuffer& panel) override {
    if (panel.id == kPanelEverybody) {
      poisoned_at_barrier.push_back(last_a_ != nullptr && *last_a_ == 0xffff);
      return;
    }
    if (panel.id >= kPanelTimes) return;
    const GemmOperand operand = panel.id == kPanelA ? GemmOperand::a : GemmOperand::b;
    auto* elements = reinterpret_cast<std::uint16_t*>(panel.base);
    const std::uint64_t pitch = panel.row_bytes / sizeof(std::uint16_t);
    const Shard& theirs = panel.shards.back();
    if (operand == GemmOperand::a) last_a_ = elements + theirs.first_row * pitch;
    if (started_[panel.id]++ >= rounds_) return;
    for (std::uint64_t row = theirs.first_row; row < theirs.first_row + theirs.rows; ++row)
      for (std::uint64_t k = 0; k < pitch; ++k)
        elements[row * pitch + k] =
            k < 7 ? gemm_element(GemmInputs::small_integers, operand, 11, row, k)
                  : std::uint16_t{0};
  }
  bool ready(std::uint32_t, std::size_t) override { return true; }
  void abort() noexcept override {}

  std::vector<bool> poisoned_at_barrier;  // whether the first element of rank 1 in A was

 private:
  int rounds_;
  int started_[2] = {};
  const std::uint16_t* last_a_ = nullptr;
};

TEST(VirtualGemm, MultipliesExactlyWhateverTheShape) {
  for (const Gemm& gemm : {whole(1, 1, 1), whole(3, 5, 7), whole(64, 64, 64), whole(65, 130, 71),
                           whole(1, 200, 300), whole(70, 1, 264)}) {
    const RunResult result = run_virtual_gemm(gemm, kNoFault);
    ASSERT_EQ(result.bytes.size(), gemm.m * gemm.n * 4);
    EXPECT_EQ(wrong_elements(gemm, result), 0U) << gemm.m << " " << gemm.n << " " << gemm.k;
  }
}

TEST(VirtualGemm, ComputesTheBlockItIsGiven) {
  Gemm gemm = whole(100, 90, 33);
  gemm.rows = {16, 70};
  gemm.cols = {89, 1};
  const RunResult result = run_virtual_gemm(gemm, kNoFault);
  ASSERT_EQ(result.bytes.size(), 70U * 4);
  EXPECT_EQ(wrong_elements(gemm, result), 0U);
}

TEST(VirtualGemm, ReferenceEngineAgreesBitForBitOnNormalInputs) {
  Gemm gemm = whole(67, 70, 130);
  gemm.inputs = GemmInputs::normal;
  const RunResult fast = run_virtual_gemm(gemm, kNoFault);
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_virtual_gemm(gemm, kNoFault);
  EXPECT_EQ(fast.bytes, reference.bytes);
  EXPECT_NE(fast.note, reference.note);
}

TEST(VirtualGemm, RoundsBf16OutputToNearestEven) {
  Gemm gemm = whole(60, 50, 4000);
  gemm.output = GemmOutput::bf16;
  const RunResult result = run_virtual_gemm(gemm, kNoFault);
  ASSERT_EQ(result.bytes.size(), 60U * 50U * 2U);
  bool rounded_up = false;
  for (std::uint64_t i = 0; i < 60; ++i)
    for (std::uint64_t j = 0; j < 50; ++j) {
      const auto exact = static_cast<float>(product_at(gemm, i, j));
      EXPECT_EQ(bf16_at(result, i * 50 + j), to_bf16(exact));
      rounded_up |= std::abs(from_bf16(to_bf16(exact))) > std::abs(exact);
    }
  EXPECT_TRUE(rounded_up);
}

TEST(VirtualGemm, SurroundsTheBlockWithGuardsAndItsRowsWithPadding) {
  const RunResult result = run_virtual_gemm(whole(3, 5, 7), kNoFault);
  ASSERT_EQ(result.surroundings.size(), 2 * kGuardBytes + 3 * 12);  // rows of 20 bytes in 32
  for (std::size_t i = 0; i < 2 * kGuardBytes; ++i)
    ASSERT_EQ(result.surroundings[i], poison_byte({.seed = 11}, i)) << i;
  for (std::size_t i = 2 * kGuardBytes; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], 0xff) << i;
}

TEST(VirtualGemm, EmptyBlockStillTakesPartInTheGathers) {
  SilentTransport transport;
  transport.silent_panel = 9;
  Gemm gemm = whole(2, 5, 7);
  gemm.rows = {2, 0};
  gemm.transport = &transport;
  gemm.rank = 2;
  gemm.a_shards = {{.owner = 2, .first_row = 0, .rows = 0}};
  gemm.b_shards = {{.owner = 2, .first_row = 0, .rows = 5}};
  const RunResult result = run_virtual_gemm(gemm, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_TRUE(result.bytes.empty());
  EXPECT_EQ(result.surroundings.size(), 2 * kGuardBytes);
  EXPECT_EQ(transport.started, 2);
  EXPECT_EQ(transport.aborted, 0);
}

TEST(VirtualGemm, ShardThatNeverComesIsThatOfOthersAndNamed) {
  SilentTransport transport;
  transport.silent_panel = 1;
  Gemm gemm = whole(4, 6, 7);
  gemm.transport = &transport;
  gemm.a_shards = {{.owner = 0, .first_row = 0, .rows = 4}};
  gemm.b_shards = {{.owner = 3, .first_row = 0, .rows = 2},
                   {.owner = 0, .first_row = 2, .rows = 4}};
  gemm.deadline_s = 0.01;
  const RunResult result = run_virtual_gemm(gemm, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::others_late);
  EXPECT_EQ(result.note, "waits for GPU 3: panel B, shard 0 (rows 0 to 2) not ready within 0.01 s");
  EXPECT_EQ(transport.aborted, 1);
}

TEST(VirtualGemm, MeasurementEndsAtABarrierThatIsNotReached) {
  SilentTransport transport;
  transport.silent_panel = 2;
  Gemm gemm = whole(4, 6, 7);
  gemm.transport = &transport;
  gemm.a_shards = {{.owner = 0, .first_row = 0, .rows = 4}};
  gemm.b_shards = {{.owner = 0, .first_row = 0, .rows = 6}};
  gemm.everybody = {{.owner = 0, .first_row = 0, .rows = 1},
                    {.owner = 1, .first_row = 1, .rows = 1}};
  gemm.deadline_s = 0.01;
  const Measurement measurement =
      measure_virtual_gemm(gemm, {.warmups = 0, .samples = 2}, kNoFault);
  EXPECT_EQ(measurement.fault, DeviceFault::others_late);
  EXPECT_TRUE(measurement.samples.empty());
  EXPECT_NE(measurement.note.find("waits for GPU 1: barrier, shard 1"), std::string::npos);
}

TEST(VirtualGemm, MeasuresAsManySamplesAsAsked) {
  const Measurement measurement =
      measure_virtual_gemm(whole(8, 8, 8), {.warmups = 2, .samples = 5}, kNoFault);
  ASSERT_EQ(measurement.samples.size(), 5U);
  for (const TimedSample& sample : measurement.samples) {
    EXPECT_GT(sample.total_ns, 0);
    EXPECT_EQ(sample.exchange_ns, 0);
    EXPECT_GT(sample.at_unix_s, 1.6e9);
  }
}

TEST(VirtualGemm, HandsBackWhatTheLastSampleLeft) {
  const Gemm gemm = whole(9, 11, 13);
  const RunResult run = run_virtual_gemm(gemm, kNoFault);
  const RunResult last = measure_virtual_gemm(gemm, {.warmups = 1, .samples = 2}, kNoFault).last;
  EXPECT_EQ(last.bytes, run.bytes);
  EXPECT_EQ(last.surroundings, run.surroundings);
}

/// Gathers between rank 0 and a rank 1 that owns the second half of both panels.
Gemm half_gathered(Transport& transport) {
  Gemm gemm = whole(4, 6, 7);
  gemm.transport = &transport;
  gemm.a_shards = {{.owner = 0, .first_row = 0, .rows = 2},
                   {.owner = 1, .first_row = 2, .rows = 2}};
  gemm.b_shards = {{.owner = 0, .first_row = 0, .rows = 3},
                   {.owner = 1, .first_row = 3, .rows = 3}};
  gemm.everybody = {{.owner = 0, .first_row = 0, .rows = 1},
                    {.owner = 1, .first_row = 1, .rows = 1}};
  return gemm;
}

TEST(VirtualGemm, LastSampleOfAnExchangeThatBringsEverythingIsRight) {
  BringingTransport transport(99);
  const Gemm gemm = half_gathered(transport);
  const Measurement measured = measure_virtual_gemm(gemm, {.warmups = 1, .samples = 3}, kNoFault);
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  ASSERT_EQ(measured.last.bytes.size(), 4U * 6 * 4);
  EXPECT_EQ(wrong_elements(gemm, measured.last), 0U);
}

TEST(VirtualGemm, ExchangeThatBringsNothingFromTheSecondSampleOnShows) {
  BringingTransport transport(1);
  const Gemm gemm = half_gathered(transport);
  const Measurement measured = measure_virtual_gemm(gemm, {.warmups = 1, .samples = 3}, kNoFault);
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  ASSERT_EQ(measured.last.bytes.size(), 4U * 6 * 4);
  EXPECT_EQ(wrong_elements(gemm, measured.last), 4U * 6 - 2 * 3);  // all but the own block
  // Only before the last of four gathers, and before its barrier: behind it the others may send.
  // Behind each sample stands one more, and what the last gather did not bring is poison there.
  EXPECT_EQ(transport.poisoned_at_barrier,
            (std::vector<bool>{false, false, false, false, false, true, true}));
}

TEST(VirtualGemm, NoteSaysWhenRowsWerePadded) {
  EXPECT_EQ(run_virtual_gemm(whole(2, 2, 71), kNoFault).note,
            "virtual blocked loop; rows of 71 elements padded to 72");
  EXPECT_EQ(run_virtual_gemm(whole(2, 2, 72), kNoFault).note, "virtual blocked loop");
}

TEST(VirtualGemm, BlockOutsideTheMatrixIsAnError) {
  Gemm gemm = whole(4, 6, 7);
  gemm.cols = {3, 4};
  EXPECT_THROW(run_virtual_gemm(gemm, kNoFault), Error);
}

TEST(VirtualGemm, ShardOutsideThePanelIsAnError) {
  SilentTransport transport;
  Gemm gemm = whole(4, 6, 7);
  gemm.transport = &transport;
  gemm.a_shards = {{.owner = 0, .first_row = 2, .rows = 3}};
  EXPECT_THROW(run_virtual_gemm(gemm, kNoFault), Error);
}

TEST(VirtualGemmFaults, HaveDistinctNamesAndValuesInOrder) {
  const auto all = gemm_faults();
  ASSERT_GE(all.size(), 12U);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LT(all[i - 1].fault, all[i].fault);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i].name, all[j].name);
  }
}

bool changes(const Gemm& gemm, Fault fault) {
  const RunResult right = run_virtual_gemm(gemm, kNoFault);
  const RunResult wrong = run_virtual_gemm(gemm, fault);
  return wrong.bytes != right.bytes || wrong.surroundings != right.surroundings;
}

TEST(VirtualGemmFaults, EachChangesALargeOddProduct) {
  const Gemm plain = whole(130, 145, 327);
  Gemm general = plain;
  general.element = GemmElement::f16;
  general.a_major = Major::mn;
  general.lda = 144;
  general.ldc = 152;
  general.alpha = 2;
  general.beta = -1;
  Gemm pitched = plain;  // rows that start off 16 bytes
  pitched.output = GemmOutput::bf16;
  pitched.lda = 329;
  pitched.ldc = 147;
  Gemm planted = plain;
  planted.planted = {{GemmOperand::a, 60, 0, NonFinite::minus_infinity}};
  Gemm within = plain;  // an SM budget
  within.sm_budget = 2;
  Gemm fp8 = plain;
  fp8.element = GemmElement::e5m2;
  fp8.inputs = GemmInputs::normal;
  for (const FaultInfo& info : gemm_faults()) {
    if (info.fault == kFaultGemmTruncated) continue;    // fp32 output is never cut off
    if (info.fault == kFaultGemmNothingDone) continue;  // there is something to do
    EXPECT_TRUE(changes(plain, info.fault) || changes(general, info.fault) ||
                changes(pitched, info.fault) || changes(planted, info.fault) ||
                changes(within, info.fault) || changes(fp8, info.fault))
        << info.name;
  }
}

TEST(VirtualGemmFaults, CuttingOffShowsInBf16OverALongK) {
  Gemm gemm = whole(30, 40, 4007);  // bf16 holds integers up to 256 without rounding
  gemm.output = GemmOutput::bf16;
  EXPECT_NE(run_virtual_gemm(gemm, kFaultGemmTruncated).bytes,
            run_virtual_gemm(gemm, kNoFault).bytes);
}

TEST(VirtualGemmFaults, AreHarmlessWhereTheirStepDoesNotOccur) {
  const Gemm one_block = whole(64, 64, 64);  // one tile, no tail, no padding, even columns
  const RunResult right = run_virtual_gemm(one_block, kNoFault);
  for (const Fault fault :
       {kFaultGemmTailBlock, kFaultGemmPadding, kFaultGemmNotCleared, kFaultGemmOddColumn,
        kFaultGemmStaleStage, kFaultGemmTruncated, kFaultGemmTileTwice, kFaultGemmPaddingWritten}) {
    const RunResult result = run_virtual_gemm(one_block, fault);
    EXPECT_EQ(result.bytes, right.bytes) << static_cast<int>(fault);
    EXPECT_EQ(result.surroundings, right.surroundings) << static_cast<int>(fault);
  }
}

TEST(VirtualGemmFaults, PaddingIsWrittenBehindTheLastColumnOfTheLastRow) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    Gemm gemm = whole(3, 5, 7);  // rows of 20 bytes in 32, or of 10 in 16
    gemm.output = output;
    const std::size_t element = c_element_bytes(output);
    const std::size_t padding = output == GemmOutput::f32 ? 12 : 6;
    RunResult right = run_virtual_gemm(gemm, kNoFault);
    const RunResult wrong = run_virtual_gemm(gemm, kFaultGemmPaddingWritten);
    EXPECT_EQ(wrong.bytes, right.bytes);
    ASSERT_EQ(right.surroundings.size(), 2 * kGuardBytes + 3 * padding);
    for (std::size_t i = 0; i < element; ++i)
      right.surroundings[2 * kGuardBytes + 2 * padding + i] = 0;
    EXPECT_EQ(wrong.surroundings, right.surroundings);
  }
}

TEST(VirtualGemmFaults, NeverReachTheReferenceEngine) {
  Gemm gemm = whole(70, 65, 71);
  gemm.engine = GemmEngine::reference;
  const RunResult right = run_virtual_gemm(gemm, kNoFault);
  for (const FaultInfo& info : gemm_faults())
    EXPECT_EQ(run_virtual_gemm(gemm, info.fault).bytes, right.bytes) << info.name;
}

}  // namespace
}  // namespace tidemark
