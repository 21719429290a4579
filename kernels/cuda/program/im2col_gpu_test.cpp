// Im2col loads on a real GPU against the plain loops of a convolution; the suite's oracle and the
// virtual device have no part in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Im2colOnGpu : public GpuTest {
 protected:
  static RunResult run(const Program& program) {
    return make_cuda_device()->run_programs({&program, 1}).front();
  }

  /// What a load leaves of its tile, the same both times.
  static Bytes tile_of(const TileLoad& load) {
    const RunResult result = run(program_of(load));
    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    const std::size_t window = program_of(load).window, bytes = tile_bytes(load.map);
    if (result.bytes.size() != 2 * window) return {};
    const auto first = result.bytes.begin() + kGuardBytes;
    const auto second = first + static_cast<std::ptrdiff_t>(window);
    EXPECT_TRUE(std::equal(first, first + static_cast<std::ptrdiff_t>(bytes), second));
    return {first, first + static_cast<std::ptrdiff_t>(bytes)};
  }

  /// Whether the driver takes the map; the code of a refusal is looked at.
  static bool is_accepted(const TensorMapSpec& map) {
    Program program{.window = 65536,
                    .barriers = 1,
                    .regions = {{.bytes = 4 << 20}},
                    .maps = {{.spec = map}},
                    .steps = {{.verb = Verb::snapshot}},
                    .payload = {}};
    const RunResult result = run(program);
    if (result.fault == DeviceFault::none) return true;
    EXPECT_EQ(result.fault, DeviceFault::encode_refused) << result.note;
    EXPECT_EQ(result.code, 1) << result.note;  // CUDA_ERROR_INVALID_VALUE
    return false;
  }
};

/// Images of W x H x D pixels; those that a tensor has not are 1.
struct Images {
  std::int32_t w = 1, h = 1, d = 1, n = 1;
};

/// 16 bytes a pixel, 32 from one to the next.
TileLoad load_of(std::uint32_t rank, const Images& images, std::uint32_t pixels) {
  TileLoad load;
  const std::array<std::int32_t, 3> extents{images.w, images.h, images.d};
  load.map.rank = rank;
  load.map.box = {16, pixels};
  load.map.im2col = true;
  load.map.extent[0] = 16;
  load.map.stride[0] = 32;
  for (std::uint32_t i = 1; i + 1 < rank; ++i) {
    load.map.extent[i] = static_cast<std::uint64_t>(extents[i - 1]);
    load.map.stride[i] = load.map.stride[i - 1] * load.map.extent[i];
  }
  load.map.extent[rank - 1] = static_cast<std::uint64_t>(images.n);
  load.payload.seed = 31;
  return load;
}

/// Byte `c` of a pixel, 0 outside of the images.
std::uint8_t pixel_byte(const TileLoad& load, const Images& images, std::int32_t w, std::int32_t h,
                        std::int32_t d, std::int32_t n, std::int32_t c) {
  if (w < 0 || h < 0 || d < 0 || w >= images.w || h >= images.h || d >= images.d || n >= images.n)
    return 0;
  const std::int32_t pixel = w + images.w * (h + images.h * (d + images.d * n));
  return source_byte(load.payload, static_cast<std::uint64_t>(1024 + 32 * pixel + c));
}

/// The windows of a filter of 3 with a padding of 1 along every dimension, `stride` apart, as the
/// position `s`, `r`, `t` of the filter sees them.
Bytes convolution(const TileLoad& load, const Images& images, std::int32_t stride, std::int32_t s,
                  std::int32_t r, std::int32_t t) {
  const std::uint32_t rank = load.map.rank;
  const std::int32_t pad_h = rank > 3 ? 1 : 0, pad_d = rank > 4 ? 1 : 0;
  Bytes bytes;
  for (std::int32_t n = 0; n < images.n; ++n)
    for (std::int32_t d = -pad_d; d < images.d - pad_d; d += stride)
      for (std::int32_t h = -pad_h; h < images.h - pad_h; h += stride)
        for (std::int32_t w = -1; w < images.w - 1; w += stride)
          for (std::int32_t c = 0; c < 16; ++c)
            bytes.push_back(pixel_byte(load, images, w + s, h + r, d + t, n, c));
  return bytes;
}

TileLoad padded(TileLoad load, std::uint32_t stride) {
  for (std::uint32_t k = 0; k < spatial_of(load.map); ++k) {
    load.map.lower_corner[k] = load.map.upper_corner[k] = load.at[k + 1] = -1;
    load.map.element_stride[k + 1] = stride;
  }
  return load;
}

TEST_F(Im2colOnGpu, NinePositionsOfAFilterBringTheirPixels) {
  const Images images{.w = 9, .h = 7, .n = 2};
  for (std::int32_t r = 0; r < 3; ++r)
    for (std::int32_t s = 0; s < 3; ++s) {
      TileLoad load = padded(load_of(4, images, 9 * 7 * 2), 1);
      load.im2col_offsets = {static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(r)};
      EXPECT_EQ(tile_of(load), convolution(load, images, 1, s, r, 0)) << s << ", " << r;
    }
}

TEST_F(Im2colOnGpu, TraversalStridesOfTwo) {
  const Images images{.w = 9, .h = 6, .n = 2};
  TileLoad load = padded(load_of(4, images, 5 * 3 * 2), 2);
  load.im2col_offsets = {2, 1};
  EXPECT_EQ(tile_of(load), convolution(load, images, 2, 2, 1, 0));
}

TEST_F(Im2colOnGpu, ThreeDimensions) {
  const Images images{.w = 37, .n = 3};
  TileLoad load = padded(load_of(3, images, 37 * 3), 1);
  load.im2col_offsets = {2};
  EXPECT_EQ(tile_of(load), convolution(load, images, 1, 2, 0, 0));
}

TEST_F(Im2colOnGpu, FiveDimensions) {
  const Images images{.w = 5, .h = 4, .d = 3, .n = 2};
  TileLoad load = padded(load_of(5, images, 5 * 4 * 3 * 2), 1);
  load.im2col_offsets = {2, 0, 1};
  EXPECT_EQ(tile_of(load), convolution(load, images, 1, 2, 0, 1));
}

TEST_F(Im2colOnGpu, PixelsBehindTheBatchAreFilledAndCredited) {
  const Images images{.w = 5, .h = 4, .n = 2};
  TileLoad load = padded(load_of(4, images, 5 * 4 * 2 + 9), 1);
  load.im2col_offsets = {1, 1};
  Bytes expected = convolution(load, images, 1, 1, 1, 0);
  expected.resize(expected.size() + 9 * 16);
  EXPECT_EQ(tile_of(load), expected);
}

TEST_F(Im2colOnGpu, CacheHintsChangeNothing) {
  const Images images{.w = 5, .h = 4, .d = 3, .n = 2};
  for (std::uint32_t rank = 3; rank <= 5; ++rank)
    for (const CacheHint hint :
         {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
      TileLoad load = padded(load_of(rank, images, 8), 1);
      const Bytes plain = tile_of(load);
      load.hint = hint;
      EXPECT_EQ(tile_of(load), plain) << rank;
    }
}

TEST_F(Im2colOnGpu, AMulticastReachesBothCtasAndAPrefetchIsNotNoticed) {
  const Images images{.w = 5, .h = 4, .n = 2};
  for (const CacheHint hint : {CacheHint::none, CacheHint::evict_first}) {
    TileLoad load = padded(load_of(4, images, 40), 1);
    load.im2col_offsets = {0, 2};
    const Program one = program_of(load);
    Program program = one;
    program.cluster = {2, 1, 1};
    program.steps = {{.verb = Verb::poison, .ctas = 3, .bytes = program.window},
                     {.verb = Verb::init, .ctas = 3},
                     {.verb = Verb::arrive_expect_tx, .ctas = 3, .bytes = 640},
                     {.verb = Verb::cluster_sync, .ctas = 3},
                     {.verb = Verb::prefetch, .at = load.at, .im2col_offsets = load.im2col_offsets},
                     {.verb = Verb::load,
                      .ctas = 2,
                      .hint = hint,
                      .mask = 3,
                      .offset = kGuardBytes,
                      .at = load.at,
                      .im2col_offsets = load.im2col_offsets},
                     {.verb = Verb::wait, .ctas = 3, .stops = true, .ns = kMustCompleteNs},
                     {.verb = Verb::snapshot, .ctas = 3}};
    const RunResult result = run(program);
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    const Bytes expected = convolution(load, images, 1, 0, 2, 0);
    for (std::size_t cta = 0; cta < 2; ++cta)
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                             &result.bytes[cta * program.window + kGuardBytes]))
          << cta;
  }
}

/// Pixels 1 to 3 along W and 1 to 2 along H of two images, from the third on.
TEST_F(Im2colOnGpu, AStoreWritesThePixelsOfItsBoxAndNothingElse) {
  const Images images{.w = 5, .h = 4, .n = 2};
  for (const CacheHint hint : {CacheHint::none, CacheHint::evict_first}) {
    TileStore store{.map = load_of(4, images, 8).map, .at = {0, 3, 1, 0}, .hint = hint};
    store.map.lower_corner = {1, 1};
    store.map.upper_corner = {-1, -1};
    store.payload.seed = 31;
    const RunResult result = run(program_of(store));
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    Bytes expected(result.surroundings.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = poison_byte(store.payload, i);
    const std::array<std::array<std::size_t, 3>, 8> pixels{{{3, 1, 0},
                                                            {1, 2, 0},
                                                            {2, 2, 0},
                                                            {3, 2, 0},
                                                            {1, 1, 1},
                                                            {2, 1, 1},
                                                            {3, 1, 1},
                                                            {1, 2, 1}}};  // W, H, N
    for (std::size_t p = 0; p < pixels.size(); ++p)
      for (std::size_t c = 0; c < 16; ++c)
        expected[1024 + 32 * (pixels[p][0] + 5 * (pixels[p][1] + 4 * pixels[p][2])) + c] =
            source_byte(store.payload, 1024 + 16 * p + c);
    EXPECT_EQ(result.surroundings, expected);
  }
}

/// cuda.h, cuTensorMapEncodeIm2col: each rule broken alone from a map that is accepted.
TEST_F(Im2colOnGpu, TheDriverRefusesWhatItsManualForbids) {
  const TensorMapSpec good = padded(load_of(4, {.w = 9, .h = 7, .n = 2}, 64), 1).map;
  EXPECT_TRUE(is_accepted(good));
  TensorMapSpec map = good;
  map.rank = 2;
  EXPECT_FALSE(is_accepted(map)) << "rank 2";
  map = good;
  map.lower_corner[0] = -129;
  EXPECT_FALSE(is_accepted(map)) << "lower corner -129";
  map = good;
  map.upper_corner[1] = 128;
  EXPECT_FALSE(is_accepted(map)) << "upper corner 128";
  map = good;
  map.lower_corner = {5, 5};
  map.upper_corner = {-5, -5};
  EXPECT_FALSE(is_accepted(map)) << "an empty bounding box";
  map = good;
  map.extent[0] = 512;
  map.stride = {512, 9 * 512, 63 * 512};
  map.box[0] = 256;
  EXPECT_TRUE(is_accepted(map)) << "256 channels";
  map.box[0] = 272;
  EXPECT_FALSE(is_accepted(map)) << "272 channels";
  map = good;
  map.box[1] = 1024;
  EXPECT_TRUE(is_accepted(map)) << "1024 pixels";
  map.box[1] = 1025;
  EXPECT_FALSE(is_accepted(map)) << "1025 pixels";
  map = good;
  map.extent[0] = 48;
  map.box[0] = 48;
  map.stride = {48, 9 * 48, 63 * 48};
  map.swizzle = Swizzle::b32;
  EXPECT_FALSE(is_accepted(map)) << "48 bytes a pixel under a swizzle of 32";
  map = good;
  map.element_stride[1] = 9;
  EXPECT_FALSE(is_accepted(map)) << "a traversal stride of 9";
  map.element_stride[1] = 0;
  EXPECT_FALSE(is_accepted(map)) << "a traversal stride of 0";
}

TEST_F(Im2colOnGpu, TheDriverTakesCornersUpToTheirLimits) {
  for (std::uint32_t rank = 3; rank <= 5; ++rank) {
    TensorMapSpec map = load_of(rank, {.w = 9, .h = 7, .d = 5, .n = 2}, 64).map;
    map.lower_corner.fill(lowest_corner(rank));
    map.upper_corner.fill(highest_corner(rank));
    EXPECT_TRUE(is_accepted(map)) << rank;
    map.lower_corner.fill(lowest_corner(rank) - 1);
    EXPECT_FALSE(is_accepted(map)) << rank;
    map.lower_corner.fill(lowest_corner(rank));
    map.upper_corner.fill(highest_corner(rank) + 1);
    EXPECT_FALSE(is_accepted(map)) << rank;
  }
}

/// No document says: printed, not judged.
TEST_F(Im2colOnGpu, WhatNoDocumentSaysIsPrinted) {
  const TensorMapSpec good = padded(load_of(4, {.w = 9, .h = 7, .n = 2}, 64), 1).map;
  const auto print = [](const char* what, const TensorMapSpec& map) {
    std::printf("cuTensorMapEncodeIm2col: %s: %s\n", what,
                is_accepted(map) ? "accepted" : "refused");
  };
  TensorMapSpec map = good;
  map.box[0] = 8;
  print("8 bytes a pixel", map);
  map.box[0] = 0;
  print("no channels", map);
  map = good;
  map.box[1] = 0;
  print("no pixels", map);
  map = good;
  map.element_stride[0] = 2;
  print("a traversal stride of 2 along C", map);
  map = good;
  map.element_stride[3] = 2;
  print("a traversal stride of 2 along N", map);
}

/// As CUTLASS passes them; cuda.h writes {D, H, W}.
TEST_F(Im2colOnGpu, CornersAreTakenInTheOrderWHD) {
  const Images images{.w = 9, .h = 7, .n = 2};
  const auto walk = [&](std::int32_t lower_w, std::int32_t lower_h) {
    const TileLoad load = load_of(4, images, 0);
    Bytes bytes;
    for (std::int32_t w = 1, h = 1, n = 0, p = 0; p < 40; ++p) {
      for (std::int32_t c = 0; c < 16; ++c)
        bytes.push_back(pixel_byte(load, images, w, h, 0, n, c));
      if (++w < images.w) continue;
      w = lower_w;
      if (++h < images.h) continue;
      h = lower_h;
      ++n;
    }
    return bytes;
  };
  TileLoad load = load_of(4, images, 40);
  load.map.lower_corner = {-2, 1};  // along W, along H
  load.at = {0, 1, 1, 0};
  const Bytes tile = tile_of(load);
  EXPECT_EQ(tile, walk(-2, 1));
}

}  // namespace
}  // namespace tidemark
