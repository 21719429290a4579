// What names a machine, a board or a person is gone from the whole file, and equal stays equal.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

/// What a library may say last, in the name of the worker.
const char* const kLastWords =
    "node09.acme.example:4711 NCCL WARN connect to 10.1.2.3<4321> by alice failed: see "
    "'/home/alice/my "
    "runs/nccl.log', fe80::1 bob@login2";

/// The example launch with such words wherever a rank writes words of others.
std::vector<std::string> telling_journals() {
  OutcomeRecord failure = example_failure(1, "zfill.corner");
  failure.reason = kLastWords;
  failure.replay += " --gemm-table /home/alice/my runs/table.json";
  LaunchRecord launch = example_launch(1);
  launch.arguments.insert(launch.arguments.end(), {"--policy", kLastWords, "acme1"});
  launch.environment.emplace_back("NCCL_SOCKET_IFNAME", kLastWords);
  launch.gemm_table = "alice.json";
  launch.gemm_table_hash = "77";
  return {
      journal_of({launch, example_node(1), example_gpu(1), failure,
                  EventRecord{.at_unix_s = 1, .gpu = 1, .source = "supervisor", .text = kLastWords},
                  EndRecord{.rank = 1, .complete = false, .reason = kLastWords}}),
      example_journals()[0]};
}

std::string all_text_of(const Report& report) {
  std::string all = report.launch.incomplete_reason + report.launch.run_id;
  for (const std::string& text : report.strings) all += text + "\n";
  for (const GpuRow& gpu : report.gpus) all += std::string(gpu.uuid.view()) + "\n";
  return all;
}

std::string value_of(const Report& report, std::string_view key) {
  return std::string(provenance_of(report, key));
}

TEST(Anonymize, NothingThatNamesSomeoneIsInTheFile) {
  const ScratchFolder scratch;
  const Report report =
      assemble(telling_journals(), {.anonymize = true, .incomplete_reason = kLastWords});
  write_report(report, scratch.file("a.h5"));
  // The tables are deflated, so the text is searched where it is plain: in what a reader gets.
  const Report back = read_report(scratch.file("a.h5"));
  std::ifstream file(scratch.file("a.h5"), std::ios::binary);
  const std::string all = all_text_of(back) + std::string(std::istreambuf_iterator<char>(file), {});
  for (const char* original :
       {"node0",         "acme",  "alice",    "bob",       "login2",   "10.1.2.3",
        "fe80",          "4711",  "nccl.log", "5f1c2d3e",  "77aa88bb", "1654922001111",
        "1654922002222", "1B:00", "43:00",    "b007b007",  "night.h5", "node[",
        "/home",         "/opt",  "my runs",  "table.json"}) {
    EXPECT_FALSE(has(all, original)) << original;
  }
  EXPECT_TRUE(back.launch.anonymised);
  EXPECT_FALSE(back.launch.complete);
}

TEST(Anonymize, WithoutTheOptionTheNamesStay) {
  const Report report = assemble(telling_journals(), {});
  EXPECT_EQ(report.text(report.nodes.at(0).hostname), "node07.acme.example");
  EXPECT_FALSE(report.launch.anonymised);
}

TEST(Anonymize, AReportThatWasReadIsTheSameAsOneThatWasAssembled) {
  const Report one = anonymized(assemble(telling_journals(), {}));
  EXPECT_FALSE(has(all_text_of(one), "acme"));
  EXPECT_NO_THROW(check_references(one, "one"));
}

TEST(Anonymize, EqualNamesStayEqualAndOthersApart) {
  const Report report = anonymized(example());
  EXPECT_NE(report.gpus.at(0).uuid.view(), report.gpus.at(1).uuid.view());
  EXPECT_NE(report.gpus.at(0).serial, report.gpus.at(1).serial);
  EXPECT_EQ(report.text(report.nodes.at(0).hostname).size(), std::string("host-").size() + 12);
  EXPECT_EQ(report.nodes.size(), example().nodes.size());
}

TEST(Anonymize, EachReportHasNamesOfItsOwnThatNothingInItGives) {
  const Report one = anonymized(example()), other = anonymized(example());
  EXPECT_EQ(one.launch.run_id, other.launch.run_id);
  EXPECT_NE(one.text(one.nodes.at(0).hostname), other.text(other.nodes.at(0).hostname));
  EXPECT_EQ(image_of(one, "one"), image_of(one, "one"));
}

TEST(Anonymize, AFailureSaysWhatItsNumbersSay) {
  const Report report = anonymized(example());
  const ResultRow& failed = report.results.at(3);
  ASSERT_EQ(failed.verdict, Verdict::fail);
  EXPECT_EQ(report.text(failed.reason),
            "1 of 12 rows failed; row 3, byte: element (3, 7): expected 0x00, got 0x5a");
}

/// The anonymous reason of a result of this verdict, reason and signal.
std::string shared_reason(Verdict verdict, const std::string& reason, std::int32_t signal = 0) {
  OutcomeRecord outcome = example_outcome(1, "zfill.corner");
  outcome.verdict = verdict;
  outcome.reason = reason;
  outcome.signal = signal;
  const Report report = anonymized(assemble(
      std::vector{journal_of({example_launch(1), example_node(1), example_gpu(1), outcome})}, {}));
  return std::string(report.text(report.results.at(3).reason));
}

TEST(Anonymize, AResultThatDidNotRunOrHungSaysWhyInOwnWords) {
  EXPECT_EQ(shared_reason(Verdict::skip, "needs 2 GPUs or more, and this launch has 1"),
            "needs more GPUs than this launch has");
  EXPECT_EQ(shared_reason(Verdict::hang, "no progress for 60 s after row 3 of 12"),
            "no progress until its deadline");
  EXPECT_EQ(shared_reason(Verdict::not_run, "slot 1 (node07.acme, GPU-1) hung in the same round"),
            "another GPU hung in the same round");
  EXPECT_EQ(shared_reason(Verdict::not_run, "alice"), "left out of an anonymized report");
}

TEST(Anonymize, AWorkerThatWasKilledFromOutsideDidNotDie) {
  EXPECT_EQ(shared_reason(Verdict::tool_error, "the worker was killed from outside", 9),
            "the worker was killed from outside (out of memory?) by signal 9");
  EXPECT_EQ(shared_reason(Verdict::crash, "the worker died", 11), "the worker died by signal 11");
}

TEST(Anonymize, ReplayLinesNameGpusByNumber) {
  const Report report = anonymized(example());
  EXPECT_EQ(report.text(report.results.at(3).replay),
            "tidemark run --cases zfill.corner --gpus 1 --seed 0x1f2e");
}

TEST(Anonymize, ReplayLinesOfSeveralRanksStayCommands) {
  OutcomeRecord failure = example_failure(1, "gemm.distributed.speed");
  failure.replay =
      "mpirun -n 2 --oversubscribe tidemark run --cases gemm.distributed.speed --seed 0x1 --grid "
      "1x2";
  const Report report = anonymized(assemble(
      std::vector{journal_of({example_launch(1), example_node(1), example_gpu(1), failure})}, {}));
  EXPECT_EQ(report.text(report.results.at(5).replay), failure.replay);
}

/// The example report, anonymous, of a launch with these arguments and this environment.
Report anonymous(std::vector<std::string> arguments,
                 std::vector<std::pair<std::string, std::string>> environment) {
  LaunchRecord launch = example_launch(0);
  launch.arguments = std::move(arguments);
  launch.environment = std::move(environment);
  return assemble(std::vector<std::string>{journal_of({launch, example_node(0), example_gpu(0)})},
                  {.anonymize = true});
}

TEST(Anonymize, OptionsStayAndValuesOnlyWhereTheyAreTidemarksOwn) {
  const Report report = anonymous(
      {"/opt/acme/tidemark", "run", "--cases", "load.*", "zfill.*", "--out", "acme1", "--out=ab",
       "--gpus", "GPU-5F1C,gpu-5f1c2d3e,GPU-5f1c2d3e,1", "--level=quick", "--ranks", "2"},
      {});
  std::vector<std::string> made;
  for (int i = 0; i < 13; ++i) made.push_back(value_of(report, fmt::format("argument.{}", i)));
  EXPECT_EQ(fmt::format("{}", fmt::join(made.begin(), made.begin() + 6, " ")),
            "tidemark run --cases load.* zfill.* --out");
  EXPECT_TRUE(made[6].starts_with("value-")) << made[6];
  EXPECT_TRUE(made[7].starts_with("--out=value-")) << made[7];
  EXPECT_TRUE(made[9].ends_with(",0,1")) << made[9];
  EXPECT_FALSE(has(made[9], "5f1c")) << made[9];
  EXPECT_EQ(made[10], "--level=quick");
  EXPECT_EQ(made[12], "2");
}

TEST(Anonymize, OnlyHarmlessVariablesKeepTheirValues) {
  const Report report = anonymous({}, {{"NCCL_SOCKET_IFNAME", "acme0"},
                                       {"NCCL_BUFFSIZE", "4194304"},
                                       {"CUDA_VISIBLE_DEVICES", "0,1"},
                                       {"NCCL_COMM_ID", "10.1.2.3"},
                                       {"NCCL_ALGO", "/home/alice"},
                                       {"NCCL_DEBUG", "INFO"}});
  EXPECT_TRUE(value_of(report, "environment.NCCL_SOCKET_IFNAME").starts_with("value-"));
  EXPECT_TRUE(value_of(report, "environment.NCCL_COMM_ID").starts_with("value-"));
  EXPECT_TRUE(value_of(report, "environment.NCCL_ALGO").starts_with("value-"));
  EXPECT_EQ(value_of(report, "environment.NCCL_BUFFSIZE"), "4194304");
  EXPECT_EQ(value_of(report, "environment.CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(value_of(report, "environment.NCCL_DEBUG"), "INFO");
}

/// What stays is chosen: a new text is dropped until its column says otherwise, and then stands
/// here.
TEST(Anonymize, TheseTextsStayAndNoOthers) {
  std::set<std::string> kept;
  for (const Table* table : tables()) {
    for (const Column& column : table->columns) {
      const bool text = column.type == ColumnType::text || column.refers == kStringBytes;
      if (text && column.disclosure == Disclosure::kept)
        kept.insert(fmt::format("{}.{}", table->name, column.name));
    }
  }
  EXPECT_EQ(kept,
            (std::set<std::string>{
                "nodes.kernel",     "nodes.os",         "nodes.cpu",    "nodes.mpi",
                "nodes.hdf5",       "gpus.name",        "gpus.vbios",   "gpus.board_part",
                "gpus.driver",      "gpus.nccl",        "cases.name",   "cases.kind",
                "cases.scope",      "cases.claim",      "cases.unit",   "miscompares.parameters",
                "miscompares.what", "miscompares.text", "metrics.name", "metrics.unit",
                "answers.subject",  "answers.question", "answers.unit", "events.source",
                "provenance.key"}));
}

}  // namespace
}  // namespace tidemark
