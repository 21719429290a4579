// Journals results and turns the loop.
#include "harness/supervisor/launch_state.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "harness/base/clock.hpp"
#include "harness/command_line/option_values.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {

// Outcome to record, field by field, and the words for a person.

namespace {

MiscompareRecord record_of(const Miscompare& wrong) {
  return {.row = wrong.row,
          .parameters = wrong.parameters,
          .what = wrong.what,
          .text = wrong.text,
          .coordinate = wrong.coordinate,
          .first_offset = wrong.first_offset,
          .wrong_bytes = wrong.wrong_bytes,
          .expected = wrong.expected,
          .actual = wrong.actual};
}

MetricRecord record_of(const Metric& metric, const TelemetryAt& telemetry) {
  MetricRecord record{.name = metric.name,
                      .unit = metric.unit,
                      .higher_is_better = metric.higher_is_better,
                      .samples = {}};
  for (std::size_t i = 0; i < metric.values.size(); ++i) {
    const double at = i < metric.at_unix_s.size() ? metric.at_unix_s[i] : 0;
    SampleRecord sample{.value = metric.values[i],
                        .seconds = i < metric.seconds.size() ? metric.seconds[i] : 0,
                        .telemetry = telemetry(at)};
    sample.telemetry.at_unix_s = at;  // the sample's own moment, also where nothing was read
    record.samples.push_back(sample);
  }
  return record;
}

/// What to do next about a verdict.
std::string_view advice(Verdict verdict, DeviceKind device) {
  if (verdict == Verdict::tool_error)
    return "this says nothing about the GPU: repair the cause and run again";
  // The kernel log and a GPU's health say nothing about it, and a deliberate fault was asked for.
  if (device == DeviceKind::virtual_device)
    return "no GPU ran this; without --fault it is a bug of tidemark: replay it and report it";
  switch (verdict) {
    case Verdict::fail:
    case Verdict::flaky:
      return "replay it; if it repeats on this GPU alone, take the GPU out of service";
    case Verdict::hang:
    case Verdict::crash:
    case Verdict::sticky:
      return "look for an Xid of this moment in the kernel log, then replay it";
    case Verdict::gpu_lost:
    case Verdict::unkillable:
      return "drain the node and restart it";
    default:
      return "run it again when the cause is gone";
  }
}

}  // namespace

std::string replay_line(const RecordPlace& place, const Case& which, std::int64_t row) {
  const bool together = which.scope == CaseScope::all_gpus && place.gpus > 1;
  std::string line;
  if (together && place.launched) {
    line = fmt::format("mpirun -n {} {}", place.gpus,
                       place.device == DeviceKind::virtual_device ? "--oversubscribe " : "");
  }
  line += fmt::format("tidemark run --cases {} --seed {:#x}", which.name, place.seed);
  if (place.options.level != Level::quick)
    line += fmt::format(" --level {}", name_of(place.options.level));
  if (row >= 0) line += fmt::format(" --row {}", row);
  if (const auto slow = place.options.slow.find(std::string(which.name));
      slow != place.options.slow.end())
    line += fmt::format(" --slow {}={}", which.name, percent_of(slow->second));
  if (place.options.transport && which.product != ProductUse::none)
    line += fmt::format(" --transport {}", name_of(place.options.transport));
  if (place.options.product.has_shape() && which.product == ProductUse::sizes)
    line += " " + shape_text(place.options.product.shape);
  if (place.options.product.has_grid() && which.product != ProductUse::none)
    line += " --grid " + grid_text(place.options.product.grid);
  if (place.options.jit) line += " --jit";
  if (place.device == DeviceKind::virtual_device) {
    line += " --device virtual";
    if (!place.options.fault.empty()) line += " --fault " + place.options.fault;
    if (together && !place.launched) line += fmt::format(" --gpus {}", place.gpus);
  } else if (!together) {
    line += " --gpus " + place.uuid;
  } else if (!place.options.gpus.empty()) {
    line += " --gpus " + place.options.gpus;  // others would share the GEMM otherwise
  }
  return line;
}

OutcomeRecord outcome_record(const RecordPlace& place, const Case& which, std::uint32_t attempt,
                             const Ending& ending, const TelemetryAt& telemetry) {
  OutcomeRecord record;
  record.gpu = place.gpu;
  record.case_name = which.name;
  record.attempt = attempt;
  record.verdict = ending.verdict;
  record.reason = ending.reason;
  record.start_unix_s = ending.start_unix_s;
  record.seconds = ending.seconds;
  record.signal = ending.signal;
  record.exit_code = ending.exit_code;
  record.rows_planned = ending.rows_planned;
  record.rows_run = ending.rows_run;
  record.seed = case_seed(place.seed, which.name);
  std::int64_t row = ending.row < 0 ? place.options.row : ending.row;
  if (ending.outcome) {
    const Outcome& outcome = *ending.outcome;
    record.rows_planned = outcome.rows_planned;
    record.rows_run = outcome.rows_run;
    record.rows_failed = outcome.rows_failed;
    record.sm_rows_run = outcome.sm_rows_run;
    record.sm_rows_failed = outcome.sm_rows_failed;
    record.sm_latency = outcome.sm_latency;
    record.sm_rate = outcome.sm_rate;
    record.cuda_error = outcome.cuda_error;
    record.descriptors = outcome.descriptors;
    record.notes = outcome.notes;
    for (const Miscompare& wrong : outcome.miscompares) {
      record.miscompares.push_back(record_of(wrong));
    }
    for (const DriverAnswer& answer : outcome.answers)
      record.answers.push_back({.subject = answer.subject,
                                .question = answer.question,
                                .unit = answer.unit,
                                .answer = answer.answer,
                                .map = answer.map});
    for (const Metric& metric : outcome.metrics) {
      record.metrics.push_back(record_of(metric, telemetry));
    }
    // Ranks that waited for each other in one row may have fallen out of step in a row before it;
    // that row alone would pass.
    const bool out_of_step =
        which.scope == CaseScope::all_gpus && place.gpus > 1 && ending.verdict != Verdict::fail;
    if (!outcome.miscompares.empty() && !out_of_step && ending.row < 0)
      row = outcome.miscompares.front().row;
  }
  record.replay = replay_line(place, which, row);
  return record;
}

std::string trouble_text(const OutcomeRecord& record, const std::string& where, DeviceKind device,
                         bool colour) {
  // A pass is only spoken of when it follows another attempt; behind a failure it is flaky.
  const bool passed = record.verdict == Verdict::pass || record.verdict == Verdict::flaky;
  const bool red = record.verdict != Verdict::pass && !is_quiet(record.verdict);
  std::string name(name_of(record.verdict));
  if (red) {
    for (char& letter : name) letter = letter >= 'a' ? static_cast<char>(letter - 32) : letter;
  }
  std::string text = fmt::format(" {}{}{} {:<28} {}", colour && red ? "\x1b[31m" : "", name,
                                 colour && red ? "\x1b[0m" : "", record.case_name, where);
  // A repetition is told in one line; what it found is in the report.
  if (record.attempt > 1) {
    return text + fmt::format("  {} in attempt {}", passed ? "passed" : "again", record.attempt);
  }
  if (record.rows_failed > 0) {
    text += fmt::format("\n      {} of {} rows wrong", record.rows_failed, record.rows_run);
  }
  if (!record.reason.empty()) text += "\n      " + record.reason;
  if (!record.miscompares.empty() &&
      record.reason.find(record.miscompares.front().text) == std::string::npos) {
    const MiscompareRecord& first = record.miscompares.front();
    text += fmt::format("\n      first: row {}, {}: {}", first.row, first.what, first.text);
  }
  if (!red) return text;
  return text + fmt::format("\n      next: {}\n      replay: {}", advice(record.verdict, device),
                            record.replay);
}

namespace {

RecordPlace place_of(const LaunchState& state, const LocalSlot& local) {
  const std::uint32_t slot = local.slot.number();
  return {.gpu = slot,
          .gpus = static_cast<std::uint32_t>(state.places.size()),
          .uuid = state.places[slot].uuid,
          .seed = state.seed,
          .device = state.device,
          .launched = state.mesh.launched(),
          .options = state.options};
}

void wait_for_something(const LaunchState& state, double most_wait_s) {
  std::vector<pollfd> fds = {{.fd = state.stop.fd(), .events = POLLIN, .revents = 0}};
  for (const LocalSlot& local : state.mine) {
    const WorkerProcess* worker = local.slot.worker();
    if (worker == nullptr) continue;
    // A pipe whose other end is closed would wake poll for ever; its descriptor is then -1, which
    // poll leaves alone.
    fds.push_back({.fd = worker->records_fd(), .events = POLLIN, .revents = 0});
    fds.push_back({.fd = worker->errors_fd(), .events = POLLIN, .revents = 0});
  }
  const timespec wait{.tv_sec = 0, .tv_nsec = static_cast<long>(most_wait_s * 1e9)};
  ::ppoll(fds.data(), fds.size(), &wait, nullptr);
}

/// The record as the report will have it.
OutcomeRecord as_waived(const LaunchState& state, OutcomeRecord record) {
  if (state.known.waivers.empty() || !is_waivable(record.verdict)) return record;
  const auto gpu = std::find_if(state.gpus.begin(), state.gpus.end(),
                                [&](const GpuRecord& each) { return each.gpu_id == record.gpu; });
  if (gpu == state.gpus.end()) return record;
  WaiverLedger ledger(state.known.waivers, state.known.at_unix_s);
  const auto waiver = ledger.hear(Waives::failure, record.case_name,
                                  {.uuid = gpu->uuid,
                                   .serial = gpu->serial,
                                   .host = state.places[record.gpu].host,
                                   .drivers = {gpu->driver}},
                                  Heard::failed);
  if (!waiver) return record;
  record.reason = waived_reason(state.known.waivers[*waiver], record.verdict, record.reason);
  record.verdict = Verdict::waived;
  return record;
}

}  // namespace

std::string SlotPlace::text(std::uint32_t slot) const {
  return fmt::format("slot {} ({}, {})", slot, host, uuid);
}

void keep(LaunchState& state, const Record& record) {
  state.journal.append(record);
  say_disk_trouble(state);
}

void say_disk_trouble(LaunchState& state) {
  for (AppendedFile* file : {&state.journal.file(), &state.received})
    if (const std::string text = file->trouble(); !text.empty())
      state.console.trouble(fmt::format(" rank {}: {}{}", state.mesh.rank(), text,
                                        file->outgrown() ? "" : "; results are kept in memory"));
}

void keep_received(LaunchState& state) {
  std::string lines;
  while (const std::optional<Message> some = state.mesh.take(Tag::journal)) lines += some->bytes;
  if (lines.empty()) return;
  state.delays.before(HandOver::keep);
  // A disk that takes nothing must not fill the memory: these are copies.
  if (state.received.unwritten() < AppendedFile::kMostKept) state.received.append(lines, false);
}

void begin_case(LaunchState& state, LocalSlot& local, const Case& which, std::uint32_t attempt,
                bool alone) {
  keep(state, StartRecord{.gpu = local.slot.number(),
                          .case_name = std::string(which.name),
                          .attempt = attempt,
                          .at_unix_s = unix_s()});
  state.console.at(std::string(which.name));
  local.slot.begin(which, attempt, alone);
}

std::uint32_t first_attempt(const LaunchState& state, const Case& which, std::uint32_t slot) {
  const auto failed = state.failed_before.find({std::string(which.name), slot});
  return failed == state.failed_before.end() ? 1 : std::min(failed->second + 1, kMostAttempts);
}

void record(LaunchState& state, LocalSlot& local, const Case& which, std::uint32_t attempt,
            const Ending& ending, bool last) {
  const std::uint32_t slot = local.slot.number();
  const OutcomeRecord written =
      outcome_record(place_of(state, local), which, attempt, ending,
                     [&](double at) { return state.telemetry.nearest(slot, at); });
  keep(state, written);
  OutcomeRecord shown = as_waived(state, written);
  const bool fine = shown.verdict == Verdict::pass || shown.verdict == Verdict::skip ||
                    shown.verdict == Verdict::waived;
  if (is_failure(ending.verdict) || state.failed_before.contains({written.case_name, slot}))
    local.failed = which.name;
  // A case that failed once and passes then is flaky, and no ground for a benchmark.
  const bool passed = ending.verdict == Verdict::pass;
  const bool flaky = passed && local.failed == which.name;
  if (flaky) shown.verdict = Verdict::flaky;
  state.failed = state.failed || is_failure(shown.verdict);
  local.passed.erase(written.case_name);
  if (passed && !flaky) local.passed.insert(written.case_name);
  if (ending.verdict != Verdict::pass || attempt > 1) {
    state.console.trouble(
        trouble_text(shown, state.places[slot].text(slot), state.device, state.console.colour()),
        fmt::format("{} {}", name_of(shown.verdict), shown.case_name));
  }
  if (last) state.console.count(!fine);
}

void keep_events(LaunchState& state) {
  for (const EventRecord& event : state.telemetry.take_events()) {
    keep(state, event);
    const std::string where = event.gpu < 0 ? "" : fmt::format(" on GPU {}", event.gpu);
    state.console.trouble(fmt::format(" event{}: {}", where, event.text));
  }
}

bool turn(LaunchState& state, double most_wait_s) {
  state.mesh.pump();
  keep_received(state);
  keep_events(state);
  say_disk_trouble(state);
  state.console.refresh();
  while (const std::optional<Message> told = state.mesh.take(Tag::stop)) {
    state.stop.stop(heard_stop(told->bytes));
  }
  if (state.stop.check()) return false;
  wait_for_something(state, most_wait_s);
  return true;
}

void end_workers(LaunchState& state) {
  for (LocalSlot& local : state.mine) local.slot.give_up(Verdict::not_run, "the launch ended");
  const double until = monotonic_s() + 2;
  // Longer is not worth it: what is left dies with this process (PR_SET_PDEATHSIG).
  const auto busy = [](const LocalSlot& local) { return local.slot.busy(); };
  while (std::any_of(state.mine.begin(), state.mine.end(), busy) && monotonic_s() < until) {
    for (LocalSlot& local : state.mine) static_cast<void>(local.slot.step());
    rest();
  }
}

}  // namespace tidemark
