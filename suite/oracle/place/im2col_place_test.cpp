// The im2col half of the load oracle against the plain loops of a convolution.
#include "suite/oracle/place/im2col_place.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/error.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/place/store_place.hpp"

namespace tidemark::suite {
namespace {

// Two images of 5 x 4 pixels of 16 channels of u16, padded by one on all sides.
TileLoad convolution() {
  return {.map = {.type = DataType::u16,
                  .rank = 4,
                  .extent = {16, 5, 4, 2},
                  .stride = {48, 256, 1024},
                  .box = {16, 40},
                  .im2col = true,
                  .lower_corner = {-1, -1},
                  .upper_corner = {-1, -1}},
          .at = {0, -1, -1, 0},
          .payload = {.seed = 5}};
}

std::uint16_t element(const std::vector<std::uint8_t>& bytes, std::uint64_t at) {
  std::uint16_t value = 0;
  std::memcpy(&value, &bytes[at], sizeof(value));
  return value;
}

TEST(Im2colOracle, BringsWhatAConvolutionOfThreeByThreeMultiplies) {
  for (std::int32_t r = 0; r < 3; ++r)
    for (std::int32_t s = 0; s < 3; ++s) {
      TileLoad load = convolution();
      load.im2col_offsets = {static_cast<std::uint16_t>(s), static_cast<std::uint16_t>(r)};
      const Expectation expected = predict(load);
      std::uint64_t at = kGuardBytes;
      for (std::int32_t n = 0; n < 2; ++n)
        for (std::int32_t p = 0; p < 4; ++p)
          for (std::int32_t q = 0; q < 5; ++q)
            for (std::int32_t c = 0; c < 16; ++c, at += 2) {
              const std::int32_t h = p + r - 1, w = q + s - 1;
              const bool inside = h >= 0 && h < 4 && w >= 0 && w < 5;
              const auto from =
                  static_cast<std::uint64_t>(kGuardBytes + 1024 * n + 256 * h + 48 * w + 2 * c);
              ASSERT_EQ(element(expected.bytes, at),
                        inside ? element(expected.surroundings, from) : 0)
                  << r << s << " at " << n << p << q << c;
            }
    }
}

TEST(Im2colOracle, StridesTakeEverySecondWindow) {
  TileLoad load = convolution();
  load.map.element_stride = {1, 2, 2, 1, 1};
  load.map.box[1] = 12;
  load.im2col_offsets = {1, 1};
  const Expectation expected = predict(load);
  std::uint64_t at = kGuardBytes;
  for (std::uint64_t n = 0; n < 2; ++n)
    for (std::uint64_t h = 0; h < 4; h += 2)
      for (std::uint64_t w = 0; w < 5; w += 2)
        for (std::uint64_t c = 0; c < 16; ++c, at += 2)
          ASSERT_EQ(
              element(expected.bytes, at),
              element(expected.surroundings, kGuardBytes + 1024 * n + 256 * h + 48 * w + 2 * c));
}

TEST(Im2colOracle, FillsChannelsBehindTheLastAndImagesBehindTheBatch) {
  TileLoad load = convolution();
  load.map.extent[0] = 13;
  load.at = {8, 0, 0, 1};
  load.map.lower_corner = {0, 0};
  load.map.upper_corner = {0, 0};
  const Expectation expected = predict(load);
  for (std::uint64_t i = 0; i < 16; ++i)
    EXPECT_EQ(element(expected.bytes, kGuardBytes + 2 * i),
              i < 5 ? element(expected.surroundings, kGuardBytes + 1024 + 16 + 2 * i) : 0);
  EXPECT_NE(element(expected.bytes, kGuardBytes + 19 * 32), 0);  // the last pixel of the last image
  for (std::uint64_t i = 0; i < 20 * 16; ++i)
    EXPECT_EQ(element(expected.bytes, kGuardBytes + 20 * 32 + 2 * i), 0);
}

TEST(Im2colOracle, RefusesFirstPixelsOffTheTraversalStrideOrTheBox) {
  TileLoad load = convolution();
  load.map.element_stride = {1, 2, 1, 1, 1};
  EXPECT_NO_THROW(predict(load));
  load.at[1] = 0;
  EXPECT_THROW(predict(load), Error);
  load.at[1] = 5;
  EXPECT_THROW(predict(load), Error);
}

TEST(Im2colOracle, RefusesStridesAlongTheBatchAndWideOffsets) {
  TileLoad load = convolution();
  load.map.element_stride[3] = 2;
  EXPECT_THROW(predict(load), Error);
  load = convolution();
  load.im2col_offsets[1] = 256;
  EXPECT_THROW(predict(load), Error);
}

// Pixels that a load without offsets brings are those that a store puts back.
TEST(Im2colOracle, AStoreTakesBackWhatALoadBrings) {
  TileLoad load = convolution();
  load.map.lower_corner = {1, 1};
  load.map.upper_corner = {0, -1};
  load.map.upper_corner[0] = -1;
  load.map.box[1] = 9;
  load.at = {0, 2, 1, 0};
  const StoreBox box{.map = load.map, .at = load.at, .offset = kGuardBytes};
  std::uint32_t found = 0;
  for (std::uint32_t number = 0; number < 16 * 9; ++number) {
    const TilePlace place = im2col_element_at(load, 2 * number);
    const StorePlace stored = store_place(box, place.source_offset);
    EXPECT_EQ(stored.element, place.element);
    EXPECT_EQ(stored.window_offset, kGuardBytes + 2 * number);
    found += stored.stored ? 1 : 0;
  }
  EXPECT_EQ(found, 16U * 9);
  const auto is_stored = [&](std::uint64_t w, std::uint64_t h) {
    return store_place(box, kGuardBytes + 48 * w + 256 * h).stored;
  };
  EXPECT_FALSE(is_stored(1, 1));  // before it
  EXPECT_FALSE(is_stored(0, 1));  // of no bounding box
  EXPECT_TRUE(is_stored(2, 1));
  EXPECT_FALSE(store_place(box, kGuardBytes + 48 * 2 + 256 + 32).stored);  // behind its channels
}

}  // namespace
}  // namespace tidemark::suite
