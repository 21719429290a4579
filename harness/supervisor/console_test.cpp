// The line of progress on terminals of different widths.
#include "harness/supervisor/console.hpp"

#include <gtest/gtest.h>

namespace tidemark {

namespace {

const Tally kHalfWay{.done = 151, .troubled = 2, .now = "load.atom3d.bank_conflicts"};

TEST(Console, progress_fits_100_columns_with_the_whole_name) {
  EXPECT_EQ(progress_text(kHalfWay, 302, "  eta 9s", 100),
            "[ 50%] load.atom3d.bank_conflicts       151/302 results  2 not passed  eta 9s");
}

TEST(Console, a_narrow_terminal_takes_from_the_name_of_the_case) {
  EXPECT_EQ(progress_text(kHalfWay, 302, "  eta 9s", 60),
            "[ 50%] load.atom3d.ban 151/302 results  2 not passed  eta 9s");
}

TEST(Console, progress_is_never_longer_than_its_terminal) {
  EXPECT_EQ(progress_text(kHalfWay, 302, "  eta 9s", 20), "[ 50%]  151/302 resu");
}

}  // namespace

namespace {

TEST(Header, says_that_a_rank_is_bound_to_one_core) {
  EXPECT_EQ(
      few_cpus(1, 64, 1),
      " this rank may use 1 of 64 CPUs: checks of products take longer; mpirun --bind-to none");
}

TEST(Header, wants_four_cpus_for_each_gpu) {
  EXPECT_FALSE(few_cpus(15, 64, 4).empty());
  EXPECT_EQ(few_cpus(16, 64, 4), "");
}

TEST(Header, says_nothing_where_the_machine_has_no_more) { EXPECT_EQ(few_cpus(2, 2, 1), ""); }

}  // namespace

}  // namespace tidemark
