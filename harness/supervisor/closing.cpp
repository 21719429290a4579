// Gathers, assembles, writes, counts, and cleans up only what is safely in the report.
#include "harness/supervisor/launch_state.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/clock.hpp"
#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/supervisor/opening.hpp"
#include "harness/supervisor/reporter_process.hpp"
#include "reports/base/disk.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/speed/outliers.hpp"
#include "reports/document/report/document.hpp"
#include "reports/render/show.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

/// What rank 0 tells the others at the end.
struct Verdicts {
  ExitCode code = ExitCode::incomplete;
  bool safe = false;  // every journal is in a report on disk
};

/// Under mpirun a rank that a signal stopped has a second before it is killed; nobody kills one at
/// its time limit, and the others may notice theirs later.
Patience patience_at_end(const LaunchState& state) {
  const std::optional<StopReason>& stop = state.stop.check();
  if (stop && stop->signal != 0 && state.mesh.launched()) return {.silence_s = 0.4, .total_s = 0.4};
  // A rank that still runs its cases gives signs of life, however long they take.
  return {.silence_s = 60, .total_s = stop ? 600.0 : 86400.0};
}

/// An error of the memory under the last result may come after it: spoiled_by() waits as long.
void take_last_events(LaunchState& state) {
  constexpr double kLate = 1;  // seconds
  const double until = running_s() + (state.device == DeviceKind::cuda ? kLate : 0);
  while (true) {
    keep_events(state);
    if (running_s() >= until || state.stop.check()) return;
    ::usleep(20'000);
    state.mesh.pump();
  }
}

void journal_end(LaunchState& state, const std::string& trouble) {
  take_last_events(state);
  if (const std::optional<StopReason>& stop = state.stop.check(); stop && !stop->heard) {
    keep(state, EventRecord{.at_unix_s = unix_s(),
                            .gpu = -1,
                            .source = stop->signal != 0 ? "signal" : "supervisor",
                            .code = stop->signal,
                            .text = stop->text});
  }
  keep(state, EndRecord{.rank = state.mesh.rank(),
                        .at_unix_s = unix_s(),
                        .complete = trouble.empty(),
                        .reason = trouble});
}

/// What a rank has in memory of its journal, behind a letter: whether that is all of it.
std::string kept_journal(LaunchState& state) {
  return (state.journal.file().outgrown() ? "p" : "w") + state.journal.file().text();
}

/// What goes on at rank 0 while it waits for a disk.
std::function<void()> pumping(LaunchState& state) {
  return [&state] {
    state.mesh.pump();
    state.console.refresh();
  };
}

/// Rank 0: from the memory of the ranks, one after the other, because all texts would not fit in
/// its own. Only of a rank that is gone, or whose journal outgrew its memory, the files are read,
/// with the copies of lines.
Journals journals_of_all(LaunchState& state, const std::string& folder) {
  const auto files = std::make_shared<std::optional<JournalFolder>>();
  return {state.mesh.ranks(), [&state, folder, files](std::size_t i) {
            const auto rank = static_cast<std::uint32_t>(i);
            const std::string kept =
                rank == 0 ? kept_journal(state)
                          : state.mesh.ask(rank, patience_at_end(state)).value_or("");
            if (kept.starts_with('w')) return kept.substr(1);
            const auto read = [folder, files, rank] {
              if (!*files) files->emplace(folder);
              return (*files)->text(rank);
            };
            const std::string text =
                on_disk(folder, kDiskSeconds, read, pumping(state), kDiskTries);
            return kept.empty() ? text : kept.substr(1) + text;  // a line in both is read once
          }};
}

std::string counted(const VerdictCounts& counts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) parts.push_back(fmt::format("{} {}", counts[i], kVerdictNames[i]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What there is to say at the end.
struct Result {
  std::shared_ptr<const Report> report;  // none when the journals do not make one
  ExitCode verdict = ExitCode::incomplete, code = ExitCode::incomplete;
  bool written = false;               // the report is at --out
  std::string place;                  // of the report, also where --out took none; empty: nowhere
  std::vector<std::string> outliers;  // with --fail-on outlier: slower GPUs, a line each
};

Json metrics_json(const Report& report) {
  Json all = Json::array();
  for (const MetricRow& row : report.metrics) {
    const ResultRow& result = report.results.at(row.result_id);
    all.push_back({{"case", report.cases.at(result.case_id).name.view()},
                   {"metric", report.text(row.name)},
                   {"gpu", result.gpu_id},
                   {"unit", report.text(row.unit)},
                   {"median", row.median},
                   {"mad", row.mad},
                   {"n", row.n},
                   {"min", row.min},
                   {"max", row.max}});
  }
  return all;
}

void print_json(const LaunchState& state, const Opening& opening, const Result& result) {
  Json summary = {{"result", word_of(result.verdict)},
                  {"exit_code", static_cast<int>(result.code)},
                  {"report", result.place.empty() ? Json() : Json(result.place)},
                  {"run_id", opening.head.run_id},
                  {"launch", state.number},
                  {"launches", state.options.launches},
                  {"seed", opening.head.seed},
                  {"device", state.device == DeviceKind::cuda ? "cuda" : "virtual"},
                  {"gpus", opening.places.size()}};
  if (result.report) {
    const Report& report = *result.report;
    const VerdictCounts counts = summary_of(report).verdicts;
    Json verdicts = Json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      verdicts[std::string(kVerdictNames[i])] = counts[i];
    }
    summary["waivers"] = Json::array();
    for (const auto& waiver : waiver_lines(report)) summary["waivers"].push_back(waiver.text);
    if (fails_on_outlier(state.options.fail_on)) summary["outliers"] = result.outliers;
    summary["left_out"] = opening.assignment.left_out;
    summary["planned"] = report.cases.size() * report.launch.gpus;
    summary["verdicts"] = verdicts;
    summary["complete"] = report.launch.complete;
    summary["incomplete_reason"] = report.launch.incomplete_reason;
    if (state.options.bench) summary["metrics"] = metrics_json(report);
  }
  state.console.out().put(summary.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n');
}

void print_metrics(const LaunchState& state, const Report& report) {
  const std::string text = show_metrics(
      report, {.columns = terminal_columns(ShowOptions{}.columns), .beside = printed_beside});
  state.console.line(text.empty() ? " nothing was measured" : text);
}

/// The families that failed: each case was printed once, whatever GPUs it failed on.
void report_families(const LaunchState& state, const Report& report, const std::string& place) {
  std::set<std::uint32_t> cases, gpus;
  std::size_t results = 0;
  for (const ResultRow& result : report.results) {
    if (!is_bad(result.verdict) && !is_lacking(result.verdict)) continue;
    ++results;
    cases.insert(result.case_id);
    gpus.insert(result.gpu_id);
  }
  if (results == 0) return;
  state.console.line(terminal_of({families_table(report, false)}, {}) +
                     fmt::format(" {} of {} did not pass, on GPU{} {}{}", plural(results, "result"),
                                 plural(cases.size(), "case"), gpus.size() == 1 ? "" : "s",
                                 ranges({gpus.begin(), gpus.end()}),
                                 place.empty() ? "" : ": tidemark show " + shell_word(place)));
}

void say_result(const LaunchState& state, const Opening& opening, const Result& result) {
  if (state.options.json) return print_json(state, opening, result);
  if (!result.report) return;
  const Report& report = *result.report;
  if (state.options.bench) print_metrics(state, report);
  report_families(state, report, result.place);
  const std::uint64_t planned = report.cases.size() * report.launch.gpus;
  state.console.line(fmt::format(" {} cases x {} gpus: {} = {} planned", report.cases.size(),
                                 report.launch.gpus, counted(summary_of(report).verdicts),
                                 planned));
  for (const auto& waiver : waiver_lines(report)) {
    state.console.line(" waiver " + printable(waiver.text));
  }
  for (const std::string& text : result.outliers)
    state.console.line(" OUTLIER: " + printable(text));
  const bool is_virtual = state.device == DeviceKind::virtual_device;
  std::string line =
      fmt::format(" RESULT: {}{}", word_of(result.verdict), is_virtual ? "  (VIRTUAL device)" : "");
  if (!report.launch.complete) line += "  incomplete: " + report.launch.incomplete_reason;
  line += "  report: " + (result.place.empty() ? "none" : result.place);
  state.console.line(printable(line));
}

/// What the user has to hear beside the result, in one line each.
void complain(Result& result, const std::string& text) {
  print_error(text);
  result.code = worst(std::array{result.code, ExitCode::usage});
}

/// A name for a second report of the same journals.
std::string recovered_name(const std::string& out) {
  return std::filesystem::path(out).replace_extension().string() + "-recovered.h5";
}

/// Throws ReportError.
void write(LaunchState& state, const Report& report, const std::string& out) {
  constexpr double kSlowestBytes = 1e7;  // a second
  const auto image = std::make_shared<const std::string>(bytes_of(report, out));
  const auto work = [image, out] { write_bytes(*image, out); };
  const double seconds = kDiskSeconds + static_cast<double>(image->size()) / kSlowestBytes;
  on_disk(out, seconds, work, pumping(state), kDiskTries);
}

/// For a report that --out does not take: what the disk refused or lost of the journals is in
/// memory alone. Returns its path; empty where it cannot be written here either.
std::string written_elsewhere(LaunchState& state, const Report& report, const Opening& opening) {
  try {
    std::string out = (std::filesystem::temp_directory_path() /
                       fmt::format("tidemark-{}.h5", opening.head.run_id))
                          .string();
    write(state, report, out);
    return out;
  } catch (const std::runtime_error&) {  // ReportError, or no such folder
    return {};
  }
}

/// Where it cannot be seen, it may be there.
bool is_gone(const std::string& folder) {
  try {
    return !on_disk(folder, kDiskSecondsAtEnd, [folder] { return is_there(folder); });
  } catch (const ReportError&) {
    return false;
  }
}

/// Rank 0: from journals to the report on disk. The verdicts are known before anything is written,
/// so that a full disk takes the report and not the answer.
Verdicts report_all(LaunchState& state, const Opening& opening) {
  // From the journals alone, as after a crash: there is no second way to a report.
  const std::string& out = opening.head.out;
  const std::string folder = journal_folder(out);
  const AssembleOptions how{.anonymize = state.options.anonymize, .incomplete_reason = {}};
  Result result;
  try {
    result.report = std::make_shared<const Report>(assemble(journals_of_all(state, folder), how));
    const Report& report = *result.report;
    result.verdict = exit_code(report, state.options.strict);
    if (fails_on_outlier(state.options.fail_on)) result.outliers = slower_outliers(report);
    result.code = result.outliers.empty() ? result.verdict
                                          : worst(std::array{result.verdict, ExitCode::regression});
    write(state, report, out);
    result.written = true;
    result.place = out;
  } catch (const ReportError& error) {
    if (result.report) result.place = written_elsewhere(state, *result.report, opening);
    complain(result, result.place.empty()
                         ? fmt::format("no report: {}", error.what())
                         : fmt::format("{}; the report is in {}", error.what(), result.place));
  }
  say_result(state, opening, result);
  // The journals go only where all of them have been read back from a complete report.
  const bool safe = result.written && result.report->launch.complete &&
                    result.report->launch.damaged_lines == 0 &&
                    result.report->launch.ranks_reported == state.mesh.ranks();
  if (!safe && is_gone(folder)) {
    complain(result,
             fmt::format("{} is gone, and with it the journals{}", folder,
                         result.place.empty() ? ": what is printed here is all that is left "
                                                "of this launch"
                                              : ""));
  } else if (!safe) {
    state.console.line(printable(fmt::format(
        " journals kept in {}: run the rest with --resume {} --out <other>.h5, or make a report of "
        "them with: tidemark recover {} --out {}{}",
        folder, shell_word(folder), shell_word(folder),
        result.written ? shell_word(recovered_name(out)) : "<elsewhere>.h5",
        state.options.anonymize ? " --anonymize" : "")));
  }
  return {.code = result.code, .safe = safe};
}

/// mpirun may kill rank 0 before it has written its report: then the reporter does.
void say_where_report_comes(const LaunchState& state, const Opening& opening) {
  const std::optional<StopReason>& stop = state.stop.check();
  if (!stop || stop->signal == 0 || !state.mesh.launched()) return;
  state.console.line(printable(fmt::format(" {}: the report, marked incomplete, comes to {}",
                                           stop->text, opening.head.out)));
}

void remove_journals(LaunchState& state, const std::string& folder) {
  if (state.mesh.rank() == 0) state.received.remove();
  state.journal.file().remove();
  remove_on_disk({folder});  // the last rank on a file system finds it empty
}

/// For the reader of journals that stay.
void say_unwritten(LaunchState& state, const std::string& folder) {
  if (is_gone(folder)) return;  // rank 0 has said so
  AppendedFile& file = state.journal.file();
  if (file.flush(state.stop.check() ? 0.4 : kDiskSecondsAtEnd)) return;
  print_error(fmt::format("{}: its last {} bytes are not on disk; check its file system",
                          state.journal.path(), file.unwritten()));
}

}  // namespace

ExitCode close_launch(LaunchState& state, const Opening& opening, const std::string& trouble,
                      ReporterProcess* reporter) {
  journal_end(state, trouble);
  say_where_report_comes(state, opening);
  const bool stopped = state.stop.check().has_value();
  Patience patience = patience_at_end(state);
  patience.meanwhile = [&state, stopped] {
    keep_received(state);
    say_disk_trouble(state);
    state.console.refresh();
    state.mesh.answer([&state] { return kept_journal(state); });
    const std::optional<StopReason>& now = state.stop.check();
    return stopped || !now || now->signal == 0;  // Ctrl-C ends a wait for ranks that still run
  };
  state.mesh.enter(state.number, Stage::closing);
  static_cast<void>(state.mesh.gather({}, patience));
  keep_received(state);
  state.console.refresh();
  state.console.end_progress();
  Verdicts verdicts;
  Json told;
  if (state.mesh.rank() == 0) {
    verdicts = report_all(state, opening);
    told = {{"code", static_cast<int>(verdicts.code)}, {"safe", verdicts.safe}};
    // Also where nothing could be written: that has been said, and so has what to do about it.
    if (reporter != nullptr) reporter->done();
  } else if (!stopped) {
    patience.silence_s = 300;  // a big report takes its time, and rank 0 says nothing meanwhile
  }
  const std::optional<std::string> heard = state.mesh.broadcast(told.dump(), patience);
  const Json json = heard ? Json::parse(*heard, nullptr, false) : Json();
  if (json.is_object()) {
    verdicts = {.code = static_cast<ExitCode>(json.value("code", 4)),
                .safe = json.value("safe", false)};
  } else if (state.mesh.rank() == 1) {  // one of the others speaks for all
    print_error(fmt::format(
        "rank 0 on {} does not answer; its reporter writes {}, marked incomplete, within half a "
        "minute, or else: tidemark recover {}",
        opening.hosts.front(), opening.head.out, shell_word(journal_folder(opening.head.out))));
  }
  if (verdicts.safe) {
    remove_journals(state, journal_folder(opening.head.out));
  } else {
    say_unwritten(state, journal_folder(opening.head.out));
  }
  return verdicts.code;
}

}  // namespace tidemark
