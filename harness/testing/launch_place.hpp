// What tests of whole launches share: a folder with a report, the arguments, and looking for
// processes and files that come and go.
#pragma once

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/base/clock.hpp"
#include "harness/relay/job_processes.hpp"
#include "harness/testing/run_binary.hpp"
#include "reports/base/process_state.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

using Arguments = std::vector<std::string>;

inline const Environment kRoot = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                  {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                  {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};

/// A folder of one test, with the report of a launch in it.
class Place {
 public:
  std::string out() const { return file("r.h5"); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string journals() const { return out() + ".run"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  ScratchFolder folder_;
};

inline Arguments run_arguments(const Place& place, const Arguments& more) {
  Arguments all = {"run", "--device", "virtual", "--seed", "7", "--out", place.out()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

#ifdef TIDEMARK_BINARY
/// The program itself and its arguments, for start_program.
inline Arguments command(const Arguments& arguments) {
  Arguments all = {TIDEMARK_BINARY};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

inline Arguments under_mpirun(int ranks, const Arguments& arguments) {
  Arguments all = {"mpirun", "-q", "-n", std::to_string(ranks), "--oversubscribe", TIDEMARK_BINARY};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}
#endif

inline Environment with_hook(const std::string& hook) {
  Environment environment = kRoot;
  environment.emplace_back("TIDEMARK_TEST_HOOK", hook);
  return environment;
}

/// "load.tile.rank1@1" -> the result, for each result of the report.
inline std::map<std::string, const ResultRow*> results_of(const Report& report) {
  std::map<std::string, const ResultRow*> results;
  for (const ResultRow& row : report.results) {
    results[std::string(report.cases.at(row.case_id).name.view()) + "@" +
            std::to_string(row.gpu_id)] = &row;
  }
  return results;
}

/// How long a test waits for what another process does, on a machine under load.
constexpr double kAppearsS = 120;

/// Waits until a file of the folder holds `text`; false after kAppearsS.
inline bool appears(const std::string& folder, const std::string& text) {
  const double until = monotonic_s() + kAppearsS;
  while (monotonic_s() < until) {
    std::error_code none_yet;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none_yet)) {
      std::ifstream file(entry.path());
      const std::string all{std::istreambuf_iterator<char>(file), {}};
      if (all.find(text) != std::string::npos) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Waits until `path` is there; false after kAppearsS.
inline bool appears_file(const std::string& path) {
  const double until = monotonic_s() + kAppearsS;
  while (!std::filesystem::exists(path)) {
    if (monotonic_s() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// Descendants of a process whose second argument is `verb` ("run", "__worker").
inline std::vector<pid_t> descendants(pid_t ancestor, const std::string& verb) {
  std::map<pid_t, pid_t> parent;
  std::map<pid_t, std::string> second;
  for (const pid_t pid : all_processes()) {
    const auto state = process_state(pid);
    if (!state) continue;
    parent[pid] = state->parent;
    const std::string words = process_file(pid, "cmdline");
    const std::size_t first = words.find('\0');
    if (first != std::string::npos) second[pid] = words.c_str() + first + 1;
  }
  std::vector<pid_t> found;
  for (const auto& [pid, word] : second) {
    pid_t up = pid;
    while (up > 1 && up != ancestor) up = parent[up];
    if (up == ancestor && word == verb) found.push_back(pid);
  }
  return found;
}

/// The supervisor that this mpirun started as a rank. Throws where none is found within 5 s, since
/// a kill() of "no process", -1, would reach every process there is.
inline pid_t rank_pid(pid_t mpirun, int rank) {
  const std::string variable =
      "OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + std::string(1, '\0');
  const double until = monotonic_s() + 5;
  // A process that is being made or goes shows no words or variables for a moment.
  for (; monotonic_s() < until; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    for (const pid_t pid : descendants(mpirun, "run")) {
      const std::string all = process_file(pid, "environ");
      if (all.find(variable) != std::string::npos) return pid;
    }
  }
  throw std::runtime_error("mpirun has no rank " + std::to_string(rank));
}

/// Waits until a process has ended; a zombie that nobody has collected has. False after
/// kAppearsS.
inline bool ends(pid_t pid) {
  const double until = monotonic_s() + kAppearsS;
  while (monotonic_s() < until) {
    const auto state = process_state(pid);
    if (!state || state->dead()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace tidemark
