// A described row names every parameter, in one line of JSON.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "suite/case.hpp"

namespace tidemark::suite {
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
  load.hint = CacheHint::evict_first;
  load.source = MemorySource::mapped;
  load.payload = {.seed = 0xffffffffffffffff, .inverted = true};
  EXPECT_EQ(describe(load),
            R"({"op":"tile_load","type":"bf16","rank":2,"extent":[96,7],"stride":[208],)"
            R"("box":[64,5],"element_stride":[1,2],"swizzle":128,"l2_promotion":"256B",)"
            R"("fill":"nan","base_offset":48,"at":[-8,3],"destination_offset":384,)"
            R"("hint":"evict_first","source":"mapped","cold":false,"held_to":"documents",)"
            R"("seed":18446744073709551615,"inverted":true})");
}

TEST(Describe, NamesWhatAnIm2colLoadTakes) {
  TileLoad load;
  load.map.rank = 4;
  load.map.extent = {32, 9, 7, 2};
  load.map.stride = {32, 288, 2016};
  load.map.box = {16, 80};
  load.map.im2col = true;
  load.map.lower_corner = {-1, 2};
  load.map.upper_corner = {0, -3};
  load.im2col_offsets = {1, 2};
  const auto json = nlohmann::json::parse(describe(load));
  EXPECT_EQ(json["lower_corner"], (std::vector<int>{-1, 2}));
  EXPECT_EQ(json["upper_corner"], (std::vector<int>{0, -3}));
  EXPECT_EQ(json["channels"], 16);
  EXPECT_EQ(json["pixels"], 80);
  EXPECT_EQ(json["im2col_offsets"], (std::vector<int>{1, 2}));
}

TEST(Describe, NamesTheBytesThatAnInterleavedMapCountsIn) {
  TileLoad load;
  load.map.rank = 3;
  EXPECT_FALSE(nlohmann::json::parse(describe(load)).contains("interleave"));
  load.map.interleave = Interleave::b32;
  EXPECT_EQ(nlohmann::json::parse(describe(load))["interleave"], 32);
}

TEST(Describe, WritesATileStoreInOneLine) {
  TileStore store;
  store.map.type = DataType::bf16;
  store.map.extent = {96, 7};
  store.map.stride = {208};
  store.map.box = {64, 2};
  store.map.swizzle = Swizzle::b128;
  store.map.l2_promotion = L2Promotion::b64;
  store.map.base_offset = 48;
  store.at = {8, 3};
  store.source_offset = 384;
  store.stores = 2;
  store.wait = StoreWait::read;
  store.empty_groups = 5;
  store.bystander = true;
  store.hint = CacheHint::evict_last;
  store.reduction = Reduction::bit_xor;
  store.one_box = true;
  store.destination = MemorySource::mapped;
  store.held_to = HeldTo::measurement;
  store.payload = {.seed = 17, .inverted = false};
  EXPECT_EQ(describe(store),
            R"({"op":"tile_store","type":"bf16","rank":2,"extent":[96,7],"stride":[208],)"
            R"("box":[64,2],"element_stride":[1,1],"swizzle":128,"l2_promotion":"64B",)"
            R"("fill":"zero","base_offset":48,"at":[8,3],"source_offset":384,"stores":2,)"
            R"("wait":"read","empty_groups":5,"bystander":true,"hint":"evict_last",)"
            R"("reduction":"xor","one_box":true,"destination":"mapped","held_to":"measurement",)"
            R"("seed":17,"inverted":false})");
}

TEST(Describe, WritesRankOneWithoutStrides) {
  TileLoad load;
  load.map.rank = 1;
  EXPECT_EQ(nlohmann::json::parse(describe(load))["stride"].size(), 0U);
}

TEST(Describe, WritesAMulticastBehindItsLoad) {
  MulticastLoad multicast;
  multicast.load.map.extent = {96, 7};
  multicast.cluster = {2, 4, 1};
  multicast.mask = 0xa5;
  multicast.issuer = 3;
  multicast.slices = 2;
  multicast.late_arm = true;
  const std::string line = describe(multicast);
  EXPECT_TRUE(line.starts_with(R"({"op":"multicast_load","type":"u8","rank":2,"extent":[96,7],)"))
      << line;
  EXPECT_TRUE(line.ends_with(R"("seed":0,"inverted":false,"cluster":[2,4,1],"mask":165,"issuer":3,)"
                             R"("slices":2,"late_arm":true})"))
      << line;
}

TEST(Describe, WritesAMismatchedAnnouncementWithItsLoad) {
  ExpectTx op;
  op.load.map.extent = {96, 7};
  op.announced = 4096;
  op.announcements = 2;
  op.on = AnnouncedOn::peer;
  op.arrival = Arrival::missing;
  op.order = IssueOrder::landed_first;
  op.parity = 1;
  op.simulated = {48, 16};
  const std::string line = describe(op);
  EXPECT_EQ(line.substr(0, line.find("\"load\"")),
            R"({"op":"expect_tx","announced":4096,"announcements":2,"on":"peer",)"
            R"("arrival":"missing","order":"landed_first","parity":1,"simulated":[48,16],)");
  EXPECT_EQ(nlohmann::json::parse(line)["load"]["extent"][1], 7);
}

TEST(Describe, WritesAGemmWithItsShards) {
  Gemm gemm;
  gemm.m = 384;
  gemm.k = 80;
  gemm.rows = {.first = 128, .count = 256};
  gemm.output = GemmOutput::bf16;
  gemm.inputs = GemmInputs::small_integers;
  gemm.engine = GemmEngine::reference;
  gemm.rung = GemmRung::wide_tile;
  gemm.a_shards = {{.owner = 1, .first_row = 4, .rows = 8}};
  const auto json = nlohmann::json::parse(describe(gemm));
  EXPECT_EQ(json["op"], "gemm");
  EXPECT_EQ(json["m"], 384);
  EXPECT_EQ(json["k"], 80);
  EXPECT_EQ(json["rows"]["count"], 256);
  EXPECT_EQ(json["output"], "bf16");
  EXPECT_EQ(json["inputs"], "small_integers");
  EXPECT_EQ(json["engine"], "reference");
  EXPECT_EQ(json["rung"], "wide_tile");
  EXPECT_EQ(json["a_shards"][0]["first_row"], 4);
  EXPECT_EQ(json["deadline_s"], 60);
}

TEST(Describe, WritesWhatAGemmAsksForBeyondAProduct) {
  Gemm gemm;
  gemm.output = GemmOutput::f16;
  gemm.configuration = 3;
  gemm.element = GemmElement::f16;
  gemm.b_major = Major::mn;
  gemm.lda = 96;
  gemm.beta = -0.5F;
  const auto json = nlohmann::json::parse(describe(gemm));
  EXPECT_EQ(json["output"], "f16");
  EXPECT_EQ(json["engine"], "fast");
  EXPECT_EQ(json["configuration"], 3);
  EXPECT_EQ(json["element"], "f16");
  EXPECT_EQ(json["a_major"], "k");
  EXPECT_EQ(json["b_major"], "mn");
  EXPECT_EQ(json["lda"], 96);
  EXPECT_EQ(json["alpha"], 1);
  EXPECT_EQ(json["beta"], -0.5);
  EXPECT_TRUE(json["planted"].empty());
}

TEST(Describe, WritesTheTypeOfFp8AndItsDigits) {
  Gemm gemm;
  gemm.element = GemmElement::e5m2;
  gemm.inputs = GemmInputs::octal_digits;
  const auto json = nlohmann::json::parse(describe(gemm));
  EXPECT_EQ(json["element"], "e5m2");
  EXPECT_EQ(json["inputs"], "octal_digits");
}

TEST(Describe, WritesPlantedElements) {
  Gemm gemm;
  gemm.planted = {{GemmOperand::a, 3, 4, NonFinite::nan},
                  {GemmOperand::b, 5, 6, NonFinite::minus_infinity}};
  const auto json = nlohmann::json::parse(describe(gemm));
  EXPECT_EQ(json["planted"][0]["operand"], "a");
  EXPECT_EQ(json["planted"][0]["value"], "nan");
  EXPECT_EQ(json["planted"][1]["operand"], "b");
  EXPECT_EQ(json["planted"][1]["row"], 5);
  EXPECT_EQ(json["planted"][1]["k"], 6);
  EXPECT_EQ(json["planted"][1]["value"], "-infinity");
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
  trip.numbers = Numbers::counting;
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

TEST(Describe, WritesAProgramByItsWordsAndAHashOfItsSteps) {
  Program program;
  program.what = "a ring of 3 stages";
  program.payload = {.seed = 9, .inverted = true};
  const auto json = nlohmann::json::parse(describe(program));
  EXPECT_EQ(json["op"], "program");
  EXPECT_EQ(json["what"], "a ring of 3 stages");
  EXPECT_EQ(json["seed"], 9);
  EXPECT_EQ(json["inverted"], true);
  program.payload = {};
  EXPECT_EQ(nlohmann::json::parse(describe(program))["hash"], json["hash"]);
  program.steps = {{.verb = Verb::snapshot}};
  EXPECT_NE(nlohmann::json::parse(describe(program))["hash"], json["hash"]);
}

TEST(Describe, WritesAConsumedTileWithBothOperands) {
  TileConsume op;
  op.type = MmaType::f16;
  op.n = 32;
  op.k = 48;
  op.a = {.major = Major::mn, .swizzle = Swizzle::b64, .read_as = Swizzle::b32};
  op.b = {.base_offset = 3, .offset = 256};
  op.extent = {70, 40, 50};
  op.at = {-8, 2, 16};
  op.payload = {.seed = 9, .inverted = true};
  EXPECT_EQ(
      describe(op),
      R"({"op":"tile_consume","type":"f16","n":32,"k":48,)"
      R"("a":{"major":"mn","swizzle":64,"read_as":32,"base_offset":0,"destination_offset":0},)"
      R"("b":{"major":"k","swizzle":128,"read_as":128,"base_offset":3,"destination_offset":256},)"
      R"("extent":[70,40,50],"at":[-8,2,16],"seed":9,"inverted":true})");
}

}  // namespace
}  // namespace tidemark::suite
