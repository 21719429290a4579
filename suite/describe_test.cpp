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

TEST(Describe, WritesAConsumedTileWithBothOperands) {
  TileConsume op;
  op.type = MmaType::f16;
  op.n = 32;
  op.k = 48;
  op.a = {.major = Major::mn, .swizzle = Swizzle::b64, .read_as = Swizzle::b32};
  op.b = {.base_offset = 3, .destination_offset = 256};
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
}  // namespace tidemark
