// Starts mpirun for `--ranks N`, and knows whether a launcher started us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/exit_code.hpp"

namespace tidemark {

// The mpirun of `--ranks N`: started, told of signals, waited for, and ended where it does not end.

/// In seconds.
struct LauncherBounds {
  double start = 300;         // from its start until it has a process, or is ended
  double without_ranks = 60;  // from the end of its last process until it is ended, too
  double stop = 30;           // from the first signal to stop
  double orphans = 60;        // from its end until what it has started is killed
  double kill = 10;           // from SIGTERM to SIGKILL
};

/// Rank 0 prints this line to standard error once it runs under MPI, if the variable is set. mpirun
/// forwards both from and to other hosts: variables with this prefix.
inline constexpr std::string_view kRankReport = "tidemark-rank-0-runs\n";
/// A rank prints this and an exit code: 1 once a case has failed, and rank 0 what all ranks end
/// with. mpirun, too, ends with 1, where it is told to stop.
inline constexpr std::string_view kCodeReport = "tidemark-exit-code-";
inline constexpr const char* kReportVariable = "OMPI_MCA_tidemark_report";

/// What mpirun writes to standard error: kept until a rank has reported, then passed on without the
/// blocks in which Open MPI repeats exit codes.
class LauncherText {
 public:
  std::string take(std::string_view bytes);  // returns what to pass on
  std::string rest() const { return ready_ + block_ + line_; }
  bool reported() const { return reported_; }
  std::optional<int> code() const { return code_; }  // the last that a rank has reported

 private:
  void take_line(const std::string& line);

  std::string ready_, block_, line_;  // to pass on; between two rulers; without its end
  bool reported_ = false;
  std::optional<int> code_;
};

struct LauncherEnd {
  int code = 0;  // its own, or 128 + the signal that ended it
  std::optional<int> reported_code = {};
  bool reported = false;   // rank 0 printed kRankReport, or a rank its error
  bool stopped = false;    // by a signal to this process
  bool explained = false;  // its end, by a line on standard error
  std::string text = {};   // its standard error that was not passed on
};

/// Runs `words[0]` from PATH with these arguments. SIGINT, SIGTERM and SIGHUP go to the processes
/// that it has started: of a launcher they would have a second to stop. When it returns, none of
/// the processes of this program is left that the launcher has started. What cannot be started is
/// said, with exit code 5.
LauncherEnd run_launcher(const std::vector<std::string>& words, const LauncherBounds& bounds = {});

/// The rank that a launcher (mpirun, srun) gave this process; nothing without a launcher.
std::optional<std::uint32_t> launcher_rank();

/// Whether a task of Slurm is this process or one above it: variables alone outlive their step.
bool is_slurm_task();

/// "rank 3 on node07: TEXT"; of rank 0 the text alone.
std::string said_by(std::uint32_t rank, const std::string& text);

/// How many ranks that launcher started, where it says so; nothing without a launcher.
std::optional<std::uint32_t> launched_ranks();

/// The variables for Open MPI that the user set. Children get none by themselves
/// (child_process.hpp), and a mpirun among them needs them, except the one that silences it. Empty
/// in a rank, whose own they are.
std::vector<std::pair<std::string, std::string>> launcher_settings();

/// The command that runs `arguments` (without the program's name) again on `ranks` ranks, with
/// --ranks taken out of it. `oversubscribe`: more ranks than cores are fine.
std::vector<std::string> mpirun_command(const std::string& program,
                                        const std::vector<std::string>& arguments,
                                        std::uint32_t ranks, bool oversubscribe);

/// The first file called `name` on `path` (as in $PATH) that may be executed; empty where there is
/// none.
std::string find_on_path(const std::string& name, const std::string& path);

/// Why no rank started and what to do, in one line. `cores`: most that Open MPI may see here.
std::string start_failure(const LauncherEnd& end, std::uint32_t ranks, unsigned cores);

/// Runs mpirun, and removes what it has left if it was killed. Its exit code is passed on, but 1
/// only from a rank: mpirun gives 1 of its own when it is stopped, which is incomplete. Where no
/// rank reports, prints the cause and the text of mpirun: exit code 5. Throws EnvironmentError in a
/// build without MPI.
ExitCode run_mpirun(const std::vector<std::string>& arguments, std::uint32_t ranks,
                    bool oversubscribe);

}  // namespace tidemark
