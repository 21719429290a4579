// The catalogue as linked: complete, well declared, and right on the virtual device.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

constexpr std::array<Level, 3> kLevels{Level::quick, Level::nightly, Level::soak};

RunContext context_of(const Case& which, Level level) {
  // Without a transport, as here, the virtual device plays the other ranks.
  return {.level = level, .seed = case_seed(20, which.name), .ranks = which.fewest_gpus};
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of_catalogue() {
  std::vector<std::string> lines;
  std::ifstream file(TIDEMARK_CATALOGUE);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Catalogue, ListsExactlyTheCasesThatAreLinked) {
  const std::vector<std::string> listed = lines_of_catalogue();
  std::vector<std::string> linked;
  for (const Case& which : all_cases()) linked.emplace_back(which.name);
  for (const std::string& name : linked)
    EXPECT_TRUE(contains(listed, name)) << "suite/catalogue.txt lacks the line: " << name;
  for (const std::string& name : listed)
    EXPECT_TRUE(contains(linked, name))
        << "suite/catalogue.txt lists a case that is not linked: " << name
        << " (names are never changed and never used again)";
}

TEST(Catalogue, IsSortedWithoutRepetition) {
  const std::vector<std::string> listed = lines_of_catalogue();
  ASSERT_FALSE(listed.empty()) << TIDEMARK_CATALOGUE << " cannot be read or is empty";
  for (std::size_t i = 1; i < listed.size(); ++i) EXPECT_LT(listed[i - 1], listed[i]);
}

TEST(Catalogue, EachCaseClaimsOneSentenceAndCitesItsSource) {
  for (const Case& which : all_cases()) {
    SCOPED_TRACE(which.name);
    EXPECT_GE(which.claim.size(), 20U);
    EXPECT_EQ(which.claim.find(". "), std::string_view::npos) << "more than one sentence";
    EXPECT_GE(which.cites.size(), 10U);
    EXPECT_GT(which.seconds, 0);
  }
}

TEST(Catalogue, EachClaimIsMadeOnce) {
  std::set<std::string_view> claims;
  for (const Case& which : all_cases())
    EXPECT_TRUE(claims.insert(which.claim).second) << which.name << ": " << which.claim;
}

TEST(Catalogue, EachConformanceCaseHasRowsAtEveryLevelThatRunsIt) {
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance) continue;
    for (const Level level : kLevels) {
      if (level < which.level) continue;
      EXPECT_FALSE(which.rows(context_of(which, level)).empty()) << which.name;
    }
  }
}

TEST(Catalogue, EachBenchmarkNamesACaseThatMustHavePassed) {
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::benchmark) continue;
    SCOPED_TRACE(which.name);
    const Case* correct_by = case_named(which.correct_by);
    ASSERT_NE(correct_by, nullptr) << "correct_by: " << which.correct_by;
    EXPECT_EQ(correct_by->kind, CaseKind::conformance);
    EXPECT_NE(which.metrics, nullptr);
    EXPECT_FALSE(which.unit.empty());
  }
}

TEST(Catalogue, EachCaseThatEndsInErrorsIsOfOneGpuAndOfLevelSoak) {
  std::size_t rows = 0;
  for (const Case& which : all_cases()) {
    EXPECT_EQ(which.name.starts_with("behaviour.fault."), which.expected_error != nullptr)
        << which.name;
    if (which.expected_error == nullptr) continue;
    SCOPED_TRACE(which.name);
    EXPECT_EQ(which.kind, CaseKind::conformance);
    EXPECT_EQ(which.scope, CaseScope::one_gpu);
    EXPECT_EQ(which.level, Level::soak);
    EXPECT_NE(which.claim.find("Xid"), std::string_view::npos) << "does not warn whoever reads it";
    // It may be run at any level by its name.
    EXPECT_EQ(which.rows(context_of(which, Level::quick)).size(),
              which.rows(context_of(which, Level::soak)).size());
    rows += which.rows(context_of(which, Level::soak)).size();
  }
  EXPECT_GE(rows, 13U);
}

TEST(Catalogue, NoTwoRowsThatEndInErrorsAreCalledTheSame) {
  std::set<std::string_view> copies;
  for (const Case& which : all_cases()) {
    if (which.expected_error == nullptr) continue;
    const std::size_t rows = which.rows(context_of(which, Level::soak)).size();
    for (std::uint32_t row = 0; row < rows; ++row)
      EXPECT_TRUE(copies.insert(which.expected_error(row).copy).second) << row;
  }
}

TEST(Catalogue, NoConformanceCaseRunsARowTwice) {
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance) continue;
    std::set<std::string> rows;
    for (const Op& op : which.rows(context_of(which, Level::quick)))
      EXPECT_TRUE(rows.insert(parameters_of(op)).second) << which.name << ": " << parameters_of(op);
  }
}

TEST(Catalogue, RowsFollowFromTheContextAlone) {
  for (const Case& which : all_cases()) {
    const auto first = which.rows(context_of(which, Level::nightly));
    const auto second = which.rows(context_of(which, Level::nightly));
    ASSERT_EQ(first.size(), second.size()) << which.name;
    for (std::size_t i = 0; i < first.size(); ++i)
      ASSERT_EQ(parameters_of(first[i]), parameters_of(second[i])) << which.name << " row " << i;
  }
}

// A row that needs more has its SM to itself: fewer than two windows of 100 KiB fit in one.
constexpr std::uint32_t kWindowThatSharesAnSm = 100U << 10;
constexpr std::uint32_t kRowsWithAnSmToThemselves = 32;  // of one case

TEST(Catalogue, TileLoadsStaySmallEnoughForQuickRuns) {
  for (const Case& which : all_cases()) {
    std::uint32_t large = 0;
    for (const Op& op : which.rows(context_of(which, Level::nightly))) {
      const auto* load = std::get_if<TileLoad>(&op);
      if (load == nullptr) continue;
      if (window_bytes(*load) > kWindowThatSharesAnSm) ++large;
      ASSERT_LE(region_of(*load).bytes, 1U << 20) << which.name << ": " << parameters_of(op);
    }
    EXPECT_LE(large, kRowsWithAnSmToThemselves) << which.name;
  }
}

TEST(Catalogue, TileStoresStaySmallEnoughForQuickRuns) {
  for (const Case& which : all_cases()) {
    std::uint32_t large = 0;
    for (const Op& op : which.rows(context_of(which, Level::nightly))) {
      const auto* store = std::get_if<TileStore>(&op);
      if (store == nullptr) continue;
      if (window_bytes(*store) > kWindowThatSharesAnSm) ++large;
      ASSERT_LE(program_of(*store).regions[0].bytes, 1U << 20)
          << which.name << ": " << parameters_of(op);
    }
    EXPECT_LE(large, kRowsWithAnSmToThemselves) << which.name;
  }
}

// The virtual device gives a window all of it, and would pass a row that no GPU can run.
TEST(Catalogue, EachProgramLeavesTheGpusKernelRoomInSharedMemory) {
  constexpr std::uint32_t kOfACta = 227 * 1024, kOfTheKernel = 1120;
  for (const Case& which : all_cases())
    for (const Op& op : which.rows(context_of(which, Level::nightly))) {
      if (!is_program(op)) continue;
      ASSERT_LE(checked_program(op).window, kOfACta - kOfTheKernel)
          << which.name << ": " << parameters_of(op);
    }
}

TEST(Catalogue, EachConformanceCasePassesOnTheVirtualDevice) {
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance || which.expected_error != nullptr) continue;
    const auto device = make_device(DeviceKind::virtual_device);
    const Outcome outcome = run_case(which, *device, context_of(which, which.level));
    EXPECT_EQ(outcome.judgement, Judgement::pass) << which.name << ": " << outcome.reason;
    EXPECT_EQ(outcome.rows_run, outcome.rows_planned) << which.name;
    EXPECT_EQ(outcome.rows_failed, 0U) << which.name;
  }
}

TEST(Catalogue, EachRowThatEndsInAnErrorPassesOnTheVirtualDevice) {
  for (const Case& which : all_cases()) {
    if (which.expected_error == nullptr) continue;
    const std::size_t rows = which.rows(context_of(which, which.level)).size();
    for (std::uint32_t row = 0; row < rows; ++row) {
      const auto device = make_device(DeviceKind::virtual_device);
      const Outcome outcome =
          run_case(which, *device, context_of(which, which.level), {.only_row = row});
      EXPECT_EQ(outcome.judgement, Judgement::pass) << row << ": " << outcome.reason;
      EXPECT_TRUE(outcome.device_spent) << row;
    }
  }
}

// What stands between each `before` and the next quotation mark.
std::vector<std::string> quoted(const std::string& text, const std::string& before) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
    at += before.size();
    found.push_back(text.substr(at, text.find('"', at) - at));
  }
  return found;
}

// load.tile.rank1 is declared in a file whose name has "load", and by one line of the catalogue: no
// list in the sources names it.
TEST(Catalogue, EachConformanceCaseIsDeclaredOnceInAFileOfItsFamily) {
  const auto folder = std::filesystem::path(TIDEMARK_CATALOGUE).parent_path() / "conformance";
  std::multiset<std::string> declared;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string stem = file.path().stem().string();
    if (file.path().extension() != ".cpp" || stem.ends_with("_test")) continue;
    const std::string text = contents(file);
    const std::vector<std::string> names = quoted(text, "    .name = \"");
    EXPECT_EQ(quoted(text, "const Register k").size(), names.size()) << file.path();
    for (const std::string& name : names) {
      EXPECT_NE(stem.find(name.substr(0, name.find('.'))), std::string::npos) << stem << name;
      declared.insert(name);
    }
  }
  std::size_t linked = 0;
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance || which.name.starts_with("gemm.")) continue;
    EXPECT_EQ(declared.count(std::string(which.name)), 1U) << which.name;
    ++linked;
  }
  EXPECT_EQ(declared.size(), linked);
}

}  // namespace
}  // namespace tidemark
