// What is written from the descriptions of the options: the bash completion, as bash runs it.
#include <gtest/gtest.h>

#include <string>

#include "harness/room.hpp"
#include "harness/testing/run_binary.hpp"
#include "reports/scratch_folder.hpp"

namespace tidemark::harness {
namespace {

/// What is offered behind these words, of which the last is being typed; one space between two.
std::string offered(const std::string& words, const std::string& folder = "/") {
  const Ran ran =
      run_program({"bash", "--norc", "-c",
                   "cd \"$2\"; source <(\"$0\" __bash_completion); COMP_WORDS=(\"$0\" $1); "
                   "[[ $1 != *' ' ]] || COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
                   "_tidemark; echo \"${COMPREPLY[*]}\"",
                   TIDEMARK_BINARY, words, folder});
  EXPECT_EQ(ran.err, "");
  return ran.out;
}

TEST(BashCompletion, offers_verbs_first) {
  EXPECT_EQ(offered("re"), "replay recover\n");
  EXPECT_EQ(offered("--v"), "--version\n");
}

TEST(BashCompletion, offers_the_options_of_the_verb) {
  EXPECT_EQ(offered("run --l"), "--level --launches\n");
  EXPECT_EQ(offered("list --l"), "--level\n");
}

TEST(BashCompletion, offers_the_words_that_an_option_takes) {
  EXPECT_EQ(offered("run --level "), "quick nightly soak\n");
  EXPECT_EQ(offered("run --level = n"), "nightly\n");  // as bash parts --level=n
  EXPECT_EQ(offered("bench --transport "), "auto nccl nccl_overlap copy_engine mpi\n");
  EXPECT_EQ(offered("export x.h5 --format "), "prometheus ocp drain references\n");
}

TEST(BashCompletion, offers_cases_as_often_as_the_option_takes_one) {
  EXPECT_EQ(offered("run --cases zfill.side load.tile.rank1 load.tile.rank2"), "load.tile.rank2\n");
  EXPECT_EQ(offered("bench --exclude gemm.ladder gemm.local.fp8_sp"), "gemm.local.fp8_speed\n");
}

TEST(BashCompletion, offers_cases_of_a_program_in_the_home_folder) {
  const ScratchFolder home;
  ASSERT_EQ(run_program({"ln", "-s", TIDEMARK_BINARY, home.file("tidemark")}).exit, 0);
  const Ran ran =
      run_program({"bash", "--norc", "-c",
                   "source <(\"$0\" __bash_completion); COMP_WORDS=('~/tidemark' run --cases "
                   "zfill.sid); COMP_CWORD=3; _tidemark; echo \"${COMPREPLY[*]}\"",
                   TIDEMARK_BINARY},
                  {{"HOME", home.path()}});
  EXPECT_EQ(ran.out, "zfill.side\n") << ran.err;
}

TEST(BashCompletion, offers_files_where_one_is_read) {
  const ScratchFolder folder;
  ASSERT_EQ(run_program({"touch", folder.file("night.h5")}).exit, 0);
  EXPECT_EQ(offered("show ni", folder.path()), "night.h5\n");
  EXPECT_EQ(offered("compare --base a.h5 ni", folder.path()), "night.h5\n");
  EXPECT_EQ(offered("compare --base a.h5 --new ni", folder.path()), "night.h5\n");
}

TEST(BashCompletion, offers_nothing_for_a_number) { EXPECT_EQ(offered("run --seed "), "\n"); }

TEST(BashCompletion, offers_options_where_a_verb_takes_nothing_else) {
  EXPECT_EQ(offered("schema "), "--help --json\n");
}

}  // namespace
}  // namespace tidemark::harness
