// The line of progress on terminals of different widths.
#include "harness/supervisor/console.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

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

namespace {

/// What rank 0 of two prints when `trouble` has been called on both consoles.
template <class Trouble>
std::string printed(Trouble trouble) {
  std::vector<Mesh> ranks;
  for (Link& link : local_links(2)) ranks.emplace_back(std::move(link));
  const int file = ::memfd_create("printed", 0);
  Output out(file);
  Console first(ranks[0], 8, false, out), second(ranks[1], 8, false, out);
  trouble(first, second);
  ranks[0].pump();
  first.refresh();
  out.flush(1);
  std::string text(1 << 16, '\0');
  const auto got = ::pread(file, text.data(), text.size(), 0);
  ::close(file);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

TEST(Troubles, of_a_case_are_printed_once_whichever_rank_has_them) {
  EXPECT_EQ(printed([](Console& first, Console& second) {
              first.trouble("FAIL load.x on 0\n  replay", "fail load.x");
              first.trouble("FAIL load.x on 1\n  replay", "fail load.x");
              second.trouble("FAIL load.x on 2\n  replay", "fail load.x");
              second.trouble("HANG load.x on 2\n  replay", "hang load.x");
            }),
            "FAIL load.x on 0\n  replay\nHANG load.x on 2\n  replay\n");
}

TEST(Troubles, of_no_case_are_all_printed) {
  EXPECT_EQ(printed([](Console& first, Console& second) {
              first.trouble("event: Xid 79");
              second.trouble("event: Xid 79");
            }),
            "event: Xid 79\nevent: Xid 79\n");
}

TEST(Troubles, of_many_cases_are_a_line_each) {
  const std::string text = printed([](Console& first, Console&) {
    for (int i = 0; i < 40; ++i)
      first.trouble(fmt::format("FAIL case {}\n  replay", i), fmt::format("fail case {}", i));
  });
  EXPECT_EQ(std::ranges::count(text, '\n'), 30 * 2 + 10);
}

}  // namespace

}  // namespace tidemark
