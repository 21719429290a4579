// Programs of one tile: a store, and a round trip through shared memory.
#include "kernels/ops/tile_store.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

// u16, 40 x 9, rows 96 bytes apart; boxes of 16 x 3 from (8, 1), two of them.
TileStore two_boxes() {
  return {.map = {.type = DataType::u16,
                  .rank = 2,
                  .extent = {40, 9},
                  .stride = {96},
                  .box = {16, 3},
                  .base_offset = 48},
          .at = {8, 1},
          .source_offset = 256,
          .stores = 2};
}

TEST(TileStoreOp, BoxesFollowEachOtherAlongTheLastDimension) {
  EXPECT_EQ(box_at(two_boxes(), 0)[1], 1);
  EXPECT_EQ(box_at(two_boxes(), 1)[0], 8);
  EXPECT_EQ(box_at(two_boxes(), 1)[1], 4);
}

TEST(TileStoreOp, EachTileStartsOn128Bytes) {
  EXPECT_EQ(tile_offset(two_boxes(), 0), 1024U + 256);
  EXPECT_EQ(tile_offset(two_boxes(), 1), 1024U + 256 + 128);  // of which the tile takes 96
  EXPECT_EQ(window_bytes(two_boxes()), 1024U + 256 + 2 * 128 + 1024);
}

TEST(TileStoreOp, DestinationHasAGuardOnEitherSide) {
  EXPECT_EQ(destination_allocation_bytes(two_boxes()), 1024U + 48 + 96 * 8 + 80 + 1024);
}

TEST(TileStoreOp, ProbesAreTheFirstAndTheLastWordInside) {
  EXPECT_EQ(probe_offset(two_boxes(), 0, 0), 1024U + 48 + 96 * 1 + 16);
  EXPECT_EQ(probe_offset(two_boxes(), 0, 1), 1024U + 48 + 96 * 3 + 40);  // elements 20..23
  EXPECT_EQ(probe_offset(two_boxes(), 1, 0), 1024U + 48 + 96 * 4 + 16);
}

TEST(TileStoreOp, ProbesStayInsideATensorThatEndsInTheBox) {
  TileStore store = two_boxes();
  store.at = {32, 4};  // 8 columns and, of the second box, 2 rows are inside
  EXPECT_EQ(probe_offset(store, 1, 1), 1024U + 48 + 96 * 8 + 72);
}

TEST(TileStoreOp, NothingIsProbedOutsideTheTensorOrBehindTheLastStore) {
  TileStore store = two_boxes();
  EXPECT_EQ(probe_offset(store, 2, 0), kNowhere);
  store.at[0] = 40;
  EXPECT_EQ(probe_offset(store, 0, 0), kNowhere);
  EXPECT_EQ(probe_offset(store, 0, 1), kNowhere);
}

TEST(TileStoreOp, EmptyGroupsCountAmongThoseBehind) {
  TileStore store = two_boxes();
  EXPECT_EQ(groups_behind(store, 0), 1U);
  store.empty_groups = 0b111;  // in front of each, and behind the last
  EXPECT_EQ(groups_behind(store, 0), 3U);
  EXPECT_EQ(groups_behind(store, 1), 1U);
  store.empty_groups = 0b001;  // in front of both
  EXPECT_EQ(groups_behind(store, 0), 1U);
}

TEST(TileStoreOp, ElementStridesLeaveRoomForAWholeBox) {
  TileStore store = two_boxes();
  store.map.box[1] = 9;
  store.map.element_stride[1] = 3;
  EXPECT_EQ(tile_bytes(store.map), 96U);
  EXPECT_EQ(tile_pitch(store), 384U);  // of which the box takes 288
}

using Verbs = std::vector<Verb>;

Verbs verbs_of(const TileStore& store) {
  Verbs verbs;
  for (const Step& step : program_of(store).steps) verbs.push_back(step.verb);
  return verbs;
}

TileStore one_box() {
  TileStore store = two_boxes();
  store.stores = 1;
  return store;
}

TEST(TileStoreOp, ProgramFillsStoresAndWaits) {
  EXPECT_EQ(verbs_of(one_box()), (Verbs{Verb::fill, Verb::store, Verb::commit, Verb::wait_group,
                                        Verb::wait_group, Verb::wait_group}));
}

TEST(TileStoreOp, EachWaitLeavesTheYoungerGroupsPending) {
  const std::vector<Step> steps = program_of(two_boxes()).steps;
  ASSERT_EQ(steps.size(), 10U);
  EXPECT_EQ(steps[5].pending, 1U);
  EXPECT_EQ(steps[5].word, probe_offset(two_boxes(), 0, 0));
  EXPECT_EQ(steps[8].pending, 0U);
  EXPECT_EQ(steps[8].word, probe_offset(two_boxes(), 1, 1));
  EXPECT_EQ(steps[9].region, kNoRegion);
}

TEST(TileStoreOp, ReadWaitsComeBeforeTheOthers) {
  TileStore store = one_box();
  store.wait = StoreWait::read;
  const std::vector<Step> steps = program_of(store).steps;
  EXPECT_EQ(steps[3].verb, Verb::wait_group_read);
  EXPECT_EQ(steps[3].offset, tile_offset(store, 0));
  EXPECT_EQ(steps[3].bytes, 96U);
  EXPECT_EQ(steps[4].verb, Verb::wait_group);
}

TEST(TileStoreOp, BystanderWaitsAndLooksInAnotherWarp) {
  TileStore store = one_box();
  store.bystander = true;
  const std::vector<Step> steps = program_of(store).steps;
  EXPECT_EQ(steps[3].verb, Verb::wait_group);
  EXPECT_EQ(steps[3].thread, 32);
  EXPECT_EQ(steps[4].verb, Verb::look);
  EXPECT_EQ(steps[4].thread, 32);
  EXPECT_EQ(steps[5].word, probe_offset(store, 0, 1));
}

TEST(TileStoreOp, CommitsWithoutAStoreStandWhereTheBitsSay) {
  TileStore store = one_box();
  store.wait = StoreWait::none;
  store.empty_groups = 0b11;
  EXPECT_EQ(verbs_of(store), (Verbs{Verb::fill, Verb::leave, Verb::commit, Verb::store,
                                    Verb::commit, Verb::commit}));
}

TEST(TileStoreOp, OnlyReadEndsWithAWaitForTheReads) {
  TileStore store = one_box();
  store.wait = StoreWait::only_read;
  EXPECT_EQ(verbs_of(store),
            (Verbs{Verb::fill, Verb::leave, Verb::store, Verb::commit, Verb::wait_group_read}));
}

TEST(TileStoreOp, HintAndDestinationArePassedOn) {
  TileStore store = one_box();
  store.hint = CacheHint::evict_last;
  store.destination = MemorySource::pinned;
  const Program program = program_of(store);
  EXPECT_EQ(program.steps[1].hint, CacheHint::evict_last);
  EXPECT_EQ(program.regions[0].source, MemorySource::pinned);
  EXPECT_TRUE(program.regions[0].poison);
}

TEST(TileStoreOp, ProgramsOfIllegalStoresAndRefusedMapsAreSound) {
  TileStore store = one_box();
  store.source_offset = 8;
  EXPECT_EQ(unsound(program_of(store)), "");
  store = one_box();
  store.map.stride[0] = 92;
  EXPECT_EQ(unsound(program_of(store)), "");
  store = one_box();
  store.map.box[0] = 0;
  EXPECT_EQ(unsound(program_of(store)), "");
}

TEST(TileStoreOp, FiveStoresAreAnError) {
  TileStore store = two_boxes();
  store.stores = 5;
  EXPECT_THROW((void)program_of(store), Error);
}

}  // namespace

namespace {

// Five tiles of 64 x 8 bytes below each other.
TileRoundTrip five() {
  const TensorMapSpec map{.extent = {64, 40}, .stride = {64}, .box = {64, 8}};
  const TileWalk walk{.at = {}, .step = {0, 8}, .tiles = {1, 5, 1, 1, 1}};
  return {.from = map, .to = map, .load = walk, .store = walk, .payload = {}};
}

// The rows at which the boxes of `verb` begin, in the order of the steps that CTA `cta` takes.
std::vector<std::int32_t> rows_of(const TileRoundTrip& trip, Verb verb, std::uint32_t cta = 0) {
  std::vector<std::int32_t> rows;
  for (const Step& step : program_of(trip).steps)
    if (step.verb == verb && takes(step, cta)) rows.push_back(step.at[1]);
  return rows;
}

std::vector<Verb> verbs_of(const TileRoundTrip& trip) {
  std::vector<Verb> verbs;
  for (const Step& step : program_of(trip).steps) verbs.push_back(step.verb);
  return verbs;
}

TEST(TileRoundTrip, VisitsEachTileOnce) {
  EXPECT_EQ(rows_of(five(), Verb::load), (std::vector<std::int32_t>{0, 8, 16, 24, 32}));
  EXPECT_EQ(rows_of(five(), Verb::store), (std::vector<std::int32_t>{0, 8, 16, 24, 32}));
}

TEST(TileRoundTrip, CtasTakeTilesInTurn) {
  TileRoundTrip trip = five();
  trip.ctas = 2;
  EXPECT_EQ(rows_of(trip, Verb::store, 0), (std::vector<std::int32_t>{0, 16, 32}));
  EXPECT_EQ(rows_of(trip, Verb::store, 1), (std::vector<std::int32_t>{8, 24}));
}

TEST(TileRoundTrip, AStageIsLoadedAgainWhenTheGroupHasReadIt) {
  TileRoundTrip trip = five();
  trip.load.tiles[1] = trip.store.tiles[1] = 3;
  trip.stages = 2;
  EXPECT_EQ(verbs_of(trip), (std::vector<Verb>{Verb::init,
                                               Verb::init,
                                               Verb::test,
                                               Verb::arrive_expect_tx,
                                               Verb::load,
                                               Verb::test,
                                               Verb::arrive_expect_tx,
                                               Verb::load,
                                               Verb::wait,
                                               Verb::store,
                                               Verb::commit,
                                               Verb::wait_group_read,
                                               Verb::test,
                                               Verb::arrive_expect_tx,
                                               Verb::load,
                                               Verb::wait,
                                               Verb::store,
                                               Verb::commit,
                                               Verb::wait_group_read,
                                               Verb::wait,
                                               Verb::store,
                                               Verb::commit,
                                               Verb::wait_group_read,
                                               Verb::wait_group}));
}

TEST(TileRoundTrip, TheLastGroupMayBeSmaller) {
  TileRoundTrip trip = five();
  trip.stages = trip.stores_per_group = 2;
  const std::vector<Verb> verbs = verbs_of(trip);
  EXPECT_EQ(std::count(verbs.begin(), verbs.end(), Verb::commit), 3);
  EXPECT_EQ(verbs[verbs.size() - 3], Verb::commit);
}

TEST(TileRoundTrip, ThreadsCopyIntoAWindowOfTheirOwn) {
  TileRoundTrip trip = five();
  trip.work = TileWork::thread_copy;
  const Program program = program_of(trip);
  EXPECT_EQ(program.window, 2 * (1024 + 512 + 1024 + 512U));
  for (const Step& step : program.steps) {
    if (step.verb == Verb::load) {
      EXPECT_EQ(step.offset, 1024U);
    }
    if (step.verb == Verb::copy || step.verb == Verb::store) {
      EXPECT_EQ(step.offset, 3072 + 1024U);
    }
  }
}

TEST(TileRoundTrip, InPlaceBothMapsAreOfOneRegion) {
  TileRoundTrip trip = five();
  EXPECT_EQ(program_of(trip).regions.size(), 2U);
  trip.in_place = true;
  EXPECT_EQ(program_of(trip).regions.size(), 1U);
  EXPECT_EQ(program_of(trip).maps[1].region, 0U);
}

TEST(TileRoundTrip, CountsOutsideTheirBoundsAreRefused) {
  const auto refused = [](auto change) {
    TileRoundTrip trip = five();
    change(trip);
    EXPECT_THROW((void)program_of(trip), Error);
  };
  refused([](TileRoundTrip& trip) { trip.ctas = 6; });  // more than tiles
  refused([](TileRoundTrip& trip) { trip.ctas = 0; });
  refused([](TileRoundTrip& trip) { trip.stages = 0; });
  refused([](TileRoundTrip& trip) { trip.stages = kTripStages + 1; });
  refused([](TileRoundTrip& trip) { trip.stores_per_group = 2; });
  refused([](TileRoundTrip& trip) { trip.issuer = kProgramThreads; });
  refused([](TileRoundTrip& trip) { trip.store.tiles[1] = 4; });
  refused([](TileRoundTrip& trip) { trip.to.box[1] = 4; });
}

TEST(Numbers, CountFromBehindTheGuardAndInvertToOthers) {
  constexpr std::uint64_t kFirst = kGuardBytes / 4;
  EXPECT_EQ(region_word({}, DataType::u32, Numbers::counting, kFirst + 5), 5U);
  EXPECT_EQ(region_word({}, DataType::u32, Numbers::counting, kFirst + 4096), 0U);
  EXPECT_EQ(region_word({}, DataType::f32, Numbers::counting, kFirst + 5), 0x40a00000U);
  EXPECT_EQ(region_word({.seed = 0, .inverted = true}, DataType::s32, Numbers::counting, kFirst),
            4095U);
}

TEST(Numbers, SmallOnesAreBelow4096) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Payload payload{.seed = 3, .inverted = i % 2 == 1};
    EXPECT_LT(region_word(payload, DataType::u32, Numbers::small, i), 4096U);
    EXPECT_LT(std::bit_cast<float>(region_word(payload, DataType::f32, Numbers::small, i)), 4096);
  }
}

}  // namespace

}  // namespace tidemark
