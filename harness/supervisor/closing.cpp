// Gathers, assembles, writes, counts, and cleans up only what is safely in the report.
#include "harness/supervisor/closing.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/command_line/shell_word.hpp"
#include "harness/command_line/terminal.hpp"
#include "harness/errors.hpp"
#include "harness/supervisor/clock.hpp"
#include "harness/verbs/printed_beside.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/error.hpp"
#include "reports/render/show.hpp"
#include "reports/store/report.hpp"
#include "reports/words.hpp"

namespace tidemark::harness {
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

/// What rank 0 has of the journals of all ranks.
struct AllJournals {
  std::vector<std::string> sent;  // by rank; empty where the folder has all of it
  bool heard_of_all = false;

  /// Read one by one, when it is their turn.
  Journals in(const std::string& folder) const {
    const auto kept = std::make_shared<const JournalFolder>(folder);
    return {sent.size(), [this, kept](std::size_t rank) {
              return sent[rank].empty() ? kept->text(static_cast<std::uint32_t>(rank)) : sent[rank];
            }};
  }
};

/// Rank 0: those whose journal is not whole in the folder, as itself sees it.
std::vector<std::uint32_t> not_whole(const Gathered& sizes, const std::string& folder) {
  const JournalFolder kept(folder);
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < sizes.parts.size(); ++rank) {
    const std::string& size = sizes.parts[rank];
    if (!size.empty() && size != std::to_string(kept.bytes(rank))) ranks.push_back(rank);
  }
  return ranks;
}

/// Rank 0 reads journals from its folder and its copies of lines: all texts would not fit in its
/// memory. Only a rank of which it has less than was written (a full disk, a folder that is gone)
/// sends its journal.
AllJournals meet_for_journals(LaunchState& state, const std::string& folder,
                              const Patience& patience) {
  const Gathered sizes = state.mesh.gather(std::to_string(state.journal.bytes()), patience);
  keep_received(state);
  const bool first = state.mesh.rank() == 0;
  const std::optional<std::string> heard =
      state.mesh.broadcast(first ? Json(not_whole(sizes, folder)).dump() : std::string(), patience);
  const Json asked = heard ? Json::parse(*heard, nullptr, false) : Json();
  const bool send = std::find(asked.begin(), asked.end(), Json(state.mesh.rank())) != asked.end();
  Gathered sent = state.mesh.gather(send ? state.journal.text() : std::string(), patience);
  return {.sent = std::move(sent.parts), .heard_of_all = sizes.complete() && sent.complete()};
}

VerdictCounts counts_of(const Report& report) {
  VerdictCounts counts{};
  for (const ResultRow& result : report.results) {
    ++counts.at(static_cast<std::size_t>(result.verdict));
  }
  return counts;
}

std::string_view word_of(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "PASS";
    case ExitCode::failed:
      return "FAIL";
    case ExitCode::environment:
      return "NOTHING RUN";
    default:
      return "INCOMPLETE";
  }
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
  std::optional<Report> report;  // none when the journals do not make one
  ExitCode verdict = ExitCode::incomplete, code = ExitCode::incomplete;
  bool written = false;  // the report is on disk
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
                  {"report", result.written ? Json(opening.head.out) : Json()},
                  {"run_id", opening.head.run_id},
                  {"launch", state.number},
                  {"launches", state.options.launches},
                  {"seed", opening.head.seed},
                  {"device", state.device == DeviceKind::cuda ? "cuda" : "virtual"},
                  {"gpus", opening.places.size()}};
  if (result.report) {
    const Report& report = *result.report;
    const VerdictCounts counts = counts_of(report);
    Json verdicts = Json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      verdicts[std::string(kVerdictNames[i])] = counts[i];
    }
    summary["waivers"] = Json::array();
    for (const auto& waiver : waiver_lines(report)) summary["waivers"].push_back(waiver.text);
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

void say_result(const LaunchState& state, const Opening& opening, const Result& result) {
  if (state.options.json) return print_json(state, opening, result);
  if (!result.report) return;
  const Report& report = *result.report;
  if (state.options.bench) print_metrics(state, report);
  const std::uint64_t planned = report.cases.size() * report.launch.gpus;
  state.console.line(fmt::format(" {} cases x {} gpus: {} = {} planned", report.cases.size(),
                                 report.launch.gpus, counted(counts_of(report)), planned));
  for (const auto& waiver : waiver_lines(report)) {
    state.console.line(" waiver " + printable(waiver.text));
  }
  const bool is_virtual = state.device == DeviceKind::virtual_device;
  std::string line =
      fmt::format(" RESULT: {}{}", word_of(result.verdict), is_virtual ? "  (VIRTUAL device)" : "");
  if (!report.launch.complete) line += "  incomplete: " + report.launch.incomplete_reason;
  line += "  report: " + (result.written ? opening.head.out : "none");
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

/// Rank 0: from journals to the report on disk. The verdicts are known before anything is written,
/// so that a full disk takes the report and not the answer.
Verdicts report_all(LaunchState& state, const Opening& opening, const AllJournals& journals) {
  // From the journals alone, as after a crash: there is no second way to a report.
  const std::string& out = opening.head.out;
  const std::string folder = journal_folder(out);
  const AssembleOptions how{.anonymize = state.options.anonymize, .incomplete_reason = {}};
  Result result;
  try {
    result.report = assemble(journals.in(folder), how);
    const Report& report = *result.report;
    result.verdict = exit_code(counts_of(report), report.cases.size() * report.launch.gpus,
                               report.launch.complete, state.options.strict);
    result.code = result.verdict;
    write_report(report, out);
    result.written = true;
  } catch (const ReportError& error) {
    complain(result, fmt::format("no report: {}", error.what()));
  }
  say_result(state, opening, result);
  // The journals go only where all of them have been read back from a complete report.
  const bool safe = result.written && journals.heard_of_all && result.report->launch.complete &&
                    result.report->launch.damaged_lines == 0 &&
                    result.report->launch.ranks_reported == state.mesh.ranks();
  std::error_code gone;
  if (!safe && !std::filesystem::exists(folder, gone)) {
    complain(result, fmt::format("{} is gone, and with it the journals: what is printed here is "
                                 "all that is left of this launch",
                                 folder));
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
  state.journal.remove();
  std::error_code ignored;
  std::filesystem::remove(folder, ignored);  // the last rank on a file system finds it empty
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
    state.console.refresh();
    const std::optional<StopReason>& now = state.stop.check();
    return stopped || !now || now->signal == 0;  // Ctrl-C ends a wait for ranks that still run
  };
  state.mesh.enter(state.number, Stage::closing);
  const AllJournals journals = meet_for_journals(state, journal_folder(opening.head.out), patience);
  state.console.refresh();
  state.console.end_progress();
  Verdicts verdicts;
  Json told;
  if (state.mesh.rank() == 0) {
    verdicts = report_all(state, opening, journals);
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
  if (verdicts.safe) remove_journals(state, journal_folder(opening.head.out));
  return verdicts.code;
}

}  // namespace tidemark::harness
