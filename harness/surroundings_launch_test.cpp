// Launches in surroundings that take something from them: signals, a terminal, descriptors, a name.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

Arguments run_by(Arguments starter, const Place& place, const Arguments& more) {
  const Arguments run = command(run_arguments(place, more));
  starter.insert(starter.end(), run.begin(), run.end());
  return starter;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Surroundings, where_ends_of_children_are_ignored_a_crash_is_one_all_the_same) {
  const Place place;
  const Ran ran =
      run_program(run_by({"env", "--ignore-signal=CHLD"}, place, {"--cases", "load.tile.rank1"}),
                  with_hook("crash@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_EQ(results_of(read_report(place.out())).at("load.tile.rank1@0")->verdict, Verdict::crash);
}

TEST(Surroundings, under_nohup_a_launch_goes_on_when_its_terminal_closes) {
  const Place place;
  const RunningProgram running =
      start_program(run_by({"env", "--ignore-signal=HUP"}, place, {"--cases", "load.tile.rank1"}),
                    with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"start")"));
  ::kill(running.pid, SIGHUP);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST(Surroundings, an_error_that_nobody_can_read_keeps_its_code) {
  const Ran ran = run_program({"sh", "-c", "exec " TIDEMARK_BINARY " show /none 2>/dev/full"});
  EXPECT_EQ(ran.exit, 2);
}

TEST(Surroundings, a_launch_without_stdout_and_stderr_keeps_its_report_and_says_2) {
  const Place place;
  Arguments all = {"sh", "-c", "exec \"$@\" >/dev/full 2>/dev/full", "sh"};
  all = run_by(all, place, {"--cases", "load.tile.rank1"});
  EXPECT_EQ(run_program(all, kRoot).exit, 2);
  EXPECT_TRUE(read_report(place.out()).launch.complete);
}

/// Two launches whose standard output is `path`, which takes nothing: both come to their reports,
/// wait for a reader, and end when they are asked to.
void expect_two_reports(const Place& place, const std::string& path) {
  Arguments all = {"sh", "-c", "exec \"$@\" >\"$0\"", path};
  const RunningProgram running =
      start_program(run_by(all, place, {"--cases", "load.tile.rank1", "--launches", "2"}), kRoot);
  const std::string last = place.file("r-2.h5");
  EXPECT_TRUE(appears_file(last));
  ::kill(running.pid, SIGTERM);
  EXPECT_EQ(finish_program(running).exit, 2);
  EXPECT_TRUE(read_report(last).launch.complete);
}

/// A terminal hands on a moment later what it took, and then takes more.
void fill(int descriptor) {
  for (bool took = true; took; std::this_thread::sleep_for(std::chrono::milliseconds(20)))
    for (took = false; ::write(descriptor, "x", 1) == 1;) took = true;
}

TEST(Surroundings, a_pipe_that_nobody_reads_keeps_no_launch) {
  const Place place;
  const std::string path = place.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const FileDescriptor both(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  fill(both.get());
  expect_two_reports(place, path);
}

// It waits for a reader, and so is there to hear of the stop.
TEST(Surroundings, a_stop_behind_the_last_report_stops_nothing) {
  const Place place;
  const std::string path = place.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  FileDescriptor both(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  fill(both.get());
  const RunningProgram running =
      start_program(run_by({"sh", "-c", "exec \"$@\" >\"$0\"", path}, place,
                           {"--cases", "load.tile.rank1", "--launches", "2"}),
                    kRoot);
  const std::string last = place.file("r-2.h5");
  for (const double until = monotonic_s() + 60;
       !std::filesystem::exists(last) && monotonic_s() < until;) {
  }  // at once: later the launch is past its last question for a stop
  ::kill(running.pid, SIGTERM);
  std::string text;
  drain(both, text);
  EXPECT_EQ(finish_program(running).exit, 0);
}

TEST(Surroundings, a_terminal_that_nobody_reads_keeps_no_launch) {
  const Place place;
  const FileDescriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::grantpt(master.get()), 0);
  ASSERT_EQ(::unlockpt(master.get()), 0);
  const std::string path = ::ptsname(master.get());
  const FileDescriptor slave(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  fill(slave.get());
  expect_two_reports(place, path);
}

TEST(Surroundings, too_few_descriptors_are_no_bug) {
  const Place place;
  Arguments all = {"sh", "-c", "exec 3>&- 4>&-; ulimit -n 5; exec \"$@\"", "sh"};
  const Ran ran = run_program(run_by(all, place, {"--cases", "load.tile.rank1"}), kRoot);
  EXPECT_EQ(ran.exit, 5) << ran.err;
  EXPECT_NE(ran.err.find("Too many open files: see the limits of"), std::string::npos) << ran.err;
}

TEST(Surroundings, a_file_that_somebody_makes_at_out_meanwhile_stays) {
  const Place place;
  const RunningProgram running =
      start_program(command(run_arguments(place, {"--cases", "load.tile.rank1"})),
                    with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"start")"));
  std::ofstream(place.out()) << "theirs";
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(content_of(place.out()), "theirs");
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r.h5", "r.h5.run"}));
}

TEST(Surroundings, a_temporary_of_a_process_of_the_same_number_is_no_trouble) {
  const Place place;
  Arguments all = {"sh", "-c", "echo old > \"$0.tmp.$$\"; exec \"$@\"", place.out()};
  const Ran ran = run_program(run_by(all, place, {"--cases", "load.tile.rank1"}), kRoot);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
}

TEST(Surroundings, a_number_of_a_rank_that_no_launcher_gave_leaves_the_reporter_there) {
  const Place place;
  Environment environment = with_hook("minute@load.tile.rank1");
  environment.emplace_back("OMPI_COMM_WORLD_RANK", "3");
  const RunningProgram running =
      start_program(command(run_arguments(place, {"--cases", "load.tile.rank1"})), environment);
  ASSERT_TRUE(appears(place.journals(), R"("type":"start")"));
  ::kill(running.pid, SIGKILL);
  finish_program(running);
  EXPECT_TRUE(appears_file(place.out()));
}

TEST(Surroundings, a_grid_of_other_ranks_beside_sizes_is_one_line) {
  const Place place;
  const Ran ran = run_binary({"bench", "gemm.distributed.speed", "--device", "virtual", "--gpus",
                              "2", "--n", "64", "--grid", "3x1", "--out", place.out()});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err,
            "tidemark: --grid '3x1': has 3 places for 2 GPUs; give rows and columns that "
            "multiply to 2\n");
}

}  // namespace
}  // namespace tidemark
