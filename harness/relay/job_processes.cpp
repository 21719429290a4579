// Reads /proc: who hangs, or is stopped, cannot be asked.
#include "harness/relay/job_processes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/exit_code.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark {
namespace {

/// The value of `name` in a block of NAME=value, each ended by a zero byte.
std::optional<std::string_view> value_of(std::string_view block, std::string_view name) {
  while (!block.empty()) {
    const std::string_view entry = block.substr(0, block.find('\0'));
    block.remove_prefix(std::min(entry.size() + 1, block.size()));
    if (entry.size() > name.size() && entry.substr(0, name.size()) == name &&
        entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> all_processes() {
  std::vector<int> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto process = whole_number<int>(entry->path().filename().string()))
      found.push_back(*process);
  }
  return found;
}

std::vector<JobProcess> job_processes() {
  std::vector<JobProcess> found;
  for (const int process : all_processes()) {
    const std::string environment = process_file(process, "environ");
    const auto job = value_of(environment, "PMIX_NAMESPACE");
    const auto rank = whole_number<std::uint32_t>(value_of(environment, "PMIX_RANK").value_or(""));
    if (!job || !rank) continue;
    found.push_back({.job = std::string(*job),
                     .rank = *rank,
                     .process = process,
                     .stopped = process_state(process).value_or(ProcessState{}).stopped()});
  }
  return found;
}

namespace {

/// The job of the mpirun that had this folder; none while it lives or may live.
std::optional<std::uint32_t> dead_job(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  int process = 0;
  if (!name.starts_with("pid.") || !(std::istringstream(name.substr(4)) >> process))
    return std::nullopt;
  const auto state = process_state(process);
  if (state && !state->dead()) return std::nullopt;
  std::uint32_t own = 0;
  if (!(std::ifstream(folder / "contact.txt") >> own)) return std::nullopt;
  return own + 1;
}

bool has_processes(std::uint32_t job) {
  for (const JobProcess& each : job_processes())
    if (each.job == std::to_string(job)) return true;
  return false;
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

/// In a PID namespace of its own a process cannot tell an mpirun outside from a dead one, and may
/// share its folders. The number of the first namespace is PROC_PID_INIT_INO of the kernel.
bool sees_all_processes() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error) == "pid:[4026531836]";
}

}  // namespace

MpiPlaces mpi_places() {
  if (!sees_all_processes()) return {};
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  // orte_session_dir drops the domain.
  const std::string_view name(host.data());
  const std::string of_user = fmt::format("{}.{}", name.substr(0, name.find('.')), ::geteuid());
  const char* const given = std::getenv("TMPDIR");
  return {
      .sessions = std::filesystem::path(given == nullptr ? "/tmp" : given) / ("ompi." + of_user),
      .shared_memory = "/dev/shm",
      .segment_prefix = "vader_segment." + of_user + "."};
}

void remove_mpi_leftovers(const MpiPlaces& places) {
  std::error_code ignored;
  for (const std::filesystem::path& session : entries_of(places.sessions)) {
    const auto job = dead_job(session);
    if (!job || has_processes(*job)) continue;
    const std::string of_job = fmt::format("{}{:x}.", places.segment_prefix, *job);
    for (const std::filesystem::path& segment : entries_of(places.shared_memory))
      if (segment.filename().string().starts_with(of_job))
        std::filesystem::remove(segment, ignored);
    std::filesystem::remove_all(session, ignored);
  }
}

// Who is missing from MPI_Init, by the processes of the job.

namespace {

std::uint32_t promised(const char* variable) {
  return whole_number<std::uint32_t>(variable_of(variable)).value_or(0);
}

void wait_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace

std::vector<JobProcess> ranks_of_this_host() {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  std::map<std::uint32_t, JobProcess> found;
  for (const JobProcess& each : job_processes()) {
    if (job == nullptr || each.job != job) continue;
    const auto [known, is_new] = found.try_emplace(each.rank, each);
    const bool older =
        each.stopped == known->second.stopped && each.process < known->second.process;
    if (!is_new && (older || (each.stopped && !known->second.stopped))) known->second = each;
  }
  std::vector<JobProcess> ranks;
  ranks.reserve(found.size());
  for (const auto& [rank, of_job] : found) ranks.push_back(of_job);
  return ranks;
}

std::string start_trouble(double seconds, const std::vector<JobProcess>& found, std::uint32_t here,
                          std::uint32_t all) {
  std::string text = fmt::format("MPI_Init has not returned for {:.0f} s: ", seconds);
  std::vector<std::string> stopped;
  for (const JobProcess& rank : found)
    if (rank.stopped) stopped.push_back(fmt::format("{} (process {})", rank.rank, rank.process));
  if (!stopped.empty())
    return text + fmt::format(
                      "of the ranks of this host, stopped: {}; continue them with kill "
                      "-CONT, or start again",
                      fmt::join(stopped, ", "));
  if (!found.empty() && found.size() < here)
    return text + fmt::format(
                      "of the {} ranks of this host only {} are there; see what ended the "
                      "others, and start again",
                      here, found.size());
  if (here != 0 && here < all)
    return text + fmt::format(
                      "the {} ranks of this host run; look for one of the other {} that is "
                      "stopped or cannot be reached, on the other hosts",
                      here, all - here);
  return text +
         "all ranks of this host run; look for one that is no tidemark or hangs in what was "
         "started before it";
}

StartWatch::StartWatch(double seconds) {
  thread_ = std::thread([this, seconds, launcher = ::getppid()] {
    // Counted in naps: what a suspended machine sleeps is not this process's time.
    constexpr std::chrono::milliseconds kNap{50};
    bool alone = false;  // Open MPI does not always notice in MPI_Init that its mpirun is gone
    for (double left = seconds; left > 0 && !alone; left -= 0.05) {
      wait_for(kNap);
      if (over_) return;
      alone = ::getppid() != launcher;
    }
    const std::vector<JobProcess> found = ranks_of_this_host();
    const auto runs = std::find_if(found.begin(), found.end(),
                                   [](const JobProcess& rank) { return !rank.stopped; });
    const std::uint32_t me = promised("PMIX_RANK");
    if (runs != found.end() && runs->rank != me)
      wait_for(std::chrono::seconds(2));  // the launcher ends all when the first has gone
    else if (alone)
      print_error("the launcher ended before MPI_Init returned; start again");
    else
      print_error(start_trouble(seconds, found, promised("OMPI_COMM_WORLD_LOCAL_SIZE"),
                                promised("OMPI_COMM_WORLD_SIZE")));
    // MPI_Init may hold any lock: nothing is torn down.
    ::_exit(static_cast<int>(ExitCode::environment));
  });
}

StartWatch::~StartWatch() {
  over_ = true;
  thread_.join();
}

}  // namespace tidemark
