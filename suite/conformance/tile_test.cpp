// Rows of multicasts are legal, small, and reach into each corner that their names promise.
#include "suite/conformance/tile.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "kernels/ops/program/checks.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

TEST(MulticastRow, AllMasksAndIssuersOfFourBlocksAreSixty) {
  const std::vector<Op> rows = all_masks_and_issuers(4);
  ASSERT_EQ(rows.size(), 60U);
  EXPECT_EQ(std::get<MulticastLoad>(rows.front()).mask, 0b0001);
  EXPECT_EQ(std::get<MulticastLoad>(rows.back()).mask, 0b1111);
  EXPECT_EQ(std::get<MulticastLoad>(rows.back()).issuer, 3U);
}

TEST(MulticastRow, RandomOnesHaveAPrediction) {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    EXPECT_NO_THROW((void)predict(checked_program(random_multicast(seed)))) << seed;
}

TEST(MulticastRow, RandomOnesMeetEveryFeature) {
  std::uint32_t late = 0, sliced = 0, single = 0, outside = 0, cubes = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const MulticastLoad drawn = random_multicast(seed);
    EXPECT_LE(cluster_size(drawn), 8U);
    late += drawn.late_arm ? 1 : 0;
    sliced += drawn.slices > 1 ? 1 : 0;
    single += std::popcount(drawn.mask) == 1 ? 1 : 0;
    outside += (drawn.mask >> drawn.issuer & 1U) != 0 ? 0 : 1;
    cubes += drawn.cluster == std::array<std::uint32_t, 3>{2, 2, 2} ? 1 : 0;
  }
  EXPECT_GT(late, 150U);
  EXPECT_GT(sliced, 50U);
  EXPECT_GT(single, 50U);
  EXPECT_GT(outside, 200U);
  EXPECT_GT(cubes, 50U);
}

TEST(MulticastRow, EveryRowOfTheCatalogueStaysSmall) {
  for (const Case& which : all_cases())
    for (const Op& op : which.rows({.level = Level::nightly, .seed = 1})) {
      const auto* row = std::get_if<MulticastLoad>(&op);
      if (row == nullptr) continue;
      ASSERT_LE(window_bytes(row->load), 32U << 10) << which.name << ": " << parameters_of(op);
      ASSERT_LE(source_allocation_bytes(row->load), 1U << 20)
          << which.name << ": " << parameters_of(op);
    }
}

}  // namespace
}  // namespace tidemark
