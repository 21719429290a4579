// Which tensor maps there can be, as the oracle knows it: apart from the rules of the devices.
#include "suite/oracle/encoder_rules.hpp"

#include <gtest/gtest.h>
#include <string>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

std::string refusal(const TensorMapSpec& map) {
  try {
    refuse_illegal_map(map);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TensorMapSpec tiled() {
  return {.type = DataType::f32, .rank = 2, .extent = {64, 64}, .stride = {256}, .box = {32, 32}};
}

TensorMapSpec pixels() {
  return {.type = DataType::f16,
          .rank = 4,
          .extent = {64, 9, 14, 8},
          .stride = {128, 1152, 16128},
          .box = {64, 64},
          .swizzle = Swizzle::b128,
          .im2col = true,
          .lower_corner = {-1, -1},
          .upper_corner = {-1, -1}};
}

TensorMapSpec units() {
  return {.type = DataType::u16,
          .rank = 3,
          .extent = {6, 4, 3},
          .stride = {192, 1024},
          .box = {8, 2, 1},
          .interleave = Interleave::b32,
          .swizzle = Swizzle::b32};
}

TEST(EncoderRules, TakeWhatTheDriverTakes) {
  for (TensorMapSpec map : {tiled(), pixels(), units()}) {
    EXPECT_EQ(refusal(map), "");
    map.extent[1] = std::uint64_t{1} << 31;
    map.stride[0] = (std::uint64_t{1} << 40) - 32;
    map.element_stride[1] = 8;
    EXPECT_EQ(refusal(map), "");
  }
}

struct Broken {
  const char* rule;
  TensorMapSpec (*map)();
  void (*change)(TensorMapSpec&);
};

TEST(EncoderRules, NameValueDimensionAndParameter) {
  constexpr Broken kBroken[] = {
      {"rank 6; cuda.h, tensorRank, takes 1 to 5,", tiled, [](auto& map) { map.rank = 6; }},
      {"rank 0; cuda.h, tensorRank, takes 1 to 5,", tiled, [](auto& map) { map.rank = 0; }},
      {"rank 2; cuda.h, tensorRank,", units, [](auto& map) { map.rank = 2; }},
      {"rank 2; cuda.h, tensorRank,", pixels, [](auto& map) { map.rank = 2; }},
      {"base_offset 8; cuda.h, globalAddress, takes multiples of 16", tiled,
       [](auto& map) { map.base_offset = 8; }},
      {"base_offset 16; cuda.h, globalAddress, takes multiples of 32", units,
       [](auto& map) { map.base_offset = 16; }},
      {"extent 0 of dimension 1; cuda.h, globalDim, takes 1 to 2^32,", tiled,
       [](auto& map) { map.extent[1] = 0; }},
      {"extent 2147483649 of dimension 0; cuda.h, globalDim,", tiled,
       [](auto& map) { map.extent[0] = (std::uint64_t{1} << 31) + 1; }},
      {"stride 130 of dimension 1; cuda.h, globalStrides, takes multiples of 16 below 2^40", tiled,
       [](auto& map) { map.stride[0] = 130; }},
      {"stride 1099511627776 of dimension 1; cuda.h, globalStrides,", tiled,
       [](auto& map) { map.stride[0] = std::uint64_t{1} << 40; }},
      {"stride 1040 of dimension 2; cuda.h, globalStrides, takes multiples of 32", units,
       [](auto& map) { map.stride[1] = 1040; }},
      {"box 257 of dimension 1; cuda.h, boxDim, takes 1 to 256", tiled,
       [](auto& map) { map.box[1] = 257; }},
      {"box 0 of dimension 1; cuda.h, boxDim,", tiled, [](auto& map) { map.box[1] = 0; }},
      {"inner box bytes 20; cuda.h, boxDim, takes multiples of 16", tiled,
       [](auto& map) { map.box[0] = 5; }},
      {"channels 264; cuda.h, channelsPerPixel,", pixels, [](auto& map) { map.box[0] = 264; }},
      {"pixels 1025; cuda.h, pixelsPerColumn,", pixels, [](auto& map) { map.box[1] = 1025; }},
      {"element stride 9 of dimension 1; cuda.h, elementStrides, takes 1 to 8", tiled,
       [](auto& map) { map.element_stride[1] = 9; }},
      {"inner box bytes 128; cuda.h, interleave,", tiled,
       [](auto& map) { map.swizzle = Swizzle::b64; }},
      {"swizzle of 64; cuda.h, swizzle,", units, [](auto& map) { map.swizzle = Swizzle::b64; }},
      {"NaN fill of data type 3; cuda.h, oobFill,", tiled,
       [](auto& map) {
         map.type = DataType::s32;
         map.fill = Fill::nan;
       }},
      {"lower corner -129 of dimension 2; cuda.h, pixelBoxLowerCorner,", pixels,
       [](auto& map) { map.lower_corner[1] = -129; }},
      {"upper corner 128 of dimension 1; cuda.h, pixelBoxUpperCorner,", pixels,
       [](auto& map) { map.upper_corner[0] = 128; }},
      {"bounding box pixels 0 of dimension 1; cuda.h, pixelBoxUpperCorner,", pixels,
       [](auto& map) { map.upper_corner[0] = -10; }},
  };
  for (const Broken& broken : kBroken) {
    TensorMapSpec map = broken.map();
    broken.change(map);
    EXPECT_TRUE(refusal(map).starts_with(broken.rule)) << refusal(map) << "\n" << broken.rule;
  }
}

TEST(EncoderRules, LetBulkMapsThrough) {
  TensorMapSpec map = tiled();
  map.bulk = true;
  map.stride[0] = 130;
  EXPECT_EQ(refusal(map), "");
}

}  // namespace

}  // namespace tidemark
