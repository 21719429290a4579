// The tile-store oracle on stores small enough to predict by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

// A tensor of 64 x 5 bytes, 80 bytes from row to row; the box is 32 x 3.
TileStore small_store() {
  return {
      .map = {.type = DataType::u8, .rank = 2, .extent = {64, 5}, .stride = {80}, .box = {32, 3}},
      .payload = {.seed = 7}};
}

// What is left of the destination, and of the window at the end.
struct Left {
  std::vector<std::uint8_t> bytes, window;
  std::vector<Compare> compare;
};

Left left(const TileStore& store) {
  const ProgramExpectation expected = predict(checked_program(store));
  return {.bytes = expected.regions,
          .window = expected.snapshots.back().window.bytes,
          .compare = expected.region_compare};
}

StoreTarget first_box(const TileStore& store) {
  return {.map = store.map, .at = store.at, .offset = tile_offset(store, 0)};
}

std::uint8_t source(std::uint64_t window_offset) { return source_byte({.seed = 7}, window_offset); }
std::uint8_t poison(std::uint64_t offset) { return poison_byte({.seed = 7}, offset); }

TEST(TileStoreOracle, TheFirstByteOfTheTileGoesToTheCoordinates) {
  TileStore store = small_store();
  store.at = {16, 2};
  EXPECT_EQ(left(store).bytes[1024 + 2 * 80 + 16], source(1024));
}

TEST(TileStoreOracle, RowsOfTheTileFollowOneAnotherInShared) {
  EXPECT_EQ(left(small_store()).bytes[1024 + 2 * 80 + 5], source(1024 + 2 * 32 + 5));
}

TEST(TileStoreOracle, EverythingBesideTheBoxStaysPoison) {
  const auto bytes = left(small_store()).bytes;
  for (const std::size_t offset : {0U, 1023U, 1024U + 32, 1024U + 79, 1024U + 3 * 80})
    EXPECT_EQ(bytes[offset], poison(offset)) << offset;
}

TEST(TileStoreOracle, BaseAndSourceOffsetMoveTensorAndTile) {
  TileStore store = small_store();
  store.map.base_offset = 48;
  store.source_offset = 256;
  EXPECT_EQ(left(store).bytes[1024 + 48], source(1024 + 256));
}

TEST(TileStoreOracle, WhatLiesBehindTheEndsIsNotWritten) {
  TileStore store = small_store();
  store.at = {48, 4};
  const auto bytes = left(store).bytes;
  EXPECT_EQ(bytes[1024 + 4 * 80 + 63], source(1024 + 15));
  EXPECT_EQ(bytes[1024 + 4 * 80 + 64], poison(1024 + 4 * 80 + 64));
  EXPECT_EQ(bytes[1024 + 5 * 80 + 48], poison(1024 + 5 * 80 + 48));
}

TEST(TileStoreOracle, ASwizzleTakesChunksFromWhereTheTableSays) {
  TileStore store = small_store();
  store.map.swizzle = Swizzle::b32;
  store.map.box[1] = 5;
  const auto bytes = left(store).bytes;
  EXPECT_EQ(bytes[1024 + 3 * 80], source(1024 + 96));        // first 128 bytes: as it stands
  EXPECT_EQ(bytes[1024 + 4 * 80], source(1024 + 128 + 16));  // second: chunks exchanged
  EXPECT_EQ(bytes[1024 + 4 * 80 + 16], source(1024 + 128));
}

TEST(TileStoreOracle, ASwizzleGoesByTheAddressOfTheTile) {
  TileStore store = small_store();
  store.map.swizzle = Swizzle::b32;
  store.source_offset = 128;
  EXPECT_EQ(left(store).bytes[1024], source(1024 + 128 + 16));
}

TEST(TileStoreOracle, YoungerGroupsTakeTheNextTiles) {
  TileStore store = small_store();
  store.stores = 2;
  const auto bytes = left(store).bytes;
  EXPECT_EQ(bytes[1024 + 3 * 80], source(1024 + 128));  // a tile has 96 bytes
  EXPECT_EQ(bytes[1024 + 4 * 80 + 31], source(1024 + 128 + 63));
}

TEST(TileStoreOracle, TheSourceStaysWhereNobodyOverwritesIt) {
  const auto window = left(small_store()).window;
  ASSERT_EQ(window.size(), 1024U + 128 + 1024);
  EXPECT_EQ(window[1024], source(1024));
}

TEST(TileStoreOracle, AReadTileHoldsTheOppositeBitsInTheEnd) {
  TileStore store = small_store();
  store.wait = StoreWait::read;
  const auto window = left(store).window;
  EXPECT_EQ(window[1023], source(1023));
  EXPECT_EQ(window[1024] ^ source(1024), 0xff);
  EXPECT_EQ(window[1024 + 95] ^ source(1024 + 95), 0xff);
  EXPECT_EQ(window[1024 + 96], source(1024 + 96));
  EXPECT_EQ(left(store).bytes[1024], source(1024));
}

// The traces of the waits that read.
std::vector<ExpectedTrace> reads(const TileStore& store, Verb verb) {
  const Program program = checked_program(store);
  const ProgramExpectation expected = predict(program);
  std::vector<ExpectedTrace> found;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb && program.steps[i].region != kNoRegion)
      found.push_back(expected.trace[i]);
  return found;
}

TEST(TileStoreOracle, TheThreadThatWaitedReadsWhatIsStored) {
  const auto found = reads(small_store(), Verb::wait_group);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].value >> 24 & 0xffU, source(1024 + 3));
  EXPECT_EQ(found[1].value >> 24 & 0xffU, source(1024 + 2 * 32 + 16 + 8 + 3));
  EXPECT_EQ(found[0].judged & found[1].judged, ~std::uint64_t{0});
}

TEST(TileStoreOracle, WhatAnotherThreadFindsIsOpen) {
  TileStore store = small_store();
  store.bystander = true;
  const auto found = reads(store, Verb::look);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].judged | found[1].judged, 0U);
}

TEST(TileStoreOracle, AGroupThatIsNotWaitedForIsOpen) {
  TileStore store = small_store();
  store.map.extent[1] = 7;
  store.stores = 2;
  Program program = checked_program(store);
  std::size_t first = 0;
  while (program.steps[first].verb != Verb::wait_group) ++first;
  program.steps[first].pending = 2;
  EXPECT_EQ(predict(program).trace[first].judged, 0U);
  program.steps[first].pending = 1;
  EXPECT_NE(predict(program).trace[first].judged, 0U);
}

TEST(TileStoreOracle, RefusesToOverwriteWhatAStoreMayStillRead) {
  TileStore store = small_store();
  store.stores = 2;
  store.wait = StoreWait::read;
  Program program = checked_program(store);
  const auto wait = std::find_if(program.steps.begin(), program.steps.end(), [](const Step& step) {
    return step.verb == Verb::wait_group_read;
  });
  wait->pending = 2;
  EXPECT_THROW((void)predict(program), Error);
}

TEST(TileStoreOracle, RowsOfTheTensorMayOverlapWhereThoseOfTheBoxDoNot) {
  TileStore store = small_store();
  store.map.stride[0] = 48;
  EXPECT_EQ(left(store).bytes[1024 + 2 * 48 + 5], source(1024 + 2 * 32 + 5));
}

// Heads that lie side by side in memory, as a permuted attention output has them: the rows of one
// head are farther apart than those of two heads.
TileStore permuted_store() {
  TileStore store = small_store();
  store.map.rank = 3;
  store.map.extent = {32, 4, 3};
  store.map.stride = {96, 32};
  store.map.box = {32, 2, 3};
  store.at = {0, 1, 0};
  return store;
}

TEST(TileStoreOracle, StridesNeedNotAscend) {
  const auto bytes = left(permuted_store()).bytes;
  for (std::uint32_t head = 0; head < 3; ++head)
    for (std::uint32_t row = 0; row < 2; ++row)
      for (const std::uint32_t byte : {0U, 31U})
        EXPECT_EQ(bytes[1024 + 96 * (row + 1) + 32 * head + byte],
                  source(1024 + 64 * head + 32 * row + byte))
            << head << row << byte;
  EXPECT_EQ(bytes[1024], poison(1024));
  EXPECT_EQ(bytes[1024 + 3 * 96], poison(1024 + 3 * 96));
}

TEST(TileStoreOracle, AnElementOfPermutedDimensionsIsNamed) {
  const StorePlace stored = store_place(first_box(permuted_store()), 1024 + 2 * 96 + 2 * 32 + 7);
  EXPECT_TRUE(stored.stored);
  EXPECT_EQ(stored.element, (std::array<std::int64_t, kMaxRank>{7, 2, 2, 0, 0}));
  const StorePlace beside = store_place(first_box(permuted_store()), 1024 + 32 + 7);
  EXPECT_FALSE(beside.stored);
  EXPECT_EQ(beside.element, (std::array<std::int64_t, kMaxRank>{7, 0, 1, 0, 0}));
}

TEST(TileStoreOracle, RefusesTwoStoresInFlightToOneAddress) {
  TileStore store = small_store();
  store.stores = 2;
  Program program = checked_program(store);
  for (Step& step : program.steps) step.at = store.at;
  EXPECT_THROW((void)predict(program), Error);
}

TEST(TileStoreOracle, RowsThatEndOff16BytesHaveNoPromise) {
  TileStore store = small_store();
  store.map.extent[0] = 37;
  store.at[0] = 16;
  EXPECT_THROW((void)left(store), Error);
}

TEST(TileStoreOracle, RowsThatEndOff16BytesArePromisedWhereTheBoxEndsBefore) {
  TileStore store = small_store();
  store.map.extent[0] = 37;
  EXPECT_EQ(left(store).bytes[1024 + 31], source(1024 + 31));
}

TEST(TileStoreOracle, MeasuredRowsReachToTheNext16Bytes) {
  TileStore store = small_store();
  store.map.extent[0] = 37;
  store.at[0] = 32;
  store.held_to = HeldTo::measurement;
  const auto bytes = left(store).bytes;
  EXPECT_EQ(bytes[1024 + 47], source(1024 + 15));
  EXPECT_EQ(bytes[1024 + 48], poison(1024 + 48));
}

TEST(TileStoreOracle, PaddingUpToTheNext16BytesHasAPlaceInTheWindow) {
  TileStore store = small_store();
  store.map.extent[0] = 37;
  store.at[0] = 32;
  EXPECT_EQ(store_place(first_box(store), 1024 + 47).window_offset, 1024U + 15);
  EXPECT_TRUE(store_place(first_box(store), 1024 + 47).stored);
  EXPECT_FALSE(store_place(first_box(store), 1024 + 48).stored);
}

TEST(TileStoreOracle, RefusesWhatNoDocumentPromises) {
  const auto refused = [](auto change) {
    TileStore store = small_store();
    change(store);
    EXPECT_THROW((void)left(store), Error);
  };
  refused([](TileStore& store) { store.at[1] = -1; });
  refused([](TileStore& store) { store.at[0] = 8; });
  refused([](TileStore& store) { store.map.element_stride[1] = 2; });
  refused([](TileStore& store) { store.map.stride[0] = 16; });           // rows of the box overlap
  refused([](TileStore& store) { store.map.swizzle = Swizzle::b128; });  // of 32-byte rows
  refused([](TileStore& store) { store.source_offset = 64; });
  refused([](TileStore& store) { store.stores = 0; });
  refused([](TileStore& store) { store.stores = 5; });
  refused([](TileStore& store) { store.map.rank = 6; });
  refused([](TileStore& store) { store.map.box[0] = 24; });
}

// cuda.h, elementStrides: 1 to 8 in each dimension, also in the inner one, where the copy ignores
// it.
TEST(TileStoreOracle, RefusesElementStridesOf0And9InEachDimension) {
  for (const HeldTo held_to : {HeldTo::documents, HeldTo::measurement})
    for (const std::uint32_t step : {0U, 9U})
      for (std::uint32_t i = 0; i < 2; ++i) {
        TileStore store = small_store();
        store.held_to = held_to;
        store.map.element_stride[i] = step;
        EXPECT_THROW((void)left(store), Error) << step << " in dimension " << i;
      }
}

TEST(TileStoreOracle, OfAKernelThatEndsUnwaitedTheBoxIsRecordedAndTheRestIsNot) {
  TileStore store = small_store();
  store.at = {16, 2};
  store.wait = StoreWait::none;
  store.held_to = HeldTo::record;
  const auto compare = left(store).compare;
  EXPECT_EQ(compare[1024 + 2 * 80 + 16], Compare::recorded);
  EXPECT_EQ(compare[1024 + 4 * 80 + 47], Compare::recorded);
  EXPECT_EQ(compare[1024 + 2 * 80 + 15], Compare::exact);
  EXPECT_EQ(compare[1024 + 2 * 80 + 48], Compare::exact);
  EXPECT_EQ(compare[1024 + 80 + 16], Compare::exact);
}

TEST(TileStoreOracle, MeasuredElementStridesWriteEachSecondRowFromPackedOnes) {
  TileStore store = small_store();
  store.map.element_stride[1] = 2;
  store.held_to = HeldTo::measurement;
  const auto bytes = left(store).bytes;
  EXPECT_EQ(bytes[1024], source(1024));
  EXPECT_EQ(bytes[1024 + 80], poison(1024 + 80));
  EXPECT_EQ(bytes[1024 + 2 * 80], source(1024 + 32));
  EXPECT_EQ(bytes[1024 + 3 * 80], poison(1024 + 3 * 80));
}

TEST(TileStoreOracle, WhatNobodyPromisedHasNoPrediction) {
  TileStore store = small_store();
  store.wait = StoreWait::only_read;
  EXPECT_THROW((void)left(store), Error);
  store.wait = StoreWait::complete;
  store.map.element_stride[1] = 2;
  EXPECT_THROW((void)left(store), Error);
}

// Sums of elements of 4 bytes: 16 x 5 of them, 80 bytes from row to row; the box is 8 x 3.
TileStore small_sum() {
  TileStore sum = small_store();
  sum.map.type = DataType::u32;
  sum.map.extent = {16, 5};
  sum.map.box = {8, 3};
  sum.reduction = Reduction::add;
  return sum;
}

std::uint32_t word_of(std::uint8_t (*byte)(std::uint64_t), std::uint64_t at) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 4; ++i) word |= std::uint32_t{byte(at + i)} << (8 * i);
  return word;
}

std::uint32_t word_left(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 4; ++i) word |= std::uint32_t{bytes[at + i]} << (8 * i);
  return word;
}

TEST(TileStoreOracle, ASumIsAddedToWhatIsInMemory) {
  const auto bytes = left(small_sum()).bytes;
  EXPECT_EQ(word_left(bytes, 1024 + 80 + 4),
            word_of(poison, 1024 + 80 + 4) + word_of(source, 1024 + 32 + 4));
  EXPECT_EQ(bytes[1024 + 32], poison(1024 + 32));  // beside the box
}

TEST(TileStoreOracle, SumsIntoOneBoxAreAllThere) {
  TileStore sum = small_sum();
  sum.stores = 2;
  sum.one_box = true;
  const std::uint64_t second = tile_offset(sum, 1);
  EXPECT_EQ(word_left(left(sum).bytes, 1024),
            word_of(poison, 1024) + word_of(source, 1024) + word_of(source, second));
}

TEST(TileStoreOracle, SumsOfRowsAtOneAddressAreAllThere) {
  TileStore sum = small_sum();
  sum.map.stride[0] = 0;
  EXPECT_EQ(word_left(left(sum).bytes, 1024 + 4),
            word_of(poison, 1024 + 4) + word_of(source, 1024 + 4) + word_of(source, 1024 + 32 + 4) +
                word_of(source, 1024 + 64 + 4));
}

// Two threads that store the first tile of `store` to one place; the second waits where the first
// one waits, if at all.
Program of_two_threads(const TileStore& store, bool both_wait) {
  Program program = checked_program(store);
  std::vector<Step> steps;
  for (const Step& step : program.steps) {
    steps.push_back(step);
    const bool waits = step.verb == Verb::wait_group;
    if (step.verb != Verb::store && step.verb != Verb::commit && !(waits && both_wait)) continue;
    Step other = step;
    other.thread = static_cast<std::uint16_t>(step.thread + 1);
    steps.insert(steps.end() - 1, other);
  }
  program.steps = std::move(steps);
  return program;
}

TEST(TileStoreOracle, SumsOfTwoThreadsAreBothThere) {
  const ProgramExpectation expected = predict(of_two_threads(small_sum(), true));
  EXPECT_EQ(word_left(expected.regions, 1024), word_of(poison, 1024) + 2 * word_of(source, 1024));
  EXPECT_TRUE(expected.region_compare.empty());
}

TEST(TileStoreOracle, AThreadDoesNotKnowOfTheSumOfAnother) {
  const Program program = of_two_threads(small_sum(), true);
  const ProgramExpectation expected = predict(program);
  std::size_t reads = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (program.steps[i].verb != Verb::wait_group || program.steps[i].region == kNoRegion) continue;
    EXPECT_EQ(expected.trace[i].judged, 0U);
    ++reads;
  }
  EXPECT_GT(reads, 0U);
}

TEST(TileStoreOracle, ASumThatNobodyWaitedForIsRecordedUnderTheOneThatWasWaitedFor) {
  Program program = of_two_threads(small_sum(), false);
  EXPECT_THROW((void)predict(program), Error);
  program.held_to = HeldTo::record;
  EXPECT_EQ(predict(program).region_compare[1024], Compare::recorded);
}

TEST(TileStoreOracle, TwoStoresOfTheSameBytesMayMeet) {
  const ProgramExpectation expected = predict(of_two_threads(small_store(), true));
  EXPECT_EQ(expected.regions[1024], source(1024));
}

TEST(TileStoreOracle, HasNoPredictionForReductionsWhoseOrderMatters) {
  TileStore store = small_sum();
  store.stores = 2;
  store.one_box = true;
  store.reduction = Reduction::inc;
  EXPECT_THROW((void)left(store), Error);
  store.reduction = Reduction::none;
  EXPECT_THROW((void)left(store), Error);
}

}  // namespace
}  // namespace tidemark
