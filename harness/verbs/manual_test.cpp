// The man page and the bash completion, made of the same descriptions as the help.
#include "harness/verbs/verbs.hpp"

#include <gtest/gtest.h>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
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

namespace {

const std::string& page() {
  static const std::string text = run_binary({"__man_page"}).out;
  return text;
}

/// The first words of the lines of `help` that are indented by two, behind the line `heading`.
std::vector<std::string> listed(const std::string& help, const std::string& heading) {
  std::istringstream lines(help);
  std::vector<std::string> words;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == heading) {
      inside = true;
    } else if (inside && line.starts_with("  ") && line[2] != ' ') {
      words.push_back(line.substr(2, line.find(' ', 2) - 2));
    } else if (!line.starts_with("  ")) {
      inside = false;
    }
  }
  return words;
}

std::vector<std::string> verbs() { return listed(run_binary({"--help"}).out, "Subcommands:"); }

/// "--time-limit" as roff has it: "--time\-limit" with each - behind a backslash.
std::string in_roff(const std::string& name) {
  std::string made;
  for (const char letter : name) made += letter == '-' ? "\\-" : std::string(1, letter);
  return made;
}

TEST(ManPage, names_the_program_by_a_noun_phrase_that_the_help_has_too) {
  const std::string before = ".SH NAME\ntidemark \\- ";
  const std::size_t begin = page().find(before) + before.size();
  const std::string phrase = page().substr(begin, page().find('\n', begin) - begin);
  EXPECT_TRUE(std::islower(static_cast<unsigned char>(phrase.front())) != 0) << phrase;
  EXPECT_FALSE(phrase.ends_with('.')) << phrase;
  EXPECT_NE(run_binary({"--help"}).out.find("\ntidemark: " + phrase + "\n"), std::string::npos);
}

TEST(ManPage, has_a_section_of_every_verb) {
  ASSERT_GT(verbs().size(), 10U);
  for (const std::string& verb : verbs())
    EXPECT_NE(page().find(".SS tidemark " + verb + "\n"), std::string::npos) << verb;
}

TEST(ManPage, names_every_option_in_the_section_of_its_verb) {
  for (const std::string& verb : verbs()) {
    const std::size_t begin = page().find(".SS tidemark " + verb + "\n");
    const std::string section = page().substr(begin, page().find("\n.S", begin) - begin);
    for (const std::string& option : listed(run_binary({verb, "--help"}).out, "Options:"))
      EXPECT_NE(section.find("\n\\fB" + in_roff(option) + "\\fR"), std::string::npos)
          << verb << ' ' << option;
  }
}

TEST(ManPage, tells_every_exit_code) {
  const std::string section = page().substr(page().find(".SH EXIT STATUS"));
  EXPECT_EQ(exit_code_meanings().size(), 8U);
  for (const ExitCodeMeaning& meaning : exit_code_meanings())
    EXPECT_NE(section.find("\\fB" + std::to_string(static_cast<int>(meaning.code)) + "\\fR"),
              std::string::npos);
}

TEST(ManPage, is_formatted_without_a_warning) {
  if (run_program({"groff", "--version"}).exit != 0) GTEST_SKIP() << "no groff";
  const Ran ran = run_program(
      {"sh", "-c", std::string(TIDEMARK_BINARY) + " __man_page | groff -man -ww -Tascii -P-c"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(ran.out.find("tidemark run --level nightly --out night.h5"), std::string::npos);
}

}  // namespace

}  // namespace tidemark
