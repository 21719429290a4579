// The interleaved half of the oracle against what an H100 (driver 580.159.04) moved, and what it
// refuses.
#include "suite/oracle/place/interleave.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/error.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/place/store_place.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark::suite {
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
  StoreBox box{.map = units().map, .at = {0, 0, 1, 0}, .offset = 1024};
  box.map.swizzle = Swizzle::b128;
  const StorePlace place = store_place(box, kGuardBytes + 1280 + 256 + 16 + 5);
  EXPECT_TRUE(place.stored);
  EXPECT_EQ(place.window_offset, 1024U + 128 + 5);
  EXPECT_EQ(place.element, (std::array<std::int64_t, kMaxRank>{1, 1, 1, 0, 0}));
}

TEST(InterleaveOracle, AStoreLeavesOtherSlicesAlone) {
  StoreBox box{.map = units().map, .at = {1, 0, 1, 0}, .offset = 1024};
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
}  // namespace tidemark::suite
