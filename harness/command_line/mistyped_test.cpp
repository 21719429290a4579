// What a user may have meant by a mistyped name, or by a word of another tool.
#include "harness/command_line/option_values.hpp"

#include <gtest/gtest.h>
#include <array>
#include <string>
#include <vector>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"load.tile.2d", "load.tile.3d", "store.tile.2d",
                                                    "zfill.2d"};

TEST(EditDistance, counts_one_for_each_change) {
  EXPECT_EQ(edit_distance("run", "run"), 0U);
  EXPECT_EQ(edit_distance("rnn", "run"), 1U);
  EXPECT_EQ(edit_distance("rn", "run"), 1U);
  EXPECT_EQ(edit_distance("rrun", "run"), 1U);
  EXPECT_EQ(edit_distance("rnu", "run"), 1U);
  EXPECT_EQ(edit_distance("", "run"), 3U);
}

TEST(EditDistance, star_and_question_mark_are_free) {
  EXPECT_EQ(edit_distance("load.*", "load.tile.2d"), 0U);
  EXPECT_EQ(edit_distance("*.2d", "load.tile.2d"), 0U);
  EXPECT_EQ(edit_distance("laod.*", "load.tile.2d"), 1U);
  EXPECT_EQ(edit_distance("load.tile.?d", "load.tile.2d"), 0U);
}

TEST(DidYouMean, names_only_the_nearest) {
  EXPECT_EQ(did_you_mean("load.tlie.3d", kNames), "did you mean 'load.tile.3d'?");
}

TEST(DidYouMean, names_those_that_are_equally_near_up_to_a_count) {
  EXPECT_EQ(did_you_mean("load.tile.d", kNames), "did you mean 'load.tile.2d', 'load.tile.3d'?");
  EXPECT_EQ(did_you_mean("load.tile.d", kNames, 1), "did you mean 'load.tile.2d'?");
}

TEST(DidYouMean, works_for_globs) {
  EXPECT_EQ(did_you_mean("zfil.*", kNames), "did you mean 'zfill.2d'?");
}

TEST(DidYouMean, stays_silent_when_nothing_is_near) {
  EXPECT_EQ(did_you_mean("qqqqqq", kNames), "");
}

}  // namespace

namespace {

using Words = std::vector<std::string>;

void expect_refused(const Words& words, const std::string& line) {
  const Ran ran = run_binary(words);
  EXPECT_EQ(ran.exit, 2) << words[0];
  EXPECT_EQ(ran.err, "tidemark: " + line + "\n");
}

TEST(OtherWords, FilterIsCases) {
  expect_refused({"run", "--filter", "zfill.*"}, "run has no option --filter; use --cases GLOB");
  expect_refused({"run", "--gtest_filter=zfill.*"},
                 "run has no option --gtest_filter; use --cases GLOB");
}

TEST(OtherWords, OfOlderVersionsAreGone) {
  expect_refused(
      {"run", "--calibrate"},
      "run has no option --calibrate; it is gone: compare takes noise from the reports it reads");
  for (const std::string verb : {"compare", "list"}) {
    expect_refused(
        {verb, "--noise", "a.h5"},
        verb + " has no option --noise; it is gone: compare says which change it could detect");
  }
}

TEST(OtherWords, TimeoutIsTimeLimit) {
  expect_refused({"run", "--timeout", "5"},
                 "run has no option --timeout; use --time-limit TIME for the whole run");
}

TEST(OtherWords, RepeatIsLaunches) {
  expect_refused({"bench", "--repeat", "3"},
                 "bench has no option --repeat; use --launches N, which makes N reports");
}

TEST(OtherWords, ListIsAVerb) {
  expect_refused({"run", "--list"}, "run has no option --list; 'tidemark list' shows the cases");
  expect_refused({"--list"}, "there is no option --list; 'tidemark list' shows the cases");
}

TEST(OtherWords, FormatsAreOfShow) {
  expect_refused({"run", "--junit", "x.xml"},
                 "run has no option --junit; 'tidemark show REPORT --junit' writes it from the "
                 "report");
}

TEST(OtherWords, ShortOptionsSayTheLongOnes) {
  expect_refused({"run", "-o", "x.h5"}, "run has no option -o; use --out FILE.h5");
  expect_refused({"run", "-n", "4"},
                 "run has no option -n; use 'mpirun -n N tidemark ...' or --ranks N");
  expect_refused({"-v"}, "there is no option -v; use --version");
}

TEST(OtherWords, NameOfACaseBelongsBehindCases) {
  expect_refused({"run", "zfill.side"}, "run takes no 'zfill.side'; use --cases 'zfill.side'");
}

TEST(OtherWords, FamilyIsAGlob) {
  const Ran ran = run_binary({"list", "--cases", "zfill"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: --cases 'zfill' matches no case; did you mean 'zfill.*'?\n");
}

TEST(OtherWords, HelpIsThatOfTheVerb) {
  const Ran asked = run_binary({"help", "show"});
  EXPECT_EQ(asked.exit, 0);
  EXPECT_EQ(asked.out, run_binary({"show", "--help"}).out);
  EXPECT_EQ(run_binary({"help"}).out, run_binary({"--help"}).out);
  expect_refused({"help", "shwo"}, "there is no verb 'shwo'; did you mean 'show'?");
}

TEST(OtherWords, OptionsBeforeTheVerbBelongBehindIt) {
  expect_refused({"--cases", "zfill.*"},
                 "--cases is an option of a verb; type 'tidemark run --cases ...'");
  expect_refused({"--filter=zfill.*"},
                 "there is no option --filter; behind 'tidemark run' use --cases GLOB");
  expect_refused({"--nonsense"}, "there is no option --nonsense; 'tidemark --help' shows all");
}

TEST(OtherWords, RanksAreOfMpirun) {
  expect_refused({"run", "--np", "4"},
                 "run has no option --np; use 'mpirun -n N tidemark ...' or --ranks N");
}

TEST(OtherWords, ShownReportsGoToStdout) {
  expect_refused({"show", "r.h5", "-o", "r.html"},
                 "show has no option -o; it writes to stdout: use '> FILE'");
  expect_refused({"show", "r.h5", "--html", "r.html"},
                 "show takes no 'r.html'; it writes to stdout: use '> r.html'");
  expect_refused({"show", "r.h5", "--format", "html"},
                 "show has no option --format; use one of --html, --md, --csv, --junit, --json");
}

TEST(OtherWords, CapitalVIsTheVersion) {
  EXPECT_EQ(run_binary({"-V"}).out, run_binary({"--version"}).out);
}

TEST(OtherWords, FloorMayHaveAPercentSign) {
  const Ran ran = run_binary({"compare", "--floor", "5%", "/no/such.h5", "/no/such.h5"});
  EXPECT_NE(ran.err.find("/no/such.h5"), std::string::npos) << ran.err;
}

TEST(OtherWords, ReportIsNoJson) {
  const ScratchFolder folder;
  const std::string out = folder.file("r.json");
  expect_refused({"run", "--device", "virtual", "--cases", "zfill.side", "--out", out},
                 "--out " + out +
                     ": a report is HDF5; give a name that ends in .h5 ('tidemark show --json' "
                     "prints one as JSON)");
}

}  // namespace

}  // namespace tidemark
