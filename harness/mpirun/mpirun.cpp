// Builds the mpirun command line and runs it; its exit code is ours.
#include "harness/mpirun/mpirun.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/relay/job_processes.hpp"
#include "harness/relay/mesh.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark {
namespace {

#ifdef TIDEMARK_WITH_MPI
constexpr bool kWithMpi = true;
#else
constexpr bool kWithMpi = false;
#endif

std::string text_of(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

std::optional<std::uint32_t> number_in(const char* variable) {
  const std::string text = text_of(variable);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// Slurm's own steps (batch, extern, interactive) have numbers from here on.
constexpr std::uint32_t kFirstSpecialStep = 0xfffffff0;

constexpr const char* kQuiet = "OMPI_MCA_orte_execute_quiet";  // hides why nothing starts, too

/// Up to an empty line or a ruler.
std::string first_paragraph(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of("- \n"), text.size());
  const std::size_t end = std::min(text.find("\n\n", begin), text.find("\n---", begin));
  const std::string found = text.substr(begin, end - begin);
  return found.substr(0, found.find_last_not_of(" :.\n") + 1);
}

}  // namespace

std::optional<std::uint32_t> launcher_rank() {
  // Open MPI, PMIx, PMI (MPICH, Intel): the innermost launcher first.
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const auto rank = number_in(variable); rank && started_by_launcher()) return rank;
  }
  // A batch script of Slurm has SLURM_PROCID, too, but nobody started ranks there yet. Only srun
  // numbers a step; that of the script itself has a name, or none, or a number above all real ones.
  const auto step = number_in("SLURM_STEP_ID");
  const bool in_step =
      (step && *step < kFirstSpecialStep) || number_in("SLURM_STEP_NUM_TASKS").value_or(0) > 1;
  return in_step && is_slurm_task() ? number_in("SLURM_PROCID") : std::nullopt;
}

bool is_slurm_task() {
  const std::optional<std::uint32_t> task = number_in("SLURM_TASK_PID");
  auto process = static_cast<std::uint32_t>(::getpid());
  while (task && process != *task) {
    const std::optional<ProcessState> state = process_state(static_cast<int>(process));
    if (!state || state->parent <= 0) return false;
    process = static_cast<std::uint32_t>(state->parent);
  }
  return task.has_value();
}

std::string said_by(std::uint32_t rank, const std::string& text) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return rank == 0 ? text : fmt::format("rank {} on {}: {}", rank, host.data(), text);
}

std::optional<std::uint32_t> launched_ranks() {
  if (!launcher_rank()) return std::nullopt;
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const auto ranks = number_in(variable)) return ranks;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> launcher_settings() {
  std::vector<std::pair<std::string, std::string>> settings;
  if (launcher_rank()) return settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t end = text.find('=');
    const bool of_mpi =
        text.starts_with("OMPI_") || text.starts_with("PMIX_") || text.starts_with("PRTE_");
    if (of_mpi && end != std::string_view::npos && text.substr(0, end) != kQuiet)
      settings.emplace_back(text.substr(0, end), text.substr(end + 1));
  }
  return settings;
}

std::vector<std::string> mpirun_command(const std::string& program,
                                        const std::vector<std::string>& arguments,
                                        std::uint32_t ranks, bool oversubscribe) {
  // Binding would put a rank's workers on the rank's one core.
  std::vector<std::string> command = {"mpirun", "--bind-to", "none", "-n",
                                      fmt::format("{}", ranks)};
  if (oversubscribe) command.emplace_back("--oversubscribe");
  command.push_back(program);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--ranks") {
      ++i;  // its value
    } else if (arguments[i].rfind("--ranks=", 0) != 0) {
      command.push_back(arguments[i]);
    }
  }
  return command;
}

std::string find_on_path(const std::string& name, const std::string& path) {
  std::size_t begin = 0;
  for (std::size_t colon = 0; colon != std::string::npos; begin = colon + 1) {
    colon = path.find(':', begin);
    const std::string folder =
        path.substr(begin, colon == std::string::npos ? colon : colon - begin);
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code error;
    if (!folder.empty() && std::filesystem::is_regular_file(file, error) &&
        access(file.c_str(), X_OK) == 0)
      return file.string();
  }
  return {};
}

ExitCode run_mpirun(const std::vector<std::string>& arguments, std::uint32_t ranks,
                    bool oversubscribe) {
  if (!kWithMpi)
    throw EnvironmentError(
        "--ranks needs MPI, and this tidemark was built without it: build it with "
        "-DTIDEMARK_MPI=ON, or leave --ranks out");
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error)
    throw EnvironmentError("--ranks: /proc/self/exe cannot be read; mount /proc, or leave it out");
  setenv(kQuiet, "0", 1);
  setenv(kReportVariable, "1", 1);
  const LauncherEnd end = run_launcher(mpirun_command(program, arguments, ranks, oversubscribe));
  remove_mpi_leftovers(mpi_places());
  const bool started = end.reported || end.code == 0;
  if (!started && !end.explained)
    print_error(start_failure(end, ranks, std::thread::hardware_concurrency()));
  write_error(end.text);
  if (started && end.code == static_cast<int>(ExitCode::failed))
    return static_cast<ExitCode>(
        end.reported_code.value_or(static_cast<int>(ExitCode::incomplete)));
  if (started) return static_cast<ExitCode>(end.code);
  return end.stopped ? ExitCode::incomplete : ExitCode::environment;
}

std::string start_failure(const LauncherEnd& end, std::uint32_t ranks, unsigned cores) {
  const auto says = [&](const char* part) { return end.text.find(part) != std::string::npos; };
  std::string why =
      fmt::format("mpirun ended with {}: {}; leave --ranks out, or do what its text says", end.code,
                  first_paragraph(end.text));
  if (says("not enough slots"))
    why = fmt::format(
        "Open MPI has too few slots, by default one a core (at most {} cores here); give fewer, or "
        "let them share cores: mpirun --oversubscribe --bind-to none -n {} tidemark run ...",
        cores, ranks);
  if (says("allow-run-as-root"))
    why = "Open MPI refuses root; set OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
  if (says("session_dir"))
    why = fmt::format("Open MPI has no place for its folder; set TMPDIR ('{}') to a writable one",
                      text_of("TMPDIR"));
  return fmt::format("--ranks {}: no rank started: {}", ranks, why);
}

}  // namespace tidemark
