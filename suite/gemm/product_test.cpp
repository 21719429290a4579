// Memory, samples and patience of products that a user gives, from numbers worked out here.
#include "suite/gemm/product.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGi = std::uint64_t{1} << 30;

ProductOptions square(std::uint64_t edge) { return {.shape = {.m = edge, .n = edge, .k = edge}}; }

TEST(MemoryOf, CountsBothPanelsAndCOfTheReferenceEngine) {
  // 131072 rows of 131072 elements of bf16 are 32 GiB; on 2 x 4 ranks a rank has half of A, a
  // quarter of B, and an eighth of C, which is 64 GiB in fp32 and 32 GiB in bf16.
  const ProductMemory memory = memory_of(square(131072), 7, 8);
  EXPECT_EQ(memory.device, 16 * kGi + 8 * kGi + 8 * kGi);
  EXPECT_EQ(memory.host, 8 * kGi + 4 * kGi);
}

TEST(MemoryOf, FollowsTheGridThatWasGiven) {
  ProductOptions product = square(131072);
  product.grid = {.rows = 8, .cols = 1};
  EXPECT_EQ(memory_of(product, 0, 8).device, 4 * kGi + 32 * kGi + 8 * kGi);
}

TEST(MemoryOf, CountsPaddingOfRows) {
  // Rows of 3 elements of bf16 take 16 bytes, those of 5 elements of C take 32 in fp32 and 16 in
  // bf16.
  const ProductMemory memory = memory_of({.shape = {.m = 7, .n = 5, .k = 3}}, 0, 1);
  EXPECT_EQ(memory.device, (7 + 5) * 16U + 7 * 32U);
  EXPECT_EQ(memory.host, 7 * 16U + 7 * 32U);
}

TEST(MemoryOf, HoldsTheLargestProductThatMayBeGiven) {
  const std::uint64_t edge = kMostProductSize;
  EXPECT_EQ(memory_of(square(edge), 0, 1).device, 2 * edge * edge * 2 + edge * edge * 4);
}

TEST(MemoryOf, RefusesAGridOfOtherRanks) {
  ProductOptions product = square(64);
  product.grid = {.rows = 2, .cols = 2};
  EXPECT_THROW(memory_of(product, 0, 3), Error);
}

TEST(TimingOf, TakesTheUsualSamplesOfUsualProducts) {
  const Timing usual;
  for (const std::uint64_t edge : {64U, 8192U, 16384U}) {
    EXPECT_EQ(timing_of(square(edge).shape, 1, DeviceKind::cuda).samples, usual.samples);
    EXPECT_EQ(timing_of(square(edge).shape, 1, DeviceKind::cuda).warmups, usual.warmups);
  }
  EXPECT_EQ(timing_of(square(192).shape, 1, DeviceKind::virtual_device).samples, usual.samples);
}

TEST(TimingOf, TakesFewerOfLargeOnesButTwenty) {
  // 2 x 65536^3 / 2 operations at 500 TFLOP/s are 0.56 s; 200 of 250 runs fit in 30 s 0.213 times.
  const Timing large = timing_of(square(65536).shape, 2, DeviceKind::cuda);
  EXPECT_EQ(large.samples, 42U);
  EXPECT_EQ(large.warmups, 8U);
  EXPECT_EQ(timing_of(square(kMostProductSize).shape, 1, DeviceKind::cuda).samples, 20U);
  EXPECT_EQ(timing_of(square(2048).shape, 1, DeviceKind::virtual_device).samples, 20U);
}

TEST(PatienceOf, OutlastsWhatIsTimedAndTheReferenceEngine) {
  EXPECT_LT(patience_s(square(8192).shape, 1, DeviceKind::cuda), 60);
  const double large = patience_s(square(131072).shape, 8, DeviceKind::cuda);
  EXPECT_GT(large, 500);
  EXPECT_LT(large, 1000);
}

}  // namespace
}  // namespace tidemark
