// A slot with the real worker: every way in which an attempt can end.
#include "harness/supervisor/slot.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "harness/base/clock.hpp"
#include "harness/discovery/node_files.hpp"
#include "harness/relay/mesh.hpp"
#include "reports/base/scratch_folder.hpp"

namespace {
int failing_forks = 0;            // the next forks of this program fail with EAGAIN
bool ends_after_answers = false;  // a child that runs when asked for its end ends before the next
}  // namespace

extern "C" pid_t fork() noexcept {
  static const auto real = reinterpret_cast<pid_t (*)()>(::dlsym(RTLD_NEXT, "fork"));
  if (failing_forks == 0) return real();
  --failing_forks;
  errno = EAGAIN;
  return -1;
}

extern "C" pid_t waitpid(pid_t pid, int* status, int options) {
  static const auto real =
      reinterpret_cast<pid_t (*)(pid_t, int*, int)>(::dlsym(RTLD_NEXT, "waitpid"));
  const pid_t ended = real(pid, status, options);
  siginfo_t information{};
  if (ended == 0 && ends_after_answers)
    ::waitid(P_PID, static_cast<id_t>(pid), &information, WEXITED | WNOWAIT);
  return ended;
}

namespace tidemark {
namespace {

const WorkerStart kReal{.program = TIDEMARK_BINARY};
constexpr std::uint32_t kIllegalCopies = 21;  // rows of behaviour.fault.illegal_copies

/// The environment of workers for the length of a test.
class Hook {
 public:
  explicit Hook(const char* text) { ::setenv("TIDEMARK_TEST_HOOK", text, 1); }
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;
  ~Hook() { ::unsetenv("TIDEMARK_TEST_HOOK"); }
};

const Case& rank1() { return *case_named("load.tile.rank1"); }

/// The end of the attempt that is running; a verdict of its own when that does not come.
Ending end_of(Slot& slot) {
  const double until = monotonic_s() + 100;
  while (monotonic_s() < until) {
    if (std::optional<Ending> ending = slot.step()) return std::move(*ending);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {.verdict = Verdict::waived, .reason = "the attempt did not end", .outcome = {}};
}

TEST(Slot, a_pass_leaves_the_worker_for_the_next_case) {
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending first = end_of(slot);
  EXPECT_EQ(first.verdict, Verdict::pass) << first.reason;
  ASSERT_TRUE(first.outcome.has_value());
  EXPECT_GT(first.outcome->rows_run, 0U);
  ASSERT_NE(slot.worker(), nullptr);
  const pid_t worker = slot.worker()->pid();
  slot.begin(*case_named("load.tile.rank2"), 1);
  EXPECT_EQ(end_of(slot).verdict, Verdict::pass);
  EXPECT_EQ(slot.worker()->pid(), worker);
}

TEST(Slot, a_crash_says_its_signal_and_the_last_words) {
  const Hook hook("crash@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::crash);
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_EQ(ending.rows_run, 2U);
  EXPECT_EQ(ending.rows_planned, 3U);
  EXPECT_NE(ending.reason.find("signal 11"), std::string::npos) << ending.reason;
  EXPECT_NE(ending.reason.find("test hook: crash"), std::string::npos) << ending.reason;
}

/// What a worker that is started so finds in its environment, whatever ours says.
std::string jit_in_worker(bool jit) {
  const ScratchFolder folder;
  const std::string program = folder.file("worker");
  std::ofstream(program) << "#!/bin/sh\necho jit=$CUDA_FORCE_PTX_JIT >&2\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  WorkerProcess worker({.program = program, .jit = jit});
  const double until = monotonic_s() + 30;
  while (!worker.ended() && monotonic_s() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return worker.end_text("");
}

TEST(Worker, has_the_driver_compile_where_asked_for) {
  EXPECT_NE(jit_in_worker(true).find("jit=1"), std::string::npos) << jit_in_worker(true);
  EXPECT_NE(jit_in_worker(false).find("jit=0"), std::string::npos) << jit_in_worker(false);
}

TEST(Slot, runs_the_next_case_in_a_new_worker_after_a_crash) {
  const Hook hook("crash@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  EXPECT_EQ(end_of(slot).verdict, Verdict::crash);
  slot.begin(*case_named("load.tile.rank2"), 1);
  EXPECT_EQ(end_of(slot).verdict, Verdict::pass);
  EXPECT_FALSE(slot.lost().has_value());
}

TEST(ProcessEnd, by_a_signal_that_no_mistake_raises_is_from_outside) {
  for (const int number : {SIGKILL, SIGUSR1, SIGXCPU, SIGPIPE})
    EXPECT_TRUE(ProcessEnd{.signal = number}.killed_from_outside()) << number;
  for (const int number : {0, SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS})
    EXPECT_FALSE(ProcessEnd{.signal = number}.killed_from_outside()) << number;
}

TEST(Slot, a_worker_killed_from_outside_is_a_tool_error) {
  const Hook hook("kill@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::tool_error);
  EXPECT_TRUE(ending.from_outside());
  EXPECT_EQ(ending.signal, SIGKILL);
  EXPECT_NE(ending.reason.find("killed from outside (out of memory?)"), std::string::npos)
      << ending.reason;
  EXPECT_FALSE(slot.lost().has_value());
}

TEST(Slot, says_how_often_the_oom_killer_struck_where_that_is_known) {
  if (!oom_kills()) GTEST_SKIP() << "this machine has no memory cgroup";
  const Hook hook("kill@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  EXPECT_NE(end_of(slot).reason.find("oom_kill of its memory cgroup is "), std::string::npos);
}

TEST(Slot, workers_killed_from_outside_before_their_device_lose_no_gpu) {
  const Hook hook("kill@ready");
  Slot slot({.seed = 1}, kReal);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(slot.lost().has_value());
    slot.begin(rank1(), 1);
    EXPECT_TRUE(end_of(slot).from_outside());
  }
  ASSERT_TRUE(slot.lost().has_value());
  EXPECT_EQ(slot.lost()->verdict, Verdict::tool_error);
}

TEST(Slot, a_worker_killed_before_a_case_of_all_gpus_is_what_the_case_says) {
  Slot slot({.seed = 1, .slots = 2}, kReal);
  slot.start_worker();
  ::kill(slot.worker()->pid(), SIGKILL);
  while (slot.worker() != nullptr) static_cast<void>(slot.step());
  slot.begin(*case_named("gemm.distributed.integer"), 1);
  const Ending ending = end_of(slot);
  EXPECT_TRUE(ending.from_outside()) << ending.reason;
}

TEST(Slot, a_worker_killed_between_cases_of_one_gpu_costs_none) {
  Slot slot({.seed = 1}, kReal);
  slot.start_worker();
  ::kill(slot.worker()->pid(), SIGKILL);
  while (slot.worker() != nullptr) static_cast<void>(slot.step());
  slot.begin(rank1(), 1);
  EXPECT_EQ(end_of(slot).verdict, Verdict::pass);
}

TEST(Slot, one_fork_that_fails_costs_no_result) {
  Slot slot({.seed = 1}, kReal);
  failing_forks = 1;
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(failing_forks, 0);
  EXPECT_EQ(ending.verdict, Verdict::pass) << ending.reason;
}

TEST(Slot, a_worker_that_cannot_be_started_is_tried_again_as_one_killed_from_outside) {
  Slot slot({.seed = 1, .slots = 2}, kReal);
  failing_forks = 301;
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::tool_error);
  EXPECT_TRUE(ending.from_outside());
  EXPECT_EQ(ending.reason.rfind("could not start a worker: ", 0), 0U) << ending.reason;
}

TEST(Slot, a_worker_that_cannot_be_started_for_a_case_of_all_gpus_is_tried_again) {
  Slot slot({.seed = 1, .slots = 2}, kReal);
  failing_forks = 301;
  slot.start_worker();
  slot.begin(*case_named("gemm.distributed.integer"), 1);
  EXPECT_TRUE(end_of(slot).from_outside());
}

TEST(Slot, a_worker_that_leaves_in_mid_case_is_a_tool_error) {
  const Hook hook("exit@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::tool_error);
  EXPECT_EQ(ending.exit_code, 3);
}

TEST(Slot, a_hang_ends_by_sigkill) {
  const Hook hook("hang@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::hang);
  EXPECT_EQ(ending.reason, "no progress for 1 s since the case began");
  EXPECT_EQ(slot.worker(), nullptr);
}

TEST(Slot, a_hang_of_a_stopped_worker_says_so) {
  const Hook hook("stop@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::hang);
  EXPECT_EQ(ending.reason,
            "no progress for 1 s since the case began: its worker was stopped (SIGSTOP or a "
            "debugger), look by whom");
}

TEST(Slot, three_cases_that_hang_cost_the_gpu) {
  const Hook hook("hang@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(slot.lost().has_value());
    slot.begin(rank1(), 1);
    EXPECT_EQ(end_of(slot).verdict, Verdict::hang);
  }
  ASSERT_TRUE(slot.lost().has_value());
  EXPECT_NE(slot.lost()->reason.find("3 cases hung on this GPU"), std::string::npos)
      << slot.lost()->reason;
}

TEST(Slot, a_case_that_takes_longer_than_its_deadline_lives_while_it_makes_progress) {
  const Hook hook("slow@load.tile.rank1");
  Slot slot({.seed = 1}, kReal, {.least_case = 1.5, .case_factor = 0});
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::pass) << ending.reason;
  EXPECT_GT(ending.seconds, 1.5);
}

TEST(Slot, a_machine_that_was_suspended_makes_no_case_hang) {
  const Hook hook("slow@load.tile.rank1");
  Slot slot({.seed = 1}, kReal, {.least_case = 1.5, .case_factor = 0});
  slot.begin(rank1(), 1);
  for (int i = 0; i < 500; ++i) {
    ASSERT_FALSE(slot.step().has_value());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(slot.worker()->pid(), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // nor does anybody look
  static_cast<void>(slot.step());
  ::kill(slot.worker()->pid(), SIGCONT);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::pass) << ending.reason;
}

TEST(Slot, a_signal_that_tells_the_launch_to_stop_is_no_crash) {
  const Hook hook("slow@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const pid_t worker = slot.worker()->pid();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::kill(worker, number);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::pass) << ending.reason;
}

TEST(Slot, a_worker_that_is_not_ready_in_time_is_a_hang) {
  const Hook hook("hang@ready");
  Slot slot({.seed = 1}, kReal, {.ready = 0.3});
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::hang);
  EXPECT_NE(ending.reason.find("no device"), std::string::npos) << ending.reason;
}

TEST(Slot, a_sticky_error_costs_the_worker) {
  const Hook hook("sticky@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::sticky);
  EXPECT_EQ(slot.worker(), nullptr);
}

const Case& illegal_copies() { return *case_named("behaviour.fault.illegal_copies"); }

TEST(Slot, a_fault_that_came_as_predicted_passes_and_costs_the_worker) {
  Slot slot({.seed = 1, .options = {.level = Level::soak, .row = 1}}, kReal);
  slot.begin(illegal_copies(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::pass) << ending.reason;
  EXPECT_EQ(ending.signal, 0);
  ASSERT_TRUE(ending.outcome.has_value());
  EXPECT_EQ(ending.outcome->rows_planned, 1U);
  EXPECT_EQ(ending.outcome->rows_run, 1U);
  EXPECT_EQ(ending.outcome->cuda_error, 716);
  EXPECT_EQ(slot.worker(), nullptr);
  EXPECT_FALSE(slot.busy());
}

TEST(Slot, each_row_that_ends_in_an_error_has_a_worker_of_its_own) {
  Slot slot({.seed = 1, .options = {.level = Level::soak}}, kReal);
  slot.begin(rank1(), 1);
  ASSERT_EQ(end_of(slot).verdict, Verdict::pass);
  std::set<pid_t> workers = {slot.worker()->pid()};
  slot.begin(illegal_copies(), 1);
  std::optional<Ending> ending;
  for (const double until = monotonic_s() + 100; !ending && monotonic_s() < until;) {
    ending = slot.step();
    if (slot.worker() != nullptr) workers.insert(slot.worker()->pid());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(ending && ending->outcome);
  EXPECT_EQ(ending->verdict, Verdict::pass) << ending->reason;
  EXPECT_EQ(ending->outcome->rows_planned, kIllegalCopies);
  EXPECT_EQ(ending->outcome->rows_run, kIllegalCopies);
  EXPECT_EQ(ending->outcome->rows_failed, 0U);
  ASSERT_EQ(ending->outcome->notes.size(), kIllegalCopies);
  EXPECT_EQ(ending->outcome->notes[11],
            "row 11, a store to row -1: ended in CUDA error 715 (illegal instruction), as "
            "predicted");
  EXPECT_EQ(workers.size(), 1U + kIllegalCopies);
}

TEST(Slot, many_faults_in_a_row_lose_no_gpu_and_the_next_case_passes) {
  Slot slot({.seed = 1, .options = {.level = Level::soak}}, kReal);
  slot.begin(illegal_copies(), 1);
  EXPECT_EQ(end_of(slot).verdict, Verdict::pass);
  EXPECT_FALSE(slot.lost().has_value());
  slot.begin(rank1(), 1);
  const Ending next = end_of(slot);
  EXPECT_EQ(next.verdict, Verdict::pass) << next.reason;
  EXPECT_NE(slot.worker(), nullptr);
}

TEST(Slot, a_fault_with_another_code_than_predicted_is_a_fail) {
  Slot slot({.seed = 1, .options = {.level = Level::soak, .fault = "load_misaligned_as_719"}},
            kReal);
  slot.begin(illegal_copies(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::fail);
  EXPECT_NE(ending.reason.find("row 0, a load to a shared address 8 bytes off 128, no swizzle: "
                               "expected CUDA error 716 (misaligned address), got CUDA error 719"),
            std::string::npos)
      << ending.reason;
  ASSERT_TRUE(ending.outcome.has_value());
  EXPECT_EQ(ending.outcome->rows_run, kIllegalCopies);
  EXPECT_EQ(ending.outcome->rows_failed, 3U);
  EXPECT_EQ(ending.outcome->miscompares.size(), 3U);
  EXPECT_EQ(slot.worker(), nullptr);
}

TEST(Slot, a_row_in_a_worker_of_its_own_that_crashes_ends_the_attempt) {
  const Hook hook("crash@behaviour.fault.illegal_copies");
  Slot slot({.seed = 1, .options = {.level = Level::soak}}, kReal);
  slot.begin(illegal_copies(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::crash);
  EXPECT_EQ(ending.signal, SIGSEGV);
  EXPECT_EQ(ending.rows_planned, kIllegalCopies);
  EXPECT_EQ(ending.rows_run, 0U);
  EXPECT_FALSE(slot.busy());
}

TEST(Slot, what_rows_came_to_before_a_crash_is_kept_and_the_row_that_crashed_is_named) {
  const Hook hook("late_crash@behaviour.fault.illegal_copies");
  Slot slot({.seed = 1, .options = {.level = Level::soak, .fault = "load_misaligned_as_719"}},
            kReal);
  slot.begin(illegal_copies(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::crash);
  EXPECT_EQ(ending.row, 2);
  ASSERT_TRUE(ending.outcome.has_value());
  EXPECT_EQ(ending.outcome->rows_planned, kIllegalCopies);
  EXPECT_EQ(ending.outcome->rows_run, 2U);
  EXPECT_EQ(ending.outcome->rows_failed, 2U);
  EXPECT_EQ(ending.outcome->miscompares.size(), 2U);
}

TEST(Slot, rows_that_failed_before_a_worker_was_killed_from_outside_stay_a_fail) {
  Slot slot({.seed = 1, .options = {.level = Level::soak, .fault = "load_misaligned_as_719"}},
            kReal);
  slot.begin(illegal_copies(), 1);
  std::set<pid_t> workers;
  std::optional<Ending> ending;
  for (const double until = monotonic_s() + 100; !ending && monotonic_s() < until;) {
    ending = slot.step();
    if (slot.worker() == nullptr || !workers.insert(slot.worker()->pid()).second) continue;
    if (workers.size() == 3) ::kill(slot.worker()->pid(), SIGKILL);
  }
  ASSERT_TRUE(ending && ending->outcome);
  EXPECT_EQ(ending->verdict, Verdict::fail) << ending->reason;
  EXPECT_EQ(ending->outcome->rows_failed, 2U);
  EXPECT_NE(ending->reason.find("killed from outside"), std::string::npos) << ending->reason;
}

TEST(Slot, an_end_right_after_the_question_for_it_loses_no_outcome) {
  Slot slot({.seed = 1, .options = {.level = Level::soak}}, kReal);
  slot.begin(illegal_copies(), 1);  // the worker of each row ends by itself
  ends_after_answers = true;
  const Ending ending = end_of(slot);
  ends_after_answers = false;
  EXPECT_EQ(ending.verdict, Verdict::pass) << ending.reason;
}

TEST(Slot, rows_behind_the_one_that_lost_the_gpu_run_in_a_new_worker) {
  const Hook hook("illegal@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 2, true);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::sticky);
  EXPECT_EQ(ending.reason.substr(0, 6), "row 1:") << ending.reason;
  ASSERT_TRUE(ending.outcome.has_value());
  EXPECT_GT(ending.outcome->rows_planned, 2U);
  EXPECT_EQ(ending.outcome->rows_run, ending.outcome->rows_planned);
  EXPECT_EQ(ending.outcome->rows_failed, 1U);
  EXPECT_EQ(ending.outcome->cuda_error, 716);
}

TEST(Slot, an_attempt_ends_where_row_after_row_loses_the_gpu) {
  const Hook hook("all_illegal@load.tile.random");
  Slot slot({.seed = 1}, kReal);
  slot.begin(*case_named("load.tile.random"), 2, true);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::sticky);
  ASSERT_TRUE(ending.outcome.has_value());
  EXPECT_EQ(ending.outcome->rows_run, 9U);
  const std::string left = std::to_string(ending.outcome->rows_planned - 9);
  EXPECT_NE(ending.reason.find("; " + left + " rows were not run: 9 rows lost the GPU"),
            std::string::npos)
      << ending.reason;
  EXPECT_FALSE(slot.lost().has_value());
}

TEST(Slot, a_fail_costs_the_worker_and_the_second_attempt_may_pass) {
  const Hook hook("fail@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  EXPECT_EQ(end_of(slot).verdict, Verdict::fail);
  EXPECT_EQ(slot.worker(), nullptr);
  slot.begin(rank1(), 2);
  EXPECT_EQ(end_of(slot).verdict, Verdict::pass);
}

TEST(Slot, three_workers_in_a_row_that_crash_before_their_device_lose_the_gpu) {
  const Hook hook("crash@ready");
  Slot slot({.seed = 1}, kReal);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(slot.lost().has_value());
    slot.begin(rank1(), 1);
    EXPECT_EQ(end_of(slot).verdict, Verdict::crash);
  }
  ASSERT_TRUE(slot.lost().has_value());
  EXPECT_EQ(slot.lost()->verdict, Verdict::gpu_lost);
}

TEST(Slot, a_program_that_cannot_be_executed_is_a_tool_error_that_says_why) {
  ::signal(SIGPIPE, SIG_IGN);  // as run_launch does: the child may be gone before its first order
  Slot slot({.seed = 1}, {.program = "/nowhere/tidemark"});
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::tool_error);
  EXPECT_EQ(ending.exit_code, 127);
  EXPECT_NE(ending.reason.find("No such file"), std::string::npos) << ending.reason;
}

TEST(Slot, an_unknown_fault_is_a_tool_error_that_names_it) {
  Slot slot({.seed = 1, .options = {.fault = "no_such_fault"}}, kReal);
  slot.begin(rank1(), 1);
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::tool_error);
  EXPECT_NE(ending.reason.find("no_such_fault"), std::string::npos) << ending.reason;
}

/// Holds a process at the door of its exit, where not even SIGKILL ends it: what a driver that
/// never answers looks like from outside. Gone, it lets the process go.
class StuckExit {
 public:
  explicit StuckExit(pid_t victim) {
    const Pipe ready = make_pipe();
    tracer_ = ::fork();
    if (tracer_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves nobody held
      const bool held = ::ptrace(PTRACE_SEIZE, victim, nullptr, PTRACE_O_TRACEEXIT) == 0;
      const char word = held ? 'y' : 'n';
      if (::write(ready.write.get(), &word, 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    char word = 'n';
    holds_ = ::read(ready.read.get(), &word, 1) == 1 && word == 'y';
  }
  StuckExit(const StuckExit&) = delete;
  StuckExit& operator=(const StuckExit&) = delete;
  ~StuckExit() {
    ::kill(tracer_, SIGKILL);
    ::waitpid(tracer_, nullptr, 0);
  }
  bool holds() const { return holds_; }

 private:
  pid_t tracer_ = -1;
  bool holds_ = false;
};

TEST(Slot, a_worker_that_outlives_sigkill_is_unkillable_and_the_slot_is_lost) {
  const Hook hook("hang@load.tile.rank1");
  Slot slot({.seed = 1}, kReal, {.kill = 0.3});
  slot.begin(rank1(), 1);
  const StuckExit stuck(slot.worker()->pid());
  if (!stuck.holds()) GTEST_SKIP() << "this machine does not let a test trace its own children";
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::unkillable);
  EXPECT_NE(ending.reason.find("after SIGKILL"), std::string::npos) << ending.reason;
  ASSERT_TRUE(slot.lost().has_value());
  EXPECT_EQ(slot.lost()->verdict, Verdict::unkillable);
}

TEST(Slot, giving_up_ends_the_attempt_with_the_given_verdict) {
  const Hook hook("slow@load.tile.rank1");
  Slot slot({.seed = 1}, kReal);
  slot.begin(rank1(), 1);
  slot.give_up(Verdict::not_run, "slot 2 crashed");
  const Ending ending = end_of(slot);
  EXPECT_EQ(ending.verdict, Verdict::not_run);
  EXPECT_EQ(ending.reason, "slot 2 crashed");
  EXPECT_FALSE(slot.busy());
}

}  // namespace
}  // namespace tidemark
