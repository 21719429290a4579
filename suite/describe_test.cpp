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
  op.credit_granule = 512;
  const std::string line = describe(op);
  EXPECT_EQ(line.substr(0, line.find("\"load\"")),
            R"({"op":"expect_tx","announced":4096,"announcements":2,"on":"peer",)"
            R"("arrival":"missing","order":"landed_first","parity":1,"simulated":[48,16],)"
            R"("credit_granule":512,)");
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

}  // namespace
}  // namespace tidemark
