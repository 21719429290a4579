// Tests of selftest itself: where an injection is left out its expectation is not met, so that none
// is noticed whatever happens. That all are noticed is a test of the verb.
#include "harness/selftest.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>

#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

class Injections : public testing::TestWithParam<std::size_t> {
 public:
  static const Injection& injection() { return injections()[GetParam()]; }
};

TEST_P(Injections, is_missed_where_it_is_left_out) {
  Injection harmless = injection();
  harmless.injected = false;
  const Noticed noticed = carry_out(harmless, TIDEMARK_BINARY);
  if (noticed.notice == Notice::skipped) GTEST_SKIP() << noticed.seen;
  EXPECT_EQ(noticed.notice, Notice::missed) << noticed.seen;
}

std::string name_of_row(const testing::TestParamInfo<std::size_t>& row) {
  std::string name(injections()[row.param].name);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Selftest, Injections, testing::Range(std::size_t{0}, injections().size()),
                         name_of_row);

TEST(CarryOut, misses_what_ends_otherwise_than_expected) {
  Injection turned = injections().front();
  turned.expected.verdict = Verdict::pass;
  EXPECT_EQ(carry_out(turned, TIDEMARK_BINARY).notice, Notice::missed);
  turned = injections().front();
  turned.expected.exit = 0;
  EXPECT_EQ(carry_out(turned, TIDEMARK_BINARY).notice, Notice::missed);
  turned = injections().front();
  turned.expected.says = "what nobody says";
  EXPECT_EQ(carry_out(turned, TIDEMARK_BINARY).notice, Notice::missed);
  turned = injections().front();
  turned.expected.next = "zfill.side";  // did not run
  EXPECT_EQ(carry_out(turned, TIDEMARK_BINARY).notice, Notice::missed);
}

TEST(CarryOut, skips_ranks_that_do_not_start_and_says_why) {
  const ScratchFolder folder;
  const std::string program = folder.file("tidemark");
  std::ofstream(program) << "#!/bin/sh\necho 'tidemark: no slots' >&2\nexit 5\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Injection ranks = injections().front();
  ranks.starts_ranks = true;
  const Noticed noticed = carry_out(ranks, program);
  EXPECT_EQ(noticed.notice, Notice::skipped);
  EXPECT_EQ(noticed.seen, "tidemark: no slots");
}

TEST(CarryOut, tells_a_program_that_does_not_start_from_one_that_misses) {
  const Noticed noticed = carry_out(injections().front(), "/no/such/tidemark");
  EXPECT_EQ(noticed.notice, Notice::broke) << noticed.seen;
}

TEST(CarryOut, tells_a_program_that_dies_from_one_that_misses) {
  const ScratchFolder folder;
  const std::string script = folder.file("tidemark");
  std::ofstream(script) << "#!/bin/sh\nkill -SEGV $$\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Noticed noticed = carry_out(injections().front(), script);
  EXPECT_EQ(noticed.notice, Notice::broke) << noticed.seen;
}

}  // namespace
}  // namespace tidemark
