// What the nightly rows of tile loads reach: how many differ, and which pairs of properties meet.
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "suite/case.hpp"

namespace tidemark {
namespace {

RunContext nightly(const Case& which) {
  return {.level = Level::nightly, .seed = case_seed(40, which.name)};
}

bool is_tile_load_family(std::string_view name) {
  return name.starts_with("load.tile.") || name.starts_with("load.atom3d.") ||
         name.starts_with("zfill.");
}

// The row without its seed and without where the tensor starts: neither makes another row.
std::string parameters(Op op) {
  if (auto* load = std::get_if<TileLoad>(&op)) load->map.base_offset = 0;
  std::string text = parameters_of(op);
  const std::size_t seed = text.find("\"seed\":");
  if (seed == std::string::npos) return text;
  return text.erase(seed, text.find_first_of(",}", seed) - seed);
}

// The values that a row has of one property; a row that hangs over two sides has none of kSides.
using Values = std::vector<std::string>;

Values element_strides(const TileLoad& load) {
  std::set<std::uint32_t> steps;
  for (std::uint32_t i = 1; i < load.map.rank; ++i)
    if (load.map.element_stride[i] > 1) steps.insert(load.map.element_stride[i]);
  Values values;
  for (const std::uint32_t step : steps) values.push_back(fmt::format("stride {}", step));
  if (values.empty()) values.emplace_back("stride 1");
  return values;
}

Values sides(const TileLoad& load) {
  Values over;
  bool one_each = true;  // dimension hangs over exactly one of its sides
  for (std::uint32_t i = 0; i < load.map.rank; ++i) {
    const std::int64_t step = i == 0 ? 1 : load.map.element_stride[i];
    std::int64_t last = load.at[i];
    while (last + step < std::int64_t{load.at[i]} + load.map.box[i]) last += step;
    const bool low = load.at[i] < 0, high = last >= static_cast<std::int64_t>(load.map.extent[i]);
    if (low) over.push_back(fmt::format("low {}", i));
    if (high) over.push_back(fmt::format("high {}", i));
    one_each = one_each && low != high;
  }
  if (over.empty()) return {"inside"};
  if (over.size() == 1) return over;
  if (one_each) return {"all sides"};
  return {};
}

constexpr std::size_t kProperties = 7;

std::array<Values, kProperties> properties(const TileLoad& load) {
  return {Values{fmt::format("rank {}", load.map.rank)},
          Values{std::string(name_of(load.map.type))},
          Values{fmt::format("swizzle {}", swizzle_bytes(load.map.swizzle))},
          Values{fmt::format("phase {}", load.destination_offset / 128 % 8)},
          element_strides(load),
          sides(load),
          Values{load.map.fill == Fill::zero ? "zero fill" : "NaN fill"}};
}

const std::array<Values, kProperties> kAll{
    Values{"rank 1", "rank 2", "rank 3", "rank 4", "rank 5"},
    Values{"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32",
           "tf32_ftz"},
    Values{"swizzle 0", "swizzle 32", "swizzle 64", "swizzle 128"},
    Values{"phase 0", "phase 1", "phase 2", "phase 3", "phase 4", "phase 5", "phase 6", "phase 7"},
    Values{"stride 1", "stride 2", "stride 3", "stride 4", "stride 5", "stride 6", "stride 7",
           "stride 8"},
    Values{"inside", "low 0", "high 0", "low 1", "high 1", "low 2", "high 2", "low 3", "high 3",
           "low 4", "high 4", "all sides"},
    Values{"zero fill", "NaN fill"}};

// Pairs that no legal load has: NaN fill of integers, strides and sides of dimensions that a rank
// has not, and all sides of a line, which has but one dimension.
bool is_impossible(const std::string& a, const std::string& b) {
  if (b == "NaN fill") return a[0] == 'u' || a == "s32" || a == "s64";
  if (!a.starts_with("rank ")) return false;
  const int rank = a.back() - '0';
  if (b.starts_with("stride ")) return rank == 1 && b != "stride 1";
  if (b == "all sides") return rank == 1;
  return (b.starts_with("low ") || b.starts_with("high ")) && b.back() - '0' >= rank;
}

using Pairs = std::map<std::pair<std::string, std::string>, std::uint32_t>;

void count_pairs(const TileLoad& load, Pairs& pairs) {
  const auto has = properties(load);
  for (std::size_t p = 0; p < kProperties; ++p)
    for (std::size_t q = p + 1; q < kProperties; ++q)
      for (const std::string& a : has[p])
        for (const std::string& b : has[q]) ++pairs[{a, b}];
}

// Prints what is missing and says how much of it there is.
std::size_t missing_pairs(const Pairs& pairs) {
  std::size_t missing = 0, legal = 0;
  for (std::size_t p = 0; p < kProperties; ++p)
    for (std::size_t q = p + 1; q < kProperties; ++q)
      for (const std::string& a : kAll[p])
        for (const std::string& b : kAll[q]) {
          if (is_impossible(a, b)) {
            EXPECT_EQ(pairs.count({a, b}), 0U) << a << " with " << b << " is not impossible";
            continue;
          }
          ++legal;
          if (pairs.contains({a, b})) continue;
          ++missing;
          std::printf("  missing: %s with %s\n", a.c_str(), b.c_str());
        }
  std::printf("  %zu of %zu legal pairs\n", legal - missing, legal);
  return missing;
}

TEST(Coverage, EveryLegalPairOfPropertiesIsInSomeNightlyRow) {
  Pairs pairs;
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance || !is_tile_load_family(which.name)) continue;
    for (const Op& op : which.rows(nightly(which)))
      if (const auto* load = std::get_if<TileLoad>(&op)) count_pairs(*load, pairs);
  }
  EXPECT_EQ(missing_pairs(pairs), 0U);
}

TEST(Coverage, OneCoveringArrayHasEveryPairByItself) {
  Pairs pairs;
  const Case* const which = case_named("load.tile.pairs");
  ASSERT_NE(which, nullptr);
  for (const Op& op : which->rows({.seed = 41})) count_pairs(std::get<TileLoad>(op), pairs);
  EXPECT_EQ(missing_pairs(pairs), 0U);
}

TEST(Coverage, TheNightlyCatalogueHasTwentyThousandDifferentRows) {
  std::set<std::string> different;
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance || which.level > Level::nightly) continue;
    const std::vector<Op> rows = which.rows(nightly(which));
    for (const Op& op : rows) different.insert(parameters(op));
    std::printf("  %6zu %s\n", rows.size(), std::string(which.name).c_str());
  }
  std::printf("  %zu different rows\n", different.size());
  EXPECT_GE(different.size(), 20000U);
}

TEST(Coverage, SidesAreThoseOfTheElementsTaken) {
  TileLoad load;
  load.map.rank = 2;
  load.map.extent = {64, 8};
  load.map.box = {32, 7};
  load.map.element_stride = {1, 3, 1, 1, 1};  // rows 0, 3 and 6 from the first
  load.at = {0, 1};
  EXPECT_EQ(sides(load), Values{"inside"});
  load.at = {0, 2};
  EXPECT_EQ(sides(load), Values{"high 1"});
  load.at = {-16, 2};
  EXPECT_EQ(sides(load), Values{"all sides"});
  load.at = {48, 1};
  EXPECT_EQ(sides(load), Values{"high 0"});
  load.map.box = {32, 25};
  load.at = {0, -1};  // over both sides of one dimension
  EXPECT_TRUE(sides(load).empty());
}

TEST(Coverage, SeedAndBaseMakeNoOtherRow) {
  TileLoad a, b;
  b.payload = {.seed = 77};
  b.map.base_offset = 48;
  EXPECT_EQ(parameters(a), parameters(b));
  b.destination_offset = 128;
  EXPECT_NE(parameters(a), parameters(b));
}

}  // namespace
}  // namespace tidemark
