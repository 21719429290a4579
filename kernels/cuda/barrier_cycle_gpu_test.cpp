// Barrier cycles on a real GPU against expectations written out here; the suite's oracle has no
// part in it.
#include "kernels/ops/barrier_cycle.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

class BarrierCycleOnGpu : public GpuTest {};

constexpr std::size_t kWindow = 1024 + 256 + 1024;

/// Bytes in rows of 64: three phases of one thread, then two of all 256. Phase n takes the four
/// rows from row n on.
BarrierCycle two_lives() {
  BarrierCycle cycle{.map = {.extent = {64, 12}, .stride = {64}, .box = {64, 4}},
                     .payload = {.seed = 31}};
  cycle.step = {0, 1};
  cycle.life_count = 2;
  cycle.lives[0] = {.count = 1, .phases = 3};
  cycle.lives[1] = {.count = 256, .phases = 2};
  return cycle;
}

TEST_F(BarrierCycleOnGpu, TheSecondLifeStartsAnewWithItsOwnCount) {
  const RunResult result = make_cuda_device()->run(two_lives());

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.ledger.phases.size(), 5U);
  for (const BarrierPhase& phase : result.ledger.phases) {
    EXPECT_FALSE(phase.early);
    EXPECT_FALSE(phase.before_last);
    EXPECT_TRUE(phase.complete);
  }
  EXPECT_EQ(result.ledger.announced, 5U * 256);
}

TEST_F(BarrierCycleOnGpu, EachPhaseBringsItsBoxAndNothingElse) {
  const BarrierCycle cycle = two_lives();

  const RunResult result = make_cuda_device()->run(cycle);

  ASSERT_EQ(result.bytes.size(), 5 * kWindow + 16);
  for (std::size_t phase = 0; phase < 5; ++phase)
    for (std::size_t i = 0; i < kWindow; ++i) {
      const bool tile = i >= 1024 && i < 1024 + 256;
      const std::uint8_t expected =
          tile ? source_byte(cycle.payload, i + 64 * phase) : poison_byte(cycle.payload, i);
      ASSERT_EQ(result.bytes[kWindow * phase + i], expected) << phase << ", " << i;
    }
}

TEST_F(BarrierCycleOnGpu, BetweenLivesTheMemoryIsPlain) {
  const BarrierCycle cycle = two_lives();

  const RunResult result = make_cuda_device()->run(cycle);

  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), &result.bytes[5 * kWindow], sizeof(words));
  EXPECT_EQ(words[0], splitmix64(source_word(cycle.payload, 0)));
  EXPECT_EQ(words[1], splitmix64(source_word(cycle.payload, 1)));
}

TEST_F(BarrierCycleOnGpu, BytesThatLandBeforeTheyAreAnnouncedCount) {
  BarrierCycle cycle = two_lives();
  cycle.copy_first = true;

  const RunResult result = make_cuda_device()->run(cycle);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes[1024 + 255], source_byte(cycle.payload, 1024 + 255));
  EXPECT_FALSE(result.ledger.phases[4].before_last);
}

TEST_F(BarrierCycleOnGpu, TheSourceIsLeftAsItWas) {
  const BarrierCycle cycle = two_lives();

  const RunResult result = make_cuda_device()->run(cycle);

  ASSERT_EQ(result.surroundings.size(), 1024U + 64 * 12 + 1024);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte(cycle.payload, i)) << i;
}

TEST_F(BarrierCycleOnGpu, MorePhasesThanTheLedgerHoldsAreRefused) {
  BarrierCycle cycle = two_lives();
  cycle.lives[0].phases = 63;

  EXPECT_THROW((void)make_cuda_device()->run(cycle), Error);
}

}  // namespace
}  // namespace tidemark::kernels
