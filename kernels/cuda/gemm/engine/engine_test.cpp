// What can be known of the engine without a GPU: that its tables hold together, and that blocks of
// a cluster agree about who loads what.
#include "kernels/cuda/gemm/engine/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

bool has_plain(const TileShape& shape, GemmOutput output) {
  const std::vector<EngineKernel> all = engine_kernels();
  return std::any_of(all.begin(), all.end(), [&](const EngineKernel& kernel) {
    return !kernel.general && kernel.shape == shape && kernel.output == output;
  });
}

TEST(EngineTables, EveryConfigurationHasItsKernels) {
  for (const EngineConfiguration& configuration : engine_configurations()) {
    EXPECT_TRUE(has_plain(configuration.shape, GemmOutput::bf16)) << name_of(configuration);
    EXPECT_TRUE(has_plain(configuration.shape, GemmOutput::f32)) << name_of(configuration);
  }
}

TEST(EngineTables, EveryKernelIsTriedByAConfiguration) {
  for (const EngineKernel& kernel : engine_kernels()) {
    if (kernel.general) continue;
    const auto all = engine_configurations();
    const bool tried =
        std::any_of(all.begin(), all.end(), [&](const auto& c) { return c.shape == kernel.shape; });
    EXPECT_TRUE(tried) << name_of(EngineConfiguration{.shape = kernel.shape});
  }
}

TEST(EngineTables, EveryConfigurationIsSound) {
  for (const EngineConfiguration& configuration : engine_configurations()) {
    EXPECT_TRUE(is_sound(configuration.shape)) << name_of(configuration);
    EXPECT_FALSE(configuration.stagger && configuration.shape.ping_pong) << name_of(configuration);
    EXPECT_GT(configuration.group, 0U) << name_of(configuration);
  }
}

TEST(EngineTables, NoTwoConfigurationsShareAName) {
  std::set<std::string> names;
  for (const EngineConfiguration& configuration : engine_configurations())
    EXPECT_TRUE(names.insert(name_of(configuration)).second) << name_of(configuration);
}

TEST(EngineTables, NameSaysAllThatIsChosen) {
  EXPECT_EQ(name_of({.shape = kWide, .stagger = true, .gpc_rows = 2}),
            "128x256_1x1_s4_m8_g2_lead1");
  EXPECT_EQ(name_of({.shape = kWidePair, .group = 16}), "128x256_2x1_s4_m16");
  EXPECT_EQ(name_of({.shape = kPingPong192, .stream_k = true, .pdl = true}),
            "128x192_2x1_s5_turn_streamk_m8_early");
}

TEST(EngineTables, GeneralKernelsCoverEveryTypeAndOrderButFp8KMajorOnly) {
  std::set<std::vector<int>> kinds;
  for (const EngineKernel& kernel : engine_kernels())
    if (kernel.general)
      kinds.insert({static_cast<int>(kernel.element), static_cast<int>(kernel.a_major),
                    static_cast<int>(kernel.b_major), static_cast<int>(kernel.output)});
  EXPECT_EQ(kinds.size(), 2U * 2U * 2U * 3U + 2U * 3U);
}

EngineConfiguration chosen_by_default(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return chosen_configuration(embedded_gemm_table(), m, n, k);
}
EngineConfiguration chosen_by_default(const LocalGemm& gemm) {
  return chosen_configuration(embedded_gemm_table(), gemm);
}

// What is chosen is also tried, and so tested on a GPU; small GEMMs have no tiles by GPC.
TEST(EngineChoice, IsAConfigurationForEverySize) {
  const auto all = engine_configurations();
  for (const std::uint64_t m : {1U, 100U, 1024U, 5000U, 16384U, 100000U})
    for (const std::uint64_t k : {1U, 1024U, 8192U, 100000U}) {
      const EngineConfiguration chosen = chosen_by_default(m, m, k);
      EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](EngineConfiguration one) {
        one.gpc_rows = chosen.gpc_rows;
        return one == chosen;
      })) << name_of(chosen);
    }
}

TEST(EngineChoice, IsAConfigurationWhereASizeIsZero) {
  EXPECT_EQ(chosen_by_default(1, 1, 0), chosen_by_default(1, 1, 1));
  EXPECT_EQ(chosen_by_default(0, 512, 512), chosen_by_default(1, 512, 512));
}

/// A table of one choice, for 1 x 1 x 1.
GemmTable table_of(const std::string& name) {
  const auto all = engine_configurations();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const EngineConfiguration& one) { return name_of(one) == name; });
  EXPECT_NE(found, all.end()) << name;
  return {{{.product = {.m = 1, .n = 1, .k = 1}, .configuration = *found}}};
}

TEST(EngineChoice, IsWhatTheTableNames) {
  const GemmTable table = table_of("128x192_2x1_s5_turn_m8_early");
  EXPECT_EQ(name_of(chosen_configuration(table, 64, 64, 64)), "128x192_2x1_s5_turn_m8_early");
  EXPECT_EQ(name_of(chosen_configuration(table, 1024, 1024, 16384)),
            "128x192_2x1_s5_turn_m8_early");
}

// 198 tiles of 128 x 256 are 2 waves of 132, 75 % of them C; 132 pairs of 128 x 192 are 2 of 66.
TEST(EngineChoice, FillsWavesWhereTheNearestProductsShapeDoesNot) {
  EXPECT_EQ(chosen_by_default(2816, 2304, 4096).shape.tile_n, 192U);
}

TEST(EngineChoice, AMeasuredProductKeepsWhatWasMeasured) {
  for (const GemmChoice& choice : embedded_gemm_table().choices) {
    const GemmShape& product = choice.product;
    EXPECT_EQ(chosen_by_default(product.m, product.n, product.k), choice.configuration);
  }
}

TEST(EngineChoice, TableOfStreamKAloneLeavesABudgetTheGeneralShape) {
  const GemmTable table = table_of("128x192_2x1_s5_turn_streamk_m8_g1_early");
  LocalGemm gemm{.m = 64, .n = 64, .k = 64, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_configuration(table, gemm).shape, kPingPong192);
  gemm.sm_budget = 66;
  EXPECT_EQ(chosen_configuration(table, gemm).shape, kWidePair);
}

TEST(EngineChoice, SmallProductThatIsNotPlainGetsTheGeneralShape) {
  LocalGemm gemm{.m = 64, .n = 64, .k = 64};
  gemm.beta = 1;
  EXPECT_EQ(chosen_by_default(gemm).shape, kWidePair);
}

// 598 tiles of 256 x 256 are 10 waves of 66, the last one of 4.
TEST(EngineChoice, KOfTheLastTilesIsSharedOutWhereTheirWaveIsNotFull) {
  LocalGemm gemm{.m = 5888, .n = 6656, .k = 2752, .output = GemmOutput::bf16};
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16, GemmElement::e4m3}) {
    gemm.element = element;
    EXPECT_TRUE(chosen_by_default(gemm).stream_k);
    EXPECT_EQ(chosen_by_default(gemm).shape, is_fp8(element) ? kFp8Narrower : kPingPong192);
  }
}

// Each cluster has less than two tiles of 192 columns.
TEST(EngineChoice, WideTilesOfFewAreSharedOut) {
  LocalGemm gemm{.m = 1632, .n = 3016, .k = 8544, .output = GemmOutput::bf16};
  for (const Major major : {Major::k, Major::mn}) {
    gemm.b_major = major;
    EXPECT_TRUE(chosen_by_default(gemm).stream_k);
    EXPECT_EQ(chosen_by_default(gemm).shape, kWidePair);
  }
}

// 1054 tiles of 256 x 256 are 15.97 waves of 66.
TEST(EngineChoice, WholeTilesWhereTheLastWaveIsFull) {
  const LocalGemm gemm{.m = 4304, .n = 15808, .k = 9720, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_by_default(gemm).shape, kWidePair);
  EXPECT_FALSE(chosen_by_default(gemm).stream_k);
}

TEST(EngineChoice, NoKIsSharedOutOfADistributedProductOrWithinABudget) {
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16, GemmElement::e4m3}) {
    LocalGemm gemm{.m = 5888, .n = 6656, .k = 2752, .output = GemmOutput::bf16, .element = element};
    gemm.one_sum = true;
    EXPECT_FALSE(chosen_by_default(gemm).stream_k);
    gemm.one_sum = false;
    gemm.sm_budget = 100;
    EXPECT_FALSE(chosen_by_default(gemm).stream_k);
  }
}

TEST(EngineChoice, TilesByGpcAreForLargeProducts) {
  for (const float beta : {0.0F, 1.0F}) {
    LocalGemm gemm{.m = 8192, .n = 8192, .k = 8192, .output = GemmOutput::bf16, .beta = beta};
    EXPECT_NE(chosen_by_default(gemm).gpc_rows, 0U);
    gemm.k = 512;
    EXPECT_EQ(chosen_by_default(gemm).gpc_rows, 0U);
  }
}

TEST(EngineProblems, LastBlockTakesTheStepsThatKReachesInto) {
  EXPECT_EQ(last_steps(1, GemmElement::bf16), 1U);
  EXPECT_EQ(last_steps(64, GemmElement::bf16), 4U);
  EXPECT_EQ(last_steps(4097, GemmElement::bf16), 1U);
  EXPECT_EQ(last_steps(4112, GemmElement::bf16), 1U);
  EXPECT_EQ(last_steps(4113, GemmElement::f16), 2U);
  EXPECT_EQ(last_steps(4160, GemmElement::f16), 4U);
  EXPECT_EQ(last_steps(4160, GemmElement::e4m3), 2U);
  EXPECT_EQ(last_steps(4224, GemmElement::e5m2), 4U);
}

// They would be packed before they have come.
TEST(EngineProblems, PackedRowsCannotArriveMeanwhile) {
  ReadyEngine ready;
  EXPECT_NO_THROW(follow_arrivals(ready, {}, 1, 1));
  ready.b_rows.rows = 1;
  EXPECT_THROW(follow_arrivals(ready, {}, 1, 1), Error);
}

TEST(EngineChoice, BudgetOfSmsTakesNoStreamKNorPdlNorTilesByGpc) {
  for (const std::uint64_t edge : {512U, 1024U, 8192U, 16384U}) {
    LocalGemm gemm{.m = edge, .n = edge, .k = 8192, .output = GemmOutput::bf16};
    gemm.sm_budget = 66;
    const EngineConfiguration chosen = chosen_by_default(gemm);
    EXPECT_FALSE(chosen.stream_k) << name_of(chosen);
    EXPECT_FALSE(chosen.pdl) << name_of(chosen);
    EXPECT_EQ(chosen.gpc_rows, 0U) << name_of(chosen);
    EXPECT_LE(chosen.shape.cluster_m, 2U) << name_of(chosen);
  }
}

TEST(TileShapes, LargestFitsTheSharedMemoryOfABlock) {
  constexpr TileShape kWide{.cluster_m = 2};
  EXPECT_EQ(shared_bytes(kWide), 4U * 49152U + 32768U + 64U + 16U);
  EXPECT_FALSE(is_sound({.stages = 5}));
}

TEST(TileShapes, WarpgroupOfPingPongHoldsAllSumsOfItsTile) {
  EXPECT_EQ(accumulators(kPingPong192), 96U);
  EXPECT_EQ(warpgroup_rows(kPingPong192), 128U);
  EXPECT_TRUE(is_sound({.tile_n = 192, .ping_pong = true}));
  EXPECT_FALSE(is_sound({.tile_n = 256, .ping_pong = true})) << "256 sums a thread";
}

// Three runs of 64 for two CTAs.
TEST(TileShapes, RunsOfAnNMajorOperandAreSharedByWholeRuns) {
  EXPECT_EQ(run_slice_n(kPingPong192), 128U);
  EXPECT_EQ(run_slice_n(kWidePair), 128U);
}

TEST(TileShapes, WidthThatNoInstructionHasIsUnsound) {
  EXPECT_FALSE(is_sound({.tile_n = 104, .ping_pong = true}));
}

// A product that begins before its panels are there takes each tile once, its own first, and knows
// what each waits for.

// Two ranks own two shards of A each; all of B is rank 1's.
const std::vector<Shard> kA = {{0, 0, 256}, {0, 256, 256}, {1, 512, 256}, {1, 768, 200}};
const std::vector<Shard> kB = {{1, 0, 700}};

std::vector<ArrivingTile> order_of(std::uint32_t rank, const std::vector<Shard>& b = kB) {
  return arrival_order({.shards = kA, .tile_rows = 256, .tiles = 4},
                       {.shards = b, .tile_rows = 256, .tiles = 3}, rank, 2, true);
}

std::vector<std::uint32_t> rows_of(const std::vector<ArrivingTile>& order) {
  std::vector<std::uint32_t> rows;
  for (const ArrivingTile& tile : order) rows.push_back(tile.m);
  return rows;
}

TEST(ArrivalOrder, HasEveryTileOnce) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const ArrivingTile& tile : order_of(1)) seen.emplace(tile.m, tile.n);
  EXPECT_EQ(seen.size(), 12U);
}

TEST(ArrivalOrder, BeginsWithOwnRowsAndFollowsTheFetchedOnes) {
  EXPECT_EQ(rows_of(order_of(1)), (std::vector<std::uint32_t>{2, 3, 2, 3, 2, 3, 0, 0, 0, 1, 1, 1}));
}

TEST(ArrivalOrder, NamesTheShardsOfEachTile) {
  for (const ArrivingTile& tile : order_of(1)) {
    EXPECT_EQ(tile.a_first, tile.m);
    EXPECT_EQ(tile.a_end, tile.m + 1);
    EXPECT_EQ(tile.b_first, 0U);
    EXPECT_EQ(tile.b_end, 1U);
  }
}

TEST(ArrivalOrder, TileAcrossShardsWaitsForTheLastOfThem) {
  const std::vector<Shard> b = {{1, 0, 100}, {0, 100, 300}, {2, 400, 300}};
  // Rank 0 fetches the last 300 columns first, then the first 100.
  const std::vector<ArrivingTile> order = order_of(0, b);
  std::vector<std::uint32_t> columns;
  for (const ArrivingTile& tile : order)
    if (tile.m == 0) columns.push_back(tile.n);
  EXPECT_EQ(columns, (std::vector<std::uint32_t>{1, 2, 0}));
  for (const ArrivingTile& tile : order)
    if (tile.n == 1) {
      EXPECT_EQ(tile.b_first, 1U);
      EXPECT_EQ(tile.b_end, 3U);
    }
}

TEST(ArrivalOrder, BothPanelsAreFetchedAtOnce) {
  const std::vector<Shard> b = {{0, 0, 512}, {1, 512, 256}, {1, 768, 256}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first;
  for (const ArrivingTile& tile :
       arrival_order({.shards = kA, .tile_rows = 256, .tiles = 4},
                     {.shards = b, .tile_rows = 256, .tiles = 4}, 0, 8, true))
    first.emplace_back(tile.m, tile.n);
  first.resize(9);
  EXPECT_EQ(first, (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                       {0, 0},
                       {1, 0},
                       {0, 1},
                       {1, 1},  // own
                       {2, 0},
                       {2, 1},
                       {0, 2},
                       {1, 2},
                       {2, 2}}));  // one shard of each is there
}

TEST(ArrivalOrder, OnePanelIsFetchedBehindTheOther) {
  const std::vector<Shard> b = {{0, 0, 512}, {1, 512, 256}, {1, 768, 256}};
  const std::vector<ArrivingTile> order =
      arrival_order({.shards = kA, .tile_rows = 256, .tiles = 4},
                    {.shards = b, .tile_rows = 256, .tiles = 4}, 0, 8, false);
  // Own ones, then all that A alone completes, then a column of B at a time.
  EXPECT_EQ(rows_of(order),
            (std::vector<std::uint32_t>{0, 1, 0, 1, 2, 2, 3, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(ArrivalOrder, TileBeyondThePanelWaitsForNothing) {
  const std::vector<ArrivingTile> order =
      arrival_order({.shards = kA, .tile_rows = 512, .tiles = 3},
                    {.shards = kB, .tile_rows = 256, .tiles = 3}, 0, 8, true);
  for (const ArrivingTile& tile : order)
    if (tile.m == 2) {
      EXPECT_EQ(tile.a_first, tile.a_end);
    }
}

TEST(ArrivalOrder, ShardsOutOfOrderAreAnError) {
  const std::vector<Shard> turned = {{0, 256, 256}, {1, 0, 256}};
  EXPECT_THROW(arrival_order({.shards = turned, .tile_rows = 256, .tiles = 2},
                             {.shards = kB, .tile_rows = 256, .tiles = 3}, 0, 8, true),
               Error);
}

}  // namespace

}  // namespace tidemark
