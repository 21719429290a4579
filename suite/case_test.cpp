// What the registry accepts, refuses and finds.
#include "suite/case.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <string_view>

#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"

namespace tidemark {
namespace {

Case named(std::string_view name) { return {.name = name, .claim = "", .cites = ""}; }

TEST(Registry, SortsByName) {
  const auto sorted = sorted_catalogue({named("b.x"), named("a.y"), named("a.x")});
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].name, "a.x");
  EXPECT_EQ(sorted[1].name, "a.y");
  EXPECT_EQ(sorted[2].name, "b.x");
}

TEST(Registry, RefusesTwoCasesOfOneName) {
  EXPECT_THROW(sorted_catalogue({named("b.x"), named("a.x"), named("b.x")}), Error);
}

TEST(Registry, RefusesAMalformedName) {
  EXPECT_THROW(sorted_catalogue({named("Load.tile")}), Error);
}

TEST(Registry, KnowsWellFormedNames) {
  EXPECT_TRUE(well_formed_case_name("load.tile.rank1"));
  EXPECT_TRUE(well_formed_case_name("load.tile.2d"));
  EXPECT_TRUE(well_formed_case_name("scenario.cuda_oxide"));
  EXPECT_FALSE(well_formed_case_name(""));
  EXPECT_FALSE(well_formed_case_name("load"));
  EXPECT_FALSE(well_formed_case_name("load."));
  EXPECT_FALSE(well_formed_case_name(".load"));
  EXPECT_FALSE(well_formed_case_name("load..tile"));
  EXPECT_FALSE(well_formed_case_name("load.Tile"));
  EXPECT_FALSE(well_formed_case_name("load.tile-2d"));
  EXPECT_FALSE(well_formed_case_name("load._tile"));
}

TEST(Registry, FindsACaseByItsWholeName) {
  const Case* which = case_named("load.tile.rank2");
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(which->name, "load.tile.rank2");
  EXPECT_EQ(case_named("load.tile"), nullptr);
}

TEST(CaseSeed, DependsOnLaunchAndName) {
  EXPECT_EQ(case_seed(1, "load.tile.rank1"), case_seed(1, "load.tile.rank1"));
  EXPECT_NE(case_seed(1, "load.tile.rank1"), case_seed(1, "load.tile.rank2"));
  EXPECT_NE(case_seed(1, "load.tile.rank1"), case_seed(2, "load.tile.rank1"));
}

TEST(CaseSeed, IsTheSameOnEveryMachine) {
  EXPECT_EQ(case_seed(42, "load.tile.rank1"), 38242879328097734ULL);
}

// What is stored of a row brings it back.

TileLoad small_load() {
  return {.map = {.extent = {96, 7}, .stride = {208}, .box = {64, 5}},
          .payload = {.seed = 0xffffffffffffffff, .inverted = true}};
}

TEST(Parameters, OfALoadAreItsProgramInOneLine) {
  const std::string line = parameters_of(small_load());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(program_from_json(line, "line"), program_of(small_load()));
}

TEST(Parameters, OfATileOfAPeerAreItsProgramAndTheRanks) {
  const PeerTile peer{.map = small_load().map, .way = PeerWay::store, .rank = 1, .ranks = 3};
  const auto json = nlohmann::json::parse(parameters_of(peer));
  EXPECT_EQ(json["rank"], 1);
  EXPECT_EQ(json["ranks"], 3);
  EXPECT_EQ(program_from_json(json["program"].dump(), "program"), peer_program(peer));
}

// A line of the journal holds 16 of them, and is read up to 16 MiB.
TEST(Parameters, OfEveryRowOfTheCatalogueAreShort) {
  std::size_t longest = 0;
  std::string_view name;
  for (const Case& which : all_cases())
    for (const Op& op : which.rows({.level = Level::nightly,
                        .seed = case_seed(1, which.name),
                        .ranks = which.fewest_gpus})) {
      const std::size_t bytes = parameters_of(op).size();
      if (bytes > longest) longest = bytes, name = which.name;
    }
  std::printf("  at most %zu bytes: %s\n", longest, std::string(name).c_str());
  EXPECT_LE(longest, 64U << 10);
}

TEST(Parameters, OfAGemmAreItsMembers) {
  Gemm gemm;
  gemm.m = 384;
  gemm.rows = {.first = 128, .count = 256};
  gemm.output = GemmOutput::f16;
  gemm.inputs = GemmInputs::octal_digits;
  gemm.engine = GemmEngine::reference;
  gemm.rung = GemmRung::wide_tile;
  gemm.element = GemmElement::e5m2;
  gemm.b_major = Major::mn;
  gemm.beta = -0.5F;
  gemm.a_shards = {{.owner = 1, .first_row = 4, .rows = 8}};
  gemm.planted = {{GemmOperand::a, 3, 4, NonFinite::nan},
                  {GemmOperand::b, 5, 6, NonFinite::minus_infinity}};
  EXPECT_EQ(parameters_of(gemm),
            R"({"op":"gemm","m":384,"n":0,"k":0,"rows":{"first":128,"count":256},)"
            R"("cols":{"first":0,"count":0},"inputs":"octal_digits","output":"f16",)"
            R"("engine":"reference","rung":"wide_tile","configuration":0,"sm_budget":0,)"
            R"("element":"e5m2","a_major":"k","b_major":"mn","lda":0,"ldb":0,"ldc":0,)"
            R"("alpha":1.0,"beta":-0.5,"planted":[{"operand":"a","row":3,"k":4,"value":"nan"},)"
            R"({"operand":"b","row":5,"k":6,"value":"-infinity"}],"seed":0,"transport":false,)"
            R"("rank":0,"a_shards":[{"owner":1,"first_row":4,"rows":8}],"b_shards":[],)"
            R"("everybody":[],"deadline_s":60.0})");
}

}  // namespace

}  // namespace tidemark
