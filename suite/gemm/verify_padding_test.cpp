// The padding behind the rows of C belongs to nobody: a store into it must be found and placed.
#include <gtest/gtest.h>

#include "kernels/device.hpp"
#include "kernels/ops/payload.hpp"
#include "suite/gemm/verify.hpp"

namespace tidemark {
namespace {

/// Rows 16 to 19 and columns 40 to 44 of a larger C: in fp32 rows of 20 bytes, 32 apart.
Gemm block(GemmOutput output) {
  return {.m = 100,
          .n = 90,
          .k = 33,
          .rows = {16, 4},
          .cols = {40, 5},
          .inputs = GemmInputs::small_integers,
          .output = output,
          .seed = 77};
}

RunResult right(const Gemm& gemm) { return make_device(DeviceKind::virtual_device)->run(gemm); }

TEST(VerifyPadding, FindsOneByteAndNamesItsRowAndColumn) {
  const Gemm gemm = block(GemmOutput::f32);
  RunResult result = right(gemm);
  const std::size_t at = 2 * kGuardBytes + 2 * 12 + 9;  // third row, third element of the padding
  result.surroundings[at] = 0x7f;
  const auto found = verify_gemm(gemm, result, 6);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row, 6U);
  EXPECT_EQ(found[0].what, "padding");
  EXPECT_EQ(found[0].coordinate[0], 18);
  EXPECT_EQ(found[0].coordinate[1], 47);
  EXPECT_EQ(found[0].first_offset, at);
  EXPECT_EQ(found[0].wrong_bytes, 1U);
  EXPECT_EQ(found[0].expected, 0xffU);
  EXPECT_EQ(found[0].actual, 0x7fU);
  EXPECT_EQ(found[0].text,
            "written into the padding of row 18, at column 47 where the block ends before column "
            "45: expected 0xff, got 0x7f; 1 bytes");
}

TEST(VerifyPadding, FindsTheFaultThatWritesThere) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    const Gemm gemm = block(output);
    const auto device =
        make_device(DeviceKind::virtual_device, fault_named("gemm_padding_written"));
    const auto found = verify_gemm(gemm, device->run(gemm), 0);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].what, "padding");
    EXPECT_EQ(found[0].coordinate[0], 19);
    EXPECT_EQ(found[0].coordinate[1], 45);
    EXPECT_EQ(found[0].wrong_bytes, output == GemmOutput::f32 ? 4U : 2U);
  }
}

TEST(VerifyPadding, StandsBesideAWrittenGuard) {
  const Gemm gemm = block(GemmOutput::bf16);
  RunResult result = right(gemm);
  result.surroundings[2 * kGuardBytes - 1] ^= 1;
  result.surroundings[2 * kGuardBytes] ^= 1;
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "guard");
  EXPECT_EQ(found[0].wrong_bytes, 1U);
  EXPECT_EQ(found[1].what, "padding");
  EXPECT_EQ(found[1].coordinate[0], 16);
}

TEST(VerifyPadding, FindsPaddingThatWasNotHandedBack) {
  const Gemm gemm = block(GemmOutput::f32);
  RunResult result = right(gemm);
  result.surroundings.resize(2 * kGuardBytes);
  const auto found = verify_gemm(gemm, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text, "guard: the device handed back 2048 bytes where 2096 belong");
}

}  // namespace
}  // namespace tidemark
