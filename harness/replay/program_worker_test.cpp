// A program costs the process that runs it, and no other.
#include "harness/replay/judged_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

const WorkerStart kReal{.program = TIDEMARK_BINARY};

/// The environment of workers for the length of a test.
class ProgramHook {
 public:
  explicit ProgramHook(const char* text) { ::setenv("TIDEMARK_TEST_HOOK", text, 1); }
  ProgramHook(const ProgramHook&) = delete;
  ProgramHook& operator=(const ProgramHook&) = delete;
  ~ProgramHook() { ::unsetenv("TIDEMARK_TEST_HOOK"); }
};

/// A barrier that is seen open, and is open.
Program one_test() {
  return {.window = 64,
          .barriers = 1,
          .regions = {},
          .maps = {},
          .steps = {{.verb = Verb::poison, .bytes = 64},
                    {.verb = Verb::init},
                    {.verb = Verb::test},
                    {.verb = Verb::snapshot}},
          .payload = {.seed = 5}};
}

TEST(ProgramWorker, hands_back_what_the_device_made_of_it) {
  const Program program = one_test();
  const ProgramEnd end = run_in_worker(kReal, {}, program);
  ASSERT_EQ(end.kind, ProgramEnd::Kind::ran) << end.reason;
  const auto device = make_device(DeviceKind::virtual_device);
  const RunResult here = device->run_programs({&program, 1}).front();
  EXPECT_EQ(end.result.fault, DeviceFault::none);
  EXPECT_EQ(end.result.bytes, here.bytes);
  EXPECT_EQ(end.result.trace, here.trace);
  EXPECT_EQ(end.result.surroundings, here.surroundings);
}

TEST(ProgramWorker, virtual_device_names_no_sm) {
  const ProgramEnd end = run_in_worker(kReal, {}, one_test());
  ASSERT_EQ(end.kind, ProgramEnd::Kind::ran) << end.reason;
  EXPECT_TRUE(end.result.sms.empty());
}

TEST(ProgramWorker, program_longer_than_a_pipe_arrives_whole) {
  Program program = one_test();
  program.steps.insert(program.steps.end(), 9'000, {.verb = Verb::test});
  const ProgramEnd end = run_in_worker(kReal, {}, program);
  ASSERT_EQ(end.kind, ProgramEnd::Kind::ran) << end.reason;
  EXPECT_EQ(end.result.trace.size(), 9'004U);
}

TEST(ProgramWorker, program_that_the_device_refuses_says_why) {
  Program program = one_test();
  program.steps[1].verb = Verb::arrive;  // before any init
  const ProgramEnd end = run_in_worker(kReal, {}, program);
  EXPECT_EQ(end.kind, ProgramEnd::Kind::refused);
  EXPECT_NE(end.reason.find("init"), std::string::npos) << end.reason;
}

TEST(ProgramWorker, unknown_fault_is_refused) {
  const ProgramEnd end = run_in_worker(kReal, {.options = {.fault = "no_such"}}, one_test());
  EXPECT_EQ(end.kind, ProgramEnd::Kind::refused);
  EXPECT_EQ(end.reason, "no fault is called 'no_such'");
}

TEST(ProgramWorker, crash_is_told_by_its_signal) {
  const ProgramHook hook("crash@program");
  const ProgramEnd end = run_in_worker(kReal, {}, one_test());
  EXPECT_EQ(end.kind, ProgramEnd::Kind::crashed);
  EXPECT_EQ(end.reason,
            "its process died by signal 11 (Segmentation fault); its last words: test hook: crash");
}

TEST(ProgramWorker, killed_from_outside_twice_is_no_crash) {
  const ProgramHook hook("kill@program");
  const ProgramEnd end = run_in_worker(kReal, {}, one_test());
  EXPECT_EQ(end.kind, ProgramEnd::Kind::killed);
  EXPECT_NE(end.reason.find("killed from outside (out of memory?)"), std::string::npos)
      << end.reason;
}

TEST(ProgramWorker, killed_from_outside_once_runs_again) {
  const ScratchFolder folder;
  const std::string script = folder.file("tidemark");
  std::ofstream(script) << "#!/bin/sh\nmkdir " << folder.file("once")
                        << " 2>&- && kill -KILL $$\nexec " TIDEMARK_BINARY " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const ProgramEnd end = run_in_worker({.program = script}, {}, one_test());
  EXPECT_EQ(end.kind, ProgramEnd::Kind::ran) << end.reason;
}

TEST(ProgramWorker, hang_is_ended) {
  const ProgramHook hook("hang@program");
  EXPECT_EQ(run_in_worker(kReal, {}, one_test()).kind, ProgramEnd::Kind::hung);
}

TEST(ProgramWorker, worker_that_never_is_ready_is_ended) {
  const ProgramHook hook("hang@ready");
  EXPECT_EQ(run_in_worker(kReal, {}, one_test(), {.ready_s = 0.1}).kind, ProgramEnd::Kind::hung);
}

TEST(ProgramWorker, sticky_error_is_a_result) {
  const ProgramHook hook("sticky@program");
  const ProgramEnd end = run_in_worker(kReal, {}, one_test());
  EXPECT_EQ(end.kind, ProgramEnd::Kind::ran);
  EXPECT_EQ(end.result.fault, DeviceFault::sticky);
  EXPECT_EQ(end.result.code, kLaunchFailure);
}

}  // namespace
}  // namespace tidemark
