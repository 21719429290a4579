// Where the bytes of a tile lie: the pull side of the oracle, used to predict and to explain.
#include "suite/oracle/place.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <vector>

#include "kernels/error.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
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
  const StoreTarget box{.map = load.map, .at = load.at, .offset = kGuardBytes};
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

namespace {

// Sixteen units of 16 bytes along W, five rows, four slices, three images.
TileLoad units() {
  return {.map = {.type = DataType::u16,
                  .rank = 4,
                  .extent = {16, 5, 4, 3},
                  .stride = {256, 1280, 5120},
                  .box = {8, 3, 16, 1},
                  .interleave = Interleave::b16},
          .held_to = HeldTo::measurement,
          .payload = {.seed = 5}};
}

// Bytes `place` to `place` + 16 of the tile are those of the tensor from `from` on.
void expect_chunk(const Expectation& expected, std::uint64_t place, std::uint64_t from) {
  for (std::uint64_t i = 0; i < 16; ++i)
    EXPECT_EQ(expected.bytes[kGuardBytes + place + i],
              expected.surroundings[kGuardBytes + from + i])
        << place << " + " << i;
}

void expect_zeros(const Expectation& expected, std::uint64_t place) {
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_EQ(expected.bytes[kGuardBytes + place + i], 0);
}

TEST(InterleaveOracle, TakesEachUnitThatLiesAnElementStrideApart) {
  TileLoad load = units();
  load.at[0] = -1;
  load.map.element_stride = {3, 2, 1, 1, 1};
  const Expectation expected = predict(load);
  expect_zeros(expected, 0);
  expect_chunk(expected, 16, 32);
  expect_chunk(expected, 32, 80);
  expect_zeros(expected, 48);
  expect_chunk(expected, 64, 544);
  expect_chunk(expected, 80, 592);
}

TEST(InterleaveOracle, PutsNarrowRowsSideBySide) {
  TileLoad load = units();
  load.map.element_stride[0] = 4;
  load.map.swizzle = Swizzle::b128;
  const Expectation expected = predict(load);
  expect_chunk(expected, 0, 0);
  expect_chunk(expected, 16, 64);
  expect_chunk(expected, 32, 256);
  expect_chunk(expected, 48, 320);
  expect_chunk(expected, 64, 512);
  expect_chunk(expected, 80, 576);
}

TEST(InterleaveOracle, SwizzlesHalvesOf32Bytes) {
  TileLoad load = units();
  load.map.type = DataType::u32;
  load.map.extent[0] = 6;
  load.map.stride = {192, 1024, 4096};
  load.map.box = {4, 3, 16, 1};
  load.map.interleave = Interleave::b32;
  load.map.swizzle = Swizzle::b32;
  const Expectation expected = predict(load);
  expect_chunk(expected, 112, 112);
  expect_chunk(expected, 128, 208);
  expect_chunk(expected, 144, 192);
  expect_chunk(expected, 240, 288);
  expect_chunk(expected, 256, 384);
}

TEST(InterleaveOracle, FillsUnitsBehindTheEndAndSlicesThatThereAreNot) {
  TileLoad load = units();
  load.at[0] = 12;
  const Expectation expected = predict(load);
  expect_chunk(expected, 48, 240);
  expect_zeros(expected, 64);
  for (const std::int32_t slice : {-1, 4}) {
    load.at = {0, 0, slice, 0};
    const Expectation outside = predict(load);
    for (std::uint64_t place = 0; place < 384; place += 16) expect_zeros(outside, place);
  }
}

TEST(InterleaveOracle, FillsWithTheNanThatWasMeasured) {
  TileLoad load = units();
  load.map.type = DataType::f16;
  load.map.fill = Fill::nan;
  load.at[2] = 4;
  const Expectation expected = predict(load);
  for (std::uint64_t i = 0; i < 384; i += 2) {
    EXPECT_EQ(expected.bytes[kGuardBytes + i], 0xf7);
    EXPECT_EQ(expected.bytes[kGuardBytes + i + 1], 0x7f);
    EXPECT_EQ(expected.compare[kGuardBytes + i], Compare::exact);
  }
}

TEST(InterleaveOracle, AStorePutsTheSecondRowsUnitsWhereTheSwizzleHasThem) {
  StoreTarget box{.map = units().map, .at = {0, 0, 1, 0}, .offset = 1024};
  box.map.swizzle = Swizzle::b128;
  const StorePlace place = store_place(box, kGuardBytes + 1280 + 256 + 16 + 5);
  EXPECT_TRUE(place.stored);
  EXPECT_EQ(place.window_offset, 1024U + 128 + 5);
  EXPECT_EQ(place.element, (std::array<std::int64_t, kMaxRank>{1, 1, 1, 0, 0}));
}

TEST(InterleaveOracle, AStoreLeavesOtherSlicesAlone) {
  StoreTarget box{.map = units().map, .at = {1, 0, 1, 0}, .offset = 1024};
  const auto is_stored = [&](std::uint64_t slice, std::uint64_t unit) {
    return store_place(box, kGuardBytes + 1280 * slice + 16 * unit).stored;
  };
  EXPECT_TRUE(is_stored(1, 1));
  EXPECT_FALSE(is_stored(1, 0));
  EXPECT_TRUE(is_stored(1, 8));
  EXPECT_FALSE(is_stored(1, 9));  // behind the box
  EXPECT_FALSE(is_stored(0, 1));
  EXPECT_FALSE(is_stored(2, 1));
}

TEST(InterleaveOracle, RefusesRowsThatAreHeldToDocuments) {
  TileLoad load = units();
  EXPECT_NO_THROW(predict(load));
  load.held_to = HeldTo::documents;
  EXPECT_THROW(predict(load), Error);
  load.held_to = HeldTo::record;
  EXPECT_THROW(predict(load), Error);
}

TEST(InterleaveOracle, RefusesWhatTheDriverTakesAndCudaHForbids) {
  TileLoad load = units();
  load.map.interleave = Interleave::b32;
  load.map.stride = {512, 2560, 10240};
  EXPECT_THROW(predict(load), Error);  // no swizzle
  load.map.swizzle = Swizzle::b32;
  EXPECT_NO_THROW(predict(load));
  load.map.base_offset = 16;
  EXPECT_THROW(predict(load), Error);
  load.map.base_offset = 0;
  load.map.stride[1] += 16;
  EXPECT_THROW(predict(load), Error);
}

TEST(InterleaveOracle, RefusesTilesThatEndWithinWhatTheSwizzleExchanges) {
  TileLoad load = units();
  load.map.element_stride[0] = 4;
  load.map.swizzle = Swizzle::b128;
  EXPECT_NO_THROW(predict(load));  // 96 bytes, of which it exchanges none
  load.destination_offset = 128;
  EXPECT_THROW(predict(load), Error);
  load.map.box[1] = 4;
  EXPECT_NO_THROW(predict(load));
}

TEST(InterleaveOracle, RefusesIm2colMaps) {
  TileLoad load = units();
  load.map.im2col = true;
  EXPECT_THROW(predict(load), Error);
}

TEST(InterleaveOracle, RefusesRank2) {
  TileLoad load = units();
  load.map.rank = 2;
  EXPECT_THROW(predict(load), Error);
}

TEST(InterleaveOracle, RefusesStoresWithElementStridesReductionsMulticastsAndPrefetches) {
  Program program{.window = 4096,
                  .barriers = 1,
                  .regions = {{.bytes = 65536}},
                  .maps = {{.spec = units().map}},
                  .steps = {},
                  .held_to = HeldTo::measurement,
                  .payload = {}};
  const Step fill{.verb = Verb::fill, .bytes = 4096}, commit{.verb = Verb::commit};
  const Step wait{.verb = Verb::wait_group};
  Step store{.verb = Verb::store, .offset = 1024};
  program.steps = {fill, store, commit, wait};
  EXPECT_NO_THROW(predict(program));
  program.maps[0].spec.element_stride[0] = 2;
  EXPECT_THROW(predict(program), Error);
  program.maps[0].spec.element_stride[0] = 1;
  program.steps[1].reduction = Reduction::bit_xor;
  EXPECT_THROW(predict(program), Error);
  program.steps = {{.verb = Verb::prefetch}};
  EXPECT_THROW(predict(program), Error);
  program.steps = {{.verb = Verb::init},
                   {.verb = Verb::arrive_expect_tx, .bytes = 384},
                   {.verb = Verb::load, .offset = 1024},
                   {.verb = Verb::wait, .stops = true, .ns = 1000}};
  EXPECT_NO_THROW(predict(program));
  program.steps[2].mask = 1;
  EXPECT_THROW(predict(program), Error);
}

}  // namespace

}  // namespace tidemark
