// The steps that a round trip is made of, and the ones it refuses to make.
#include "kernels/ops/tile_round_trip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark::kernels {
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
}  // namespace tidemark::kernels
