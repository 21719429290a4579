// The program: workers, reporters and those who ask about GPUs first, then the command line; errors
// become one line and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/telemetry.hpp"
#include "harness/doctor/node_state.hpp"
#include "harness/launch.hpp"
#include "harness/mpirun.hpp"
#include "harness/supervisor/reporter_process.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/error.hpp"

namespace {

using tidemark::ExitCode;

// Who starts us with one of the three closed would get what we print into the first file that we
// open: into a journal. Reading from a closed stdout's stand-in is all that is allowed, so that
// print_out still notices that nobody gets what it writes.
void open_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is what open gives: this one, since those below it are open by now.
    if (::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0) return;
  }
}

/// Verbs that only read have no ranks: a process that inherits the variables of a rank must not be
/// silent.
bool is_of_ranks(std::string_view verb) {
  return verb == "run" || verb == "bench" || verb == "replay";
}

/// Whether no other rank of this Slurm step and host has this error: the name is free again when
/// this process ends.
bool is_first_of_host(const std::string& text) {
  const std::string name =
      fmt::format("tidemark-{}.{}-{:x}", tidemark::variable_of("SLURM_JOB_ID"),
                  tidemark::variable_of("SLURM_STEP_ID"), std::hash<std::string>{}(text));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // behind a 0: without a file
  const int held = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return ::bind(held, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno != EADDRINUSE;
}

/// An error that ranks have not shared by MPI. Nearly always all of them have it.
int say(std::string_view verb, ExitCode code, const std::string& text) {
  using namespace tidemark;
  const std::optional<std::uint32_t> given = is_of_ranks(verb) ? launcher_rank() : std::nullopt;
  const std::uint32_t rank = given.value_or(0);
  // mpirun kills the job when the first rank leaves with a code other than 0: that must be rank 0,
  // or the only line that says why is lost. It is over long before this sleep is, unless only this
  // rank has the error. Slurm lets all ranks end, each with it: one of each host is heard, of wrong
  // arguments, which all ranks have, rank 0 alone.
  const bool slurm = given && std::getenv("OMPI_COMM_WORLD_RANK") == nullptr && is_slurm_task();
  if (rank != 0) std::this_thread::sleep_for(std::chrono::seconds(slurm ? 1 : 5));
  const bool first = !slurm || (is_first_of_host(text) && code != ExitCode::usage);
  if (!text.empty() && (first || rank == 0)) print_error(said_by(rank, text));
  if (slurm && !text.empty()) std::this_thread::sleep_for(std::chrono::seconds(4));
  return static_cast<int>(code);
}

int guarded(std::string_view verb, int argc, char** argv) {
  try {
    return static_cast<int>(tidemark::run_command_line(argc, argv));
  } catch (const tidemark::UsageError& error) {
    return say(verb, ExitCode::usage, error.what());
  } catch (const tidemark::EnvironmentError& error) {
    return say(verb, ExitCode::environment, error.what());
  } catch (const tidemark::ReportError& error) {
    return say(verb, ExitCode::usage, error.what());
  } catch (const std::exception& error) {
    return say(verb, ExitCode::internal,
               std::string("internal error, please report it: ") + error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Who ignores the ends of his children lets us ignore ours: nobody would learn of a worker that
  // crashed.
  ::signal(SIGCHLD, SIG_DFL);
  open_closed_descriptors();
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "__worker") return tidemark::worker_main();
  if (first == "__reporter") return tidemark::reporter_main();
  if (first == "__gpus") return tidemark::gpus_main();
  if (first == "__nvml") return tidemark::nvml_main(argc, argv);
  if (first == "__probe") return tidemark::probe_main(argc, argv);
  if (first == "__telemetry") return tidemark::telemetry_main(argc, argv);
  return guarded(first, argc, argv);
}
