// tidemark run --program and tidemark replay as commands: what comes of a row, and of bad input.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "harness/testing/launch_place.hpp"
#include "harness/testing/run_binary.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

constexpr const char* kFault = "expect_surplus_forgiven";

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const Place& place, const std::string& text) {
  std::ofstream(place.file("p.json"), std::ios::binary) << text;
  return place.file("p.json");
}

Program one_barrier() {
  return {.window = 64,
          .barriers = 1,
          .regions = {},
          .maps = {},
          .steps = {{.verb = Verb::init}, {.verb = Verb::test}},
          .payload = {.seed = 5}};
}

Ran run_file(const std::string& path, const Arguments& more = {}) {
  Arguments all = {"run", "--program", path, "--device", "virtual"};
  all.insert(all.end(), more.begin(), more.end());
  return run_binary(all);
}

/// A line on stderr, exit code 2 and nothing on stdout.
void expect_refused(const Ran& ran, const std::string& words) {
  EXPECT_EQ(ran.exit, 2) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
}

/// The report of a broken virtual device: expect_tx.over fails, expect_tx.exact passes.
class ReplayVerb : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Place;
    Arguments arguments = run_arguments(
        *place_, {"--cases", "expect_tx.over", "--cases", "expect_tx.exact", "--fault", kFault});
    ASSERT_EQ(run_binary(arguments).exit, 1);
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }

  static std::string report() { return place_->out(); }
  static std::string result_of(const std::string& name) {
    const Report read = read_report(report());
    return std::to_string(results_of(read).at(name + "@0")->result_id);
  }
  static Ran replay(const std::string& name, const Arguments& more = {}) {
    Arguments all = {"replay", report(), "--result", result_of(name)};
    all.insert(all.end(), more.begin(), more.end());
    return run_binary(all);
  }

 private:
  static inline Place* place_ = nullptr;
};

TEST(RunProgram, right_program_passes) {
  const Place place;
  const Ran ran = run_file(written(place, program_json(one_barrier())));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("p.json: 1 CTA, 1 barrier, 2 steps ("), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("pass    virtual device"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("RESULT: PASS  (VIRTUAL device"), std::string::npos) << ran.out;
  EXPECT_EQ(place.files(), Arguments{"p.json"});
}

TEST(RunProgram, program_on_a_broken_device_fails) {
  const Place place;
  const Ran ran =
      run_file(written(place, program_json(one_barrier())), {"--fault", "expect_parity_inverted"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.out.find("expected not complete, got complete"), std::string::npos) << ran.out;
}

TEST(RunProgram, checks_are_added_to_a_program_without_observations) {
  const Place place;
  Program program = one_barrier();
  program.steps.pop_back();
  const Ran ran =
      run_file(written(place, program_json(program)), {"--fault", "expect_parity_inverted"});
  EXPECT_EQ(ran.exit, 1) << ran.out;
}

TEST(RunProgram, sticky_error_costs_only_the_worker) {
  const Place place;
  const Ran ran = run_binary(
      {"run", "--device", "virtual", "--program", written(place, program_json(one_barrier()))},
      with_hook("sticky@program"));
  EXPECT_EQ(ran.exit, 1);
  EXPECT_NE(ran.out.find("STICKY  virtual device             CUDA error 719"), std::string::npos)
      << ran.out;
}

TEST(RunProgram, worker_without_a_device_is_incomplete) {
  const Place place;
  const Ran ran = run_binary(
      {"run", "--device", "virtual", "--program", written(place, program_json(one_barrier()))},
      with_hook("exit@ready"));
  EXPECT_EQ(ran.exit, 4);
  EXPECT_NE(ran.out.find("RESULT: INCOMPLETE"), std::string::npos) << ran.out;
}

TEST(RunProgram, refuses_a_missing_file) {
  const Place place;
  expect_refused(run_file(place.file("none.json")), "none.json: cannot be read: No such file");
}

TEST(RunProgram, refuses_a_folder) {
  const Place place;
  expect_refused(run_file(std::filesystem::path(place.out()).parent_path()),
                 ": cannot be read: Is a directory; ");
}

TEST(RunProgram, refuses_a_pipe_without_waiting_for_it) {
  const Place place;
  ASSERT_EQ(::mkfifo(place.file("pipe").c_str(), 0600), 0);
  expect_refused(run_file(place.file("pipe")), "pipe: is no plain file; ");
}

TEST(RunProgram, refuses_what_is_not_json) {
  const Place place;
  expect_refused(run_file(written(place, "steps: none")), "p.json: is no JSON from byte 1 of 11");
}

TEST(RunProgram, refuses_an_empty_file) {
  const Place place;
  expect_refused(run_file(written(place, "")), "p.json: ends too soon");
}

TEST(RunProgram, refuses_a_nul) {
  const Place place;
  const std::string text = program_json(one_barrier());
  expect_refused(run_file(written(place, text + std::string(1, '\0') + text)),
                 "p.json: has a NUL after ");
}

TEST(RunProgram, refuses_an_unsound_program) {
  const Place place;
  Program program = one_barrier();
  program.steps[1].barrier = 5;
  expect_refused(run_file(written(place, program_json(program))),
                 "p.json: the program is not sound: step 1: barrier 5 of 1");
}

TEST(RunProgram, refuses_more_memory_than_it_hands_back) {
  const Place place;
  Program program = one_barrier();
  program.regions = {{.bytes = ~std::uint64_t{15}}, {.bytes = 16}};
  expect_refused(run_file(written(place, program_json(program))),
                 "p.json: the program is too large");
}

TEST(RunProgram, refuses_a_window_larger_than_shared_memory) {
  const Place place;
  Program program = one_barrier();
  program.window = 1U << 30U;
  expect_refused(run_file(written(place, program_json(program))),
                 "a window of 1073741824 bytes; take at most 232448");
}

TEST(RunProgram, refuses_what_no_document_defines) {
  const Place place;
  Program program = one_barrier();
  std::swap(program.steps[0], program.steps[1]);
  expect_refused(run_file(written(place, program_json(program))),
                 "p.json: the oracle cannot predict it: ");
}

Program small_load() {
  return program_of(
      TileLoad{.map = {.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, .payload = {}});
}

/// What `run --program` says of a load whose map is changed.
void expect_map_refused(void (*change)(TensorMapSpec&), const std::string& words) {
  const Place place;
  Program program = small_load();
  change(program.maps[0].spec);
  expect_refused(run_file(written(place, program_json(program))), "p.json: map 0: " + words);
}

TEST(RunProgram, refuses_an_element_stride_of_zero) {
  expect_map_refused([](TensorMapSpec& map) { map.element_stride[1] = 0; },
                     "element stride 0 of dimension 1; cuTensorMapEncode takes 1 to 8");
}

TEST(RunProgram, refuses_a_map_of_more_dimensions_than_there_are) {
  expect_map_refused([](TensorMapSpec& map) { map.rank = 6; },
                     "rank 6; cuTensorMapEncode takes 1 to 5");
  expect_map_refused([](TensorMapSpec& map) { map.rank = 0xffffffff; }, "rank 4294967295; ");
}

TEST(RunProgram, refuses_a_map_between_two_addresses) {
  expect_map_refused([](TensorMapSpec& map) { map.base_offset = 8; },
                     "base_offset 8; cuTensorMapEncode takes multiples of 16");
}

TEST(RunProgram, refuses_a_stride_off_16_bytes) {
  expect_map_refused([](TensorMapSpec& map) { map.stride[0] = 130; },
                     "stride 130 of dimension 1; cuTensorMapEncode takes multiples of 16 below "
                     "2^40");
}

TEST(RunProgram, refuses_an_extent_of_0) {
  expect_map_refused([](TensorMapSpec& map) { map.extent[1] = 0; },
                     "extent 0 of dimension 1; cuTensorMapEncode takes 1 to 2^32");
}

TEST(RunProgram, refuses_a_box_above_256) {
  expect_map_refused([](TensorMapSpec& map) { map.box[1] = 257; },
                     "box 257 of dimension 1; cuTensorMapEncode takes 1 to 256");
}

TEST(RunProgram, names_step_and_offset_as_they_stand_in_the_file) {
  const Place place;
  Program program = small_load();
  const auto load = std::find_if(program.steps.begin(), program.steps.end(),
                                 [](const Step& step) { return step.verb == Verb::load; });
  load->offset = 64;
  expect_refused(run_file(written(place, program_json(program))),
                 "program: step " + std::to_string(load - program.steps.begin()) +
                     " (load): offset 64; take a multiple of 128");
}

/// Rows of three heads side by side, as a permuted attention output has them.
Program permuted_store() {
  return program_of(TileStore{.map = {.type = DataType::u8,
                                      .rank = 3,
                                      .extent = {32, 4, 3},
                                      .stride = {96, 32},
                                      .box = {32, 2, 3}},
                              .payload = {}});
}

TEST(RunProgram, a_store_by_strides_that_do_not_ascend_passes) {
  const Place place;
  const Ran ran = run_file(written(place, program_json(permuted_store())));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST(RunProgram, a_store_by_exchanged_strides_fails) {
  const Place place;
  const Ran ran = run_file(written(place, program_json(permuted_store())),
                           {"--fault", "store_strides_exchanged"});
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
}

TEST(RunProgram, refuses_options_of_a_launch) {
  const Place place;
  const std::string path = written(place, program_json(one_barrier()));
  for (const Arguments& more : {Arguments{"--cases", "zfill.*"}, Arguments{"--out", place.out()},
                                Arguments{"--seed", "1"}, Arguments{"--ranks", "2"}})
    expect_refused(run_file(path, more), more[0] + " does not go with --program");
  EXPECT_EQ(place.files(), Arguments{"p.json"});
}

TEST(RunProgram, refuses_several_ranks) {
  const Place place;
  const Ran ran = run_binary(
      {"run", "--device", "virtual", "--program", written(place, program_json(one_barrier()))},
      {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  expect_refused(ran, "run --program uses one GPU: start it on one rank");
}

TEST_F(ReplayVerb, brings_back_a_failure_with_the_fault_of_its_report) {
  const Ran ran = replay("expect_tx.over");
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find(": expect_tx.over row 0: FAIL on GPU 0 ("), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("; fault expect_surplus_forgiven\n"), std::string::npos) << ran.out;
  const Report read = read_report(report());
  const auto wrong = std::find_if(
      read.miscompares.begin(), read.miscompares.end(), [&](const MiscompareRow& each) {
        return std::to_string(each.result_id) == result_of("expect_tx.over");
      });
  ASSERT_NE(wrong, read.miscompares.end());
  // In the report it ends in the SM that the row had among others.
  const std::string_view text = read.text(wrong->text);
  EXPECT_NE(ran.out.find(text.substr(0, text.find(" [SM "))), std::string::npos) << ran.out;
}

TEST_F(ReplayVerb, of_a_pass_needs_a_row) {
  expect_refused(replay("expect_tx.exact"), "choose one of rows 0 to ");
  const Ran ran = replay("expect_tx.exact", {"--row", "0"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("expect_tx.exact row 0: PASS on GPU 0"), std::string::npos) << ran.out;
}

TEST_F(ReplayVerb, writes_the_program_that_run_takes) {
  const Place place;
  const Ran ran = replay("expect_tx.over", {"--json", place.file("p.json")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "program written to " + place.file("p.json") + "\n");
  EXPECT_EQ(place.files(), Arguments{"p.json"});
  EXPECT_EQ(run_file(place.file("p.json"), {"--fault", kFault}).exit, 1);
  EXPECT_EQ(run_file(place.file("p.json")).exit, 0);
}

TEST_F(ReplayVerb, written_program_has_the_bytes_of_the_row) {
  const Place place;
  ASSERT_EQ(replay("expect_tx.over", {"--json", place.file("p.json")}).exit, 0);
  const Program program = program_from_json(file_text(place.file("p.json")), "p.json");
  const Report read = read_report(report());
  const std::string seed = "\"seed\":" + std::to_string(program.payload.seed) + ",";
  const auto wrong = std::find_if(
      read.miscompares.begin(), read.miscompares.end(), [&](const MiscompareRow& each) {
        return std::to_string(each.result_id) == result_of("expect_tx.over");
      });
  ASSERT_NE(wrong, read.miscompares.end());
  EXPECT_NE(read.text(wrong->parameters).find(seed), std::string::npos) << seed;
}

TEST_F(ReplayVerb, writes_a_cuda_reproducer_with_what_was_seen) {
  const Place place;
  const Ran ran = replay("expect_tx.over", {"--emit-cuda", place.file("p.cu")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(place.files(), Arguments{"p.cu"});
  const std::string text = file_text(place.file("p.cu"));
  EXPECT_NE(text.find("expect_tx.over row 0"), std::string::npos);
  EXPECT_NE(text.find("(wait on barrier 0, parity 0): not complete"), std::string::npos) << text;
  EXPECT_NE(text.find("(wait on barrier 0, parity 0): complete"), std::string::npos) << text;
}

// The words of a report are no code of its reproducer: suite/reproducer/hostile.
TEST_F(ReplayVerb, puts_texts_of_a_report_into_literals_that_they_cannot_end) {
  const Place place;
  Report hostile = read_report(report());
  for (MiscompareRow& miscompare : hostile.miscompares) {
    hostile.strings.emplace_back("a: expected )words\"; int evil; //, got )words\"; int evil; //");
    miscompare.text = static_cast<std::uint32_t>(hostile.strings.size() - 1);
  }
  write_report(hostile, place.out());
  const Ran ran = run_binary({"replay", place.out(), "--result", result_of("expect_tx.over"),
                              "--emit-cuda", place.file("p.cu")});
  ASSERT_EQ(ran.exit, 0) << ran.err;
  const std::string source = file_text(place.file("p.cu"));
  EXPECT_NE(source.find(")words\\\"; int evil; //\");"), std::string::npos) << source;
  EXPECT_EQ(source.find("R\"words("), std::string::npos) << source;
}

TEST_F(ReplayVerb, minimized_program_fails_alike_in_fewer_steps) {
  const Place place;
  ASSERT_EQ(replay("expect_tx.over", {"--json", place.file("p.json")}).exit, 0);
  const Ran ran = replay("expect_tx.over", {"--minimize", "--json", place.file("least.json")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Program whole = program_from_json(file_text(place.file("p.json")), "p.json");
  const Program least = program_from_json(file_text(place.file("least.json")), "least.json");
  EXPECT_LT(least.steps.size(), whole.steps.size());
  EXPECT_EQ(run_file(place.file("least.json"), {"--fault", kFault}).exit, 1);
  EXPECT_EQ(run_file(place.file("least.json")).exit, 0);
}

TEST_F(ReplayVerb, says_how_far_it_minimized) {
  const Ran ran = replay("expect_tx.over", {"--minimize"});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find("\nminimized on virtual device: "), std::string::npos) << ran.out;
}

TEST_F(ReplayVerb, minimizes_nothing_that_passes) {
  expect_refused(replay("expect_tx.exact", {"--row", "0", "--minimize"}),
                 "does not fail on any of its devices");
}

TEST_F(ReplayVerb, refuses_outputs_that_cannot_be_and_keeps_files) {
  const Place place;
  expect_refused(replay("expect_tx.over", {"--json", place.file("no/p.json")}),
                 "give a file for --json in a folder that can be written");
  expect_refused(replay("expect_tx.over", {"--emit-cuda", "/dev/null"}),
                 "--emit-cuda '/dev/null': is no plain file");
  expect_refused(
      replay("expect_tx.over", {"--json", std::filesystem::path(place.out()).parent_path()}),
      "is a folder");
  expect_refused(replay("expect_tx.over", {"--json", report()}),
                 ": is the report and would be replaced");
  expect_refused(
      replay("expect_tx.over", {"--json", place.file("p"), "--emit-cuda", place.file("p")}),
      "--json and --emit-cuda name the same file");
  EXPECT_EQ(place.files(), Arguments{});
  EXPECT_FALSE(read_report(report()).results.empty());
}

TEST_F(ReplayVerb, refuses_a_result_and_a_row_that_are_not_there) {
  expect_refused(run_binary({"replay", report(), "--result", "2"}),
                 "has no result 2; it has results 0 to 1");
  expect_refused(run_binary({"replay", report(), "--result", "-1"}), "--result");
  expect_refused(replay("expect_tx.over", {"--row", "99999"}),
                 "has no row 99999; it has rows 0 to ");
}

TEST_F(ReplayVerb, needs_a_result) {
  expect_refused(run_binary({"replay", report()}), "--result is required");
}

TEST_F(ReplayVerb, refuses_what_is_no_report) {
  const Place place;
  expect_refused(run_binary({"replay", place.file("none.h5"), "--result", "0"}), "none.h5");
  expect_refused(
      run_binary({"replay", std::filesystem::path(place.out()).parent_path(), "--result", "0"}),
      "is a folder, not a report");
  expect_refused(run_binary({"replay", written(place, "{}"), "--result", "0"}), "not an HDF5 file");
}

TEST_F(ReplayVerb, show_names_the_command) {
  const Ran ran = run_binary({"show", report()});
  EXPECT_NE(ran.out.find("     program: tidemark replay " + report() + " --result " +
                         result_of("expect_tx.over") + "\n"),
            std::string::npos)
      << ran.out;
}

TEST_F(ReplayVerb, other_formats_of_show_name_the_command_too) {
  const std::string command =
      "tidemark replay " + report() + " --result " + result_of("expect_tx.over");
  EXPECT_NE(run_binary({"show", "--html", report()}).out.find(">" + command + "<"),
            std::string::npos);
  EXPECT_NE(run_binary({"show", "--md", report()}).out.find("\n" + command + "\n"),
            std::string::npos);
}

TEST(ReplayOther, prints_the_run_line_of_a_row_that_is_not_a_program) {
  const Place place;
  ASSERT_EQ(run_binary(run_arguments(place, {"--cases", "gemm.local.integer"})).exit, 0);
  const Ran ran = run_binary({"replay", place.out(), "--result", "0", "--row", "0"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out,
            "tidemark run --cases gemm.local.integer --seed 0x7 --row 0 --device virtual\n");
  EXPECT_EQ(ran.err, "tidemark: " + place.out() +
                         " result 0: gemm.local.integer row 0: a GEMM, a stress, a copy "
                         "between GPUs or a call of the driver is no program; run the command on "
                         "stdout instead\n");
}

/// A report as another build writes it: of expect_tx.over on a broken device, changed.
void write_other(const Place& place, const std::function<void(Report&, std::string&)>& change) {
  ASSERT_EQ(run_binary(run_arguments(place, {"--cases", "expect_tx.over", "--fault", kFault})).exit,
            1);
  Report report = read_report(place.out());
  ASSERT_FALSE(report.miscompares.empty());
  change(report, report.strings[report.miscompares[0].parameters]);
  write_report(report, place.out(), NameInUse::replace);
}

TEST(ReplayOther, refuses_a_row_that_another_build_described_and_names_that_build) {
  const Place place;
  write_other(place, [](Report& report, std::string& parameters) {
    parameters = R"({"op":"expect_tx","announced":257})";
    report.launch.tool_version = "0.0.1";
  });
  const Ran ran = run_binary({"replay", place.out(), "--result", "0"});
  expect_refused(ran, "the build that wrote the report: tidemark 0.0.1, git ");
  EXPECT_EQ(run_binary({"show", place.out()}).out.find("program: "), std::string::npos);
}

TEST(ReplayOther, runs_the_program_of_a_report_whose_row_this_build_makes_otherwise) {
  const Place place;
  Program stored;
  write_other(place, [&](Report&, std::string& parameters) {
    stored = program_from_json(parameters, "parameters");
    stored.payload.seed ^= 1;
    parameters = program_json(stored);
  });
  const Ran ran = run_binary({"replay", place.out(), "--result", "0"});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find("\nthis build makes no such row"), std::string::npos) << ran.out;
  ASSERT_EQ(
      run_binary({"replay", place.out(), "--result", "0", "--json", place.file("p.json")}).exit, 0);
  EXPECT_EQ(program_from_json(file_text(place.file("p.json")), "p.json"), stored);
}

TEST(ReplayOther, runs_the_program_of_a_case_that_this_build_does_not_have) {
  const Place place;
  write_other(place, [](Report& report, std::string&) {
    report.cases[0].name = FixedText<128>::of("expect_tx.of_tomorrow");
  });
  const Ran ran = run_binary({"replay", place.out(), "--result", "0"});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find(": expect_tx.of_tomorrow row "), std::string::npos) << ran.out;
}

// Nothing can be compared behind the error that has to come.
TEST(ReplayOther, runs_no_program_of_a_case_that_has_to_end_in_an_error) {
  const Place place;
  write_other(place, [](Report& report, std::string&) {
    report.cases[0].name = FixedText<128>::of("behaviour.fault.illegal_copies");
  });
  expect_refused(run_binary({"replay", place.out(), "--result", "0"}),
                 "the build that wrote the report: tidemark ");
}

TEST(ReplayOther, refuses_a_case_that_this_build_does_not_have) {
  const Place place;
  ASSERT_EQ(run_binary(run_arguments(place, {"--cases", "expect_tx.exact"})).exit, 0);
  Report report = read_report(place.out());
  report.cases[0].name = FixedText<128>::of("expect_tx.of_tomorrow");
  write_report(report, place.out(), NameInUse::replace);
  expect_refused(run_binary({"replay", place.out(), "--result", "0", "--row", "0"}),
                 "(expect_tx.of_tomorrow): this build has no such case");
}

}  // namespace
}  // namespace tidemark
