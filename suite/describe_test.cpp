// A described row names every parameter, in one line of JSON.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "suite/case.hpp"

namespace tidemark {
namespace {

TEST(Describe, WritesATileLoadInOneLine) {
  TileLoad load;
  load.map.type = DataType::bf16;
  load.map.extent = {96, 7};
  load.map.stride = {208};
  load.map.box = {64, 5};
  load.map.element_stride = {1, 2, 1, 1, 1};
  load.map.swizzle = Swizzle::b128;
  load.map.l2_promotion = L2Promotion::b256;
  load.map.fill = Fill::nan;
  load.map.base_offset = 48;
  load.at = {-8, 3};
  load.destination_offset = 384;
  load.payload = {.seed = 0xffffffffffffffff, .inverted = true};
  EXPECT_EQ(describe(load),
            R"({"op":"tile_load","type":"bf16","rank":2,"extent":[96,7],"stride":[208],)"
            R"("box":[64,5],"element_stride":[1,2],"swizzle":128,"l2_promotion":"256B",)"
            R"("fill":"nan","base_offset":48,"at":[-8,3],"destination_offset":384,)"
            R"("seed":18446744073709551615,"inverted":true})");
}

TEST(Describe, WritesRankOneWithoutStrides) {
  TileLoad load;
  load.map.rank = 1;
  EXPECT_EQ(nlohmann::json::parse(describe(load))["stride"].size(), 0U);
}

TEST(Describe, WritesAGemmWithItsShards) {
  Gemm gemm;
  gemm.m = 384;
  gemm.k = 80;
  gemm.rows = {.first = 128, .count = 256};
  gemm.output = GemmOutput::bf16;
  gemm.inputs = GemmInputs::small_integers;
  gemm.engine = GemmEngine::reference;
  gemm.a_shards = {{.owner = 1, .first_row = 4, .rows = 8}};
  const auto json = nlohmann::json::parse(describe(gemm));
  EXPECT_EQ(json["op"], "gemm");
  EXPECT_EQ(json["m"], 384);
  EXPECT_EQ(json["k"], 80);
  EXPECT_EQ(json["rows"]["count"], 256);
  EXPECT_EQ(json["output"], "bf16");
  EXPECT_EQ(json["inputs"], "small_integers");
  EXPECT_EQ(json["engine"], "reference");
  EXPECT_EQ(json["a_shards"][0]["first_row"], 4);
  EXPECT_EQ(json["deadline_s"], 60);
}

TEST(Describe, WritesATileRoundTripWithBothMapsAndWalks) {
  TileRoundTrip trip;
  trip.from.type = DataType::f32;
  trip.from.extent = {8, 9};
  trip.to.rank = 1;
  trip.to.base_offset = 48;
  trip.load.step = {4, 3};
  trip.store.tiles = {6, 1, 1, 1, 1};
  trip.work = TileWork::add_index;
  trip.numbers = SourceNumbers::counting;
  trip.in_place = true;
  trip.stages = 3;
  trip.stores_per_group = 2;
  trip.issuer = 31;
  const auto json = nlohmann::json::parse(describe(trip));
  EXPECT_EQ(json["op"], "tile_round_trip");
  EXPECT_EQ(json["from"]["type"], "f32");
  EXPECT_EQ(json["from"]["extent"][1], 9);
  EXPECT_EQ(json["to"]["base_offset"], 48);
  EXPECT_EQ(json["load"]["step"][1], 3);
  EXPECT_EQ(json["store"]["tiles"][0], 6);
  EXPECT_EQ(json["store"]["tiles"].size(), 1U);
  EXPECT_EQ(json["work"], "add_index");
  EXPECT_EQ(json["numbers"], "counting");
  EXPECT_EQ(json["in_place"], true);
  EXPECT_EQ(json["stages"], 3);
  EXPECT_EQ(json["stores_per_group"], 2);
  EXPECT_EQ(json["issuer"], 31);
}

TEST(Describe, WritesABarrierCycleWithItsLives) {
  BarrierCycle cycle;
  cycle.map.rank = 3;
  cycle.step = {0, 0, 2};
  cycle.life_count = 2;
  cycle.lives[1] = {.count = 128, .phases = 3};
  cycle.copy_first = true;
  const auto json = nlohmann::json::parse(describe(cycle));
  EXPECT_EQ(json["op"], "barrier_cycle");
  EXPECT_EQ(json["map"]["rank"], 3);
  EXPECT_EQ(json["step"][2], 2);
  ASSERT_EQ(json["lives"].size(), 2U);
  EXPECT_EQ(json["lives"][1]["count"], 128);
  EXPECT_EQ(json["lives"][1]["phases"], 3);
  EXPECT_EQ(json["copy_first"], true);
}

}  // namespace
}  // namespace tidemark
