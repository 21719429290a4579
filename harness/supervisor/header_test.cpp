// When the first lines of a launch say that a rank is bound to too few cores.
#include "harness/supervisor/header.hpp"

#include <gtest/gtest.h>

namespace tidemark::harness {
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
}  // namespace tidemark::harness
