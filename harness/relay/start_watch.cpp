// Who is missing from MPI_Init, by the processes of the job.
#include "harness/relay/start_watch.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/exit_code.hpp"
#include "harness/relay/job_processes.hpp"

namespace tidemark {
namespace {

std::uint32_t promised(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

void wait_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace

std::vector<StartedRank> ranks_of_this_host() {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  std::map<std::uint32_t, StartedRank> found;
  for (const JobProcess& each : job_processes()) {
    if (job == nullptr || each.job != job) continue;
    const StartedRank other{each.rank, each.process, each.stopped};
    const auto [known, is_new] = found.try_emplace(each.rank, other);
    const bool older =
        other.stopped == known->second.stopped && other.process < known->second.process;
    if (!is_new && (older || (other.stopped && !known->second.stopped))) known->second = other;
  }
  std::vector<StartedRank> ranks;
  ranks.reserve(found.size());
  for (const auto& [rank, of_job] : found) ranks.push_back(of_job);
  return ranks;
}

std::string start_trouble(double seconds, const std::vector<StartedRank>& found, std::uint32_t here,
                          std::uint32_t all) {
  std::string text = fmt::format("MPI_Init has not returned for {:.0f} s: ", seconds);
  std::vector<std::string> stopped;
  for (const StartedRank& rank : found)
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
  thread_ = std::thread([this, seconds] {
    // Counted in naps: what a suspended machine sleeps is not this process's time.
    constexpr std::chrono::milliseconds kNap{50};
    for (double left = seconds; left > 0; left -= 0.05) {
      wait_for(kNap);
      if (over_) return;
    }
    const std::vector<StartedRank> found = ranks_of_this_host();
    const auto runs = std::find_if(found.begin(), found.end(),
                                   [](const StartedRank& rank) { return !rank.stopped; });
    const std::uint32_t me = promised("PMIX_RANK");
    if (runs == found.end() || runs->rank == me)
      print_error(start_trouble(seconds, found, promised("OMPI_COMM_WORLD_LOCAL_SIZE"),
                                promised("OMPI_COMM_WORLD_SIZE")));
    else
      wait_for(std::chrono::seconds(2));  // the launcher ends all when the first has gone
    // MPI_Init may hold any lock: nothing is torn down.
    ::_exit(static_cast<int>(ExitCode::environment));
  });
}

StartWatch::~StartWatch() {
  over_ = true;
  thread_.join();
}

}  // namespace tidemark
