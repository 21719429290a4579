// Starts mpirun for `--ranks N`, and knows whether a launcher started us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/mpirun/launcher_process.hpp"

namespace tidemark {

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
