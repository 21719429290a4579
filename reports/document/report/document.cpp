// Puts what a report holds in order; what a person needs first comes first.
#include "reports/document/report/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/base/error.hpp"
#include "reports/base/words.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

constexpr Most kMost = {.terminal = 30, .page = 300};  // of a kind
constexpr std::size_t kIndent = 5;

/// "112 pass, 3 fail": the verdicts that occur.
std::string counts_of(const Summary& summary) {
  std::string made;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (summary.verdicts[i] == 0) continue;
    if (!made.empty()) made += ", ";
    made += fmt::format("{} {}", grouped(summary.verdicts[i]), kVerdictNames[i]);
  }
  return made.empty() ? "nothing was planned" : made;
}

Line banner(std::string_view heading, const std::string& text) {
  return warning(fmt::format("{}: {}", heading, text), heading.size() + 1);
}

std::string rows_text(const Report& report) {
  std::uint64_t planned = 0, run = 0, failed = 0;
  for (const ResultRow& result : report.results) {
    planned += result.rows_planned;
    run += result.rows_run;
    failed += result.rows_failed;
  }
  return fmt::format("rows: {} of {} run, {} failed", grouped(run), grouped(planned),
                     grouped(failed));
}

void add_sms(Section& head, const Report& report) {
  SmLines lines = sm_lines(report);
  if (lines.visited.empty()) return;
  head.add(Line{.as = Line::As::paragraph, .text = {ours(lines.visited)}, .indent = kIndent});
  // Of a page a section of their own shows those that are named.
  const std::size_t size = lines.named.size();
  const auto line = [named = std::move(lines.named)](std::size_t i) {
    return Line{.text = {named[i]}, .indent = kIndent + 2, .margin = kIndent};
  };
  head.add(List{size, {.terminal = 4, .review = 4}, "line", line}, kNotOnPage);
}

void add_head(Section& head, const Report& report, const Summary& summary) {
  const LaunchRow& launch = report.launch;
  if (!launch.complete) head.add(banner("INCOMPLETE REPORT", launch.incomplete_reason));
  if (summary.planned > 0 && summary.verdicts[static_cast<std::size_t>(Verdict::pass)] == 0) {
    head.add(Line{.as = Line::As::banner,
                  .text = {"nothing passed: this report says nothing good about any GPU"}});
  }
  if (const std::string slowed = slowed_text(report); !slowed.empty()) {
    head.add(banner("SLOWED ON PURPOSE", slowed + "; these numbers say nothing about the GPUs"));
  }
  if (launch.is_virtual) head.add(virtual_banner());
  if (const std::string models = models_of(report); !models.empty()) {
    head.add(Line{.as = Line::As::paragraph, .text = {models}}, kNotAtTerminal);
  }
  const std::string time = time_line(report);
  head.add(Line{.as = Line::As::paragraph,
                .text = {ours(rows_text(report) + (time.empty() ? "" : "; ")), time},
                .indent = kIndent});
  const std::vector<std::string> lines = hardware_lines(report);
  head.add(
      List{lines.size(), {.terminal = 4, .page = 8, .review = 8}, "GPU", [lines](std::size_t i) {
             return banner("HARDWARE", lines[i]);
           }});
  if (!report.cases.empty()) head.add(families_table(report, true));
  add_sms(head, report);
  head.add(
      Line{.as = Line::As::muted,
           .text = {"run ", launch.run_id, ", ", launch.created_utc, ", level ", launch.level}},
      kOnPage);
}

/// "CUDA error 719  signal 11": how a worker ended; empty where that was as usual.
std::string ending_of(const ResultRow& result) {
  std::string how;
  if (result.cuda_error != 0) how += fmt::format("CUDA error {}  ", result.cuda_error);
  if (result.signal != 0) how += fmt::format("signal {}  ", result.signal);
  if (result.exit_code != 0) how += fmt::format("exit code {}", result.exit_code);
  return how;
}

/// Throws where it is none: what a stranger nests would else be printed, level by level.
std::uint64_t count_in(const nlohmann::json& value) {
  return value.get_ref<const nlohmann::json::number_unsigned_t&>();
}

/// "u8 rank 2 extent 100x67 box 32x64 swizzle 128B".
std::string map_words(const nlohmann::json& map) {
  std::string made =
      fmt::format("{} rank {}", map.at("type").get<std::string>(), count_in(map.at("rank")));
  for (const char* const name : {"extent", "box"}) {
    made += fmt::format(" {} ", name);
    for (const auto& size : map.at(name))
      made += fmt::format("{}{}", made.back() == ' ' ? "" : "x", count_in(size));
  }
  if (const std::uint64_t swizzle = count_in(map.at("swizzle")); swizzle != 0)
    made += fmt::format(" swizzle {}B", swizzle);
  for (const char* const kind : {"bulk", "im2col"})
    if (map.contains(kind)) made += fmt::format(" {}", kind);
  return made;
}

/// "init, load, wait; u8 rank 2 extent 100x67 box 32x64; 5 steps; seed 123": its words, or what its
/// steps do, and what its bytes follow from.
std::string program_words(const nlohmann::json& program) {
  std::vector<std::string> verbs, maps;
  std::set<std::string> known;
  for (const auto& step : program.at("steps"))
    if (const auto [verb, is_new] = known.insert(step.at("do").get<std::string>()); is_new)
      verbs.push_back(*verb);
  for (const auto& map : program.at("maps")) maps.push_back(map_words(map));
  const nlohmann::json& payload = program.at("payload");
  return fmt::format("{}; {}; {}; seed {}{}", program.value("what", some_of(verbs, 8, "verb")),
                     maps.empty() ? "no map" : some_of(maps, 2, "map"),
                     plural(program["steps"].size(), "step"), count_in(payload.at("seed")),
                     payload.at("inverted").get<bool>() ? "; inverted" : "");
}

/// Parameters as a person reads them: a program, which fills a screen, in a few words; others, and
/// what only begins like a program, as they are.
std::string row_words(std::string_view parameters) {
  constexpr std::size_t kPrefix = 96;         // of a peer, ranks stand before it
  constexpr std::size_t kLongest = 1U << 17;  // as JSON a stranger's text takes many times its size
  if (parameters.substr(0, kPrefix).find("\"tidemark-program\"") == parameters.npos ||
      parameters.size() > kLongest)
    return std::string(parameters);
  try {
    const auto row = nlohmann::json::parse(parameters);
    if (!row.contains("program")) return fmt::format("({})", program_words(row));
    return fmt::format("(rank {} of {}; {})", count_in(row.at("rank")), count_in(row.at("ranks")),
                       program_words(row["program"]));
  } catch (const nlohmann::json::exception&) {
    return std::string(parameters);
  }
}

/// Whether the reason has all of the text: "got 0x5" is another value than "got 0x5a".
bool has_whole(const std::string& reason, const std::string& text) {
  const std::size_t at = text.empty() ? reason.npos : reason.find(text);
  return at != reason.npos &&  // a string has a 0 behind its last character
         std::isalnum(static_cast<unsigned char>(reason[at + text.size()])) == 0;
}

void add_miscompares(Finding& made, const Report& report, const ResultGroup& group) {
  made.most_more = {.terminal = 1, .page = 16, .review = 0};
  made.more_what = "miscompare";
  made.folds = true;
  for (const std::uint32_t index : group.miscompares) {
    const MiscompareRow& row = report.miscompares[index];
    const std::string text = text_of(report, row);
    // The reason is mostly the first miscompare.
    const bool is_reason = has_whole(group.reason, named_sms(text).text);
    made.more.push_back(
        {.text = {fmt::format("row {} {}: {}{} wrong bytes from offset {}", row.row,
                              row_words(report.text(row.parameters)),
                              is_reason ? "" : fmt::format("{}: {}; ", report.text(row.what), text),
                              grouped(row.wrong_bytes), grouped(row.first_offset))}});
  }
}

Finding finding_of(const Report& report, const ResultGroup& group, const ShowOptions& options) {
  const ResultRow& first = report.results[group.results.front()];
  const bool listed = is_listed(group.verdict);
  Finding made{.tone = tone_of(group.verdict),
               .heading = upper(name_of(group.verdict)),
               .most_names = options.all ? group.cases.size() : 8};
  for (const std::uint32_t id : group.cases) made.names.emplace_back(report.cases[id].name.view());
  if (group.gpus.size() == 1) {
    made.text = {"on ", place_of(report, group.gpus.front())};
  } else {
    made.text = {ours(fmt::format("on {} GPUs: {}", group.gpus.size(), ranges(group.gpus)))};
    if (!listed) {
      made.text.insert(made.text.end(), {"; first ", place_of(report, first.gpu_id)});
    }
  }
  if (group.verdict == Verdict::pass) return made;
  made.why.push_back({group.reason.empty() ? "no reason was given" : group.reason});
  if (const std::string ending = ending_of(first); !ending.empty()) made.why.push_back({ending});
  if (listed) return made;
  add_miscompares(made, report, group);
  for (const Command& command :
       {Command{"replay", replay_command(report, first)},
        Command{"program", program_command(options, group.results.front())}})
    if (!command.command.empty()) made.commands.push_back(command);
  return made;
}

Section findings_of(const Report& report, const ShowOptions& options) {
  Section made{.id = "findings",
               .heading = "What did not pass",
               .link = "what did not pass",
               .bytes = 27'000};
  const auto add = [&](const std::vector<ResultGroup>& groups, Readers who) {
    const auto finding = [&report, options, groups](std::size_t i) {
      return finding_of(report, groups[i], options);
    };
    made.add(List{groups.size(), kMost, "finding", finding}, who);
    return !groups.empty();
  };
  add(result_groups(report, options.all, options.all), kAtTerminal);
  if (!add(result_groups(report, false, true), kNotAtTerminal))
    made.add(Line{.as = Line::As::paragraph, .text = {"Everything that was planned passed."}},
             kOnPage);
  return made;
}

Section waivers_of(const Report& report) {
  // A policy file allows no longer texts; a report may hold anything.
  constexpr std::size_t kLongest = 1500;
  Section made{.id = "waivers", .heading = "Waivers", .bytes = 2'500};
  for (const WaiverLedger::Line& waiver : waiver_lines(report))
    made.add(
        waiver_line(waiver.text.substr(0, kLongest) + (waiver.text.size() > kLongest ? "..." : ""),
                    waiver.attention));
  return made;
}

Section outliers_section(const Report& report) {
  Section made{.id = "outliers", .heading = "GPUs against each other", .bytes = 2'500};
  const Outliers outliers = outliers_of(report);
  if (outliers.metrics == 0) return made;
  const std::string where =
      fmt::format("{} over {}{}", plural(outliers.metrics, "metric"), plural(outliers.gpus, "GPU"),
                  report.launch.is_virtual ? " of the VIRTUAL device" : "");
  made.add(Line{
      .as = Line::As::paragraph,
      .text = {ours(outliers.groups.empty() ? "no GPU lies apart from the others in " + where
                                            : fmt::format("GPUs that lie apart, in {}:", where))}});
  const auto line = [groups = outliers.groups](std::size_t i) {
    constexpr std::size_t kWord = 6;  // SLOWER, FASTER
    return Line{.text = {text_of(groups[i])},
                .heading = kWord,
                .tone = groups[i].slower ? Tone::warn : Tone::good,
                .indent = kIndent};
  };
  made.add(List{outliers.groups.size(), kMost, "group of GPUs", line});
  return made;
}

}  // namespace

Summary summary_of(const Report& report) {
  Summary made;
  made.planned = report.results.size();
  bool failed = false, lacking = !report.launch.complete;
  for (const ResultRow& result : report.results) {
    ++made.verdicts[static_cast<std::size_t>(result.verdict)];
    failed = failed || is_bad(result.verdict);  // only a strict launch has unexpected_pass
    lacking = lacking || is_lacking(result.verdict);
  }
  lacking = lacking || made.verdicts[static_cast<std::size_t>(Verdict::pass)] == 0;
  made.word = failed ? "FAIL" : lacking ? "INCOMPLETE" : "PASS";
  made.tone = failed ? Tone::bad : lacking ? Tone::warn : Tone::good;
  return made;
}

std::string program_command(const ShowOptions& options, std::uint32_t result_id) {
  return options.replayed_by ? options.replayed_by(result_id) : std::string();
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::pass) return Tone::good;
  return is_quiet(verdict) ? Tone::warn : Tone::bad;
}

std::string text_of(const Report& report, const MiscompareRow& row) {
  const std::string_view text = report.text(row.text);
  return text.empty() ? fmt::format("expected {:#04x}, got {:#04x}", row.expected, row.actual)
                      : std::string(text);
}

std::string place_of(const Report& report, std::uint32_t gpu_id) {
  constexpr std::size_t kUuidDigits = 12;  // "GPU-" and eight digits tell the GPUs of a fleet apart
  const GpuRow& gpu = report.gpus[gpu_id];
  if (gpu.reported == 0) return fmt::format("GPU {} (never reported)", gpu_id);
  const std::string_view host = host_of(report, gpu_id), uuid = gpu.uuid.view();
  const bool hashed = uuid.starts_with("GPU-anon-");
  return fmt::format("GPU {} ({}{}slot {}, {})", gpu_id, host, gpu.node_id == kNoRow ? "" : ", ",
                     gpu.local_index, hashed ? uuid : uuid.substr(0, kUuidDigits));
}

std::string_view host_of(const Report& report, std::uint32_t gpu_id) {
  const std::uint32_t node = report.gpus[gpu_id].node_id;
  return node == kNoRow ? "" : report.text(report.nodes[node].hostname);
}

Document document_of(const Report& report, const ShowOptions& options) {
  const Summary summary = summary_of(report);
  const LaunchRow& launch = report.launch;
  Document made{.verb = "show",
                .title = "tidemark report",
                .word = std::string(summary.word),
                .tone = summary.tone,
                .is_virtual = launch.is_virtual,
                .scope = fmt::format(
                    "{} x {}: {} ({} planned)", plural(report.cases.size(), "case"),
                    plural(launch.gpus, "GPU"), counts_of(summary), grouped(summary.planned)),
                .window = fmt::format("tidemark {}{}: {}", summary.word,
                                      launch.is_virtual ? " (VIRTUAL)" : "", launch.created_utc)};
  made.head.bytes = 2'500;
  add_head(made.head, report, summary);
  made.sections.push_back(findings_of(report, options));
  made.sections.push_back(map_of(report, options));
  made.sections.push_back(sm_maps_of(report, options));
  made.sections.push_back(waivers_of(report));
  made.sections.push_back(outliers_section(report));
  made.sections.push_back(measured_section(report, options));
  made.sections.push_back(cases_of(report, options));
  made.sections.push_back(notes_of(report, options));
  made.sections.push_back(events_of(report));
  made.sections.push_back(origin_of(report, options));
  return made;
}

}  // namespace tidemark
