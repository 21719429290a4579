// Whole launches of the built program on the virtual device, with and without mpirun, and what is
// left when something is killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/run_binary.hpp"
#include "harness/supervisor/clock.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

using Arguments = std::vector<std::string>;

const Environment kRoot = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                           {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                           {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};

/// A folder of this test alone, with one report in it; gone at the end of the test.
class Place {
 public:
  Place() {
    std::string name = "/tmp/tidemark-launch-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { std::filesystem::remove_all(folder_); }

  std::string out() const { return file("r.h5"); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string journals() const { return out() + ".run"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string folder_;
};

Arguments run_arguments(const Place& place, const Arguments& more) {
  Arguments all = {"run", "--device", "virtual", "--seed", "7", "--out", place.out()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The program itself and its arguments, for start_program.
Arguments command(const Arguments& arguments) {
  Arguments all = {TIDEMARK_BINARY};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

Arguments under_mpirun(int ranks, const Arguments& arguments) {
  Arguments all = {"mpirun", "-q", "-n", std::to_string(ranks), "--oversubscribe", TIDEMARK_BINARY};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

Environment with_hook(const std::string& hook) {
  Environment environment = kRoot;
  environment.emplace_back("TIDEMARK_TEST_HOOK", hook);
  return environment;
}

/// "load.tile.rank1@1" -> the result, for each result of the report.
std::map<std::string, const ResultRow*> results_of(const Report& report) {
  std::map<std::string, const ResultRow*> results;
  for (const ResultRow& row : report.results) {
    results[std::string(report.cases.at(row.case_id).name.view()) + "@" +
            std::to_string(row.gpu_id)] = &row;
  }
  return results;
}

/// Waits until a file of the folder holds `text`; false after `seconds`.
bool appears(const std::string& folder, const std::string& text, double seconds = 30) {
  const double until = monotonic_s() + seconds;
  while (monotonic_s() < until) {
    std::error_code none_yet;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none_yet)) {
      std::ifstream file(entry.path());
      const std::string all{std::istreambuf_iterator<char>(file), {}};
      if (all.find(text) != std::string::npos) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Waits until `path` is there; false after `seconds`.
bool appears_file(const std::string& path, double seconds) {
  const double until = monotonic_s() + seconds;
  while (!std::filesystem::exists(path)) {
    if (monotonic_s() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// Waits until `path` is gone; false after 5 s.
bool vanishes(const std::string& path) {
  const double until = monotonic_s() + 5;
  while (std::filesystem::exists(path)) {
    if (monotonic_s() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// Descendants of a process whose second argument is `verb` ("run", "__worker").
std::vector<pid_t> descendants(pid_t ancestor, const std::string& verb) {
  std::map<pid_t, pid_t> parent;
  std::map<pid_t, std::string> second;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream stat(entry.path() / "stat");
    const std::string line{std::istreambuf_iterator<char>(stat), {}};
    const std::size_t end = line.rfind(')');
    if (end == std::string::npos) continue;
    parent[pid] = std::atoi(line.c_str() + end + 4);
    std::ifstream command(entry.path() / "cmdline");
    const std::string words{std::istreambuf_iterator<char>(command), {}};
    const std::size_t first = words.find('\0');
    if (first != std::string::npos) second[pid] = words.c_str() + first + 1;
  }
  std::vector<pid_t> found;
  for (const auto& [pid, word] : second) {
    pid_t up = pid;
    while (up > 1 && up != ancestor) up = parent[up];
    if (up == ancestor && word == verb) found.push_back(pid);
  }
  return found;
}

/// Waits until a process has ended; a zombie that nobody has collected has. False after 5 s.
bool ends(pid_t pid) {
  const double until = monotonic_s() + 5;
  while (monotonic_s() < until) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    const std::string line{std::istreambuf_iterator<char>(stat), {}};
    const std::size_t end = line.rfind(')');
    if (end == std::string::npos || line.compare(end + 2, 1, "Z") == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

TEST(Launch, passes_on_one_virtual_device_and_leaves_only_the_report) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank?"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("VIRTUAL"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("5 cases x 1 gpus: 5 pass = 5 planned"), std::string::npos) << ran.out;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete) << report.launch.incomplete_reason;
  EXPECT_EQ(report.launch.seed, 7U);
  EXPECT_EQ(report.results.size(), 5U);
  EXPECT_GT(report.results[0].rows_run, 0U);
}

TEST(Launch, one_supervisor_drives_several_devices_and_the_gemm_over_them) {
  const Place place;
  const Ran ran = run_binary(run_arguments(
      place, {"--gpus", "3", "--cases", "gemm.distributed.integer", "--cases", "zfill.whole"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_EQ(report.launch.gpus, 3U);
  EXPECT_EQ(report.launch.ranks_expected, 1U);
  EXPECT_EQ(report.results.size(), 6U);
}

TEST(Launch, says_one_line_of_json) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--json", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << ran.out;
  EXPECT_EQ(json.at("result"), "PASS");
  EXPECT_EQ(json.at("report"), place.out());
  EXPECT_EQ(json.at("verdicts").at("pass"), 1);
  EXPECT_EQ(json.at("device"), "virtual");
}

TEST(Launch, a_dry_run_leaves_nothing) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--dry-run", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("load.tile.rank1"), std::string::npos);
  EXPECT_TRUE(place.files().empty());
}

TEST(Launch, refuses_a_report_that_exists_before_anything_runs) {
  const Place place;
  std::ofstream(place.out()) << "mine";
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("exists; choose another name"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(std::filesystem::file_size(place.out()), 4U);
}

TEST(Launch, a_fault_is_a_fail_in_three_attempts_with_a_replay_line) {
  const Place place;
  const Ran ran = run_binary(
      run_arguments(place, {"--cases", "load.tile.rank2", "--fault", "load_last_row_missing"}));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("replay: tidemark run --cases load.tile.rank2 --seed 0x7 --row "),
            std::string::npos)
      << ran.out;
  const Report report = read_report(place.out());
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].verdict, Verdict::fail);
  EXPECT_EQ(report.results[0].attempts, 3U);
  EXPECT_FALSE(report.miscompares.empty());
}

TEST(Launch, a_case_that_fails_once_is_flaky) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank1"}),
                             with_hook("fail@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_EQ(report.results.at(0).verdict, Verdict::flaky);
}

TEST(Launch, a_hang_is_a_verdict_and_the_next_case_runs) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"}),
                 with_hook("hang@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete);
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::hang);
  EXPECT_EQ(results.at("zfill.whole@0")->verdict, Verdict::pass);
}

TEST(Launch, a_killed_worker_is_a_crash_that_names_its_case) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"start")"));
  std::vector<pid_t> workers;
  for (int i = 0; i < 500 && workers.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    workers = descendants(running.pid, "__worker");
  }
  ASSERT_EQ(workers.size(), 1U);
  ::kill(workers[0], SIGKILL);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete);
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::crash);
  EXPECT_EQ(results.at("load.tile.rank1@0")->signal, SIGKILL);
  EXPECT_EQ(results.at("zfill.whole@0")->verdict, Verdict::pass);
}

TEST(Launch, sigterm_leaves_an_incomplete_report) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("slow@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  ::kill(running.pid, SIGTERM);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_FALSE(report.launch.complete);
  EXPECT_NE(report.launch.incomplete_reason.find("SIGTERM"), std::string::npos)
      << report.launch.incomplete_reason;
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::pass);
  EXPECT_EQ(results.at("zfill.whole@0")->verdict, Verdict::not_run);
  ASSERT_FALSE(report.events.empty());
  EXPECT_EQ(report.events.back().code, SIGTERM);
}

TEST(Launch, the_time_limit_leaves_an_incomplete_report) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--time-limit", "1", "--cases", "load.tile.rank1"}),
                 with_hook("slow@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_NE(report.launch.incomplete_reason.find("time limit of 1 s"), std::string::npos)
      << report.launch.incomplete_reason;
}

TEST(Launch, a_killed_supervisor_leaves_the_reporters_report_and_no_worker) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("slow@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  const std::vector<pid_t> workers = descendants(running.pid, "__worker");
  std::ofstream(place.out() + ".tmp." + std::to_string(running.pid)) << "half a report";
  ::kill(running.pid, SIGKILL);
  EXPECT_EQ(finish_program(running).exit, 128 + SIGKILL);
  ASSERT_TRUE(appears_file(place.out(), 20));
  const Report report = read_report(place.out());
  EXPECT_FALSE(report.launch.complete);
  EXPECT_NE(report.launch.incomplete_reason.find("rank 0 was gone"), std::string::npos)
      << report.launch.incomplete_reason;
  EXPECT_EQ(results_of(report).at("load.tile.rank1@0")->verdict, Verdict::pass);
  for (const pid_t worker : workers) EXPECT_TRUE(ends(worker)) << worker;
  EXPECT_TRUE(vanishes(place.journals())) << "the report is there, and its journals, too";
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
}

TEST(Launch, a_benchmark_without_its_ground_is_not_run) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "gemm.local.speed"}),
                             with_hook("crash@gemm.local.integer"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.local.integer@0")->verdict, Verdict::crash);
  EXPECT_EQ(results.at("gemm.local.speed@0")->verdict, Verdict::not_run);
  EXPECT_NE(report.text(results.at("gemm.local.speed@0")->reason).find("correct_by"),
            std::string::npos);
}

TEST(Launch, a_slot_without_workers_is_lost_and_the_rest_is_told) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", "load.tile.rank?"}), with_hook("crash@ready"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const auto report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank3@0")->verdict, Verdict::crash);
  EXPECT_EQ(results.at("load.tile.rank4@0")->verdict, Verdict::gpu_lost);
  EXPECT_EQ(results.at("load.tile.rank5@0")->verdict, Verdict::gpu_lost);
}

TEST(Launches, each_leave_a_report_of_their_own) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r-1.h5", "r-2.h5", "r-3.h5"}));
  const std::set<std::string> run_ids = {read_report(place.file("r-1.h5")).launch.run_id,
                                         read_report(place.file("r-2.h5")).launch.run_id,
                                         read_report(place.file("r-3.h5")).launch.run_id};
  EXPECT_EQ(run_ids.size(), 3U);
  EXPECT_NE(ran.out.find("launch 2 of 3"), std::string::npos) << ran.out;
}

TEST(Launches, are_refused_before_the_first_where_a_later_report_exists) {
  const Place place;
  std::ofstream(place.file("r-3.h5")) << "mine";
  const Ran ran =
      run_binary(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("r-3.h5: exists; choose another name"), std::string::npos) << ran.err;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r-3.h5"});
}

TEST(Launches, end_together_by_a_signal_and_leave_what_there_is) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.file("r-2.h5.run"), R"("type":"start")"));
  ::kill(running.pid, SIGTERM);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r-1.h5", "r-2.h5"}));
  EXPECT_TRUE(read_report(place.file("r-1.h5")).launch.complete);
  EXPECT_FALSE(read_report(place.file("r-2.h5")).launch.complete);
  EXPECT_NE(ran.err.find("stopped by SIGTERM: 2 of 3 launches were begun"), std::string::npos)
      << ran.err;
}

TEST(Launches, share_one_time_limit) {
  const Place place;
  const Ran ran = run_binary(
      run_arguments(place, {"--launches", "20", "--time-limit", "4", "--cases", "load.tile.rank1"}),
      with_hook("slow@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_TRUE(std::filesystem::exists(place.file("r-1.h5")));
  EXPECT_FALSE(std::filesystem::exists(place.file("r-5.h5")));
  EXPECT_NE(ran.err.find("time limit of 4 s: "), std::string::npos) << ran.err;
}

TEST(Launches, return_the_code_that_counts_first_of_all) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--launches", "2", "--cases", "load.tile.rank1",
                                                   "--cases", "load.tile.rank2"}),
                             with_hook("fail@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_TRUE(std::filesystem::exists(place.file("r-2.h5")));
}

TEST(Launches, leave_the_last_one_to_the_reporter_when_the_supervisor_is_killed) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.file("r-2.h5.run"), R"("type":"start")"));
  ::kill(running.pid, SIGKILL);
  EXPECT_EQ(finish_program(running).exit, 128 + SIGKILL);
  ASSERT_TRUE(appears_file(place.file("r-2.h5"), 20));
  EXPECT_FALSE(read_report(place.file("r-2.h5")).launch.complete);
  EXPECT_TRUE(read_report(place.file("r-1.h5")).launch.complete);
}

TEST(Calibration, is_in_every_report_and_compare_and_list_use_it) {
  const Place place;
  const Ran ran = run_binary(run_arguments(
      place, {"--calibrate", "--launches", "3", "--gpus", "2", "--cases", "*.bank_conflicts"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("calibration (VIRTUAL device): what 3 launches differ by"),
            std::string::npos)
      << ran.out;
  // The virtual device counts these cycles: they are the same in every launch.
  EXPECT_EQ(provenance_of(read_report(place.file("r-3.h5")),
                          "noise.load.atom3d.bank_conflicts/pitch32_swizzle0_predicted8"),
            "0");
  const Ran compared =
      run_binary({"compare", "--explain", "load.atom3d.bank_conflicts", "--base",
                  place.file("r-1.h5"), "--new", place.file("r-2.h5"), place.file("r-3.h5")});
  EXPECT_NE(compared.out.find("stored spread without any change 0.00 %"), std::string::npos)
      << compared.out << compared.err;
  const Ran listed = run_binary({"list", "--json", "--noise", place.file("r-1.h5")});
  EXPECT_NE(listed.out.find("\"smallest_effect\": 0.01"), std::string::npos)
      << listed.out << listed.err;
}

TEST(Calibration, needs_three_launches) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--calibrate", "--launches", "2"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("--calibrate needs at least 3 launches"), std::string::npos) << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(Calibration, is_what_list_asks_of_a_report) {
  const Place place;
  run_binary(run_arguments(place, {"--cases", "load.tile.rank1"}));
  const Ran listed = run_binary({"list", "--noise", place.out()});
  EXPECT_EQ(listed.exit, 2);
  EXPECT_NE(listed.err.find("holds no calibration; 'tidemark run --calibrate'"), std::string::npos)
      << listed.err;
}

const char* const kConflicts = "load.atom3d.bank_conflicts";

TEST(SlowedOnPurpose, is_measured_said_and_found) {
  const Place place;
  const Ran healthy = run_binary({"run", "--device", "virtual", "--seed", "7", "--cases",
                                  kConflicts, "--out", place.file("healthy.h5")});
  EXPECT_EQ(healthy.exit, 0) << healthy.err;
  const Ran slowed = run_binary(
      run_arguments(place, {"--cases", kConflicts, "--slow", std::string(kConflicts) + "=50%"}));
  EXPECT_EQ(slowed.exit, 0) << slowed.err;
  EXPECT_NE(slowed.out.find("SLOWED ON PURPOSE: load.atom3d.bank_conflicts by 50%"),
            std::string::npos)
      << slowed.out;
  const Report before = read_report(place.file("healthy.h5")), after = read_report(place.out());
  ASSERT_EQ(after.metrics.size(), before.metrics.size());
  for (std::size_t i = 0; i < before.metrics.size(); ++i) {
    EXPECT_DOUBLE_EQ(after.metrics[i].median, 1.5 * before.metrics[i].median);
  }
  EXPECT_EQ(provenance_of(after, "slow.load.atom3d.bank_conflicts"), "50%");
  const Ran shown = run_binary({"show", place.out()});
  EXPECT_NE(shown.out.find("SLOWED ON PURPOSE: load.atom3d.bank_conflicts by 50%; these numbers"),
            std::string::npos)
      << shown.out;
  const Ran compared = run_binary({"compare", place.file("healthy.h5"), place.out()});
  EXPECT_EQ(compared.exit, 3) << compared.out;
  EXPECT_NE(compared.out.find("confounder slow.load.atom3d.bank_conflicts: not slowed -> 50%"),
            std::string::npos)
      << compared.out;
  EXPECT_EQ(compared.out.find("arguments"), std::string::npos) << compared.out;
}

TEST(SlowedOnPurpose, leaves_the_other_benchmarks_alone) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", kConflicts, "--cases", "gemm.local.speed",
                                       "--slow", "gemm.local.speed=3%"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(report.text(results.at("load.atom3d.bank_conflicts@0")->notes).find("SLOWED"),
            std::string::npos);
  const std::string_view notes = report.text(results.at("gemm.local.speed@0")->notes);
  EXPECT_NE(notes.find("SLOWED ON PURPOSE by 3 %"), std::string::npos) << notes;
  EXPECT_NE(notes.find("the host spins"), std::string::npos) << notes;
}

TEST(SlowedOnPurpose, twice_is_a_usage_error) {
  const Place place;
  const Ran ran = run_binary(
      run_arguments(place, {"--slow", "gemm.local.speed=3%", "--slow", "gemm.local.speed=4%"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("this case was given before"), std::string::npos) << ran.err;
}

#ifdef TIDEMARK_WITH_MPI

TEST(MpiLaunch, several_launches_of_two_ranks_make_a_report_each_and_a_calibration) {
  const Place place;
  const Ran ran = run_program(
      under_mpirun(
          2, run_arguments(place, {"--calibrate", "--launches", "3", "--cases", "*.bank_conflicts",
                                   "--cases", "gemm.distributed.integer"})),
      kRoot, 180);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r-1.h5", "r-2.h5", "r-3.h5"}));
  EXPECT_EQ(read_report(place.file("r-3.h5")).launch.ranks_reported, 2U);
  EXPECT_NE(ran.out.find("what 3 launches differ by"), std::string::npos) << ran.out;
}

TEST(MpiLaunch, ctrl_c_ends_the_whole_series) {
  const Place place;
  const RunningProgram running = start_program(
      under_mpirun(2, run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.file("r-2.h5.run"), R"("type":"start")"));
  ::kill(running.pid, SIGINT);
  EXPECT_NE(finish_program(running, 60).exit, 0);
  ASSERT_TRUE(appears_file(place.file("r-2.h5"), 20));
  EXPECT_TRUE(read_report(place.file("r-1.h5")).launch.complete);
  EXPECT_FALSE(read_report(place.file("r-2.h5")).launch.complete);
  EXPECT_FALSE(std::filesystem::exists(place.file("r-3.h5")));
}

TEST(MpiLaunch, two_ranks_pass_and_make_one_report) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(2, run_arguments(place, {"--cases", "zfill.whole", "--cases",
                                                        "gemm.distributed.integer"})),
                  kRoot, 120);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete) << report.launch.incomplete_reason;
  EXPECT_EQ(report.launch.ranks_reported, 2U);
  EXPECT_EQ(report.launch.gpus, 2U);
  EXPECT_EQ(report.results.size(), 4U);
}

TEST(MpiLaunch, a_crash_in_a_round_is_named_and_the_next_round_runs) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(4, run_arguments(place, {"--cases", "gemm.distributed.integer",
                                                        "--cases", "gemm.distributed.normal"})),
                  with_hook("crash@gemm.distributed.integer#2"), 120);
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.distributed.integer@2")->verdict, Verdict::crash);
  for (const char* other : {"0", "1", "3"}) {
    const ResultRow& row = *results.at(std::string("gemm.distributed.integer@") + other);
    EXPECT_EQ(row.verdict, Verdict::not_run);
    EXPECT_NE(report.text(row.reason).find("slot 2 ("), std::string::npos)
        << report.text(row.reason);
    EXPECT_EQ(results.at(std::string("gemm.distributed.normal@") + other)->verdict, Verdict::pass);
  }
  EXPECT_EQ(results.at("gemm.distributed.normal@2")->verdict, Verdict::pass);
}

TEST(MpiLaunch, a_killed_rank_0_leaves_the_reporters_report) {
  const Place place;
  const RunningProgram running = start_program(
      under_mpirun(2,
                   run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("slow@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  pid_t rank_0 = -1;
  for (const pid_t pid : descendants(running.pid, "run")) {
    std::ifstream environment("/proc/" + std::to_string(pid) + "/environ");
    const std::string all{std::istreambuf_iterator<char>(environment), {}};
    if (all.find("OMPI_COMM_WORLD_RANK=0") != std::string::npos) rank_0 = pid;
  }
  ASSERT_GT(rank_0, 0);
  ::kill(rank_0, SIGKILL);
  EXPECT_NE(finish_program(running, 60).exit, 0);
  ASSERT_TRUE(appears_file(place.out(), 20));
  const Report report = read_report(place.out());
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.ranks_expected, 2U);
  EXPECT_EQ(report.results.size(), 4U);
}

TEST(MpiLaunch, ctrl_c_leaves_an_incomplete_report) {
  const Place place;
  const RunningProgram running = start_program(
      under_mpirun(2,
                   run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("slow@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  ::kill(running.pid, SIGINT);
  EXPECT_NE(finish_program(running, 60).exit, 0);
  ASSERT_TRUE(appears_file(place.out(), 20));
  EXPECT_FALSE(read_report(place.out()).launch.complete);
}

TEST(MpiLaunch, bad_output_is_one_line_from_one_rank) {
  const Place place;
  const Ran ran = run_program(under_mpirun(2, {"run", "--device", "virtual", "--cases",
                                               "zfill.whole", "--out", "/no/such/place/r.h5"}),
                              kRoot, 60);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find("there is no folder"), std::string::npos) << ran.err;
}

TEST(MpiLaunch, a_waiver_holds_for_the_rank_that_it_names) {
  const Place place;
  const std::string policy = place.out() + ".policy.json";
  std::ofstream(policy) << R"({"waivers": [{"case": "*", "gpu": "virtual-1-0", "owner": "Ann",)"
                        << R"( "link": "T-1", "expires": "2999-12-31"}]})";
  const Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--cases", "load.tile.swizzle", "--fault",
                                            "load_swizzle_ignored", "--policy", policy})),
      kRoot, 60);
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].verdict, Verdict::fail);
  EXPECT_EQ(report.results[1].verdict, Verdict::waived);
}

TEST(MpiLaunch, ranks_that_were_asked_for_different_things_are_refused) {
  const Place place;
  Arguments arguments = under_mpirun(1, run_arguments(place, {"--cases", "gemm.local.speed"}));
  arguments.push_back(":");
  const Arguments slowed =
      run_arguments(place, {"--cases", "gemm.local.speed", "--slow", "gemm.local.speed=50%"});
  arguments.insert(arguments.end(), {"-n", "1", TIDEMARK_BINARY});
  arguments.insert(arguments.end(), slowed.begin(), slowed.end());
  const Ran ran = run_program(arguments, kRoot, 60);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("rank 1 was started with --launches 1 --slow gemm.local.speed=50%"),
            std::string::npos)
      << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, a_bad_policy_is_one_line_from_one_rank) {
  const Place place;
  const Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--cases", "zfill.whole", "--policy", "/no/such"})),
      kRoot, 60);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_TRUE(place.files().empty());
}

#endif

}  // namespace
}  // namespace tidemark
