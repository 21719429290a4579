// Names as Open MPI 4.1 makes them: pid.N/contact.txt begins with the number of mpirun's own job,
// of which the upper 16 bits are those of all jobs it starts, their family; a segment's name has
// the number of its job in hexadecimal, and PMIX_NAMESPACE has it in the environment of each rank.
#include "harness/relay/mpi_leftovers.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "harness/relay/job_processes.hpp"
#include "harness/room.hpp"
#include "reports/process_state.hpp"

namespace tidemark::harness {
namespace {

std::optional<std::uint32_t> leading_number(std::string_view text, int base) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

/// The family of jobs of the mpirun that had this folder; none while it lives or may live.
std::optional<std::uint32_t> dead_family(const std::filesystem::path& folder) {
  constexpr std::string_view kPrefix = "pid.";
  const std::string name = folder.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto process = leading_number(std::string_view(name).substr(kPrefix.size()), 10);
  if (!process) return std::nullopt;
  const auto state = process_state(static_cast<int>(*process));
  if (state && !state->dead()) return std::nullopt;
  std::ifstream contact(folder / "contact.txt");
  std::string line;
  std::getline(contact, line);
  const auto job = leading_number(line, 10);
  return job ? std::optional(*job >> 16) : std::nullopt;
}

std::optional<std::uint32_t> family_of_segment(const std::filesystem::path& segment,
                                               std::string_view prefix) {
  const std::string name = segment.filename().string();
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto job = leading_number(std::string_view(name).substr(prefix.size()), 16);
  return job ? std::optional(*job >> 16) : std::nullopt;
}

std::vector<std::uint32_t> families_of_processes() {
  std::vector<std::uint32_t> families;
  for (const JobProcess& process : job_processes())
    if (const auto job = leading_number(process.job, 10)) families.push_back(*job >> 16);
  return families;
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
      .segment_prefix = "vader_segment." + of_user + ".",
      .living = families_of_processes};
}

std::vector<std::filesystem::path> remove_mpi_leftovers(const MpiPlaces& places) {
  std::vector<std::filesystem::path> removed;
  // Before the processes: what a job that starts meanwhile makes is not among them.
  const std::vector<std::filesystem::path> segments = entries_of(places.shared_memory);
  const std::vector<std::filesystem::path> sessions = entries_of(places.sessions);
  if (segments.empty() && sessions.empty()) return removed;
  const std::vector<std::uint32_t> living = places.living();
  const auto remove_dead = [&](std::optional<std::uint32_t> family,
                               const std::filesystem::path& path) {
    if (!family || std::find(living.begin(), living.end(), *family) != living.end()) return;
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (!error) removed.push_back(path);
  };
  for (const std::filesystem::path& segment : segments)
    remove_dead(family_of_segment(segment, places.segment_prefix), segment);
  for (const std::filesystem::path& session : sessions) remove_dead(dead_family(session), session);
  return removed;
}

}  // namespace tidemark::harness
