// --gemm-table under mpirun: each rank reads the file, and a launch has one table.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "harness/discovery/gpu_inventory.hpp"
#include "harness/testing/launch_place.hpp"
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

namespace tidemark::harness {
namespace {

#ifdef TIDEMARK_WITH_MPI

constexpr const char* kDistributed = "gemm.distributed.integer";

/// A table of one choice, in a file of `place`.
std::string written_table(const Place& place, const std::string& name,
                          const std::string& configuration) {
  std::ofstream(place.file(name))
      << R"({"format":"tidemark-gemm-table","schema":1,"choices":[{"m":1,"n":2,"k":3,)"
      << "\"configuration\":\"" << configuration << "\"}]}";
  return place.file(name);
}

/// Two ranks, each with a table of its own.
Ran run_with(const Place& place, const std::string& first, const std::string& second) {
  Arguments arguments =
      under_mpirun(1, run_arguments(place, {"--cases", kDistributed, "--gemm-table", first}));
  const Arguments other = run_arguments(place, {"--cases", kDistributed, "--gemm-table", second});
  arguments.insert(arguments.end(), {":", "-n", "1", TIDEMARK_BINARY});
  arguments.insert(arguments.end(), other.begin(), other.end());
  return run_program(arguments, kRoot);
}

TEST(MpiGemmTable, is_read_by_all_ranks_and_stands_in_the_report) {
  const Place place;
  const std::string table = written_table(place, "t.json", "128x256_2x1_s4_m8");
  const Ran ran = run_with(place, table, table);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(provenance_of(read_report(place.out()), "gemm_table.hash"),
            hash_of(read_gemm_table(table)));
}

TEST(MpiGemmTable, another_one_on_another_rank_is_refused) {
  const Place place;
  const std::string one = written_table(place, "1.json", "128x256_2x1_s4_m8");
  const std::string two = written_table(place, "2.json", "128x256_2x1_s4_m4");
  const Ran ran = run_with(place, one, two);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err, "tidemark: rank 1 was started with --gemm-table of hash " +
                         hash_of(read_gemm_table(two)) + " and rank 0 with --gemm-table of hash " +
                         hash_of(read_gemm_table(one)) + "; give every rank the same arguments\n");
  EXPECT_EQ(place.files(), (Arguments{"1.json", "2.json"}));
}

TEST(MpiGemmTable, that_one_rank_cannot_read_is_one_line_that_names_rank_and_host) {
  const Place place;
  const std::string table = written_table(place, "t.json", "128x256_2x1_s4_m8");
  const Ran ran = run_with(place, table, "/nowhere/t.json");
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: rank 1 on " + describe_node(1, "").hostname +
                ": --gemm-table /nowhere/t.json: cannot be opened: No such file or directory; "
                "give a table as 'tidemark tune --out FILE' writes it\n");
  EXPECT_EQ(place.files(), Arguments{"t.json"});
}

#endif

}  // namespace
}  // namespace tidemark::harness
