// What can be known of the engine without a GPU: that its tables hold together, and that blocks of
// a cluster agree about who loads what.
#include "kernels/cuda/gemm/engine/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/tuning/choice.hpp"

namespace tidemark::kernels {
namespace {

std::vector<EngineKernel> all_kernels() {
  std::vector<EngineKernel> all;
  for (const auto kernels : {wide_kernels(), split_kernels(), turn_kernels(),
                             general_bf16_kernels(), general_f16_kernels(), general_fp8_kernels()})
    all.insert(all.end(), kernels.begin(), kernels.end());
  return all;
}

bool has_plain(const TileShape& shape, GemmOutput output) {
  const std::vector<EngineKernel> all = all_kernels();
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
  for (const EngineKernel& kernel : all_kernels()) {
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
    EXPECT_LT(configuration.lead, configuration.shape.stages) << name_of(configuration);
    EXPECT_GT(configuration.group, 0U) << name_of(configuration);
  }
}

TEST(EngineTables, NoTwoConfigurationsShareAName) {
  std::set<std::string> names;
  for (const EngineConfiguration& configuration : engine_configurations())
    EXPECT_TRUE(names.insert(name_of(configuration)).second) << name_of(configuration);
}

TEST(EngineTables, NameSaysAllThatIsChosen) {
  EXPECT_EQ(name_of(EngineConfiguration{.lead = 1, .gpc_rows = 2}), "128x256_1x1_s4_m8_g2_lead1");
  EXPECT_EQ(name_of(EngineConfiguration{.shape = {.tile_m = 128, .tile_n = 256, .cluster_m = 2}}),
            "128x256_2x1_s4_m8");
  EXPECT_EQ(name_of(EngineConfiguration{.shape = {.tile_n = 128, .split = 2, .boxes = 1},
                                        .group = 4,
                                        .group_along_n = true,
                                        .lead = 1,
                                        .early = true,
                                        .streams_c = true}),
            "128x128_1x1_s4_k2_n4_lead1_early_stream");
  EXPECT_EQ(name_of(EngineConfiguration{.shape = {.tile_n = 176, .stages = 5, .in_turn = true},
                                        .keeps = true}),
            "128x176_1x1_s5_turn_m8_keep");
}

TEST(EngineTables, GeneralKernelsCoverEveryTypeAndOrderButFp8KMajorOnly) {
  std::set<std::vector<int>> kinds;
  for (const EngineKernel& kernel : all_kernels())
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

// What is chosen is also tried, and so tested on a GPU.
TEST(EngineChoice, IsAConfigurationForEverySize) {
  const auto all = engine_configurations();
  for (const std::uint64_t m : {1U, 100U, 1024U, 5000U, 16384U, 100000U})
    for (const std::uint64_t k : {1U, 1024U, 8192U, 100000U}) {
      const EngineConfiguration chosen = chosen_by_default(m, m, k);
      EXPECT_NE(std::find(all.begin(), all.end(), chosen), all.end()) << name_of(chosen);
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

// 128 x 168 fills 4 % more of the SMs than 128 x 192 and is slower by 5 %
// (h100-gemm-drawn-waves.txt).
TEST(EngineChoice, AShapeThatFillsALittleMoreIsNotWorthItsSpeed) {
  EXPECT_NE(chosen_by_default(14272, 4480, 9088).shape.tile_n, 168U);
}

TEST(EngineChoice, AMeasuredProductKeepsWhatWasMeasured) {
  for (const GemmChoice& choice : embedded_gemm_table().choices) {
    const GemmShape& product = choice.product;
    EXPECT_EQ(chosen_by_default(product.m, product.n, product.k), choice.configuration);
  }
}

// Blocks of a distributed product have other sizes than the whole: no bit may depend on that.
TEST(EngineChoice, ADistributedProductHasNoPartsOfK) {
  LocalGemm gemm{.m = 1024, .n = 1024, .k = 8192, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_by_default(gemm).shape.split, 2U);
  gemm.one_sum = true;
  EXPECT_EQ(chosen_by_default(gemm).shape.split, 1U);
}

TEST(EngineChoice, TableOfPartsOfKAloneLeavesABudgetTheGeneralShape) {
  const GemmTable table = table_of("128x128_1x1_s6_k2_m8_early");
  LocalGemm gemm{.m = 64, .n = 64, .k = 64, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_configuration(table, gemm).shape.split, 2U);
  gemm.sm_budget = 66;
  EXPECT_EQ(chosen_configuration(table, gemm).shape, kGeneralShape);
}

TEST(EngineChoice, SmallProductThatIsNotPlainGetsTheGeneralShape) {
  LocalGemm gemm{.m = 64, .n = 64, .k = 64};
  gemm.beta = 1;
  EXPECT_EQ(chosen_by_default(gemm).shape, kGeneralShape);
}

// 598 tiles of 256 x 256 are 10 waves of 66, the last one of 4.
TEST(EngineChoice, KOfTheLastTilesIsSharedOutWhereTheirWaveIsNotFull) {
  LocalGemm gemm{.m = 5888, .n = 6656, .k = 2752, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_by_default(gemm).shape, kTurnStreamShape);
  gemm.element = GemmElement::f16;
  EXPECT_EQ(chosen_by_default(gemm).shape, kTurnStreamShape);
  gemm.element = GemmElement::e4m3;
  EXPECT_EQ(chosen_by_default(gemm).shape, kFp8StreamShape192);
}

// 405 tiles of 256 x 192 reach past the end by 10 %, 360 of 256 x 200 by 2.
TEST(EngineChoice, TilesOf200ColumnsWhereTheyEndWithCAndBIsKMajor) {
  LocalGemm gemm{.m = 11328, .n = 1600, .k = 4480, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_by_default(gemm).shape, kStreamShape200);
  gemm.element = GemmElement::f16;
  EXPECT_EQ(chosen_by_default(gemm).shape, kStreamShape200);
  gemm.k = 2048;
  EXPECT_EQ(chosen_by_default(gemm).shape, kTurnStreamShape);
}

TEST(EngineChoice, NoTilesOf200ColumnsOfWhatIsContiguousAlongN) {
  const LocalGemm gemm{
      .m = 11328, .n = 1600, .k = 4480, .output = GemmOutput::bf16, .b_major = Major::mn};
  EXPECT_EQ(chosen_by_default(gemm).shape, kTurnStreamShape);
}

// Of 1632 rows, pairs of 128 side by side reach past the end with 32, one above the other with 160.
TEST(EngineChoice, PairsSideBySideWhereRowsOfPairsReachFarPastTheEnd) {
  LocalGemm gemm{.m = 1632, .n = 3016, .k = 8544, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_by_default(gemm).shape, kStreamBesideShape);
  gemm.b_major = Major::mn;
  EXPECT_EQ(chosen_by_default(gemm).shape, kStreamBesideShape);
}

// 1054 tiles of 256 x 256 are 15.97 waves of 66.
TEST(EngineChoice, WholeTilesWhereTheLastWaveIsFull) {
  const LocalGemm gemm{.m = 4304, .n = 15808, .k = 9720, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_by_default(gemm).shape, kGeneralShape);
}

TEST(EngineChoice, TableOfStreamKLeavesPackedRowsTheGeneralShape) {
  const GemmTable table = table_of("128x192_2x1_s5_turn_streamk_m8_g1_early");
  LocalGemm gemm{
      .pitch = 8192, .m = 8192, .n = 8192, .k = 8192, .output = GemmOutput::bf16, .b_pitch = 8192};
  gemm.pitch = gemm.b_pitch = 8193;
  EXPECT_EQ(chosen_configuration(table, gemm).shape, kGeneralShape);
  gemm = {.pitch = 64, .m = 64, .n = 64, .k = 64, .output = GemmOutput::bf16};
  EXPECT_EQ(chosen_configuration(table, gemm).shape, kTurnStreamShape);
}

TEST(EngineChoice, NoKIsSharedOutOfADistributedProductWithinABudgetOrOfPackedRows) {
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16, GemmElement::e4m3}) {
    LocalGemm gemm{.m = 5888, .n = 6656, .k = 2752, .output = GemmOutput::bf16, .element = element};
    gemm.one_sum = true;
    EXPECT_FALSE(chosen_by_default(gemm).shape.stream_k);
    gemm.one_sum = false;
    gemm.sm_budget = 100;
    EXPECT_FALSE(chosen_by_default(gemm).shape.stream_k);
    gemm.sm_budget = 0;
    if (is_fp8(element)) continue;  // whose rows are never packed
    gemm.pitch = gemm.b_pitch = 2753;
    EXPECT_FALSE(chosen_by_default(gemm).shape.stream_k);
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

TEST(EngineChoice, IsAConfigurationWhereRowsArePacked) {
  const auto all = engine_configurations();
  for (const std::uint64_t m : {4096U, 8192U, 12288U, 16384U})
    for (const std::uint64_t n : {1024U, 4096U, 8192U, 16384U, 28672U})
      for (const std::uint64_t k : {1024U, 4096U, 8192U, 16384U}) {
        const EngineConfiguration chosen = chosen_by_default(
            {.pitch = k + 1, .m = m, .n = n, .k = k, .output = GemmOutput::bf16, .b_pitch = k + 1});
        if (chosen.gpc_rows == 0) continue;
        EXPECT_NE(std::find(all.begin(), all.end(), chosen), all.end()) << name_of(chosen);
      }
}

TEST(EngineChoice, WhatAGroupSharesStaysInL2WhereRowsArePacked) {
  LocalGemm gemm{
      .pitch = 8200, .m = 8192, .n = 8192, .k = 8192, .output = GemmOutput::bf16, .b_pitch = 8200};
  EXPECT_FALSE(chosen_by_default(gemm).keeps);
  gemm.b_pitch = 8193;
  EXPECT_TRUE(chosen_by_default(gemm).keeps);
  gemm.pitch = 8193;
  gemm.b_pitch = 8200;
  EXPECT_TRUE(chosen_by_default(gemm).keeps);
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

TEST(EngineChoice, BudgetOfSmsTakesNoPartsOfKNorEarlyLaunchesNorTilesByGpc) {
  for (const std::uint64_t edge : {512U, 1024U, 8192U, 16384U}) {
    LocalGemm gemm{.m = edge, .n = edge, .k = 8192, .output = GemmOutput::bf16};
    gemm.sm_budget = 66;
    const EngineConfiguration chosen = chosen_by_default(gemm);
    EXPECT_EQ(chosen.shape.split, 1U) << name_of(chosen);
    EXPECT_FALSE(chosen.early) << name_of(chosen);
    EXPECT_EQ(chosen.gpc_rows, 0U) << name_of(chosen);
    EXPECT_LE(blocks_of(chosen.shape), 2U) << name_of(chosen);
  }
}

constexpr TileShape kFour{.tile_m = 128, .tile_n = 128, .cluster_m = 2, .cluster_n = 2};

TEST(ClusterPlaces, RankAndPlaceAreOneToOne) {
  constexpr TileShape kEight{.cluster_m = 2, .cluster_n = 2, .split = 2};
  std::set<std::vector<std::uint32_t>> places;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const ClusterPlace at = cluster_place(kEight, rank);
    places.insert({at.part, at.m, at.n});
    EXPECT_EQ(cluster_rank(kEight, at), rank);
  }
  EXPECT_EQ(places.size(), 8U);
}

// A block must hear from exactly those into whose memory it loads.
TEST(ClusterPlaces, PeersAreThoseThatShareAOrB) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const ClusterPlace at = cluster_place(kFour, rank);
    std::uint32_t peers = 0;
    for (std::uint32_t i = 0; i < peers_of(kFour); ++i) peers |= 1U << peer_rank(kFour, at, i);
    EXPECT_EQ(peers, std::uint32_t{sharers_of_a(kFour, at)} | sharers_of_b(kFour, at)) << rank;
  }
}

TEST(ClusterPlaces, NoPeerIsToldTwice) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    std::set<std::uint32_t> peers;
    for (std::uint32_t i = 0; i < peers_of(kFour); ++i)
      peers.insert(peer_rank(kFour, cluster_place(kFour, rank), i));
    EXPECT_EQ(peers.size(), 3U) << rank;
  }
}

TEST(ClusterPlaces, PartsOfKShareNothing) {
  constexpr TileShape kSplit{.cluster_m = 2, .split = 2};
  EXPECT_EQ(sharers_of_b(kSplit, {.part = 0}), 0b0101);
  EXPECT_EQ(sharers_of_b(kSplit, {.part = 1}), 0b1010);
  EXPECT_EQ(sharers_of_a(kSplit, {.part = 1, .m = 1}), 0b1000);
}

TEST(TileShapes, SlicesOfAClusterMakeTheWholeTile) {
  EXPECT_EQ(slice_m(kFour) * kFour.cluster_n, kFour.tile_m);
  EXPECT_EQ(slice_n(kFour) * kFour.cluster_m, kFour.tile_n);
}

TEST(TileShapes, LargestFitsTheSharedMemoryOfABlock) {
  constexpr TileShape kWide{.cluster_m = 2};
  EXPECT_EQ(shared_bytes(kWide), 4U * 49152U + 32768U + 64U + 32U);
  EXPECT_FALSE(is_sound({.stages = 5}));
}

TEST(TileShapes, WarpgroupInTurnHoldsAllSumsOfItsTile) {
  EXPECT_EQ(accumulators({.tile_n = 176, .in_turn = true}), 88U);
  EXPECT_EQ(warpgroup_rows({.tile_n = 176, .in_turn = true}), 128U);
  EXPECT_TRUE(is_sound({.tile_n = 192, .in_turn = true}));
  EXPECT_FALSE(is_sound({.tile_n = 256, .in_turn = true})) << "256 sums a thread";
}

TEST(TileShapes, WidthThatNoInstructionHasIsUnsound) {
  EXPECT_FALSE(is_sound({.tile_n = 104, .in_turn = true}));
}

}  // namespace
}  // namespace tidemark::kernels
