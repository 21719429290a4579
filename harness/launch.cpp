// A launch from the plan to the agreed exit code.
#include "harness/launch.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/clock.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/discovery/gpu_inventory.hpp"
#include "harness/mpirun.hpp"
#include "harness/relay/job_processes.hpp"
#include "harness/supervisor/console.hpp"
#include "harness/supervisor/launch_state.hpp"
#include "harness/supervisor/opening.hpp"
#include "harness/supervisor/reporter_process.hpp"
#include "harness/supervisor/stop.hpp"
#include "harness/version.hpp"
#include "kernels/error.hpp"
#include "reports/base/disk.hpp"

namespace tidemark {
namespace {

/// Seconds for the last meeting and MPI_Finalize; after twice that the process just leaves.
constexpr unsigned kLeaveSeconds = 20;

/// A time limit may be shorter than any start.
constexpr double kShortestStartSeconds = 20;

/// What is known of the devices before any was asked.
RunContext expected_context(const LaunchOptions& options) {
  const bool is_virtual = options.device == DeviceChoice::virtual_device;
  return {.level = options.level,
          .device = is_virtual ? DeviceKind::virtual_device : DeviceKind::cuda};
}

nlohmann::json plan_as_json(const LaunchOptions& options, const Plan& plan) {
  nlohmann::json cases = nlohmann::json::array();
  for (const auto* some : {&plan.one_gpu, &plan.all_gpus}) {
    for (const Case* which : *some) {
      nlohmann::json rows;  // null: those of an all_gpus case depend on how many GPUs there are
      if (which->scope == CaseScope::one_gpu && which->rows != nullptr) {
        rows = which->rows(expected_context(options)).size();
      }
      cases.push_back({{"name", which->name},
                       {"kind", name_of(which->kind)},
                       {"scope", name_of(which->scope)},
                       {"rows", rows}});
    }
  }
  return {{"dry_run", true},
          {"level", name_of(options.level)},
          {"launches", options.launches},
          {"cases", cases}};
}

/// Also refuses what the launch would refuse, as far as that is known without a device.
void print_plan(const LaunchOptions& options, const Plan& plan) {
  if (launcher_rank().value_or(0) > 0) return;  // every rank has the same
  check_transport(options.transport, expected_context(options).device);
  if (const auto ranks = launched_ranks()) check_grid(options.product.grid, *ranks);
  if (options.row >= 0 && selected_cases(options).front()->scope == CaseScope::one_gpu) {
    check_row(options, expected_context(options));
  }
  if (options.json) return print_out(plan_as_json(options, plan).dump() + '\n');
  std::string text;
  for (const auto* cases : {&plan.one_gpu, &plan.all_gpus}) {
    for (const Case* which : *cases) {
      text += fmt::format("{:<40} {:<9} {}\n", which->name, name_of(which->scope),
                          name_of(which->kind));
    }
  }
  const std::string times = options.launches == 1 ? "" : fmt::format(" x {}", options.launches);
  print_out(text + fmt::format("{} cases, level {}{}; nothing was run (--dry-run)\n",
                               plan.one_gpu.size() + plan.all_gpus.size(), name_of(options.level),
                               times));
}

std::vector<std::pair<std::string, std::string>> slowed_of(const LaunchOptions& options) {
  std::vector<std::pair<std::string, std::string>> made;
  for (const auto& [name, share] : options.slow) made.emplace_back(name, percent_of(share));
  return made;
}

LaunchRecord launch_record(const LaunchOptions& options, const Plan& plan, const Mesh& mesh,
                           const Opening& opening) {
  const BuildVersion build = build_version();
  return {.rank = mesh.rank(),
          .run_id = opening.head.run_id,
          .series_id = opening.series_id,
          .launch = opening.number,
          .launches = options.launches,
          .created_unix_s = opening.head.created_unix_s,
          .tool_version = std::string(build.version),
          .git_hash = std::string(build.git_hash),
          .kernels_tree = std::string(build.kernels_tree),
          .suite_tree = std::string(build.suite_tree),
          .nvcc = std::string(build.nvcc),
          .compiler = std::string(build.compiler),
          .level = std::string(name_of(options.level)),
          .device = opening.assignment.kind == DeviceKind::cuda ? "cuda" : "virtual",
          .seed = opening.head.seed,
          .ranks = mesh.ranks(),
          .gpus = static_cast<std::uint32_t>(opening.places.size()),
          .arguments = options.arguments,
          .environment = opening.head.environment,
          .slowed = slowed_of(options),
          .hosts = mesh.rank() == 0 ? opening.hosts : std::vector<std::string>{},
          .cases = planned_cases(plan)};
}

/// One record a GPU of this rank.
std::vector<GpuRecord> gpu_records(const Mesh& mesh, const Opening& opening) {
  const std::vector<GpuProperties>& mine = opening.assignment.gpus.at(mesh.rank());
  std::uint32_t first = 0;
  while (first < opening.places.size() && opening.places[first].rank != mesh.rank()) ++first;
  std::vector<GpuRecord> records;
  for (std::uint32_t i = 0; i < mine.size(); ++i) {
    GpuRecord record = opening.assignment.kind == DeviceKind::cuda
                           ? describe_gpu(opening.inventory, mine[i].uuid)
                           : describe_virtual(mesh.rank(), i);
    record.gpu_id = first + i;
    record.rank = mesh.rank();
    record.local_index = i;
    records.push_back(std::move(record));
  }
  return records;
}

/// Names of cases that a benchmark may stand on: passed at once.
std::set<std::string> passed_before(const Resumed& resumed, std::uint32_t slot) {
  std::set<std::string> passed;
  for (const OutcomeRecord& outcome : resumed.outcomes)
    if (outcome.gpu == slot && outcome.attempt == 1 && outcome.verdict == Verdict::pass)
      passed.insert(outcome.case_name);
  return passed;
}

std::vector<LocalSlot> make_slots(const LaunchOptions& options, const Opening& opening,
                                  const std::vector<GpuRecord>& gpus) {
  std::vector<LocalSlot> slots;
  for (const GpuRecord& gpu : gpus) {
    const bool cuda = opening.assignment.kind == DeviceKind::cuda;
    slots.push_back({.slot = Slot({.device = opening.assignment.kind,
                                   .seed = opening.head.seed,
                                   .slot = gpu.gpu_id,
                                   .slots = static_cast<std::uint32_t>(opening.places.size()),
                                   .options = options},
                                  WorkerStart{.visible_gpu = cuda ? gpu.uuid : std::string(),
                                              .jit = options.jit},
                                  SlotBounds{.ready = options.jit ? kReadyJit : kReady}),
                     .passed = passed_before(opening.resumed, gpu.gpu_id)});
  }
  return slots;
}

std::vector<Telemetry::WatchedGpu> watched(const Opening& opening,
                                           const std::vector<GpuRecord>& gpus) {
  std::vector<Telemetry::WatchedGpu> all;
  if (opening.assignment.kind != DeviceKind::cuda) return all;
  for (const GpuRecord& gpu : gpus) all.push_back({.gpu = gpu.gpu_id, .uuid = gpu.uuid});
  return all;
}

/// Opens the journal of this rank and writes what it knows before anything runs. When a rank
/// cannot, all throw UsageError and leave no journals.
std::optional<JournalWriter> open_journal(const LaunchOptions& options, const Plan& plan,
                                          Mesh& mesh, StopWatch& stop, const Opening& opening,
                                          const std::vector<GpuRecord>& gpus) {
  std::optional<JournalWriter> journal;
  std::string refusal;
  try {
    if (const std::string why = differs_from(opening.resumed, gpus); !why.empty())
      throw ReportError(why);
    const std::string folder = journal_folder(opening.head.out);
    journal = on_disk(folder, kDiskSeconds,
                      [folder, rank = mesh.rank()] { return JournalWriter(folder, rank); });
    journal->append(launch_record(options, plan, mesh, opening));
    journal->append(describe_node(mesh.rank(), mesh.library()));
    if (!opening.head.policy.waivers.empty()) journal->append(opening.head.policy);
    for (const GpuRecord& gpu : gpus) journal->append(gpu);
    for (const auto* outcomes : {&opening.resumed.outcomes, &opening.resumed.failed})
      for (const OutcomeRecord& outcome : *outcomes)
        if (opening.places[outcome.gpu].rank == mesh.rank()) journal->append(outcome);
    for (const EventRecord& event : opening.resumed.events)
      if (event.gpu >= 0 &&
          opening.places[static_cast<std::uint32_t>(event.gpu)].rank == mesh.rank())
        journal->append(event);
    if (mesh.rank() == 0)
      for (const std::string& text : opening.assignment.left_out)
        journal->append(EventRecord{.at_unix_s = opening.head.created_unix_s,
                                    .gpu = -1,
                                    .source = std::string(kLeftOut),
                                    .code = 0,
                                    .text = text});
    // Nothing has run: a disk that is full or hangs is no place for it.
    std::string trouble = journal->file().trouble();
    if (trouble.empty() && !journal->file().flush(kDiskSeconds))
      trouble = journal->file().trouble();
    if (!trouble.empty()) throw ReportError(trouble);
  } catch (const ReportError& error) {
    refusal = error.what();
  }
  try {
    agree(mesh, stop, opening.hosts, refusal);
  } catch (const std::runtime_error&) {
    if (journal) journal->file().remove();
    remove_on_disk({journal_folder(opening.head.out)});
    throw;
  }
  return journal;
}

/// Whether rank 0 has its journal in this folder, too; a disk that does not answer is not shared.
bool shares_folder(const std::string& folder, const std::string& run_id, Mesh& mesh) {
  const auto work = [folder, run_id] { return sees_journal(folder, 0, run_id); };
  try {
    return on_disk(folder, kDiskSeconds, work, [&mesh] { mesh.pump(); });
  } catch (const ReportError&) {
    return false;
  }
}

/// Rank 0 gets every line as it is written: when the host of this rank is lost, so is its folder.
void send_lines(JournalWriter& journal, Mesh& mesh) {
  journal.copy_to(
      [&mesh, delays = HandOverDelays::from_environment(mesh.rank())](std::string lines) mutable {
        delays.before(HandOver::line);
        mesh.send(0, Tag::journal, std::move(lines));
      });
}

/// Both phases. Returns why the launch is not complete; empty when it is.
std::string run_phases(LaunchState& state) {
  std::string trouble;
  try {
    run_one_gpu_phase(state);
    if (!state.stop.check()) trouble = run_all_gpus_phase(state);
    // Of a rank that is gone the others hear at once, and so does it, should it come back.
    if (!trouble.empty()) state.stop.stop({.text = trouble});
  } catch (const std::exception& broken) {
    // This rank cannot go on, so the others need not wait for it.
    trouble = fmt::format("rank {}: {}", state.mesh.rank(), broken.what());
    state.stop.stop({.text = trouble});
  }
  if (const std::optional<StopReason>& stop = state.stop.check()) {
    if (!stop->heard) state.mesh.send_to_others(Tag::stop, packed(*stop));
    trouble = stop->text;
  }
  end_workers(state);
  return trouble;
}

/// All ranks leave together; where one is silent, nobody waits in MPI_Finalize for it.
FirstWord leave(Mesh& mesh, bool in_a_hurry, const std::string& error = {}) {
  if (mesh.launched()) ::alarm(2 * kLeaveSeconds);
  FirstWord first = mesh.close(in_a_hurry ? 0.3 : kLeaveSeconds, error);
  ::alarm(0);
  return first;
}

/// Leaves with an error. The same one of several ranks is printed by the first of them. Returns
/// what is still to be printed.
std::string left_with(Mesh& mesh, const std::string& error) {
  const FirstWord first = leave(mesh, false, error);
  if (first.text.empty()) return error;  // rank 0, which gathers them, is gone
  if (first.text != error || first.rank == mesh.rank()) print_error(said_by(mesh.rank(), error));
  return {};
}

/// To the process that has started mpirun.
void report_code(ExitCode code) {
  if (std::getenv(kReportVariable) != nullptr)
    write_error(fmt::format("{}{}\n", kCodeReport, static_cast<int>(code)));
}

ExitCode run_opened(const LaunchOptions& options, std::uint32_t number, const Plan& plan,
                    Mesh& mesh, StopWatch& stop, const Opening& opening, ReporterProcess* reporter,
                    Output& out) {
  const std::vector<GpuRecord> gpus = gpu_records(mesh, opening);
  const std::string folder = journal_folder(opening.head.out);
  if (reporter != nullptr) {
    reporter->tell({.folder = folder, .out = opening.head.out, .anonymize = options.anonymize});
  }
  std::optional<JournalWriter> journal = open_journal(options, plan, mesh, stop, opening, gpus);
  AppendedFile received(received_path(folder), -1, 0);
  // Where rank 0 and this rank share the folder, the journal is there to be read.
  if (mesh.rank() != 0 && !shares_folder(folder, opening.head.run_id, mesh))
    send_lines(*journal, mesh);
  Telemetry telemetry(watched(opening, gpus));
  const auto known = answered(opening.resumed);
  const std::size_t planned =
      (plan.one_gpu.size() + plan.all_gpus.size()) * opening.places.size() - known.size();
  Console console(mesh, planned, options.json, out);
  say_header(console, options, number, opening, gpus.empty() ? nullptr : &gpus.front());
  LaunchState state{.options = options,
                    .plan = plan,
                    .mesh = mesh,
                    .journal = *journal,
                    .received = received,
                    .telemetry = telemetry,
                    .console = console,
                    .stop = stop,
                    .device = opening.assignment.kind,
                    .seed = opening.head.seed,
                    .number = number,
                    .places = opening.places,
                    .gpus = gpus,
                    .known = {opening.head.policy.waivers, opening.head.created_unix_s},
                    .answered = known,
                    .failed_before = failed_attempts(opening.resumed),
                    .delays = HandOverDelays::from_environment(mesh.rank()),
                    .mine = make_slots(options, opening, gpus)};
  const std::string trouble = run_phases(state);
  if (state.failed) report_code(ExitCode::failed);  // mpirun may kill this rank before the report
  return close_launch(state, opening, trouble, reporter);
}

/// Launch `number` of the command, from the opening to the agreed code. `series_id` is empty until
/// the first launch gives it its own.
ExitCode run_one(const LaunchOptions& options, std::uint32_t number, const Plan& plan, Mesh& mesh,
                 StopWatch& stop, ReporterProcess* reporter, std::string& series_id, Output& out) {
  std::optional<Opening> opening = open_launch(options, number, mesh, stop);
  if (!opening) {
    if (mesh.rank() == 0) {
      print_error(fmt::format("{} before anything ran; there is no report{}", stop.check()->text,
                              number == 1 ? "" : fmt::format(" of launch {}", number)));
    }
    return ExitCode::incomplete;
  }
  if (series_id.empty()) series_id = opening->head.run_id;
  opening->series_id = series_id;
  opening->number = number;
  const auto slots = static_cast<std::uint32_t>(opening->places.size());
  check_transport(options.transport, opening->assignment.kind);
  check_row(options, {.level = options.level,
                      .device = opening->assignment.kind,
                      .ranks = slots,
                      .product = options.product});
  const Plan mine = options.launches == 1 ? plan : shuffled(plan, opening->head.seed, number);
  return run_opened(options, number, mine, mesh, stop, *opening, reporter, out);
}

/// All launches of the command, one after the other, until one of them is stopped.
ExitCode run_series(const LaunchOptions& options, const Plan& plan, Mesh& mesh, StopWatch& stop,
                    ReporterProcess* reporter, Output& out) {
  std::vector<ExitCode> codes;
  std::string series_id;
  for (std::uint32_t number = 1; number <= options.launches; ++number) {
    codes.push_back(run_one(options, number, plan, mesh, stop, reporter, series_id, out));
    if (number == options.launches) continue;  // a stop that comes now stops nothing
    mesh.enter(number, Stage::between);
    if (all_go_on(mesh, stop)) continue;
    codes.push_back(ExitCode::incomplete);
    if (mesh.rank() == 0) {
      print_error(fmt::format("{}: {} of {} launches were begun", stop.check()->text, number,
                              options.launches));
    }
    return worst(codes);
  }
  return worst(codes);
}

/// What a launch begins with. A machine that does not give it is no bug.
template <class Make>
auto needed(const Make& make) {
  try {
    return make();
  } catch (const Error& refused) {
    throw EnvironmentError(fmt::format(
        "{}: see the limits of processes and open files (ulimit -a, pids.max)", refused.what()));
  }
}

/// Who reads standard output may take his time; one who asks for the end gets it soon.
ExitCode settle(Output& out, StopWatch& stop) {
  constexpr double kStoppedSeconds = 2;
  const double asked_s = monotonic_s();
  out.finish([&] { return !stop.check() || monotonic_s() - asked_s < kStoppedSeconds; });
  if (!out.lost()) return ExitCode::ok;
  print_error("cannot write to stdout: lines are missing there; see where it goes");
  return ExitCode::usage;
}

}  // namespace

ExitCode run_launch(const LaunchOptions& given) {
  const Plan plan = make_plan(given);
  if (given.dry_run) {
    print_plan(given, plan);
    return ExitCode::ok;
  }
  ::signal(SIGPIPE, SIG_IGN);  // a worker that is gone must not take its supervisor along
  ::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes is a full disk
  StopWatch stop = needed([&] { return StopWatch(given.time_limit_s); });
  // First of all: whatever happens to this process from here on, somebody is there to report it.
  std::optional<ReporterProcess> reporter;
  if (launcher_rank().value_or(0) == 0) needed([&] { return &reporter.emplace(); });
  remove_mpi_leftovers(mpi_places());
  const double start_s = given.time_limit_s > 0
                             ? std::clamp(given.time_limit_s, kShortestStartSeconds, kStartSeconds)
                             : kStartSeconds;
  Mesh mesh = open_mesh(start_s);
  if (mesh.rank() == 0 && std::getenv(kReportVariable) != nullptr) write_error(kRankReport);
  LaunchOptions options = given;
  if (options.out.empty()) {
    options.out = default_out(describe_node(mesh.rank(), mesh.library()).hostname);
  }
  ExitCode code = ExitCode::incomplete;
  Output out(STDOUT_FILENO);
  try {
    code = run_series(options, plan, mesh, stop, reporter ? &*reporter : nullptr, out);
  } catch (const UsageError& error) {
    if (reporter) reporter->done();
    throw UsageError(left_with(mesh, error.what()));
  } catch (const EnvironmentError& error) {
    if (reporter) reporter->done();
    throw EnvironmentError(left_with(mesh, error.what()));
  }
  if (mesh.rank() == 0) report_code(code);
  leave(mesh, stop.check().has_value());
  return worst(std::array{code, settle(out, stop)});
}

}  // namespace tidemark
