// Names as Open MPI 4.1 makes them: pid.N/contact.txt begins with the number of mpirun's own job,
// and the job that it starts has the next one; a segment's name has it in hexadecimal, and
// PMIX_NAMESPACE has it in the environment of each rank.
#include "harness/relay/mpi_leftovers.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "harness/relay/job_processes.hpp"
#include "harness/room.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark::harness {
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

}  // namespace tidemark::harness
