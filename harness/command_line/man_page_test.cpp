// What is written from the descriptions of the options: the man page.
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/room.hpp"
#include "harness/testing/run_binary.hpp"

namespace tidemark::harness {
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
}  // namespace tidemark::harness
