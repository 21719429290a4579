// Tests of the built program from outside: what it says to mistakes, and that it leaves nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "harness/base/child_process.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// An empty folder of its own.
class Folder : public ScratchFolder {
 public:
  std::string file_with(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  bool empty() const { return std::filesystem::is_empty(path()); }
};

std::string host_name() {
  std::array<char, 256> name{};
  EXPECT_EQ(gethostname(name.data(), name.size() - 1), 0);
  return name.data();
}

bool is_one_line(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') == 1 && text.back() == '\n';
}

TEST(Binary, refuses_an_unknown_verb_and_names_the_nearest) {
  const Ran ran = run_binary({"rnu"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "tidemark: there is no verb 'rnu'; did you mean 'run'?\n");
}

TEST(Binary, refuses_an_unknown_option_and_names_the_nearest) {
  const Ran ran = run_binary({"run", "--cass", "x"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: run has no option --cass; did you mean '--cases'?\n");
}

TEST(Binary, refuses_an_argument_that_a_verb_does_not_take) {
  const Ran ran = run_binary({"run", "load.tile.2d"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err,
            "tidemark: run takes no 'load.tile.2d'; 'tidemark run --help' shows what it takes\n");
}

TEST(Binary, refuses_a_second_verb) {
  const Ran ran = run_binary({"list", "run"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "tidemark: list takes no 'run'; 'tidemark list --help' shows what it takes\n");
}

TEST(Binary, refuses_an_option_without_its_value) {
  const Ran ran = run_binary({"run", "--out"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
  EXPECT_NE(ran.err.find("--out"), std::string::npos);
}

TEST(Binary, shows_its_help_without_a_verb_and_says_that_it_is_a_mistake) {
  const Ran ran = run_binary({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err.rfind("Example: mpirun -n 8 tidemark run", 0), 0U) << ran.err;
}

TEST(Binary, helps_with_an_example_first) {
  for (const char* verb :
       {"run", "bench", "list", "show", "replay", "compare", "recover", "schema", "version"}) {
    const Ran ran = run_binary({verb, "--help"});
    EXPECT_EQ(ran.exit, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out.rfind("Example: ", 0), 0U) << ran.out;
    EXPECT_NE(ran.out.find(std::string("tidemark ") + verb), std::string::npos) << ran.out;
  }
}

/// The numbers in the first cells of a README's table of exit codes.
std::set<int> codes_in_readme(const fs::path& path) {
  std::ifstream file(path);
  std::set<int> codes;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    const bool heading = line.starts_with("| code |");
    inside = line.starts_with("|") && (inside || heading);
    if (!inside || heading) continue;
    std::istringstream cell(line.substr(1, line.find('|', 1) - 1));
    for (int code = 0; cell >> code; cell.ignore(1)) codes.insert(code);
  }
  return codes;
}

TEST(Binary, tells_the_exit_codes_as_the_readme_of_harness_does) {
  std::istringstream help(run_binary({"--help"}).out);
  std::set<int> told;
  bool inside = false;
  for (std::string line; std::getline(help, line);) {
    if (inside) told.insert(std::stoi(line));
    inside = inside || line.starts_with("Exit codes");
  }
  EXPECT_EQ(told, (std::set<int>{0, 1, 2, 3, 4, 5, 6, 70}));
  const fs::path source = fs::path(TIDEMARK_BASELINE).parent_path().parent_path().parent_path();
  EXPECT_EQ(codes_in_readme(source / "harness/README.md"), told);
}

TEST(Binary, refuses_a_glob_that_matches_nothing_before_anything_is_written) {
  const Folder folder;
  const Ran ran = run_binary(
      {"run", "--device", "virtual", "--cases", "zfil.side", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: --cases 'zfil.side' matches no case; did you mean 'zfill.side'?\n");
  EXPECT_TRUE(folder.empty());
}

TEST(Binary, refuses_a_report_that_cannot_be_written) {
  const Folder folder;
  const std::string out = folder.file("no/such/folder/x.h5");
  const Ran ran = run_binary({"run", "--device", "virtual", "--cases", "zfill.side", "--out", out});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
  EXPECT_NE(ran.err.find("no/such/folder"), std::string::npos) << ran.err;
  EXPECT_TRUE(folder.empty());
}

TEST(Binary, refuses_no_ranks) {
  const Ran ran = run_binary({"run", "--ranks", "0"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: --ranks '0': give a whole number, 1 to 1024\n");
}

TEST(Binary, refuses_more_ranks_than_any_machine_holds) {
  const Ran ran = run_binary({"run", "--ranks", "99999999"}, {{"PATH", "/no/such/folder"}});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: --ranks '99999999': give a whole number, 1 to 1024\n");
}

TEST(Binary, refuses_empty_values) {
  for (const char* option : {"--seed", "--row", "--gpus", "--out", "--cases"}) {
    const Ran ran = run_binary({"run", "--dry-run", option, ""});
    EXPECT_EQ(ran.exit, 2) << option;
    EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
    EXPECT_NE(ran.err.find(option), std::string::npos) << ran.err;
  }
}

TEST(Binary, refuses_a_row_that_is_not_there_before_anything_runs) {
  const Folder folder;
  for (const char* dry : {"--dry-run", "--json"}) {
    const Ran ran = run_binary({"run", "--device", "virtual", "--cases", "load.tile.rank1", "--row",
                                "99999", dry, "--out", folder.file("x.h5")});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("load.tile.rank1 has rows 0 to "), std::string::npos) << ran.err;
  }
  EXPECT_TRUE(folder.empty());
}

TEST(Binary, flag_that_is_no_is_not_set) {
  const Ran ran = run_binary({"run", "--dry-run", "--json=no", "--cases", "zfill.side"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_FALSE(nlohmann::json::accept(ran.out));
}

TEST(Binary, flag_that_is_neither_yes_nor_no_is_refused) {
  EXPECT_EQ(run_binary({"run", "--dry-run", "--json=maybe", "--cases", "zfill.side"}).exit, 2);
}

TEST(Binary, plans_as_json) {
  const Ran ran = run_binary({"run", "--dry-run", "--json", "--cases", "zfill.side"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.at("cases").size(), 1U);
  EXPECT_EQ(json.at("cases")[0].at("name"), "zfill.side");
  EXPECT_GT(json.at("cases")[0].at("rows"), 0);
}

/// What mpirun says to one of two ranks.
Environment as_rank(const char* rank) {
  return {{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_SIZE", "2"}};
}

TEST(Binary, verbs_that_only_read_speak_on_every_rank) {
  const Environment second = as_rank("1");
  EXPECT_NE(run_binary({"list"}, second).out, "");
  EXPECT_NE(run_binary({"show", TIDEMARK_BASELINE}, second).out, "");
  EXPECT_TRUE(is_one_line(run_binary({"show", "/no/such.h5"}, second).err));
}

TEST(Binary, a_plan_is_printed_by_rank_0_alone) {
  const std::vector<std::string> plan = {"run", "--dry-run", "--cases", "zfill.side"};
  EXPECT_NE(run_binary(plan, as_rank("0")).out, "");
  EXPECT_EQ(run_binary(plan, as_rank("1")).out, "");
}

TEST(Binary, names_of_files_do_not_drive_the_terminal) {
  const Folder folder;
  const std::string strange =
      "a\x1b[31m\xc2\x9b"
      "b";
  const Ran refused = run_binary({"run", "--device", "virtual", "--cases", "zfill.side", "--out",
                                  folder.file(strange + "/x.h5")});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.err.find("/a?[31m??b/x.h5"), std::string::npos) << refused.err;
  const Ran ran = run_binary({"run", "--device", "virtual", "--cases", "zfill.side", "--out",
                              folder.file(strange + ".h5")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("/a?[31m??b.h5"), std::string::npos) << ran.out;
  const Ran json = run_binary({"run", "--json", "--device", "virtual", "--cases", "zfill.side",
                               "--out", folder.file(strange + "2.h5")});
  EXPECT_EQ(json.out.find('\xc2'), std::string::npos) << json.out;
  EXPECT_EQ(nlohmann::json::parse(json.out).at("report"), folder.file(strange + "2.h5"));
}

TEST(Binary, refuses_no_virtual_devices) {
  const Folder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--gpus", "0", "--cases", "zfill.side",
                              "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err,
            "tidemark: --gpus '0': for the virtual device it is how many there are, 1 to 1024\n");
  EXPECT_TRUE(folder.empty());
}

TEST(Binary, refuses_ranks_under_a_launcher_and_another_rank_says_so_when_rank_0_does_not) {
  const Ran first = run_binary({"run", "--ranks", "2"}, as_rank("0"));
  EXPECT_EQ(first.exit, 2);
  EXPECT_EQ(first.err,
            "tidemark: --ranks starts mpirun itself; leave it out under mpirun or srun\n");
  const Ran second = run_binary({"run", "--ranks", "2"}, as_rank("1"));
  EXPECT_EQ(second.exit, 2);
  EXPECT_EQ(second.err, "tidemark: rank 1 on " + host_name() +
                            ": --ranks starts mpirun itself; leave it out under mpirun or srun\n");
}

/// A rank below a task of Slurm: this process. Its job is no other test's, which may run beside it.
Environment as_task(const char* rank) {
  return {{"SLURM_PROCID", rank},
          {"SLURM_JOB_ID", std::to_string(getpid())},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_STEP_NUM_TASKS", "8"},
          {"SLURM_TASK_PID", std::to_string(getpid())}};
}

/// What ranks of a step say that ends without PMI.
std::vector<std::string> said_by_ranks(const std::vector<const char*>& ranks,
                                       const std::string& options = "--strict") {
  const Folder folder;
  std::vector<RunningProgram> running;
  for (const char* rank : ranks)
    running.push_back(start_program({TIDEMARK_BINARY, "run", "--out", folder.file("x.h5"), options},
                                    as_task(rank)));
  std::vector<std::string> said;
  for (const RunningProgram& each : running) said.push_back(finish_program(each).err);
  return said;
}

TEST(Binary, an_error_of_rank_0_under_slurm_is_not_said_by_another_rank_of_its_host) {
  const std::vector<std::string> said = said_by_ranks({"1", "0"});
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(said[1].rfind("tidemark: the launcher started 8 ranks", 0), 0U) << said[1];
}

TEST(Binary, an_error_of_other_ranks_under_slurm_is_said_by_one_of_the_host) {
  const std::vector<std::string> said = said_by_ranks({"3", "3"});
  EXPECT_EQ((said[0] + said[1]).rfind("tidemark: rank 3 on " + host_name() + ": the launcher", 0),
            0U)
      << said[0] << said[1];
  EXPECT_TRUE(is_one_line(said[0] + said[1])) << said[0] << said[1];
}

TEST(Binary, wrong_arguments_under_slurm_are_said_by_rank_0_alone) {
  EXPECT_EQ(said_by_ranks({"3"}, "--stricter")[0], "");
}

#ifdef TIDEMARK_WITH_MPI
/// Root may run; and of a leak AddressSanitizer, where it is there, tells the whole stack: what
/// Open MPI leaves behind is known by its libraries there (ci/open_mpi_leaks.txt).
const Environment kOfMpirun = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                               {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                               {"ASAN_OPTIONS", "fast_unwind_on_malloc=0"}};

TEST(Binary, starts_its_own_ranks) {
  const Folder folder;
  const Ran ran = run_binary({"run", "--ranks", "2", "--device", "virtual", "--cases", "zfill.side",
                              "--out", folder.file("x.h5")},
                             kOfMpirun);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  EXPECT_EQ(report.launch.ranks_reported, 2U);
  EXPECT_EQ(report.results.size(), 2U);
}

TEST(Binary, says_why_mpirun_starts_no_rank_where_it_is_silenced) {
  const Folder folder;
  Environment environment = kOfMpirun;
  environment.emplace_back("OMPI_MCA_orte_execute_quiet", "1");
  const Ran ran = run_binary({"run", "--ranks", "1000", "--out", folder.file("x.h5")}, environment);
  EXPECT_EQ(ran.exit, 5);
  const std::string first = ran.err.substr(0, ran.err.find('\n'));
  EXPECT_EQ(first.find("tidemark: --ranks 1000: "), 0U) << ran.err;
  EXPECT_NE(first.find("--oversubscribe"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("A \"slot\" is the Open MPI term"), std::string::npos) << ran.err;
  EXPECT_TRUE(folder.empty());
}

TEST(Binary, says_nothing_about_exit_codes_of_ranks_that_did_report) {
  const Folder folder;
  Environment environment = kOfMpirun;
  environment.emplace_back("TIDEMARK_TEST_HOOK", "fail@zfill.side");
  const Ran ran = run_binary({"run", "--ranks", "2", "--device", "virtual", "--cases", "zfill.side",
                              "--out", folder.file("x.h5")},
                             environment);
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.err, "");
}

TEST(Binary, refuses_more_ranks_than_devices_and_only_rank_0_says_so) {
  const Folder folder;
  const Ran ran = run_binary({"run", "--ranks", "3", "--device", "virtual", "--gpus", "2",
                              "--cases", "zfill.side", "--out", folder.file("x.h5")},
                             kOfMpirun);
  EXPECT_EQ(ran.exit, 5);
  EXPECT_EQ(ran.err, "tidemark: 3 ranks but --gpus 2: one rank drives one virtual device\n");
  EXPECT_TRUE(folder.empty());
}
#endif

TEST(Binary, variables_of_a_step_that_is_gone_silence_no_refusal) {
  const Folder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--out", folder.file("x.h5")},
                             {{"SLURM_PROCID", "3"},
                              {"SLURM_STEP_ID", "0"},
                              {"SLURM_STEP_NUM_TASKS", "8"},
                              {"SLURM_TASK_PID", "999999999"}});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
  EXPECT_NE(ran.err.find("SLURM_"), std::string::npos) << ran.err;
}

TEST(Binary, says_that_mpirun_is_not_there) {
  const Ran ran = run_binary({"run", "--ranks", "2"}, {{"PATH", "/no/such/folder"}});
  EXPECT_EQ(ran.exit, 5);
  EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
}

TEST(Binary, refuses_to_show_a_text_file_a_folder_and_nothing) {
  const Folder folder;
  for (const std::string& file :
       {folder.file_with("x.txt", "hello\n"), folder.file(""), folder.file("missing.h5")}) {
    const Ran ran = run_binary({"show", file});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
    EXPECT_NE(ran.err.find(file), std::string::npos) << ran.err;
  }
}

TEST(Binary, shows_a_report_in_one_format_at_a_time) {
  const std::string report = TIDEMARK_BASELINE;
  EXPECT_EQ(run_binary({"show", report, "--json"}).out.rfind("{\n", 0), 0U);
  EXPECT_EQ(run_binary({"show", report, "--md"}).out.rfind("## tidemark: PASS\n", 0), 0U);
  EXPECT_EQ(run_binary({"show", report, "--csv"}).out.rfind("run_id,created_utc,", 0), 0U);
  EXPECT_EQ(run_binary({"show", report, "--junit"}).out.rfind("<?xml version", 0), 0U);
  EXPECT_EQ(run_binary({"show", report, "--html"}).out.rfind("<!DOCTYPE html>", 0), 0U);
  const Ran two = run_binary({"show", report, "--md", "--html"});
  EXPECT_EQ(two.exit, 2);
  EXPECT_EQ(two.out, "");
  EXPECT_TRUE(is_one_line(two.err)) << two.err;
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Binary, shows_a_report_as_wide_as_the_terminal) {
  const std::string command =
      std::string("stty cols 140; NO_COLOR=1 '") + TIDEMARK_BINARY + "' show " + TIDEMARK_BASELINE;
  const Ran ran = run_program({"script", "-qec", command, "/dev/null"}, {{"COLUMNS", ""}});
  if (ran.exit == 127) GTEST_SKIP() << "no program 'script' to make a terminal with";
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_GT(longest_line(ran.out), 110U);
  EXPECT_LE(longest_line(ran.out), 141U);  // and a carriage return
}

TEST(Binary, shows_a_report_as_wide_as_columns_says_and_100_without_a_terminal) {
  const std::string hundred = run_binary({"show", TIDEMARK_BASELINE}, {{"COLUMNS", "100"}}).out;
  EXPECT_GT(longest_line(hundred), 85U);
  EXPECT_LE(longest_line(hundred), 100U);
  for (const char* silly : {"", "0", "-5", "12x", "99999999999"}) {
    EXPECT_EQ(run_binary({"show", TIDEMARK_BASELINE}, {{"COLUMNS", silly}}).out, hundred) << silly;
  }
  const Ran wide = run_binary({"show", TIDEMARK_BASELINE}, {{"COLUMNS", "180"}});
  EXPECT_GT(longest_line(wide.out), 140U);
  EXPECT_LE(longest_line(wide.out), 180U);
}

TEST(Binary, refuses_to_recover_from_a_folder_without_journals) {
  const Folder folder;
  const Ran ran = run_binary({"recover", folder.file(""), "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("holds no rank-*.jsonl"), std::string::npos) << ran.err;
  EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
  EXPECT_TRUE(folder.empty());
}

TEST(Binary, names_the_folder_where_journals_do_not_say_what_was_planned) {
  const Folder folder;
  fs::create_directory(folder.file("x.h5.run"));
  folder.file_with("x.h5.run/rank-00000.jsonl", "");
  const Ran ran = run_binary({"recover", folder.file("x.h5.run")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("x.h5.run': "), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("run that launch again"), std::string::npos) << ran.err;
}

TEST(Binary, refuses_to_recover_over_an_older_report) {
  const Folder folder;
  const std::string report = folder.file_with("x.h5", "precious");
  fs::create_directory(folder.file("x.h5.run"));
  const Ran ran = run_binary({"recover", folder.file("x.h5.run")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: '" + report + "' exists; choose another name with --out\n");
  EXPECT_EQ(fs::file_size(report), 8U);
}

TEST(Binary, versions_as_json_name_what_it_was_built_from) {
  const Ran ran = run_binary({"version", "--json"});
  EXPECT_EQ(ran.exit, 0);
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  for (const char* key : {"version", "git", "kernels_tree", "suite_tree", "compiler", "nvcc"})
    EXPECT_TRUE(json.at(key).is_string()) << key;
  for (const char* key : {"cuda", "nccl", "mpi"}) EXPECT_TRUE(json.at(key).is_boolean()) << key;
  EXPECT_NE(json.at("hdf5"), "");
}

TEST(Binary, lists_cases_as_json) {
  const Ran ran = run_binary({"list", "--json", "--cases", "zfill.side"});
  EXPECT_EQ(ran.exit, 0);
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0].at("name"), "zfill.side");
  EXPECT_EQ(json[0].at("kind"), "conformance");
  EXPECT_EQ(json[0].at("scope"), "one_gpu");
  EXPECT_EQ(json[0].at("level"), "quick");
  EXPECT_GT(json[0].at("rows_at_quick"), 0);
  EXPECT_NE(json[0].at("claim"), "");
}

TEST(Binary, lists_one_line_a_case_with_aligned_columns) {
  const Ran ran = run_binary({"list", "--cases", "zfill.*"});
  EXPECT_EQ(ran.exit, 0);
  std::istringstream lines(ran.out);
  std::string head;
  std::getline(lines, head);
  const std::size_t kind = head.find("kind");
  int cases = 0;
  for (std::string line; std::getline(lines, line); ++cases)
    EXPECT_EQ(line.substr(kind - 2, 13), "  conformance") << line;
  EXPECT_GT(cases, 1);
}

TEST(Binary, a_full_disk_behind_stdout_is_not_ok) {
  const Ran ran =
      run_program({"/bin/sh", "-c", std::string(TIDEMARK_BINARY) + " list > /dev/full"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err,
            "tidemark: cannot write to stdout: No space left on device; see where it goes\n");
}

TEST(Binary, a_full_disk_behind_the_json_of_a_launch_is_not_ok) {
  const Folder folder;
  const std::string run = std::string(TIDEMARK_BINARY) +
                          " run --device virtual --cases zfill.side --json --out " +
                          folder.file("x.h5");
  EXPECT_EQ(run_program({"/bin/sh", "-c", run + " --dry-run > /dev/full"}).exit, 2);
  EXPECT_TRUE(folder.empty());
  EXPECT_EQ(run_program({"/bin/sh", "-c", run + " > /dev/full"}).exit, 2);
  EXPECT_TRUE(read_report(folder.file("x.h5")).launch.complete);
}

TEST(Binary, a_full_disk_behind_the_text_of_a_launch_is_not_ok) {
  const Folder folder;
  const Ran ran = run_program({"/bin/sh", "-c",
                               std::string(TIDEMARK_BINARY) +
                                   " run --device virtual --cases zfill.side --out " +
                                   folder.file("x.h5") + " > /dev/full"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(is_one_line(ran.err)) << ran.err;
  EXPECT_TRUE(read_report(folder.file("x.h5")).launch.complete);
}

TEST(Binary, answers_its_parent_with_a_list_of_gpus) {
  const ChildAnswer answer = run_bounded({TIDEMARK_BINARY, "__gpus"}, 60);
  if (answer.status == 1) GTEST_SKIP() << "a driver is there and fails: " << answer.err;
  EXPECT_EQ(answer.status, 0);
  const std::string last = answer.out.substr(answer.out.find('['));
  EXPECT_NO_THROW(gpus_from_json(last)) << last;
}

}  // namespace
}  // namespace tidemark
