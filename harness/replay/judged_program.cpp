// Runs a program, judges results as rows of a case are judged, and words them for a terminal.
#include "harness/replay/judged_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "harness/base/clock.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/discovery/assignment.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/supervisor/slot.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show.hpp"
#include "reports/store/replace_file.hpp"
#include "suite/runner.hpp"

namespace tidemark {

// Hands a worker its program, and waits for what it says.

namespace {

FileDescriptor memory_file_of(std::string_view text) {
  FileDescriptor file(::memfd_create("program", MFD_CLOEXEC));
  while (file.get() >= 0 && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file.get() < 0 || !text.empty())
    throw Error(fmt::format("cannot hand a program to a worker: {}", std::strerror(errno)));
  return file;
}

double seconds_of(const Program& program) {
  double seconds = 0;
  for (const Step& step : program.steps) seconds += 1e-9 * step.ns;
  return seconds;
}

ProgramEnd ending(WorkerProcess& worker) {
  const ProcessEnd& end = *worker.ended();
  const std::string words = worker.last_words();
  if (end.signal == 0 && !words.empty())
    return {.kind = ProgramEnd::Kind::refused, .reason = words};
  return {.kind = end.killed_from_outside() ? ProgramEnd::Kind::killed
                  : end.signal != 0         ? ProgramEnd::Kind::crashed
                                            : ProgramEnd::Kind::refused,
          .reason = "its process " + worker.end_text()};
}

// Worker's message, where it ends the wait.
std::optional<ProgramEnd> answer_in(Said& said) {
  if (auto* ran = std::get_if<SaidProgram>(&said))
    return ProgramEnd{.result = std::move(ran->result)};
  if (auto* trouble = std::get_if<SaidTrouble>(&said))
    return ProgramEnd{.kind = ProgramEnd::Kind::refused, .reason = std::move(trouble->text)};
  return std::nullopt;
}

ProgramEnd run_once(const WorkerStart& start, const SetupOrder& setup, const Program& program,
                    const ProgramBounds& bounds) {
  WorkerProcess worker(start);
  worker.send(setup);
  worker.send(ProgramOrder{});
  WorkerDeadline deadline(bounds.ready_s);
  std::optional<ProgramEnd> answer;
  const std::optional<ProgramEnd> early = ended_before(worker, deadline, [&](Said& said) {
    if (const auto* started = std::get_if<SaidStarted>(&said))
      deadline.begin(started->patience_s > 0 ? started->patience_s
                                             : bounds.run_s + seconds_of(program));
    answer = answer_in(said);
    return answer.has_value();
  });
  return early ? *early : *answer;
}

}  // namespace

void WorkerDeadline::begin(double seconds) {
  seconds_ = seconds;
  until_ = monotonic_s() + seconds;
}

bool WorkerDeadline::over() const { return monotonic_s() > until_; }

std::optional<ProgramEnd> ended_before(WorkerProcess& worker, const WorkerDeadline& deadline,
                                       const std::function<bool(Said&)>& take) {
  while (true) {
    const bool gone = worker.ended().has_value();
    worker.pump();
    while (std::optional<Said> said = worker.take())
      if (take(*said)) return std::nullopt;
    if (worker.broken())
      return ProgramEnd{.kind = ProgramEnd::Kind::refused,
                        .reason = "its process wrote a line that is no message"};
    if (gone) return ending(worker);
    if (deadline.over())
      return ProgramEnd{
          .kind = ProgramEnd::Kind::hung,
          .reason = fmt::format("it had no result after {:.0f} s", deadline.seconds())};
    std::array<pollfd, 2> fds = {{{.fd = worker.records_fd(), .events = POLLIN, .revents = 0},
                                  {.fd = worker.errors_fd(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), 100);
  }
}

ProgramEnd run_in_worker(WorkerStart start, const SetupOrder& setup, const Program& program,
                         const ProgramBounds& bounds) {
  ::signal(SIGPIPE, SIG_IGN);  // a worker that is gone must not take this process along
  const FileDescriptor file = memory_file_of(program_json(program));
  start.program_fd = file.get();
  ProgramEnd end = run_once(start, setup, program, bounds);
  return end.kind == ProgramEnd::Kind::killed ? run_once(start, setup, program, bounds) : end;
}

namespace {

constexpr std::size_t kShown = 4;  // findings of one device

std::vector<Miscompare> miscompares_of(const PreparedProgram& program, const RunResult& result) {
  // After a timeout what did land tells a lost credit from lost data; other faults leave nothing.
  const bool judged = result.fault == DeviceFault::none ||
                      (result.fault == DeviceFault::timeout && !result.bytes.empty());
  if (!judged) return {};
  std::vector<Miscompare> found = compare(program.checked, program.expected, result, 0);
  if (found.empty() && program.unlike_measured) found = program.unlike_measured(result);
  return found;
}

DeviceVerdict verdict_on(const PreparedProgram& program, const RunResult& result) {
  DeviceVerdict verdict{.word = "pass", .claim = "agrees with the oracle", .findings = {}};
  if (result.fault == DeviceFault::unsupported)
    return {.code = ExitCode::environment,
            .word = "SKIP",
            .claim = "did not run",
            .findings = {fault_text(result)}};
  const std::vector<Miscompare> wrong = miscompares_of(program, result);
  if (result.fault != DeviceFault::none) verdict.findings.push_back(fault_text(result));
  for (const Miscompare& one : wrong) verdict.findings.push_back(one.what + ": " + one.text);
  if (verdict.findings.empty()) return verdict;
  verdict.code = ExitCode::failed;
  verdict.word = result.fault == DeviceFault::sticky ? "STICKY" : "FAIL";
  verdict.claim = result.fault == DeviceFault::sticky    ? fmt::format("CUDA error {}", result.code)
                  : result.fault == DeviceFault::timeout ? "a wait ended by its bound"
                  : wrong.empty()                        ? "refused the tensor map"
                                  : plural(wrong.size(), "miscompare") + " with the oracle";
  return verdict;
}

/// Counts differences of one kind and keeps the place of the first.
struct Differences {
  std::size_t count = 0;
  std::string first;

  template <class Place>
  void add(const Place& place) {
    if (count++ == 0) first = place();
  }
};

Differences trace_differences(const PreparedProgram& program, const RunResult& one,
                              const RunResult& other) {
  Differences found;
  const std::vector<ExpectedTrace>& expected = program.expected.trace;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (((one.trace[i] ^ other.trace[i]) & expected[i].judged) == 0) continue;
    found.add([&] {
      const std::size_t step = i / ctas_of(program.checked);
      return fmt::format("step {} ({}), CTA {}", step, name_of(program.checked.steps[step].verb),
                         i % ctas_of(program.checked));
    });
  }
  return found;
}

// Whether exactly one value of the byte is right.
bool is_judged(const ExpectedWindow& window, std::size_t i) {
  const bool exact = window.compare.empty() || window.compare[i] == Compare::exact;
  return exact && (window.other.empty() || window.other[i] == window.bytes[i]);
}

Differences byte_differences(const PreparedProgram& program, const RunResult& one,
                             const RunResult& other) {
  Differences found;
  std::size_t begin = 0;
  for (const ExpectedSnapshot& snapshot : program.expected.snapshots) {
    for (std::size_t i = 0; i < snapshot.window.bytes.size(); ++i)
      if (one.bytes[begin + i] != other.bytes[begin + i] && is_judged(snapshot.window, i))
        found.add([&] {
          return fmt::format("byte {} of the snapshot of step {}, CTA {}", i, snapshot.step,
                             snapshot.cta);
        });
    begin += snapshot.window.bytes.size();
  }
  for (std::size_t i = 0; i < program.expected.regions.size(); ++i)
    if (one.surroundings[i] != other.surroundings[i])
      found.add([&] { return fmt::format("byte {} of global memory", i); });
  return found;
}

std::size_t bytes_expected(const PreparedProgram& program) {
  std::size_t bytes = 0;
  for (const ExpectedSnapshot& snapshot : program.expected.snapshots)
    bytes += snapshot.window.bytes.size();
  return bytes;
}

// Whether a device handed back all that the prediction is of.
bool is_whole(const PreparedProgram& program, const RunResult& result) {
  return result.trace.size() == program.expected.trace.size() &&
         result.bytes.size() == bytes_expected(program) &&
         result.surroundings.size() == program.expected.regions.size();
}

Tone tone_of(ExitCode code) {
  if (code == ExitCode::ok) return Tone::good;
  return code == ExitCode::failed ? Tone::bad : Tone::warn;
}

void put_device(Page& page, const DeviceRun& run, const DeviceVerdict& verdict) {
  put(page, tone_of(verdict.code), verdict.word.size(),
      fmt::format("{:<7} {:<26} {}", verdict.word, run.device, verdict.claim), 8);
  constexpr std::size_t kIndent = 8;
  const std::size_t shown = std::min(kShown, verdict.findings.size());
  for (std::size_t i = 0; i < shown; ++i)
    put(page, std::string(kIndent, ' ') + verdict.findings[i], kIndent + 2);
  if (shown < verdict.findings.size())
    put(page,
        fmt::format("{}and {} more", std::string(kIndent, ' '), verdict.findings.size() - shown));
}

void put_difference(Page& page, const PreparedProgram& program, const DeviceRun& one,
                    const DeviceRun& other) {
  if (one.end.kind != ProgramEnd::Kind::ran || other.end.kind != ProgramEnd::Kind::ran) return;
  const RunResult &left = one.end.result, &right = other.end.result;
  if (!is_whole(program, left) || !is_whole(program, right)) return;
  const std::string difference = difference_of(program, left, right);
  put(page,
      fmt::format("{} and {}: {}", one.device, other.device,
                  difference.empty() ? "the same in all judged bits" : difference),
      8);
}

}  // namespace

DeviceVerdict verdict_on(const PreparedProgram& program, const ProgramEnd& end) {
  switch (end.kind) {
    case ProgramEnd::Kind::ran:
      return verdict_on(program, end.result);
    case ProgramEnd::Kind::refused:
    case ProgramEnd::Kind::killed:
      return {.code = ExitCode::incomplete,
              .word = "ERROR",
              .claim = "did not run",
              .findings = {end.reason}};
    case ProgramEnd::Kind::crashed:
      return {.code = ExitCode::failed,
              .word = "CRASH",
              .claim = "no result",
              .findings = {end.reason}};
    case ProgramEnd::Kind::hung:
      break;
  }
  return {.code = ExitCode::failed, .word = "HANG", .claim = "no result", .findings = {end.reason}};
}

std::string difference_of(const PreparedProgram& program, const RunResult& one,
                          const RunResult& other) {
  const Differences observed = trace_differences(program, one, other);
  const Differences bytes = byte_differences(program, one, other);
  std::string text;
  if (observed.count > 0)
    text = fmt::format("{}, first {}", plural(observed.count, "observation"), observed.first);
  if (bytes.count > 0)
    text += fmt::format("{}{}, first {}", text.empty() ? "" : "; ", plural(bytes.count, "byte"),
                        bytes.first);
  return text.empty() ? "" : "differ in " + text;
}

JudgedText judged_text(const PreparedProgram& program, const std::vector<DeviceRun>& runs,
                       bool colour, std::size_t columns) {
  Page page{.text = {}, .colour = colour, .columns = columns};
  std::vector<ExitCode> codes;
  for (const DeviceRun& run : runs) {
    const DeviceVerdict verdict = verdict_on(program, run.end);
    codes.push_back(verdict.code);
    put_device(page, run, verdict);
  }
  for (std::size_t i = 1; i < runs.size(); ++i) put_difference(page, program, runs[0], runs[i]);
  JudgedText judged{.text = {}, .code = worst(codes)};
  const std::string result = fmt::format("RESULT: {}", word_of(judged.code));
  const bool on_gpu = std::any_of(
      runs.begin(), runs.end(), [](const DeviceRun& run) { return run.kind == DeviceKind::cuda; });
  put(page, tone_of(judged.code), result.size(),
      result + (on_gpu ? "" : "  (VIRTUAL device: nothing here ran on a GPU)"));
  judged.text = std::move(page.text);
  return judged;
}

std::string size_of(const PreparedProgram& program) {
  const Program& plain = program.program;
  return fmt::format("{}, {}, {} ({} with checks)", plural(ctas_of(plain), "CTA"),
                     plural(plain.barriers, "barrier"), plural(plain.steps.size(), "step"),
                     program.checked.steps.size());
}

// Chooses devices for one program, runs it on each and prints the verdicts.

namespace {

// As a row of a table: "GPU-5f1c2d3e NVIDIA H200".
std::string name_of(const GpuRecord& gpu) {
  constexpr std::size_t kUuidDigits = 12;
  return fmt::format("{} {}", gpu.uuid.substr(0, kUuidDigits), gpu.name);
}

ProgramEnd run_at(const ProgramPlace& place, const Program& checked) {
  return run_in_worker(place.start, place.setup, checked, {.ready_s = place.ready_s});
}

// Of the same verdict and, for the first thing that is wrong, the same kind: "guard", "barrier".
bool is_alike(const DeviceVerdict& one, const DeviceVerdict& other) {
  const auto kind = [](const DeviceVerdict& verdict) {
    const std::string first = verdict.findings.empty() ? "" : verdict.findings.front();
    return first.substr(0, first.find(':'));
  };
  return one.word == other.word && kind(one) == kind(other);
}

Program minimized_at(const ProgramPlace& place, const PreparedProgram& program,
                     const DeviceVerdict& whole, std::size_t& runs) {
  return minimized(program.program, [&](const Program& candidate) {
    try {
      const PreparedProgram less = prepared(candidate, "candidate");
      ++runs;
      return is_alike(whole, verdict_on(less, run_at(place, less.checked)));
    } catch (const UsageError&) {
      return false;  // not sound, or nothing can be predicted of it
    }
  });
}

}  // namespace

std::vector<ProgramPlace> places_of(const ProgramDevices& devices) {
  std::vector<ProgramPlace> places;
  if (chooses_gpu(devices.options.device)) {
    const GpuRecord gpu = one_gpu(devices.verb, devices.options, devices.preferred);
    const bool jit = devices.options.jit;
    places.push_back({.device = name_of(gpu),
                      .kind = DeviceKind::cuda,
                      .start = {.visible_gpu = gpu.uuid, .jit = jit},
                      .setup = {.device = DeviceKind::cuda},
                      .ready_s = jit ? kReadyJit : kReady});
  }
  places.push_back(
      {.device = "virtual device", .setup = {.options = devices.options}, .ready_s = kReady});
  return places;
}

void check_devices(const ProgramDevices& devices) {
  const LaunchOptions& options = devices.options;
  check_one_gpu(devices.verb, options);
  if (!options.fault.empty()) check_fault(options.fault, options.device);
  if (!options.gpus.empty() && options.device == DeviceChoice::virtual_device)
    throw UsageError(fmt::format("--gpus '{}': {} uses one virtual device; leave --gpus out",
                                 options.gpus, devices.verb));
}

ExitCode run_prepared(const PreparedProgram& program, const ProgramDevices& devices,
                      const std::string& heading) {
  std::vector<DeviceRun> runs;
  try {
    for (const ProgramPlace& place : places_of(devices))
      runs.push_back(
          {.device = place.device, .kind = place.kind, .end = run_at(place, program.checked)});
  } catch (const Error& refused) {
    throw EnvironmentError(fmt::format("{}: {}", devices.verb, refused.what()));
  }
  const JudgedText judged =
      judged_text(program, runs, colour_wanted(false), terminal_columns(ShowOptions{}.columns));
  print_out(heading + judged.text);
  return judged.code;
}

PreparedProgram minimized_on(const PreparedProgram& program, const ProgramDevices& devices,
                             const std::string& name, std::string& heading) try {
  for (const ProgramPlace& place : places_of(devices)) {
    const DeviceVerdict whole = verdict_on(program, run_at(place, program.checked));
    if (whole.code != ExitCode::failed) continue;
    std::size_t runs = 1;
    PreparedProgram least = prepared(minimized_at(place, program, whole, runs), name);
    heading += fmt::format("minimized on {}: {} in place of {}, after {}\n", place.device,
                           plural(least.program.steps.size(), "step"), program.program.steps.size(),
                           plural(runs, "run"));
    return least;
  }
  throw UsageError(
      fmt::format("--minimize: {} does not fail on any of its devices, so that there is nothing to "
                  "minimize; leave it out to see the verdicts",
                  name));
} catch (const Error& refused) {
  throw EnvironmentError(fmt::format("{}: {}", devices.verb, refused.what()));
}

void write_named_file(const std::string& path, std::string_view option, std::string_view what,
                      const std::string& text) {
  if (path.empty()) return;
  replace_file(path, text, option);
  print_out(fmt::format("{} written to {}\n", what, printable(path)));
}

ExitCode run_program_file(const std::string& path, const LaunchOptions& options) {
  const ProgramDevices devices{.verb = "run --program", .options = options};
  check_devices(devices);
  const PreparedProgram program = prepared(given_program(path), path);
  return run_prepared(program, devices, fmt::format("{}: {}\n", path, size_of(program)));
}

}  // namespace tidemark
