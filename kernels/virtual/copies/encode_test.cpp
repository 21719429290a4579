// Each documented rule of cuTensorMapEncodeTiled, broken alone from a map that is accepted.
#include "kernels/virtual/copies/encode.hpp"

#include <gtest/gtest.h>

namespace tidemark::kernels {
namespace {

// The words by which a rule refuses; the other rules must not speak first.
void expect_refused(const TensorMapSpec& map, const std::string& words) {
  EXPECT_NE(refusal_of(map).find(words), std::string::npos)
      << "said: '" << refusal_of(map) << "', expected: '" << words << "'";
}

TensorMapSpec accepted() {
  return {.type = DataType::f32, .rank = 2, .extent = {64, 64}, .stride = {256}, .box = {32, 32}};
}

TEST(Encode, PlainMapIsAccepted) { EXPECT_EQ(refusal_of(accepted()), ""); }

TEST(Encode, RankIs1To5) {
  TensorMapSpec map = accepted();
  map.rank = 0;
  expect_refused(map, "rank 0");
  map.rank = 6;
  expect_refused(map, "rank 6");
}

TEST(Encode, AddressIsOn16Bytes) {
  TensorMapSpec map = accepted();
  map.base_offset = 8;
  expect_refused(map, "base offset 8");
}

TEST(Encode, ExtentIsNotZero) {
  TensorMapSpec map = accepted();
  map.extent[1] = 0;
  expect_refused(map, "extent 0 of dimension 1");
}

TEST(Encode, ExtentReaches2To32AndNotBeyond) {
  TensorMapSpec map = accepted();
  map.extent[1] = std::uint64_t{1} << 32;
  EXPECT_EQ(refusal_of(map), "");
  map.extent[1] += 1;
  expect_refused(map, "extent 4294967297 of dimension 1");
}

TEST(Encode, StrideIsAMultipleOf16) {
  TensorMapSpec map = accepted();
  map.stride[0] = 264;
  expect_refused(map, "stride 264 of dimension 1");
}

TEST(Encode, StrideIsBelow2To40) {
  TensorMapSpec map = accepted();
  map.stride[0] = (std::uint64_t{1} << 40) - 16;
  EXPECT_EQ(refusal_of(map), "");
  map.stride[0] += 16;
  expect_refused(map, "stride 1099511627776 of dimension 1");
}

TEST(Encode, StridesPastTheRankDoNotCount) {
  TensorMapSpec map = accepted();
  map.stride[1] = 1;
  EXPECT_EQ(refusal_of(map), "");
}

TEST(Encode, BoxIs1To256) {
  TensorMapSpec map = accepted();
  map.box[1] = 0;
  expect_refused(map, "box 0 of dimension 1");
  map.box[1] = 256;
  EXPECT_EQ(refusal_of(map), "");
  map.box[1] = 257;
  expect_refused(map, "box 257 of dimension 1");
}

TEST(Encode, InnerBoxRowIsAMultipleOf16Bytes) {
  TensorMapSpec map = accepted();
  map.box[0] = 5;
  expect_refused(map, "inner box row of 20 bytes");
}

TEST(Encode, ElementStrideIs1To8) {
  TensorMapSpec map = accepted();
  map.element_stride[1] = 0;
  expect_refused(map, "element stride 0 of dimension 1");
  map.element_stride[1] = 8;
  EXPECT_EQ(refusal_of(map), "");
  map.element_stride[1] = 9;
  expect_refused(map, "element stride 9 of dimension 1");
}

TEST(Encode, InnerElementStrideIs1To8Too) {
  TensorMapSpec map = accepted();
  map.element_stride[0] = 0;
  expect_refused(map, "element stride 0 of dimension 0");
  map.element_stride[0] = 8;
  EXPECT_EQ(refusal_of(map), "");
  map.element_stride[0] = 9;
  expect_refused(map, "element stride 9 of dimension 0");
}

TEST(Encode, InnerBoxRowFitsTheSwizzle) {
  TensorMapSpec map = accepted();
  map.swizzle = Swizzle::b64;
  map.box[0] = 16;
  EXPECT_EQ(refusal_of(map), "");
  map.box[0] = 20;
  expect_refused(map, "exceeds the swizzle of 64");
}

TEST(Encode, NanFillIsForFloatingTypes) {
  TensorMapSpec map = accepted();
  map.fill = Fill::nan;
  EXPECT_EQ(refusal_of(map), "");
  map.type = DataType::s32;
  expect_refused(map, "NaN fill of s32");
}

TEST(Encode, BoxMayExceedTheTensor) {
  TensorMapSpec map = accepted();
  map.extent = {8, 8};
  EXPECT_EQ(refusal_of(map), "");
}

}  // namespace
}  // namespace tidemark::kernels
