// The round-trip oracle on trips small enough to predict by hand, and its comparator where it must
// complain.
#include "suite/oracle/tile_round_trip.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/error.hpp"

namespace tidemark::suite {
namespace {

// 8 x 8 elements of four bytes, counted, in 4 x 4 tiles.
TileRoundTrip matrix(DataType type) {
  const TensorMapSpec map{.type = type, .extent = {8, 8}, .stride = {32}, .box = {4, 4}};
  const TileWalk walk{.at = {}, .step = {4, 4}, .tiles = {2, 2, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = SourceNumbers::counting,
          .ctas = 4,
          .payload = {.seed = 9}};
}

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, &bytes[offset], 4);
  return value;
}

RunResult right_result(const Expectation& expected) {
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.ledger = expected.ledger;
  return result;
}

TEST(TileRoundTripOracle, AddsTheIndexInTheTile) {
  const Expectation expected = predict(matrix(DataType::u32));
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * (8 * 5 + 6)), 8U * 5 + 6 + 4 * 1 + 2);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 63), 63U + 15);
}

TEST(TileRoundTripOracle, AddsInF32) {
  const Expectation expected = predict(matrix(DataType::f32));
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 63), std::bit_cast<std::uint32_t>(78.0F));
}

TEST(TileRoundTripOracle, MemoryAroundTheDestinationStaysPoison) {
  const Expectation expected = predict(matrix(DataType::u32));
  EXPECT_EQ(expected.bytes[1023], poison_byte({.seed = 9}, 1023));
  EXPECT_EQ(expected.bytes[1024 + 256], poison_byte({.seed = 9}, 1024 + 256));
}

TEST(TileRoundTripOracle, TheSourceStaysUnlessInPlace) {
  TileRoundTrip trip = matrix(DataType::u32);
  EXPECT_EQ(word(predict(trip).surroundings, 1024 + 4 * 63), 63U);
  trip.in_place = true;
  EXPECT_TRUE(predict(trip).surroundings.empty());
}

TEST(TileRoundTripOracle, EachBlockKeepsItsLastTile) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.ctas = 1;
  trip.stages = 3;  // tiles 0 and 3 go through stage 0
  const Expectation expected = predict(trip);
  const std::size_t window = 1024 + 256 + 1024;
  EXPECT_EQ(word(expected.bytes, window + 1024), 36U);            // element (4, 4)
  EXPECT_EQ(word(expected.bytes, window + 1024 + 128), 4U);       // tile 1: element (4, 0)
  EXPECT_EQ(word(expected.bytes, window + 1024 + 2 * 128), 32U);  // tile 2: element (0, 4)
  EXPECT_EQ(expected.bytes[window + 1024 + 64], poison_byte({.seed = 9}, 1024 + 64));
}

TEST(TileRoundTripOracle, StoreUndoesTheSwizzleOfTheLoad) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.work = TileWork::identity;
  trip.from.swizzle = trip.to.swizzle = Swizzle::b32;
  trip.from.box = trip.to.box = {8, 8};
  trip.load = trip.store = {};
  trip.ctas = 1;
  const Expectation expected = predict(trip);
  for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(word(expected.bytes, 1024 + 4 * i), i);
  const std::size_t window = 1024 + 256 + 1024;
  EXPECT_EQ(word(expected.bytes, window + 1024 + 128), 36U);  // chunks change places in row 4
}

TEST(TileRoundTripOracle, StoreWithoutTheSwizzleOfTheLoadShowsIt) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.work = TileWork::identity;
  trip.from.swizzle = Swizzle::b32;
  trip.from.box = trip.to.box = {8, 8};
  trip.load = trip.store = {};
  trip.ctas = 1;
  const Expectation expected = predict(trip);
  EXPECT_EQ(word(expected.bytes, 1024), 0U);
  EXPECT_EQ(word(expected.bytes, 1024 + 128), 36U);
  EXPECT_EQ(word(expected.bytes, 1024 + 128 + 16), 32U);
}

TEST(TileRoundTripOracle, WhatLiesOutsideTheSourceIsStoredAsZero) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.work = TileWork::identity;
  trip.from.extent = {7, 8};
  const Expectation expected = predict(trip);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 6), 6U);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 7), 0U);
}

TEST(TileRoundTripOracle, StepsLargerThanTheTileLeaveAGapInTheLoadOnly) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.work = TileWork::identity;
  trip.from.extent = {16, 8};
  trip.from.stride = {64};
  trip.load.step = {8, 4};
  const Expectation expected = predict(trip);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 3), 3U);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 4), 8U);
}

TEST(TileRoundTripOracle, StepsLargerThanTheTileLeavePoisonBetweenStores) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.work = TileWork::identity;
  trip.to.extent = {12, 8};
  trip.to.stride = {48};
  trip.store.step = {8, 4};
  const Expectation expected = predict(trip);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 3), 3U);
  EXPECT_EQ(word(expected.bytes, 1024 + 4 * 8), 4U);
  for (std::size_t i = 1024 + 16; i < 1024 + 32; ++i)
    EXPECT_EQ(expected.bytes[i], poison_byte({.seed = 9}, i)) << i;
}

void expect_refused(const TileRoundTrip& trip, const char* part_of_text) {
  try {
    predict(trip);
    ADD_FAILURE() << "predicted, although: " << part_of_text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part_of_text), std::string::npos) << error.what();
  }
}

TEST(TileRoundTripOracle, RefusesARowCutOff16Bytes) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.to.extent = {7, 8};
  expect_refused(trip, "off 16 bytes");
}

TEST(TileRoundTripOracle, RefusesStoresOverOneAnother) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.store.step = {4, 3};
  expect_refused(trip, "over one another");
}

TEST(TileRoundTripOracle, RefusesAStoreBeforeTheTensor) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.store.at = {0, -1};
  expect_refused(trip, "before the tensor");
}

TEST(TileRoundTripOracle, RefusesSumsOfHashedFloats) {
  TileRoundTrip trip = matrix(DataType::f32);
  trip.numbers = SourceNumbers::hash;
  expect_refused(trip, "not exact");
}

TEST(TileRoundTripOracle, RefusesTypesThatACopyMayConvert) {
  expect_refused(matrix(DataType::tf32), "converts");
}

TEST(TileRoundTripOracle, RefusesToMoveTilesInPlace) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.in_place = true;
  trip.store.at = {4, 0};
  expect_refused(trip, "where it came from");
}

TEST(TileRoundTripOracle, RefusesAWalkOff16Bytes) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.load.step = {2, 4};
  expect_refused(trip, "faults");
}

TEST(CompareTileRoundTrip, SaysNothingWhereAllAgrees) {
  const TileRoundTrip trip = matrix(DataType::u32);
  const Expectation expected = predict(trip);
  EXPECT_TRUE(compare(trip, expected, right_result(expected), 0).empty());
}

TEST(CompareTileRoundTrip, ComplainsAboutEachByte) {
  TileRoundTrip trip = matrix(DataType::u32);
  trip.ctas = 1;
  const Expectation expected = predict(trip);
  for (std::size_t i = 0; i < expected.bytes.size(); ++i) {
    RunResult result = right_result(expected);
    result.bytes[i] ^= 0x20;
    const auto found = compare(trip, expected, result, 2);
    ASSERT_EQ(found.size(), 1U) << i;
    EXPECT_EQ(found[0].first_offset, i);
    const bool tensor = i >= 1024 && i < 1024 + 256;
    EXPECT_EQ(found[0].what, tensor ? "byte" : i < 2304 ? "guard" : "window") << i;
  }
}

TEST(CompareTileRoundTrip, ComplainsAboutTheSource) {
  const TileRoundTrip trip = matrix(DataType::u32);
  const Expectation expected = predict(trip);
  RunResult result = right_result(expected);
  result.surroundings[1500] ^= 1;
  const auto found = compare(trip, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "source");
}

TEST(CompareTileRoundTrip, ComplainsAboutTheLedger) {
  const TileRoundTrip trip = matrix(DataType::u32);
  const Expectation expected = predict(trip);
  RunResult result = right_result(expected);
  result.ledger.announced -= 64;
  const auto found = compare(trip, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "barrier: announced");
}

TEST(CompareTileRoundTrip, ComplainsOnceAboutBytesThatAreMissing) {
  const TileRoundTrip trip = matrix(DataType::u32);
  const Expectation expected = predict(trip);
  RunResult result = right_result(expected);
  result.bytes.resize(100);
  const auto found = compare(trip, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("got 100"), std::string::npos) << found[0].text;
}

}  // namespace
}  // namespace tidemark::suite
