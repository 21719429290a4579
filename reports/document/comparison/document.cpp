// Puts what a comparison found in order; what changed comes first.
#include "reports/document/comparison/document.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/base/words.hpp"

namespace tidemark {
namespace {

constexpr Most kMost = {.terminal = 30, .page = 300};  // of a kind
constexpr std::size_t kIndent = 5;

Tone tone_of(std::string_view headline) {
  if (headline == "SAME" || headline == "IMPROVED" || headline == "NO REGRESSION FOUND")
    return Tone::good;
  return headline == "REGRESSION" ? Tone::bad : Tone::warn;
}

Tone tone_of(SpeedVerdict verdict, bool waived = false) {
  if (waived) return Tone::warn;
  if (verdict == SpeedVerdict::regressed) return Tone::bad;
  return verdict == SpeedVerdict::improved ? Tone::good : Tone::quiet;
}

void add_head(Document& made, const Comparison& comparison) {
  made.head.add(Line{.text = {"cause: ", cause_text(comparison)}, .indent = 7});
  if (made.is_virtual) made.head.add(virtual_banner());
  for (const std::string& line : warnings_of(comparison)) {
    made.head.add(warning(line, line.find(':') + 1));
  }
  made.head.add(Line{.text = {ours(results_text(comparison))}});
  made.head.add(Line{.text = {ours(speed_text(comparison))}});
  if (const std::string more = more_launches_text(comparison); !more.empty()) {
    made.head.add(Line{.text = {ours(more)}});
  }
}

Finding finding_of(const Comparison& comparison, const ChangeGroup& group) {
  const bool bad = group.kind == ChangeKind::new_fail || group.kind == ChangeKind::flaky;
  Finding made{.tone = bad                   ? Tone::bad
                       : is_good(group.kind) ? Tone::good
                                             : Tone::warn,
               .heading = heading_of(group.kind),
               .text = {"on ", place_of(comparison.pairing, group.gpus)}};
  if (group.cases.size() == comparison.pairing.cases.size() && group.cases.size() > 1) {
    made.names = {fmt::format("all {} cases", grouped(group.cases.size()))};
  } else {
    for (const std::uint32_t which : group.cases) {
      made.names.push_back(comparison.pairing.cases[which]);
    }
  }
  const Evidence* evidence = evidence_of(comparison, group);
  if (evidence == nullptr || is_good(group.kind)) return made;
  made.why.push_back({evidence->reason});
  if (!evidence->replay.empty()) made.commands.push_back({"replay", evidence->replay});
  return made;
}

std::string codes_text(const AnswerChange& change, const std::set<std::int64_t>& answers) {
  std::vector<std::string> words;
  words.reserve(answers.size());
  for (const std::int64_t answer : answers)
    words.push_back(change.unit != kAnswerCode ? fmt::format("{}", answer)
                    : answer == 0              ? "accepted"
                                               : fmt::format("error {}", answer));
  if (words.empty()) return "no answer";
  return some_of(words, 4, "answer");
}

std::string bits_text(const std::array<std::uint8_t, 128>& bits) {
  std::vector<std::string> bytes;
  for (std::size_t byte = 0; byte < bits.size(); ++byte) {
    std::vector<std::string> some;
    for (unsigned bit = 0; bit < 8; ++bit)
      if ((bits[byte] >> bit & 1) != 0) some.push_back(std::to_string(bit));
    if (!some.empty())
      bytes.push_back(fmt::format("bit{} {} of byte {}", some.size() == 1 ? "" : "s",
                                  fmt::join(some, " "), byte));
  }
  return some_of(bytes, 4, "byte");
}

std::string_view heading_of(const AnswerChange& change) {
  return change.of_maps() ? "TENSOR MAPS" : change.unit == kAnswerCode ? "ANSWERED" : "DRIVER";
}

}  // namespace

std::string text_of(const Comparison& comparison, const AnswerChange& change) {
  const std::string from_to = change.of_maps()
                                  ? fmt::format("{} differ", bits_text(change.bits))
                                  : fmt::format("{} -> {}", codes_text(change, change.base),
                                                codes_text(change, change.fresh));
  if (change.unit != kAnswerCode)
    return fmt::format("{} {}, {}: {}{}{} on {}", heading_of(change), change.subject,
                       change.question, from_to, change.unit.empty() ? "" : " ", change.unit,
                       place_of(comparison.pairing, change.gpus));
  return fmt::format("{} {} of {}{}{}: {}; first {}: {}", heading_of(change),
                     grouped(change.questions), plural(change.similar, "call"),
                     change.in_common.empty() ? "" : " with ", fmt::join(change.in_common, ", "),
                     from_to, change.subject, change.question);
}

namespace {

Section changes_of(const Comparison& comparison) {
  Section made{.id = "changed", .heading = "What changed", .link = "what changed", .bytes = 32'000};
  const auto& groups = comparison.conformance.groups;
  made.add(List{groups.size(), kMost, "change", [&comparison, &groups](std::size_t i) {
                  return finding_of(comparison, groups[i]);
                }});
  const std::vector<AnswerChange>& answers = comparison.answers.changes;
  const auto answer = [&comparison, &answers](std::size_t i) {
    return Line{.text = {text_of(comparison, answers[i])},
                .heading = heading_of(answers[i]).size(),
                .tone = Tone::warn,
                .indent = kIndent};
  };
  made.add(List{answers.size(), kMost, "answer", answer});
  if (const std::size_t more = comparison.answers.unlisted; more > 0)
    made.add(Line{.text = {fmt::format("and {} that changed otherwise", plural(more, "answer"))},
                  .indent = kIndent});
  if (groups.empty() && answers.empty()) {
    made.add(Line{.as = Line::As::paragraph, .text = {"No result changed."}}, kOnPage);
  }
  return made;
}

Line line_of(const Comparison& comparison, const SpeedFinding& finding, bool why = true) {
  return {.text = {text_of(comparison, finding, why)},
          .heading = heading_of(finding).size(),
          .tone = tone_of(finding.verdict, finding.waived),
          .indent = kIndent};
}

/// Metrics that could not be compared for the same reason are one line.
void add_not_compared(Section& made, const Comparison& comparison,
                      const std::vector<const SpeedFinding*>& findings) {
  std::map<std::string, std::vector<const SpeedFinding*>> by_reason;
  for (const SpeedFinding* finding : findings) by_reason[finding->why].push_back(finding);
  for (const auto& [why, alike] : by_reason) {
    if (alike.size() == 1) {
      made.add(line_of(comparison, *alike.front()), kAtTerminal);
      continue;
    }
    std::vector<std::string> names;
    for (const SpeedFinding* finding : alike) {
      names.push_back(name_of(comparison, finding->of_case, finding->metric));
    }
    made.add(Line{.text = {fmt::format("{} {}; {}", heading_of(*alike.front()),
                                       some_of(names, 4, "metric"), why)},
                  .indent = kIndent},
             kAtTerminal);
  }
}

/// The metrics one by one: of a terminal, which has no table of them.
void add_series(Section& made, const Comparison& comparison, const ShowOptions& options) {
  std::vector<const SpeedFinding*> shown = speed_in_order(comparison, options.all), not_compared;
  if (!options.all) {
    // The last in order.
    const auto first = std::ranges::find(shown, SpeedVerdict::not_compared, &SpeedFinding::verdict);
    not_compared.assign(first, shown.end());
    shown.erase(first, shown.end());
  }
  std::map<std::string, std::size_t> reasons;  // said once for all that share it
  for (const SpeedFinding* finding : shown) {
    if (!finding->why.empty()) ++reasons[finding->why];
  }
  const auto line = [&comparison, shown, reasons](std::size_t i) {
    const auto why = reasons.find(shown[i]->why);
    return line_of(comparison, *shown[i], why != reasons.end() && why->second == 1);
  };
  made.add(List{shown.size(), kMost, "metric", line}, kAtTerminal);
  for (const auto& [why, times] : reasons) {
    if (times > 1) {
      made.add(
          Line{.text = {fmt::format("{} of these: {}", grouped(times), why)}, .indent = kIndent},
          kAtTerminal);
    }
  }
  add_not_compared(made, comparison, not_compared);
}

/// What all cases share, and GPUs that changed unlike the others.
void add_shared(Section& made, const Comparison& comparison, Readers readers) {
  if (const std::string shared = shared_text(comparison); !shared.empty()) {
    made.add(Line{.text = {shared},
                  .heading = shared.find(" by "),
                  .tone = tone_of(comparison.speed.shared),
                  .indent = kIndent},
             readers);
  }
  for (const GpuFindings& group : gpu_findings(comparison)) {
    made.add(Line{.text = {text_of(comparison, group)},
                  .heading = heading_of(group).size(),
                  .tone = tone_of(group.verdict, group.waived),
                  .indent = kIndent},
             readers);
  }
}

/// What is sure of speed stands among the changes of a page; what is not beside its plot.
void add_sure_speed(Section& made, const Comparison& comparison) {
  add_shared(made, comparison, kOnPage);
  std::vector<const SpeedFinding*> sure = speed_in_order(comparison, false);
  std::erase_if(sure, [](const SpeedFinding* finding) { return !is_change(finding->verdict); });
  const auto line = [&comparison, sure](std::size_t i) { return line_of(comparison, *sure[i]); };
  made.add(List{sure.size(), kMost, "metric", line}, kOnPage);
}

Section speed_of(const Comparison& comparison, const ShowOptions& options) {
  Section made{.id = "speed", .heading = "Speed", .link = "speed", .bytes = 16'000};
  add_shared(made, comparison, kNotOnPage);
  add_series(made, comparison, options);
  if (const std::string smallest = smallest_text(comparison); !smallest.empty()) {
    made.add(Line{.as = Line::As::muted, .text = {ours(smallest)}});
  }
  add_speed(made, comparison, options);
  return made;
}

Section waivers_of(const Comparison& comparison) {
  Section made{.id = "waivers", .heading = "Waivers", .bytes = 2'000};
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    made.add(waiver_line(waiver.text, waiver.attention));
  }
  return made;
}

Section setup_of(const Comparison& comparison) {
  Section made{
      .id = "setup", .heading = "What else differs", .link = "what else differs", .bytes = 5'000};
  const std::vector<SetupDifference>& all = comparison.setup.differences;
  if (all.empty()) {
    made.add(Line{.text = {"setup: nothing recorded differs"}}, kAtTerminal);
    made.add(Line{.text = {"Nothing that was recorded differs."}}, kNotAtTerminal);
  }
  TextTable table{.id = "differences",
                  .label = "what differs",
                  .columns = headings({"is", "what", "before", "after", ">GPUs"})};
  for (const SetupDifference& one : all) {
    const std::string_view role = role_of(one);
    table.rows.push_back(
        {{.text = std::string(role), .tone = role == "confounder" ? Tone::warn : Tone::quiet},
         text_cell(one.factor),
         text_cell(one.base),
         text_cell(one.fresh),
         one.gpus == 0 ? text_cell("launch") : count_cell(one.gpus)});
    Line line{
        .text = {ours(std::string(role) + " "), one.factor, ": ", one.base, " -> ", one.fresh},
        .indent = kIndent};
    if (one.gpus > 0) line.text.push_back(ours(fmt::format("  ({})", plural(one.gpus, "GPU"))));
    made.add(std::move(line), kNotOnPage);
  }
  if (!table.rows.empty()) made.add(std::move(table), kOnPage);
  for (const std::string& note : notes_of(comparison)) {
    made.add(Line{.text = {"note: ", note}, .indent = 6});
  }
  return made;
}

Section launches_of(const Comparison& comparison) {
  TextTable table{.id = "reports",
                  .label = "launches",
                  .columns = headings({"side", "report", "began", "level", ">GPUs", ">pass",
                                       ">planned", "complete", "run"})};
  const Pairing& pairing = comparison.pairing;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const LaunchFacts& facts = *pairing.launches[i];
    const auto passed = std::ranges::count(facts.verdicts, Verdict::pass);
    table.rows.push_back(
        {text_cell(i < pairing.base ? "before" : "after"), code_cell(facts.path),
         text_cell(facts.launch.created_utc), text_cell(facts.launch.level),
         count_cell(facts.gpus.size()), count_cell(static_cast<std::size_t>(passed)),
         count_cell(facts.verdicts.size()), text_cell(facts.launch.complete ? "yes" : "no"),
         text_cell(facts.launch.run_id)});
  }
  return {.id = "launches",
          .heading = "Launches",
          .link = "launches",
          .blocks = {std::move(table)},
          .readers = kOnPage};
}

/// Floors that are not the default; smaller changes are not reported. The globs are in the policy.
std::string floor_text(const SpeedPolicy& policy) {
  constexpr double kDefault = SpeedPolicy{}.floor;
  std::string made;
  if (policy.floor != kDefault) made = fmt::format(", floor {:g} %", 100 * policy.floor);
  const auto more =
      std::ranges::count_if(policy.floors, [](const auto& one) { return one.floor != kDefault; });
  if (more > 0)
    made += fmt::format(", {} of cases", plural(static_cast<std::size_t>(more), "other floor"));
  return made;
}

}  // namespace

Document document_of(const Comparison& comparison, const ShowOptions& options) {
  const std::string word(headline_of(comparison));
  const bool is_virtual = comparison.pairing.launches.front()->launch.is_virtual;
  const std::string resolution = resolution_text(comparison);
  Document made{
      .verb = "compare",
      .title = "tidemark comparison",
      .word = word,
      .tone = tone_of(word),
      .is_virtual = is_virtual,
      .action = resolution + (resolution.empty() ? "" : ": ") + action_text(comparison),
      .scope = fmt::format("{} x {}, {}{}", plural(comparison.pairing.cases.size(), "case"),
                           plural(comparison.paired_gpus, "paired GPU"), launches_text(comparison),
                           floor_text(comparison.speed.policy)),
      .window = fmt::format("tidemark comparison: {}{}", word, is_virtual ? " (VIRTUAL)" : "")};
  add_head(made, comparison);
  made.sections.push_back(changes_of(comparison));
  add_sure_speed(made.sections.back(), comparison);
  made.sections.push_back(map_of(comparison, options));
  made.sections.push_back(speed_of(comparison, options));
  made.sections.push_back(waivers_of(comparison));
  made.sections.push_back(setup_of(comparison));
  made.sections.push_back(launches_of(comparison));
  return made;
}

}  // namespace tidemark
