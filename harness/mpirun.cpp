// Builds the mpirun command line, runs it and sees it end; its exit code is ours.
#include "harness/mpirun.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/exit_code.hpp"
#include "harness/relay/job_processes.hpp"
#include "harness/relay/mesh.hpp"
#include "harness/supervisor/stop.hpp"
#include "harness/version.hpp"
#include "kernels/error.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark {

// What a launcher that was killed leaves behind becomes a child of this process, which therefore
// needs no knowledge of jobs to find it.

namespace {

std::filesystem::path program_of(const std::string& process) {
  std::error_code gone;
  return std::filesystem::read_symlink("/proc/" + process + "/exe", gone);
}

std::vector<pid_t> living_children(pid_t parent) {
  std::vector<pid_t> found = all_processes();
  std::erase_if(found, [parent](pid_t each) {
    const std::optional<ProcessState> state = process_state(each);
    return !state || state->dead() || state->parent != parent;
  });
  return found;
}

/// Children that run this program: others may be meant to outlive a launcher.
std::vector<pid_t> own_orphans() {
  std::vector<pid_t> found = living_children(::getpid());
  const std::filesystem::path mine = program_of("self");
  std::erase_if(found, [&](pid_t each) { return program_of(std::to_string(each)) != mine; });
  return found;
}

void signal_all(const std::vector<pid_t>& processes, int number) {
  for (const pid_t each : processes) ::kill(each, number);
}

/// Whether a block repeats the exit code or signal of a rank, in the words of Open MPI 4 and 5.
bool is_closing(const std::string& block) {
  for (const char* part : {"terminated normally, but", "exited with non-zero status",
                           "has exited due to process rank", "noticed that"})
    if (block.find(part) != std::string::npos) return true;
  return false;
}

class Launcher {
 public:
  Launcher(const std::vector<std::string>& words, const LauncherBounds& bounds) : bounds_(bounds) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    heeded_ = stop_signals();
    ::sigaddset(&heeded_, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &heeded_, &before_);
    start(words);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() {
    // One that came too late to matter must not kill this process while it leaves.
    constexpr timespec kNow{};
    while (::sigtimedwait(&heeded_, nullptr, &kNow) > 0) {
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  LauncherEnd wait() {
    while (!end_) {
      heed(1);
      if (!end_) look_after();
    }
    const bool killed = end_->signal != 0;
    if (killed && !without_ranks_) {
      print_error(fmt::format(
          "mpirun was ended by signal {} ({}); what its ranks had done, if they had started, is in "
          "the report, marked incomplete, or in its .run folder",
          end_->signal, ::strsignal(end_->signal)));
      signal_all(own_orphans(), SIGTERM);  // nobody else tells them
    }
    const double until = running_s() + bounds_.orphans;
    std::vector<pid_t> left = own_orphans();
    for (; !left.empty() && running_s() < until; left = own_orphans()) heed(0.02);
    // Not those of another look: the reporter of a rank that was just ending would be among them.
    signal_all(left, SIGKILL);
    return {.code = without_ranks_ ? static_cast<int>(ExitCode::incomplete) : end_->status(),
            .reported_code = text_.code(),
            .reported = text_.reported(),
            .stopped = stop_s_.has_value(),
            .explained = killed || without_ranks_,
            .text = text_.rest()};
  }

 private:
  // Ctrl-C on the terminal comes to this process alone, which passes it on. The launcher's standard
  // input goes with that: a group in the background is stopped when it reads from the terminal.
  void start(const std::vector<std::string>& words) {
    Pipe errors = make_pipe();
    set_non_blocking(errors.read.get());
    try {
      process_ = ChildProcess(
          {.program = words[0],
           .arguments = words,
           .fds = {-1, STDOUT_FILENO, errors.write.get()},
           .bond = Bond::stops_with_parent,
           .failure_status = static_cast<int>(ExitCode::environment),
           .failure_head = fmt::format("tidemark: --ranks: {} does not start: ", words[0]),
           .failure_tail = "; install Open MPI or load its module, or leave --ranks out\n"});
    } catch (const Error& error) {
      throw EnvironmentError(fmt::format("cannot start {}: {}", words[0], error.what()));
    }
    errors_ = std::move(errors.read);
    started_s_ = running_s();
  }

  /// Takes one signal, or waits for so long; and passes on what was written meanwhile.
  void heed(double most_s) {
    const auto whole = static_cast<long>(most_s);
    const timespec most{.tv_sec = whole,
                        .tv_nsec = static_cast<long>((most_s - static_cast<double>(whole)) * 1e9)};
    const int number = ::sigtimedwait(&heeded_, nullptr, &most);
    if (number == SIGCHLD) {
      end_ = process_.ended_among_adopted();
    } else if (number > 0) {
      pass_on(number);
    }
    std::string bytes;
    drain(errors_, bytes);
    write_error(text_.take(bytes));
  }

  void pass_on(int number) {
    std::vector<pid_t> to = end_ ? own_orphans() : living_children(process_.pid());
    // A second one is for the launcher itself, and so is one that comes before it started any.
    if ((stop_s_ || to.empty()) && !end_) to = {process_.pid()};
    signal_all(to, number);
    if (!stop_s_) stop_s_ = running_s();
  }

  /// Ends the launcher where it stays although nothing is left for it to do.
  void look_after() {
    const double now = running_s();
    if (term_s_ && now - *term_s_ > bounds_.kill) process_.signal(SIGKILL);
    if (term_s_) return;
    if (!living_children(process_.pid()).empty()) {
      seen_s_ = now;
    } else if (!seen_s_ && now - started_s_ > bounds_.start) {
      without_ranks_ = true;
      print_error(fmt::format("mpirun (process {}) has started no ranks for {:.0f} s, and is ended",
                              process_.pid(), bounds_.start));
      end(now);
    } else if (seen_s_ && now - *seen_s_ > bounds_.without_ranks) {
      without_ranks_ = true;
      print_error(fmt::format(
          "mpirun (process {}) did not end {:.0f} s after its last rank, and is ended: its exit "
          "code is lost; see the report",
          process_.pid(), bounds_.without_ranks));
      end(now);
    }
    if (!term_s_ && stop_s_ && now - *stop_s_ > bounds_.stop) end(now);
  }

  void end(double now) {
    process_.signal(SIGTERM);
    process_.signal(SIGCONT);  // one that is stopped takes no SIGTERM
    term_s_ = now;
  }

  LauncherBounds bounds_;
  sigset_t heeded_{}, before_{};
  FileDescriptor errors_;  // its standard error
  LauncherText text_;
  ChildProcess process_;
  std::optional<ProcessEnd> end_;
  double started_s_ = 0;
  std::optional<double> seen_s_, stop_s_, term_s_;  // its processes; the first stop; SIGTERM
  bool without_ranks_ = false;
};

}  // namespace

std::string LauncherText::take(std::string_view bytes) {
  for (const char each : bytes) {
    line_ += each;
    if (each == '\n') take_line(std::exchange(line_, {}));
  }
  return reported_ ? std::exchange(ready_, {}) : "";
}

void LauncherText::take_line(const std::string& line) {
  const bool report = line.find(kRankReport) != std::string::npos;
  const std::size_t code = line.find(kCodeReport);
  reported_ = reported_ || report || line.find("tidemark: ") != std::string::npos;
  if (code != std::string::npos) code_ = std::atoi(line.c_str() + code + kCodeReport.size());
  if (report || code != std::string::npos) return;
  const bool outside = block_.empty();
  const bool ruler = line.size() > 20 && line.find_first_not_of("-\n") == std::string::npos;
  block_ += line;
  if (outside == ruler) return;  // the block begins or goes on
  if (outside || !reported_ || !is_closing(block_)) ready_ += block_;
  block_.clear();
}

LauncherEnd run_launcher(const std::vector<std::string>& words, const LauncherBounds& bounds) {
  return Launcher(words, bounds).wait();
}

namespace {

std::optional<std::uint32_t> number_in(const char* variable) {
  return whole_number<std::uint32_t>(variable_of(variable));
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
  if (!build_version().mpi)
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
                      variable_of("TMPDIR"));
  return fmt::format("--ranks {}: no rank started: {}", ranks, why);
}

}  // namespace tidemark
