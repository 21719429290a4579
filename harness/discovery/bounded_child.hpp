// Runs a program that must answer soon, and reads what it says.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tidemark::harness {

/// What a child said before it ended or was ended.
struct ChildAnswer {
  bool started = false;            // fork and exec went well
  bool timed_out = false;          // it was killed because `seconds` were over
  int status = -1;                 // exit status; 128 + n when signal n ended it; -1 when not known
  std::string out = {}, err = {};  // at most 16 MiB each
};

struct ChildSurroundings {
  std::vector<std::pair<std::string, std::string>> settings = {};  // SpawnOrder::settings
  std::string out = {};  // a file for its stdout; empty: ChildAnswer::out
};

/// Runs argv[0] (a path) with stdin from /dev/null, and kills its process group after `seconds`.
/// Returns within two seconds of that even where the child cannot be killed (a driver call that
/// never returns): such a child is left behind.
ChildAnswer run_bounded(const std::vector<std::string>& argv, double seconds,
                        const ChildSurroundings& surroundings = {});

/// The same for a question, which changes nothing: once more where the child was killed from
/// outside, as the OOM killer does.
ChildAnswer ask_bounded(const std::vector<std::string>& argv, double seconds);

}  // namespace tidemark::harness
