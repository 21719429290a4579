// A replay line is a promise: typed as it stands, it brings back the very bytes that were wrong.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

using Arguments = std::vector<std::string>;

/// What a report keeps of one wrong thing, its strings written out.
struct Wrong {
  std::uint32_t gpu = 0, row = 0;
  std::string what, text, parameters;
  std::uint64_t first_offset = 0, wrong_bytes = 0, expected = 0, actual = 0;

  friend bool operator==(const Wrong&, const Wrong&) = default;
};

/// A row that runs alone runs on another SM than among others.
std::string without_sm(std::string_view text) {
  return std::string(text.substr(0, text.find(" [SM ")));
}

/// What row `row` got wrong in its first attempt, on all GPUs.
std::vector<Wrong> wrong_in(const Report& report, std::uint32_t row) {
  std::vector<Wrong> found;
  for (const MiscompareRow& m : report.miscompares) {
    if (m.row != row || m.attempt != 1) continue;
    found.push_back({.gpu = report.results.at(m.result_id).gpu_id,
                     .row = m.row,
                     .what = std::string(report.text(m.what)),
                     .text = without_sm(report.text(m.text)),
                     .parameters = std::string(report.text(m.parameters)),
                     .first_offset = m.first_offset,
                     .wrong_bytes = m.wrong_bytes,
                     .expected = m.expected,
                     .actual = m.actual});
  }
  return found;
}

/// What stands behind the first "replay: " of a terminal, up to the end of its line.
std::string replay_printed(const std::string& terminal) {
  const std::size_t at = terminal.find("replay: ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + 8;
  return terminal.substr(begin, terminal.find('\n', begin) - begin);
}

/// The words of `line`, with the built program in the place of its name, writing to `out`.
Arguments typed(const std::string& line, const std::string& out) {
  std::istringstream words(line);
  Arguments all;
  for (std::string word; words >> word;) all.push_back(word == "tidemark" ? TIDEMARK_BINARY : word);
  all.insert(all.end(), {"--out", out});
  return all;
}

/// The first result that failed; the first of all where none did.
const ResultRow& first_failed(const Report& report) {
  for (const ResultRow& result : report.results)
    if (result.verdict == Verdict::fail) return result;
  return report.results.at(0);
}

/// Runs a case on a broken virtual device, then the replay line that the terminal shows, and holds
/// the two reports against each other. `row` is where the first wrong thing has to be.
void expect_replayed(const Arguments& chosen, std::uint32_t row) {
  const ScratchFolder folder;
  Arguments arguments = {
      "run", "--device", "virtual", "--seed", "0x63", "--out", folder.file("first.h5")};
  arguments.insert(arguments.end(), chosen.begin(), chosen.end());
  const Ran first = run_binary(arguments);
  ASSERT_EQ(first.exit, 1) << first.err;
  const std::string line = replay_printed(first.out);
  ASSERT_NE(line.find(" --row " + std::to_string(row) + " "), std::string::npos) << first.out;
  const Ran again = run_program(typed(line, folder.file("again.h5")));
  ASSERT_EQ(again.exit, 1) << line << "\n" << again.err;

  const Report all = read_report(folder.file("first.h5"));
  const Report one = read_report(folder.file("again.h5"));
  EXPECT_EQ(all.text(first_failed(all).replay), line);
  EXPECT_EQ(one.text(first_failed(one).replay), line);
  EXPECT_EQ(first_failed(one).seed, first_failed(all).seed);
  EXPECT_EQ(first_failed(one).rows_planned, 1U);
  const std::vector<Wrong> expected = wrong_in(all, row);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(wrong_in(one, row), expected);
}

TEST(ReplayLine, brings_back_the_wrong_bytes_of_a_load) {
  expect_replayed({"--cases", "zfill.side", "--fault", "load_upper_outer_long"}, 20);
}

TEST(ReplayLine, brings_back_the_wrong_bytes_of_a_store) {
  expect_replayed({"--cases", "store.tile.dtype", "--fault", "store_u16_bytes_exchanged"}, 6);
}

TEST(ReplayLine, brings_back_a_row_of_the_nightly_level) {
  expect_replayed(
      {"--cases", "load.tile.swizzle", "--fault", "load_swizzle_row_shifted", "--level", "nightly"},
      32);
}

TEST(ReplayLine, brings_back_the_wrong_elements_of_a_product_of_two_gpus) {
  expect_replayed(
      {"--cases", "gemm.distributed.integer", "--gpus", "2", "--fault", "gemm_last_product"}, 0);
}

TEST(ReplayLine, brings_back_an_error_that_is_not_the_predicted_one) {
  expect_replayed({"--cases", "behaviour.fault.illegal_copies", "--level", "soak", "--fault",
                   "load_illegal_as_700"},
                  3);
}

TEST(Replay, OfAGemmOfAGivenSizeHasItsArgumentsAndItsRow) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--gpus", "2", "--cases",
                              "gemm.distributed.integer", "--n", "64", "--grid", "2x1", "--fault",
                              "gemm_ulp", "--out", folder.file("g.h5")});
  ASSERT_EQ(ran.exit, 1) << ran.out << ran.err;
  for (const char* row : {"0", "4"}) {  // the last one is that of --n
    const Ran line = run_binary({"replay", folder.file("g.h5"), "--result", "0", "--row", row});
    EXPECT_TRUE(line.out.starts_with("tidemark run --cases gemm.distributed.integer ")) << line.out;
    for (const std::string& part : {std::string("--n 64 "), std::string("--grid 2x1 "),
                                    std::string(" --row ") + row + " ", std::string("--gpus 2\n")})
      EXPECT_NE(line.out.find(part), std::string::npos) << part << line.out << line.err;
  }
}

}  // namespace
}  // namespace tidemark
