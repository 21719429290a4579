// The tile-load oracle on loads small enough to predict by hand.
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/place.hpp"

namespace tidemark {
namespace {

// A tensor of 64 x 5 bytes, 80 bytes from row to row; the box is 32 x 3.
TileLoad small_load() {
  TileLoad load;
  load.map.type = DataType::u8;
  load.map.rank = 2;
  load.map.extent = {64, 5};
  load.map.stride = {80};
  load.map.box = {32, 3};
  load.payload.seed = 7;
  return load;
}

std::uint8_t tensor_byte(const TileLoad& load, std::uint64_t offset) {
  return source_byte(load.payload, kGuardBytes + load.map.base_offset + offset);
}

TEST(TileLoadOracle, FirstByteOfTheBoxIsTheElementAtItsCoordinates) {
  TileLoad load = small_load();
  load.at = {16, 2};
  EXPECT_EQ(predict(load).bytes[1024], tensor_byte(load, 2 * 80 + 16));
}

TEST(TileLoadOracle, RowsOfTheBoxFollowOneAnotherInShared) {
  const TileLoad load = small_load();
  EXPECT_EQ(predict(load).bytes[1024 + 2 * 32 + 5], tensor_byte(load, 2 * 80 + 5));
}

TEST(TileLoadOracle, BaseOffsetMovesTheTensor) {
  TileLoad load = small_load();
  load.map.base_offset = 48;
  EXPECT_EQ(predict(load).bytes[1024], source_byte(load.payload, 1024 + 48));
}

TEST(TileLoadOracle, DestinationOffsetMovesTheTile) {
  TileLoad load = small_load();
  load.destination_offset = 384;
  const Expectation expected = predict(load);
  EXPECT_EQ(expected.bytes[1024 + 384], tensor_byte(load, 0));
  EXPECT_EQ(expected.bytes[1024 + 383], poison_byte(load.payload, 1024 + 383));
}

TEST(TileLoadOracle, GuardsStayPoison) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  ASSERT_EQ(expected.bytes.size(), 1024U + 96U + 1024U);
  EXPECT_EQ(expected.bytes[1023], poison_byte(load.payload, 1023));
  EXPECT_EQ(expected.bytes[1024 + 96], poison_byte(load.payload, 1024 + 96));
}

TEST(TileLoadOracle, NarrowRowsLieAWidthOfTheSwizzleApartWithPoisonBetween) {
  TileLoad load = small_load();
  load.map.swizzle = Swizzle::b128;
  load.map.box = {16, 4};
  load.held_to = HeldTo::measurement;
  const Expectation expected = predict(load);
  ASSERT_EQ(expected.bytes.size(), 1024U + 512U + 1024U);
  EXPECT_EQ(expected.bytes[1024], tensor_byte(load, 0));
  EXPECT_EQ(expected.bytes[1024 + 16], poison_byte(load.payload, 1024 + 16));
  EXPECT_EQ(expected.bytes[1024 + 128 + 16], tensor_byte(load, 80));
  EXPECT_EQ(expected.bytes[1024 + 256 + 32 + 15], tensor_byte(load, 160 + 15));
}

TEST(TileLoadOracle, NarrowRowsHaveNoPredictionFromDocuments) {
  TileLoad load = small_load();
  load.map.swizzle = Swizzle::b128;
  EXPECT_THROW(predict(load), Error);
}

TEST(TileLoadOracle, SourceStaysAsItWas) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  ASSERT_EQ(expected.surroundings.size(), source_allocation_bytes(load));
  EXPECT_EQ(expected.surroundings[0], source_byte(load.payload, 0));
  EXPECT_EQ(expected.surroundings[1999], source_byte(load.payload, 1999));
}

TEST(TileLoadOracle, ElementsPastARowAreZeroAlthoughMemoryIsNot) {
  TileLoad load = small_load();
  load.at = {48, 0};
  const Expectation expected = predict(load);
  EXPECT_EQ(expected.bytes[1024 + 15], tensor_byte(load, 63));
  EXPECT_EQ(expected.bytes[1024 + 16], 0);
  EXPECT_NE(tensor_byte(load, 64), 0);
}

TEST(TileLoadOracle, NegativeCoordinatesAreOutside) {
  TileLoad load = small_load();
  load.at = {0, -1};
  const Expectation expected = predict(load);
  EXPECT_EQ(expected.bytes[1024 + 31], 0);
  EXPECT_EQ(expected.bytes[1024 + 32], tensor_byte(load, 0));
}

TEST(TileLoadOracle, CoordinatesPast32BitsDoNotWrap) {
  TileLoad load = small_load();
  load.at = {0, 0x7fffffff};
  load.map.box = {32, 256};
  EXPECT_EQ(predict(load).bytes[1024 + 32 * 200], 0);
}

TEST(TileLoadOracle, ElementStrideTakesEverySecondRow) {
  TileLoad load = small_load();
  load.map.element_stride = {1, 2, 1, 1, 1};
  const Expectation expected = predict(load);
  EXPECT_EQ(expected.bytes[1024 + 32], tensor_byte(load, 2 * 80));
}

TEST(TileLoadOracle, ElementStrideOfDimensionZeroIsIgnored) {
  TileLoad load = small_load();
  load.map.element_stride = {2, 1, 1, 1, 1};
  EXPECT_EQ(predict(load).bytes[1024 + 1], tensor_byte(load, 1));
}

TEST(TileLoadOracle, NanFillMarksWholeElementsOutside) {
  TileLoad load = small_load();
  load.map.type = DataType::f32;
  load.map.extent = {17, 5};
  load.map.box = {8, 3};
  load.map.fill = Fill::nan;
  load.at = {16, 0};
  const Expectation expected = predict(load);
  EXPECT_EQ(expected.compare[1024 + 3], Compare::exact);
  EXPECT_EQ(expected.compare[1024 + 4], Compare::nan_element);
  EXPECT_EQ(expected.compare[1024 + 31], Compare::nan_element);
  EXPECT_EQ(expected.compare[1024 + 32], Compare::exact);
}

// What a load of four words by a map of `type` leaves of them.
Expectation converted(DataType type, HeldTo held_to, const std::vector<std::uint32_t>& words) {
  TileLoad load = small_load();
  load.map.type = type;
  load.map.extent = {4, 1};
  load.map.box = {4, 1};
  load.held_to = held_to;
  std::vector<std::uint8_t> source(source_allocation_bytes(load));
  std::memcpy(&source[kGuardBytes], words.data(), 16);
  Expectation found;
  found.bytes.resize(window_bytes(load));
  pull_tile(load, source, found.bytes, found.compare);
  return found;
}

std::vector<std::uint32_t> words_of(const Expectation& found) {
  std::vector<std::uint32_t> words(4);
  std::memcpy(words.data(), &found.bytes[kGuardBytes], 16);
  return words;
}

TEST(TileLoadOracle, WhatTf32MayRoundIsNotJudgedByDocuments) {
  const Expectation found = converted(DataType::tf32, HeldTo::documents,
                                      {0x3f802000, 0x3f800001, 0x7f800000, 0x7fc00000});
  EXPECT_EQ(found.compare[kGuardBytes], Compare::exact);
  EXPECT_EQ(found.compare[kGuardBytes + 4], Compare::recorded);
  EXPECT_EQ(found.compare[kGuardBytes + 7], Compare::recorded);
  EXPECT_EQ(found.compare[kGuardBytes + 8], Compare::exact);
  EXPECT_EQ(found.compare[kGuardBytes + 12], Compare::recorded);
}

TEST(TileLoadOracle, OnlySubnormalNumbersAndNanOfF32FtzAreNotJudgedByDocuments) {
  const Expectation found = converted(DataType::f32_ftz, HeldTo::documents,
                                      {0x3f800001, 0x00000001, 0x80000000, 0xffffffff});
  EXPECT_EQ(found.compare[kGuardBytes], Compare::exact);
  EXPECT_EQ(found.compare[kGuardBytes + 4], Compare::recorded);
  EXPECT_EQ(found.compare[kGuardBytes + 8], Compare::exact);
  EXPECT_EQ(found.compare[kGuardBytes + 12], Compare::recorded);
}

TEST(TileLoadOracle, Tf32RoundsHalvesToEvenAsMeasured) {
  const Expectation found = converted(DataType::tf32, HeldTo::measurement,
                                      {0x3f801000, 0x3f803000, 0x00001000, 0x00001001});
  EXPECT_EQ(words_of(found),
            (std::vector<std::uint32_t>{0x3f800000, 0x3f804000, 0x00000000, 0x00002000}));
}

TEST(TileLoadOracle, Tf32HasOneNanAndRoundsUpToInfinityAsMeasured) {
  const Expectation found = converted(DataType::tf32_ftz, HeldTo::measurement,
                                      {0x7f800001, 0xffffffff, 0x7f7ff000, 0xff800000});
  EXPECT_EQ(words_of(found),
            (std::vector<std::uint32_t>{0x7fffe000, 0x7fffe000, 0x7f800000, 0xff800000}));
}

TEST(TileLoadOracle, F32FtzFlushesNothingAsMeasured) {
  const std::vector<std::uint32_t> words{0x00000001, 0x807fffff, 0x7f800001, 0x3f801000};
  EXPECT_EQ(words_of(converted(DataType::f32_ftz, HeldTo::measurement, words)), words);
}

TEST(TileLoadOracle, InvertedPayloadFlipsDataAndPoisonButNotFill) {
  TileLoad load = small_load();
  load.at = {48, 0};
  const Expectation plain = predict(load);
  load.payload.inverted = true;
  const Expectation inverted = predict(load);
  EXPECT_EQ(inverted.bytes[0], static_cast<std::uint8_t>(~plain.bytes[0]));
  EXPECT_EQ(inverted.bytes[1024], static_cast<std::uint8_t>(~plain.bytes[1024]));
  EXPECT_EQ(inverted.bytes[1024 + 16], 0);
}

// Eight rows and a bit of 128 bytes.
TileLoad swizzled_load(Swizzle swizzle, std::uint32_t inner, std::uint32_t rows) {
  TileLoad load;
  load.map.rank = 2;
  load.map.extent = {256, 80};
  load.map.stride = {256};
  load.map.box = {inner, rows};
  load.map.swizzle = swizzle;
  return load;
}

TEST(TileLoadOracle, Swizzle128PutsChunkSevenFirstInRowSeven) {
  const TileLoad load = swizzled_load(Swizzle::b128, 128, 9);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 7 * 128), 7U * 128 + 7 * 16);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 7 * 128 + 16 * 2 + 3), 7U * 128 + 5 * 16 + 3);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 8 * 128), 8U * 128);
}

TEST(TileLoadOracle, Swizzle64TurnsEvery128BytesAndRepeatsAfter512) {
  const TileLoad load = swizzled_load(Swizzle::b64, 64, 20);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 64), 64U);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 3 * 128), 3U * 128 + 3 * 16);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 512), 512U);
}

TEST(TileLoadOracle, Swizzle32ExchangesPairsInOddRows) {
  const TileLoad load = swizzled_load(Swizzle::b32, 32, 20);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 48), 48U);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 128 + 48), 128U + 32);
  EXPECT_EQ(unswizzled_byte(load, 1024 + 256 + 48), 256U + 48);
}

TEST(TileLoadOracle, SwizzlePhaseIsThatOfTheAddressNotOfTheTile) {
  TileLoad load = swizzled_load(Swizzle::b128, 128, 9);
  load.destination_offset = 128;  // the tile's first row lies on the pattern's second
  EXPECT_EQ(unswizzled_byte(load, 1024 + 128), 16U);
}

void expect_refused(const TileLoad& load, const char* part_of_text) {
  try {
    predict(load);
    ADD_FAILURE() << "predicted, although: " << part_of_text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part_of_text), std::string::npos) << error.what();
  }
}

TEST(TileLoadOracle, RefusesARowShorterThanTheSwizzle) {
  expect_refused(swizzled_load(Swizzle::b128, 64, 4), "make them equal");
}

TEST(TileLoadOracle, RefusesAnInnerCoordinateOff16Bytes) {
  TileLoad load = small_load();
  load.at = {-1, 0};
  expect_refused(load, "off 16 bytes");
}

TEST(TileLoadOracle, RefusesABoxRowOff16Bytes) {
  TileLoad load = small_load();
  load.map.box = {24, 3};
  expect_refused(load, "takes multiples of 16");
}

TEST(TileLoadOracle, RefusesNanFillOfIntegers) {
  TileLoad load = small_load();
  load.map.fill = Fill::nan;
  expect_refused(load, "floating");
}

TEST(TileLoadOracle, RefusesADestinationOff128Bytes) {
  TileLoad load = small_load();
  load.destination_offset = 64;
  expect_refused(load, "multiple of 128");
}

TEST(TileLoadOracle, RefusesATileWhoseSizeLeaves32Bits) {
  TileLoad load = small_load();
  load.map.type = DataType::u64;
  load.map.rank = 5;
  load.map.extent = {256, 1, 1, 1, 1};
  load.map.box = {256, 256, 256, 256, 256};  // 2^43 bytes: 0 in 32 bits
  expect_refused(load, "cannot be announced");
}

// cuda.h, elementStrides: 1 to 8 in each dimension, also in the inner one, where the copy ignores
// it.
TEST(TileLoadOracle, RefusesElementStridesOf0And9InEachDimension) {
  for (const std::uint32_t step : {0U, 9U})
    for (std::uint32_t i = 0; i < 2; ++i) {
      TileLoad load = small_load();
      load.map.element_stride[i] = step;
      expect_refused(load, "takes 1 to 8");
    }
}

TEST(TileLoadOracle, RefusesABoxOver256) {
  TileLoad load = small_load();
  load.map.box = {32, 257};
  expect_refused(load, "takes 1 to 256");
}

}  // namespace
}  // namespace tidemark
