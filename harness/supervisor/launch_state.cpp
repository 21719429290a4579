// Journals results and turns the loop.
#include "harness/supervisor/launch_state.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "harness/base/clock.hpp"
#include "harness/supervisor/phases.hpp"
#include "harness/supervisor/records.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {
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
        trouble_text(shown, state.places[slot].text(slot), state.device, state.console.colour()));
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
