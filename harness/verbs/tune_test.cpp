// --gemm-table as an option: what is wrong costs one line and its code, and leaves files as they were.
#include <gtest/gtest.h>

#include <fstream>

#include "harness/testing/launch_place.hpp"
#include "harness/testing/run_binary.hpp"
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

namespace tidemark::harness {
namespace {

/// A table of one choice, in a file of `place`.
std::string written_table(const Place& place, const std::string& name,
                          const std::string& configuration = "128x256_2x1_s4_m8") {
  std::ofstream(place.file(name))
      << R"({"format":"tidemark-gemm-table","schema":1,"choices":[{"m":1,"n":2,"k":3,)"
      << "\"configuration\":\"" << configuration << "\"}]}";
  return place.file(name);
}

TEST(GemmTableOption, report_and_terminal_say_which_table_it_was) {
  const Place place;
  const std::string table = written_table(place, "t.json");
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", "gemm.local.integer", "--gemm-table", table}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find(" GEMM table t.json (f60dfdbb666dda2f)\n"), std::string::npos) << ran.out;
  const Report report = read_report(place.out());
  EXPECT_EQ(provenance_of(report, "gemm_table.name"), "t.json");
  EXPECT_EQ(provenance_of(report, "gemm_table.hash"), "f60dfdbb666dda2f");
  const Ran shown = run_binary({"show", place.out()});
  EXPECT_NE(shown.out.find("GEMM table: t.json f60dfdbb666dda2f"), std::string::npos) << shown.out;
}

TEST(GemmTableOption, report_without_it_says_nothing) {
  const Place place;
  EXPECT_EQ(run_binary(run_arguments(place, {"--cases", "gemm.local.integer"})).exit, 0);
  EXPECT_EQ(provenance_of(read_report(place.out()), "gemm_table.hash"), "");
}

TEST(GemmTableOption, replay_line_takes_the_table_along) {
  const Place place;
  const std::string table = written_table(place, "t.json");
  const Ran ran = run_binary(run_arguments(place, {"--cases", "gemm.local.integer", "--gemm-table",
                                                   table, "--fault", "gemm_off_by_one"}));
  EXPECT_NE((ran.out + ran.err).find(" --gemm-table " + table + " --device virtual"),
            std::string::npos)
      << ran.out << ran.err;
}

TEST(GemmTableOption, bad_file_ends_the_run_before_anything_is_written) {
  const Place place;
  const std::string table = written_table(place, "t.json", "8x8");
  const Ran ran = run_binary(run_arguments(place, {"--gemm-table", table}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "tidemark: --gemm-table " + table +
                         ": /choices/0/configuration is '8x8', which the engine of this build does "
                         "not have; 'tidemark tune --list' names all\n");
  EXPECT_EQ(place.files(), Arguments{"t.json"});
}

}  // namespace
}  // namespace tidemark::harness
