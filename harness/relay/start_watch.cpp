// Reads /proc for the ranks of this job, since those that hang in MPI_Init cannot be asked.
#include "harness/relay/start_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "harness/errors.hpp"
#include "harness/exit_code.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint32_t promised(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : number_in<std::uint32_t>(text).value_or(0);
}

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

/// proc(5): behind the name in brackets, which may hold anything, one letter.
bool is_stopped(const std::string& stat) {
  const std::size_t behind = stat.rfind(')');
  if (behind == std::string::npos || behind + 2 >= stat.size()) return false;
  return stat[behind + 2] == 'T' || stat[behind + 2] == 't';
}

void wait_for(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace

std::vector<StartedRank> ranks_of_this_host() {
  const char* const job = std::getenv("PMIX_NAMESPACE");
  std::map<std::uint32_t, StartedRank> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto process = number_in<int>(entry->path().filename().string());
    if (job == nullptr || !process) continue;
    const std::string environment = whole_file(entry->path() / "environ");
    if (value_of(environment, "PMIX_NAMESPACE") != job) continue;
    const auto rank = number_in<std::uint32_t>(value_of(environment, "PMIX_RANK").value_or(""));
    if (!rank) continue;
    const StartedRank other{.rank = *rank,
                            .process = *process,
                            .stopped = is_stopped(whole_file(entry->path() / "stat"))};
    const auto [known, is_new] = found.try_emplace(*rank, other);
    const bool older = other.stopped == known->second.stopped && *process < known->second.process;
    if (!is_new && (older || (other.stopped && !known->second.stopped))) known->second = other;
  }
  std::vector<StartedRank> ranks;
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
                      "of the {} ranks of this host {} are gone; see what ended them, and "
                      "start again",
                      here, here - found.size());
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

}  // namespace tidemark::harness
