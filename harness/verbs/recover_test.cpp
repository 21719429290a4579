// Tests of recover, anonymize and show, by the built program, on journals written here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// A folder with the journals of a launch of one case on one GPU, x.h5.run.
class Launch {
 public:
  Launch(Verdict verdict, bool ended, std::int32_t xid = 0, const std::string& reason = "",
         bool live = false, const std::vector<std::string>& arguments = {}) {
    LaunchRecord launch;
    launch.arguments = arguments;
    launch.run_id = "3f1c0e6e-0000-4000-8000-000000000001";
    launch.created_unix_s = 1.8e9;
    launch.level = "quick";
    launch.device = "virtual";
    PlannedCase planned;
    planned.name = "load.tile.rank1";
    planned.kind = "conformance";
    planned.scope = "one_gpu";
    launch.cases = {planned};
    GpuRecord gpu;
    gpu.rank = 0;
    gpu.uuid = "virtual-0-0";
    gpu.name = "virtual";
    OutcomeRecord outcome;
    outcome.case_name = planned.name;
    outcome.verdict = verdict;
    EndRecord end;
    end.complete = reason.empty();
    end.reason = reason;
    JournalWriter& journal = writer_.emplace(run(), 0);
    journal.append(launch);
    journal.append(NodeRecord());
    journal.append(gpu);
    if (xid != 0)
      journal.append(EventRecord{.gpu = 0, .source = "nvml", .code = xid, .text = "Xid"});
    journal.append(outcome);
    if (ended) journal.append(end);
    if (!live) writer_.reset();
  }

  std::string report() const { return folder_.file("x.h5"); }
  std::string run() const { return report() + ".run"; }

 private:
  ScratchFolder folder_;
  std::optional<JournalWriter> writer_;
};

TEST(Recover, of_a_launch_without_an_end_is_incomplete) {
  const Launch launch(Verdict::pass, false);
  const Ran ran = run_binary({"recover", launch.run()});
  EXPECT_EQ(ran.exit, 4) << ran.err;
  const Report report = read_report(launch.report());
  EXPECT_FALSE(report.launch.complete);
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].verdict, Verdict::pass);
  EXPECT_NE(ran.out.find(launch.report()), std::string::npos) << ran.out;
}

TEST(Recover, of_a_launch_that_ended_gives_the_code_of_its_verdicts) {
  const Launch passed(Verdict::pass, true);
  EXPECT_EQ(run_binary({"recover", passed.run()}).exit, 0);
  const Launch failed(Verdict::fail, true);
  EXPECT_EQ(run_binary({"recover", failed.run()}).exit, 1);
}

// A fault case that passes leaves an Xid: the report keeps it, and the verdict stands.
TEST(Recover, of_a_launch_with_an_xid_gives_the_code_of_its_verdicts) {
  const Launch launch(Verdict::pass, true, 13);
  EXPECT_EQ(run_binary({"recover", launch.run()}).exit, 0);
  const Report report = read_report(launch.report());
  ASSERT_EQ(report.events.size(), 1U);
  EXPECT_EQ(report.events[0].code, 13);
}

TEST(Recover, of_a_pass_during_an_uncontained_memory_error_is_a_failure) {
  const Launch launch(Verdict::pass, true, 95);
  const Ran ran = run_binary({"recover", launch.run()});
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
}

TEST(Recover, finds_the_journals_by_the_name_of_the_report) {
  const Launch launch(Verdict::pass, true);
  EXPECT_EQ(run_binary({"recover", launch.report()}).exit, 0);
  EXPECT_TRUE(fs::exists(launch.report()));
}

TEST(Recover, writes_where_it_is_told) {
  const Launch launch(Verdict::pass, true);
  const std::string other = launch.report() + ".other.h5";
  EXPECT_EQ(run_binary({"recover", launch.run() + "/", "--out", other}).exit, 0);
  EXPECT_TRUE(fs::exists(other));
  EXPECT_FALSE(fs::exists(launch.report()));
}

TEST(Recover, takes_away_what_a_killed_rank_0_had_begun_to_write) {
  const Launch launch(Verdict::pass, true);
  const std::string begun = launch.report() + ".tmp.999999999";  // above any process number
  std::ofstream(begun) << "half";
  EXPECT_EQ(run_binary({"recover", launch.run(), "--out", launch.report() + ".other.h5"}).exit, 0);
  EXPECT_FALSE(fs::exists(begun));
}

TEST(Recover, takes_the_name_that_a_killed_rank_0_had_taken) {
  const Launch launch(Verdict::pass, true);
  std::ofstream(launch.report() + ".tmp.999999999") << "whole";
  std::ofstream(launch.report()).close();
  EXPECT_EQ(run_binary({"recover", launch.run()}).exit, 0);
  EXPECT_GT(fs::file_size(launch.report()), 0U);
}

TEST(Recover, prints_no_escape_sequences_of_the_journals) {
  const Launch launch(Verdict::pass, true, 0, "\x1b[31mred \xc2\x9b");
  const Ran ran = run_binary({"recover", launch.run()});
  EXPECT_EQ(ran.exit, 4) << ran.err;
  EXPECT_NE(ran.out.find("rank 0: ?[31mred ??"), std::string::npos) << ran.out;
}

TEST(Recover, of_a_launch_that_still_runs_is_refused) {
  const Launch launch(Verdict::pass, false, 0, "", true);
  const Ran ran = run_binary({"recover", launch.run()});
  EXPECT_EQ(ran.exit, 2) << ran.out;
  EXPECT_NE(ran.err.find("still running (rank-00000.jsonl is in use)"), std::string::npos)
      << ran.err;
  EXPECT_FALSE(fs::exists(launch.report()));
}

TEST(Recover, names_a_path_beyond_ascii_as_it_is) {
  const Launch launch(Verdict::pass, true);
  const std::string out = launch.report() + ".caf\xc3\xa9.h5";
  const Ran ran = run_binary({"recover", launch.run(), "--out", out});
  EXPECT_NE(ran.out.find("next: tidemark show '" + out + "'"), std::string::npos) << ran.out;
}

TEST(Recover, takes_both_spellings_of_anonymize) {
  for (const char* option : {"--anonymize", "--anonymise"}) {
    const Launch launch(Verdict::pass, true);
    EXPECT_EQ(run_binary({"recover", launch.run(), option}).exit, 0) << option;
    EXPECT_TRUE(read_report(launch.report()).launch.anonymised) << option;
  }
}

TEST(Recover, of_a_launch_that_was_to_be_anonymized_is_anonymized) {
  const Launch launch(Verdict::pass, true, 0, "", false, {"tidemark", "run", "--anonymize"});
  EXPECT_EQ(run_binary({"recover", launch.run()}).exit, 0);
  EXPECT_TRUE(read_report(launch.report()).launch.anonymised);
}

TEST(Anonymize, copies_a_report_without_what_it_says_of_others) {
  const Launch launch(Verdict::pass, true, 0, "10.1.2.3 alice '/home/alice/my runs'");
  EXPECT_EQ(run_binary({"recover", launch.run()}).exit, 4);
  const std::string copy = launch.report() + ".copy.h5";
  const Ran ran = run_binary({"anonymize", launch.report(), "--out", copy});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Ran shown = run_binary({"show", copy, "--json"});
  EXPECT_EQ(shown.exit, 0) << shown.err;
  for (const char* name : {"10.1.2.3", "alice", "my runs"})
    EXPECT_EQ(shown.out.find(name), std::string::npos) << name;
}

TEST(Anonymize, replaces_no_file) {
  const Launch launch(Verdict::pass, true);
  EXPECT_EQ(run_binary({"recover", launch.run()}).exit, 0);
  const Ran ran = run_binary({"anonymize", launch.report(), "--out", launch.report()});
  EXPECT_EQ(ran.exit, 2) << ran.out;
  EXPECT_FALSE(read_report(launch.report()).launch.anonymised);
}

TEST(Show, prints_plain_text_where_there_is_no_terminal) {
  const Launch launch(Verdict::fail, true);
  ASSERT_EQ(run_binary({"recover", launch.run()}).exit, 1);
  const Ran ran = run_binary({"show", launch.report()});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("load.tile.rank1"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << ran.out;
}

TEST(Show, prints_json) {
  const Launch launch(Verdict::pass, true);
  ASSERT_EQ(run_binary({"recover", launch.run()}).exit, 0);
  const Ran ran = run_binary({"show", launch.report(), "--json"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(nlohmann::json::parse(ran.out).is_object());
}

}  // namespace
}  // namespace tidemark
