// tidemark replay: runs the row behind a result of a report again, or writes it down for others.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/replay/judged_program.hpp"
#include "harness/verbs/verbs.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "suite/reproducer/reproducer.hpp"

namespace tidemark {
namespace {

struct TypedReplay {
  std::string report, result, row, device, gpus, fault, json, cuda;
  bool minimize = false;
};

/// A row and the result that it is of.
struct Replayed {
  const TypedReplay& typed;
  const Report& report;
  std::uint32_t result = 0;
  RebuiltRow row;

  // "night.h5 result 17: expect_tx.under row 3"
  std::string title() const {
    return fmt::format("{} result {}: {} row {}", typed.report, result,
                       report.cases[report.results[result].case_id].name.view(), row.row);
  }
};

// The fault of the launch comes along where the virtual device is all that runs.
LaunchOptions options_of(const Replayed& replayed) {
  const TypedReplay& typed = replayed.typed;
  LaunchOptions options;
  options.device = !typed.device.empty()               ? device_of(typed.device)
                   : replayed.report.launch.is_virtual ? DeviceChoice::virtual_device
                                                       : DeviceChoice::automatic;
  options.gpus = typed.gpus;
  const ResultRow& result = replayed.report.results[replayed.result];
  options.jit = replay_command(replayed.report, result, 0).find(" --jit") != std::string::npos;
  options.fault = typed.fault;
  if (options.fault.empty() && options.device == DeviceChoice::virtual_device)
    options.fault = fault_of(replayed.report, replayed.result);
  return options;
}

void check_output(const TypedReplay& typed, const std::string& path, std::string_view option) {
  if (path.empty()) return;
  std::error_code error;
  if (std::filesystem::equivalent(path, typed.report, error))
    throw UsageError(fmt::format("{} '{}': is the report and would be replaced; give another file",
                                 option, path));
  check_replaceable(path, "a file", option);
}

// "wait: step 9: expected not complete, got complete" gives both halves their place.
ReproducerWords words_of(const Replayed& replayed) {
  ReproducerWords words{.title = printable(replayed.title()),
                        .expected = "what the oracle of tidemark predicts",
                        .seen = "not recorded in the report"};
  const MiscompareRow* const wrong = replayed.row.miscompare;
  if (wrong == nullptr) return words;
  constexpr std::string_view kExpected = ": expected ", kGot = ", got ";
  const std::string text = printable(
      fmt::format("{}: {}", replayed.report.text(wrong->what), text_of(replayed.report, *wrong)));
  words.seen = text;
  const std::size_t expected = text.find(kExpected);
  const std::size_t got = text.find(kGot, std::min(expected, text.size()));
  if (expected == std::string::npos || got == std::string::npos) return words;
  const std::string place = text.substr(0, expected) + ": ";
  const std::size_t begin = expected + kExpected.size();
  words.expected = place + text.substr(begin, got - begin);
  words.seen = place + text.substr(got + kGot.size());
  return words;
}

ExitCode refuse_other(const Replayed& replayed) {
  print_out(replayed.row.run_line + "\n");
  throw UsageError(fmt::format(
      "{}: {}; run the command on stdout instead", replayed.title(),
      replayed.row.which->expected_error == nullptr
          ? "a GEMM, a stress, a copy between GPUs or a call of the driver is no program"
          : "nothing can be compared behind the error that has to come"));
}

std::string heading_of(const Replayed& replayed, const PreparedProgram& program,
                       const std::string& fault) {
  const ResultRow& result = replayed.report.results[replayed.result];
  return printable(fmt::format("{}: {} on {}", replayed.title(), upper(name_of(result.verdict)),
                               place_of(replayed.report, result.gpu_id))) +
         fmt::format("\n{}{}{}\n",
                     replayed.row.which == nullptr
                         ? "this build makes no such row: this is the report's program, judged by "
                           "documents alone\n"
                         : "",
                     size_of(program), fault.empty() ? "" : "; fault " + fault);
}

ExitCode replay(const TypedReplay& typed) {
  const std::uint32_t result = count_of("--result", typed.result, 0);
  std::optional<std::uint32_t> row;
  if (!typed.row.empty()) row = count_of("--row", typed.row, 0);
  if (!typed.json.empty() && typed.json == typed.cuda)
    throw UsageError("--json and --emit-cuda name the same file; give two");
  check_output(typed, typed.json, "--json");
  check_output(typed, typed.cuda, "--emit-cuda");
  std::error_code error;
  if (std::filesystem::is_directory(typed.report, error))
    throw UsageError(fmt::format("{}: is a folder, not a report", typed.report));
  const Report report = given_report(typed.report);
  const Replayed replayed{.typed = typed,
                          .report = report,
                          .result = result,
                          .row = rebuilt_row(report, typed.report, result, row)};
  ProgramDevices devices{
      .verb = "replay",
      .options = options_of(replayed),
      .preferred = std::string(report.gpus[report.results[result].gpu_id].uuid.view())};
  check_devices(devices);
  if (!replayed.row.program) return refuse_other(replayed);
  PreparedProgram program = prepared(*replayed.row.program, replayed.title());
  std::string heading = heading_of(replayed, program, devices.options.fault);
  if (typed.minimize) program = minimized_on(program, devices, replayed.title(), heading);
  write_named_file(typed.json, "--json", "program", program_json(program.program));
  if (!typed.cuda.empty())
    write_named_file(typed.cuda, "--emit-cuda", "CUDA reproducer",
                     cuda_reproducer(program.checked, words_of(replayed)));
  if (!typed.json.empty() || !typed.cuda.empty()) return ExitCode::ok;
  const RebuiltRow& rebuilt = replayed.row;
  if (rebuilt.which != nullptr && rebuilt.which->unlike_measured != nullptr)
    program.unlike_measured = [&](const RunResult& made) {
      return rebuilt.which->unlike_measured(rebuilt.op, made);
    };
  return run_prepared(program, devices, heading);
}

}  // namespace

void add_replay(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand(
      "replay", "Run the row behind a result again, or write it as a program or CUDA file");
  verb->footer("tidemark replay night.h5 --result 17 --emit-cuda bug.cu");
  auto typed = std::make_shared<TypedReplay>();
  verb->add_option("report", typed->report, "The report")->required()->type_name("REPORT");
  verb->add_option("--result", typed->result, "The result, as 'show' numbers it")
      ->required()
      ->type_name("N");
  verb->add_option("--row", typed->row, "Row of its case (that of the first miscompare)")
      ->type_name("R");
  verb->add_option("--json", typed->json,
                   "Write the program for 'run --program' to this file; run nothing")
      ->type_name("FILE");
  verb->add_option("--emit-cuda", typed->cuda,
                   "Write a stand-alone CUDA reproducer to this file; run nothing")
      ->type_name("FILE");
  verb->add_flag("--minimize", typed->minimize,
                 "Leave out steps and operands as long as the row fails in the same way");
  verb->add_option("--device", typed->device,
                   "What the row runs on (auto; virtual for the report of a virtual device)")
      ->type_name(device_names());
  verb->add_option("--gpus", typed->gpus, "Index or UUID of the GPU (that of the result)")
      ->type_name("GPU");
  verb->add_option("--fault", typed->fault,
                   "Build this fault into the virtual device (that of the report)")
      ->type_name("NAME");
  verb->callback([typed, &chosen] { chosen = [typed] { return replay(*typed); }; });
}

}  // namespace tidemark
