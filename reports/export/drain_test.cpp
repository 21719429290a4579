// Which GPUs are named for draining, and which are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reports/base/error.hpp"
#include "reports/export/export.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/journal/record.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

/// The example launch of two GPUs, in which all has passed.
Report passed() {
  Report report = example();
  report.events.clear();
  for (GpuRow& gpu : report.gpus) gpu.remapped_rows_pending = 0;
  for (ResultRow& result : report.results) result.verdict = Verdict::pass;
  return report;
}

ResultRow& result_of(Report& report, std::string_view name, std::uint32_t gpu) {
  for (ResultRow& result : report.results)
    if (result.gpu_id == gpu && report.cases[result.case_id].name.view() == name) return result;
  throw std::runtime_error("no such result");
}

std::uint32_t text_in(Report& report, const std::string& text) {
  report.strings.push_back(text);
  return static_cast<std::uint32_t>(report.strings.size() - 1);
}

std::string text_of(const Report& report) { return drain_of(report).text; }

std::string error_of(const Report& report) {
  return error_from([&] { drain_of(report); });
}

TEST(Drain, NothingWhereAllIsWell) { EXPECT_EQ(text_of(passed()), ""); }

TEST(Drain, HostGpuAndReasonOfWhatFailed) {
  Report report = passed();
  result_of(report, "load.tile.2d", 1).verdict = Verdict::fail;
  result_of(report, "zfill.corner", 1).verdict = Verdict::hang;
  const std::string uuid(report.gpus[1].uuid.view());
  EXPECT_EQ(text_of(report),
            "node07.acme.example\t" + uuid + "\tload.tile.2d fail, zfill.corner hang\n");
}

TEST(Drain, NotWhatIsWaivedDidNotRunOrFailedInTheTool) {
  Report report = passed();
  result_of(report, "load.tile.2d", 1).verdict = Verdict::waived;
  result_of(report, "zfill.corner", 1).verdict = Verdict::not_run;
  result_of(report, "gemm.distributed.speed", 1).verdict = Verdict::tool_error;
  EXPECT_EQ(text_of(report), "");
}

TEST(Drain, AGpuThatWasLost) {
  Report report = passed();
  result_of(report, "zfill.corner", 0).verdict = Verdict::gpu_lost;
  EXPECT_TRUE(has(text_of(report), "\tzfill.corner gpu_lost\n"));
}

TEST(Drain, ACaseOfAllGpusThatSeveralFailedBlamesNone) {
  Report report = passed();
  result_of(report, "gemm.distributed.speed", 0).verdict = Verdict::fail;
  EXPECT_TRUE(has(text_of(report), "\tgemm.distributed.speed fail\n"));
  result_of(report, "gemm.distributed.speed", 1).verdict = Verdict::fail;
  EXPECT_EQ(text_of(report), "");
}

TEST(Drain, AGpuThatWasLostInACaseOfAllGpusWhereAnotherFailed) {
  Report report = passed();
  result_of(report, "gemm.distributed.speed", 0).verdict = Verdict::fail;
  result_of(report, "gemm.distributed.speed", 1).verdict = Verdict::gpu_lost;
  EXPECT_EQ(text_of(report), "node07.acme.example\t" + std::string(report.gpus[1].uuid.view()) +
                                 "\tgemm.distributed.speed gpu_lost\n");
}

TEST(Drain, ACaseOfAllGpusThatOneFailedBesideAWaivedFailureBlamesNone) {
  Report report = passed();
  result_of(report, "gemm.distributed.speed", 0).verdict = Verdict::waived;
  result_of(report, "gemm.distributed.speed", 1).verdict = Verdict::fail;
  EXPECT_EQ(text_of(report), "");
}

/// GPU 1 hung in the case of all GPUs, and GPU 0 did not run it, because of `why`.
Report with_a_hang(const std::string& why) {
  Report report = passed();
  result_of(report, "gemm.distributed.speed", 1).verdict = Verdict::hang;
  ResultRow& other = result_of(report, "gemm.distributed.speed", 0);
  other.verdict = Verdict::not_run;
  other.reason = text_in(report, why);
  return report;
}

TEST(Drain, AGpuThatHungInACaseOfAllGpusWhereAnotherNamesIt) {
  const char* const waits = "; row 0: a bounded wait for other GPUs ended by its bound";
  for (const char* more : {"", waits}) {
    const Report report = with_a_hang(
        std::string("slot 1 (node07.acme.example, GPU-77aa88bb-0000-1111-2222-333344445555) "
                    "hung in the same round") +
        more);
    EXPECT_EQ(text_of(report),
              "node07.acme.example\tGPU-77aa88bb-0000-1111-2222-333344445555\t"
              "gemm.distributed.speed hang\n");
  }
}

TEST(Drain, NoGpuThatHungInACaseOfAllGpusWhereNoneNamesIt) {
  EXPECT_EQ(text_of(with_a_hang("rank 0 is silent")), "");
  EXPECT_EQ(text_of(with_a_hang("slot 0 (node07.acme.example, "
                                "GPU-5f1c2d3e-0000-1111-2222-333344445555) hung in the same "
                                "round")),
            "");
  Report report = with_a_hang("");
  result_of(report, "gemm.distributed.speed", 0).verdict = Verdict::pass;
  EXPECT_EQ(text_of(report), "");
}

TEST(Drain, NoGpuThatHungWhereAnotherFailedTheCaseToo) {
  Report report = with_a_hang(
      "slot 1 (node07.acme.example, GPU-77aa88bb-0000-1111-2222-333344445555) hung in the same "
      "round; row 1: a byte is wrong");
  for (const Verdict verdict : {Verdict::fail, Verdict::hang}) {
    result_of(report, "gemm.distributed.speed", 0).verdict = verdict;
    EXPECT_EQ(text_of(report), "");
  }
}

TEST(Drain, XidsOfSickHardwareAndNotThoseOfPrograms) {
  Report report = passed();
  const std::uint32_t nvml = text_in(report, "nvml");
  report.events.push_back({.gpu_id = 0, .source = nvml, .code = 13});  // an illegal copy
  EXPECT_EQ(text_of(report), "");
  report.events.push_back({.gpu_id = 0, .source = nvml, .code = 79});
  report.events.push_back({.gpu_id = 0, .source = nvml, .code = 79});
  EXPECT_TRUE(has(text_of(report), "\tXid 79\n")) << text_of(report);
}

TEST(Drain, EveryXidThatSaysDrainAndNoOther) {
  for (const Xid& xid : kXids) {
    Report report = passed();
    report.events.push_back({.gpu_id = 0, .source = text_in(report, "nvml"), .code = xid.code});
    const bool drained =
        text_of(report).find(fmt::format("\tXid {}\n", xid.code)) != std::string::npos;
    EXPECT_EQ(drained, xid.drains()) << xid.code;
  }
}

TEST(Drain, NoGpuWhoseRowsNvmlDoesNotSay) {
  Report report = passed();
  report.gpus[0].remapped_rows_pending = 0xffffffff;
  EXPECT_EQ(text_of(report), "");
}

TEST(Drain, NothingOfAReportThatWasMadeWithATestHook) {
  Report report = passed();
  report.provenance.push_back({.key = text_in(report, "environment.TIDEMARK_TEST_HOOK"),
                               .value = text_in(report, "crash@load.tile.rank2")});
  EXPECT_TRUE(has(error_of(report), "TIDEMARK_TEST_HOOK")) << error_of(report);
}

TEST(Drain, NotASignalOfTheSameNumber) {
  Report report = passed();
  const std::uint32_t other = text_in(report, "signal");
  report.events.push_back({.gpu_id = 0, .source = other, .code = 64});
  EXPECT_EQ(text_of(report), "");
}

TEST(Drain, MemoryThatWaitsForAReset) {
  Report report = passed();
  report.gpus[0].remapped_rows_pending = 1;
  EXPECT_TRUE(has(text_of(report), "\tmemory rows to be remapped\n"));
}

void leave_out(Report& report, const std::string& why) {
  report.events.push_back({.gpu_id = kNoRow,
                           .source = text_in(report, std::string(kLeftOut)),
                           .text = text_in(report, why)});
}

TEST(Drain, WhatWasLeftOutButNotWhatIsInUse) {
  Report report = passed();
  leave_out(report,
            "GPU 3 (NVIDIA H200) of host node07 is in use: GPU-77aa88bb is held by process 4711");
  leave_out(report, "rank 1 on host node08 has no NVIDIA device");
  EXPECT_EQ(text_of(report), "node08\t-\trank 1 on host node08 has no NVIDIA device\n");
}

TEST(Drain, NoRankWhoseGpusCouldNotBeAskedFor) {
  for (const char* why :
       {"asking CUDA ended with signal 9", "the process that asks CUDA could not be started"}) {
    Report report = passed();
    leave_out(report,
              std::string("rank 1 on host node08 has an NVIDIA device but no usable GPU: ") + why);
    EXPECT_EQ(text_of(report), "") << why;
  }
}

TEST(Drain, NothingLeftOutWhoseHostCouldBeSomethingElseInACommand) {
  for (const char* host : {"$(x)", "ALL"}) {
    Report report = passed();
    leave_out(report, fmt::format("rank 1 on host {} has no NVIDIA device", host));
    leave_out(report, "rank 2 on host node08 has no NVIDIA device");
    const Exported list = drain_of(report);
    EXPECT_EQ(list.text, "node08\t-\trank 2 on host node08 has no NVIDIA device\n");
    ASSERT_EQ(list.left_out.size(), 1U);
    EXPECT_TRUE(has(list.left_out[0], host)) << list.left_out[0];
  }
}

TEST(Drain, AReasonIsNoLongerThanSlurmShows) {
  Report report = passed();
  const std::uint32_t nvml = text_in(report, "nvml");
  for (const int xid : {48, 64, 74, 79})
    report.events.push_back({.gpu_id = 0, .source = nvml, .code = xid});
  report.gpus[0].remapped_rows_pending = 1;
  for (CaseRow& which : report.cases) which.name = FixedText<128>::of(std::string(100, 'x'));
  for (ResultRow& result : report.results)
    if (result.gpu_id == 0) result.verdict = Verdict::fail;
  const std::string text = text_of(report);
  const std::string reason = text.substr(text.rfind('\t') + 1);
  EXPECT_EQ(reason.size(), 128U + 1) << reason;
  EXPECT_EQ(reason.find("Xid 48, Xid 64 and 2 more; memory rows to be remapped; xxx"), 0U)
      << reason;
}

TEST(Drain, NoHostsOfAVirtualOrAnonymisedRun) {
  Report report = passed();
  report.launch.is_virtual = true;
  EXPECT_TRUE(has(error_of(report), "virtual device")) << error_of(report);
  report = passed();
  report.launch.anonymised = true;
  EXPECT_TRUE(has(error_of(report), "anonymized")) << error_of(report);
}

TEST(Drain, NoHostThatCouldBeSomethingElseInACommand) {
  for (const char* host :
       {"", "-all", "a b", "a;reboot", "a\nb", "$(x)", "ALL", "all", "All.acme.example", "a,b",
        "n[1-9]", "a*", ".", "a..b", ".a", "a.", "10.0.0.5", "5"}) {
    Report report = passed();
    result_of(report, "load.tile.2d", 1).verdict = Verdict::fail;
    report.nodes[report.gpus[1].node_id].hostname = text_in(report, host);
    leave_out(report, "rank 2 on host node08 has no NVIDIA device");
    const Exported list = drain_of(report);
    EXPECT_EQ(list.text, "node08\t-\trank 2 on host node08 has no NVIDIA device\n") << host;
    ASSERT_EQ(list.left_out.size(), 1U);
    EXPECT_EQ(list.left_out[0].find("GPU 1: '"), 0U) << list.left_out[0];
  }
}

}  // namespace
}  // namespace tidemark
