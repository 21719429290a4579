// Tests of how mpirun is found and called.
#include "harness/mpirun/mpirun.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tidemark::harness {
namespace {

using Words = std::vector<std::string>;

TEST(MpirunCommand, takes_ranks_out_in_both_spellings) {
  EXPECT_EQ(mpirun_command("/bin/tidemark", {"run", "--ranks", "4", "--strict"}, 4, false),
            Words({"mpirun", "--bind-to", "none", "-n", "4", "/bin/tidemark", "run", "--strict"}));
  EXPECT_EQ(mpirun_command("/bin/tidemark", {"run", "--strict", "--ranks=4"}, 4, false),
            Words({"mpirun", "--bind-to", "none", "-n", "4", "/bin/tidemark", "run", "--strict"}));
}

TEST(MpirunCommand, oversubscribes_on_demand) {
  EXPECT_EQ(mpirun_command("t", {"run"}, 2, true),
            Words({"mpirun", "--bind-to", "none", "-n", "2", "--oversubscribe", "t", "run"}));
}

TEST(FindOnPath, takes_the_first_that_can_be_executed) {
  EXPECT_EQ(find_on_path("sh", "/no/such:/bin:/usr/bin"), "/bin/sh");
  EXPECT_EQ(find_on_path("passwd", "/etc:/no/such"), "");  // a file, but no program
  EXPECT_EQ(find_on_path("no-such-program", "/bin:/usr/bin"), "");
  EXPECT_EQ(find_on_path("sh", ""), "");
}

TEST(LauncherRank, is_what_the_launcher_says) {
  unsetenv("PMIX_RANK");
  unsetenv("PMI_RANK");
  unsetenv("SLURM_PROCID");
  unsetenv("OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(launcher_rank(), std::nullopt);
  setenv("SLURM_PROCID", "3", 1);
  unsetenv("SLURM_STEP_ID");
  unsetenv("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(launcher_rank(), std::nullopt);  // a batch script: srun has not been called
  setenv("SLURM_STEP_ID", "batch", 1);
  EXPECT_EQ(launcher_rank(), std::nullopt);
  setenv("SLURM_STEP_ID", "4294967291", 1);  // the batch step as a number
  EXPECT_EQ(launcher_rank(), std::nullopt);
  setenv("SLURM_STEP_ID", "0", 1);
  EXPECT_EQ(launcher_rank(), 3U);
  setenv("OMPI_COMM_WORLD_RANK", "7", 1);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(launcher_rank(), 3U);          // no mpirun, whatever the variable is from
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);  // mpirun inside a Slurm job
  EXPECT_EQ(launcher_rank(), 7U);
  setenv("OMPI_COMM_WORLD_RANK", "x", 1);
  EXPECT_EQ(launcher_rank(), 3U);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("SLURM_PROCID");
  unsetenv("SLURM_STEP_ID");
}

}  // namespace
}  // namespace tidemark::harness
