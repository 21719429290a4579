// tidemark tune and --gemm-table as commands: what is wrong costs one line and its code, and leaves
// files as they were.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "harness/testing/launch_place.hpp"
#include "harness/testing/run_binary.hpp"
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

namespace tidemark::harness {
namespace {

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A table of one choice, in a file of `place`.
std::string written_table(const Place& place, const std::string& name,
                          const std::string& configuration = "128x256_2x1_s4_m8") {
  std::ofstream(place.file(name))
      << R"({"format":"tidemark-gemm-table","schema":1,"choices":[{"m":1,"n":2,"k":3,)"
      << "\"configuration\":\"" << configuration << "\"}]}";
  return place.file(name);
}

TEST(Tune, the_virtual_device_has_nothing_to_tune) {
  const Place place;
  const Ran ran = run_binary({"tune", "--device", "virtual", "--out", place.file("t.json")});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "tidemark: tune: there is nothing to tune on the virtual device, whose products have "
            "no configurations; run it on a machine with a Hopper GPU\n");
  EXPECT_EQ(place.files(), Arguments{});
}

TEST(Tune, leaves_the_file_that_was_there_where_it_fails) {
  const Place place;
  std::ofstream(place.file("t.json")) << "what was there";
  const Ran ran = run_binary({"tune", "--device", "virtual", "--out", place.file("t.json")});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_EQ(text_in(place.file("t.json")), "what was there");
  EXPECT_EQ(place.files(), Arguments{"t.json"});
}

TEST(Tune, wants_a_file_to_write) {
  const Ran ran = run_binary({"tune", "--device", "virtual"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: tune needs --out FILE: the table that it makes\n");
}

TEST(Tune, refuses_an_output_before_it_looks_for_a_gpu) {
  const Place place;
  const Ran nowhere = run_binary({"tune", "--out", place.file("no/t.json")});
  EXPECT_EQ(nowhere.exit, 2);
  EXPECT_NE(nowhere.err.find("give an --out in a folder that can be written"), std::string::npos)
      << nowhere.err;
  const Ran pipe = run_binary({"tune", "--out", "/dev/null"});
  EXPECT_EQ(pipe.exit, 2);
  EXPECT_EQ(pipe.err,
            "tidemark: --out '/dev/null': is no plain file, and would be replaced; give a file\n");
}

TEST(Tune, checks_its_table_on_the_virtual_device_too) {
  const Place place;
  const Ran ran = run_binary({"tune", "--device", "virtual", "--out", place.file("new.json"),
                              "--gemm-table", written_table(place, "t.json", "8x8")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("/choices/0/configuration is '8x8'"), std::string::npos) << ran.err;
}

TEST(Tune, refuses_products_that_are_none_or_stand_there_twice) {
  const Place place;
  const Arguments start = {"tune", "--device", "virtual", "--out", place.file("t.json")};
  Arguments zero = start;
  zero.insert(zero.end(), {"--product", "0x1x1"});
  EXPECT_EQ(run_binary(zero).exit, 2);
  Arguments twice = start;
  twice.insert(twice.end(), {"--product", "1x2x3", "--product", "1x2x3"});
  const Ran ran = run_binary(twice);
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: --product '1x2x3': was given before; give it once\n");
}

TEST(Tune, is_for_one_gpu) {
  const Place place;
  const Ran ran = run_binary({"tune", "--gpus", "0,1", "--out", place.file("t.json")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: --gpus '0,1': tune uses one GPU; give its index or UUID\n");
}

TEST(Tune, lists_every_configuration) {
  const Ran ran = run_binary({"tune", "--list"});
  EXPECT_EQ(ran.exit, 0);
  std::string all;
  for (const std::string& name : gemm_configuration_names()) all += name + "\n";
  EXPECT_EQ(ran.out, all);
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
