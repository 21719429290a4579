// A comparison for programs: as CSV, as JSON, and as tests.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/document/comparison/document.hpp"

namespace tidemark {

// A comparison as CSV: a line each case and GPU, each metric, and each metric of GPUs that changed
// unlike the others.

namespace {

SheetNumber digits(double number) { return SheetNumber(number, "{:.7g}"); }

SheetNumber percent_of(double logarithm) { return digits(100 * std::expm1(logarithm)); }

/// Launches of a side by what they said.
void set_counts(Sheet& sheet, const SideCount& side, const std::string& of) {
  sheet.set(of + "_pass", side.pass + side.unexpected, of + "_bad", side.bad, of + "_waived",
            side.waived, of + "_missing", side.lacking, of + "_skipped", side.skipped);
}

void set_gpu(Sheet& sheet, const PairedGpu& gpu) {
  sheet.set("node", gpu.node, "gpu", gpu.key, "gpu_number", gpu.number);
}

void add_results(Sheet& sheet, const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  const std::size_t gpus = pairing.gpus.size();
  std::vector<std::string> kinds(pairing.cases.size() * gpus);
  for (const ChangeGroup& group : comparison.conformance.groups) {
    for (const std::uint32_t which : group.cases) {
      for (const std::uint32_t gpu : group.gpus) {
        std::string& names = kinds[which * gpus + gpu];
        names += fmt::format("{}{}", names.empty() ? "" : " ", name_of(group.kind));
      }
    }
  }
  for (std::size_t which = 0; which < pairing.cases.size(); ++which) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      const SideCount base = count_of(pairing, which, gpu, false);
      const SideCount fresh = count_of(pairing, which, gpu, true);
      const std::string& names = kinds[which * gpus + gpu];
      // Neither side ever planned it: nothing was found, and nothing is the same.
      const bool known = base.lacking < pairing.base || fresh.lacking < pairing.fresh();
      if (names.empty() && !known) continue;
      const bool left_out = !pairing.is_paired(gpu) || comparison.conformance.new_cases.contains(
                                                           static_cast<std::uint32_t>(which));
      sheet.begin("line", "result", "case", pairing.cases[which], "finding",
                  !names.empty() ? names
                  : left_out     ? "left_out"
                                 : "same");
      set_gpu(sheet, pairing.gpus[gpu]);
      set_counts(sheet, base, "base");
      set_counts(sheet, fresh, "new");
      sheet.add_line();
    }
  }
}

/// As the table of a page has them.
void add_metrics(Sheet& sheet, const Comparison& comparison) {
  for (const SpeedFinding* finding : speed_in_order(comparison, true)) {
    sheet.begin("line", "metric");
    const std::vector<Cell> row = row_of(comparison, *finding);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto& [heading, name] = kSpeedColumns[i];
      if (name.empty()) continue;
      if (heading.starts_with('>')) {
        sheet.set(name, digits((name.ends_with("_percent") ? 100 : 1) * row[i].order));
      } else {
        sheet.set(name, row[i].text);
      }
    }
    sheet.add_line();
  }
}

void add_gpu_metrics(Sheet& sheet, const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  for (const GpuFinding& finding : comparison.speed.gpus) {
    for (std::size_t i = 0; i < finding.gpus.size(); ++i) {
      const GpuChange& change = finding.changes[i];
      const bool in_all = finding.of_case == kAllMetrics;
      sheet.begin("line", "gpu_metric", "case", in_all ? "" : pairing.cases[finding.of_case],
                  "metric", finding.metric, "finding",
                  fmt::format("{}{}", finding.waived ? "waived " : "", name_of(finding.verdict)));
      set_gpu(sheet, pairing.gpus[finding.gpus[i]]);
      sheet.add_line("total_percent", percent_of(change.total), "own_percent",
                     percent_of(change.own.effect), "margin_95_percent",
                     percent_of(change.own.margin()), "q", digits(change.own.q));
    }
  }
}

void add_answers(Sheet& sheet, const Comparison& comparison) {
  for (const AnswerChange& change : comparison.answers.changes) {
    sheet.begin("line", "answer", "finding", "answers_changed");
    sheet.add_line("why", text_of(comparison, change));
  }
}

Sheet sheet_of(const Comparison& comparison) {
  Sheet sheet(
      "line,case,metric,node,gpu,gpu_number,finding,base_pass,base_bad,base_waived,base_missing,"
      "base_skipped,new_pass,new_bad,new_waived,new_missing,new_skipped,base,new,unit,"
      "total_percent,own_percent,margin_95_percent,reference,q,floor_percent,"
      "smallest_seen_percent,gpus,why");
  add_results(sheet, comparison);
  add_metrics(sheet, comparison);
  add_gpu_metrics(sheet, comparison);
  add_answers(sheet, comparison);
  return sheet;
}

// A comparison as JSON.

OrderedJson launch_json(const LaunchFacts& launch) {
  return object("path", launch.path, "run_id", launch.launch.run_id, "created_utc",
                launch.launch.created_utc, "complete", launch.launch.complete, "slowed",
                launch.slowed);
}

OrderedJson effect_of(const Effect& effect) {
  return object("effect", effect.effect, "margin_95", effect.margin(), "spread", effect.spread,
                "standard_error", effect.standard_error, "degrees", effect.degrees, "p", effect.p,
                "q", effect.q, "base_launches", effect.base, "new_launches", effect.fresh);
}

OrderedJson difference_json(const SetupDifference& one) {
  return object("factor", one.factor, "base", one.base, "new", one.fresh, "gpus", one.gpus,
                "subject", one.subject, "allowed", one.allowed, "idle", one.idle);
}

OrderedJson cases_json(const Pairing& pairing, const auto& cases) {
  return array(cases, [&](std::uint32_t which) { return pairing.cases[which]; });
}

OrderedJson gpus_json(const Pairing& pairing, const std::vector<std::uint32_t>& gpus) {
  return array(gpus, [&](std::uint32_t gpu) { return pairing.gpus[gpu].key; });
}

OrderedJson speed_json(const Comparison& comparison, const SpeedFinding& finding) {
  // "noise": as without a stored one, which older versions took.
  return object("case", comparison.pairing.cases[finding.of_case], "metric", finding.metric, "unit",
                finding.unit, "higher_is_better", finding.higher_is_better, "verdict",
                name_of(finding.verdict), "waived", finding.waived, "why", finding.why, "base",
                finding.base_value, "new", finding.fresh_value, "own", effect_of(finding.own),
                "total", finding.total, "loss_limit", finding.loss_limit, "reference",
                finding.reference, "floor", finding.floor, "noise", nullptr, "launches_needed",
                finding.launches_needed, "smallest_seen", finding.smallest_seen,
                "smallest_by_stored_noise", nullptr, "gpus", finding.gpus, "gpus_left_out",
                finding.gpus_left_out);
}

OrderedJson gpu_speed_json(const Comparison& comparison, const GpuFinding& finding) {
  const Pairing& pairing = comparison.pairing;
  const auto change = [](const GpuChange& of) {
    return object("total", of.total, "own", effect_of(of.own));
  };
  const auto [least, most] = finding.range();
  const bool in_all = finding.of_case == kAllMetrics;
  return object("case", in_all ? OrderedJson() : OrderedJson(pairing.cases[finding.of_case]),
                "metric", in_all ? OrderedJson() : OrderedJson(finding.metric), "verdict",
                name_of(finding.verdict), "waived", finding.waived, "place",
                place_of(pairing, finding.gpus), "gpus", gpus_json(pairing, finding.gpus),
                "changes", array(finding.changes, change), "by_itself", finding.alone, "least",
                least, "most", most);
}

OrderedJson counts_json(const ConformanceComparison& all) {
  OrderedJson made;
  for (std::size_t i = 0; i < kChangeKinds; ++i)
    made[std::string(kChangeKindNames[i])] = all.counts[i];
  made.update(object("compared", all.compared, "left_out", all.left_out, "passed_in_both",
                     all.passed_in_both, "descriptors_unjudged", all.descriptors_unjudged));
  return made;
}

OrderedJson json_of(const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  const SetupComparison& setup = comparison.setup;
  const ConformanceComparison& conformance = comparison.conformance;
  const char* const cause = setup.cause == Cause::driver       ? "driver"
                            : setup.cause == Cause::confounded ? "confounded"
                                                               : "nothing_recorded";
  const auto failing = [&](const FailingMore& one) {
    return object("case", pairing.cases[one.of_case], "base_failed", one.base.failed,
                  "base_launches", one.base.ran, "new_failed", one.fresh.failed, "new_launches",
                  one.fresh.ran, "more_launches", one.more_launches);
  };
  const auto change = [&](const ChangeGroup& group) {
    return object("kind", name_of(group.kind), "place", place_of(pairing, group.gpus), "cases",
                  cases_json(pairing, group.cases), "gpus", gpus_json(pairing, group.gpus));
  };
  const auto waiver = [](const WaiverLedger::Line& line) {
    return object("text", line.text, "attention", line.attention);
  };
  const auto answer = [&](const AnswerChange& one) {
    OrderedJson bytes = OrderedJson::object();
    for (std::size_t i = 0; i < one.bits.size(); ++i)
      if (one.bits[i] != 0) bytes[std::to_string(i)] = one.bits[i];
    return object("unit", one.unit, "base", one.base, "new", one.fresh, "bits_by_byte", bytes,
                  "in_common", one.in_common, "questions", one.questions, "similar", one.similar,
                  "subject", one.subject, "question", one.question, "gpus",
                  gpus_json(pairing, one.gpus));
  };
  OrderedJson shared = effect_of(comparison.speed.effects.shared);
  shared["verdict"] = name_of(comparison.speed.shared);
  return object(
      "result", headline_of(comparison), "action", action_text(comparison), "cause", cause,
      "cause_text", cause_text(comparison), "virtual", pairing.launches.front()->launch.is_virtual,
      "findings", findings_of(comparison), "base", array(comparison.base, launch_json), "new",
      array(comparison.fresh, launch_json), "paired_gpus", comparison.paired_gpus, "incomplete",
      comparison.incomplete, "warnings", warnings_of(comparison), "setup",
      object("differences", array(setup.differences, difference_json), "remarks", setup.remarks),
      "counts", counts_json(conformance), "failing_more", array(conformance.failing_more, failing),
      "new_cases", cases_json(pairing, conformance.new_cases), "behaviours_unjudged",
      cases_json(pairing, conformance.behaviours_unjudged), "changes",
      array(conformance.groups, change), "waivers", array(comparison.waivers, waiver), "shared",
      shared, "speed", array(comparison.speed.series, speed_json, comparison), "gpu_speed",
      array(comparison.speed.gpus, gpu_speed_json, comparison), "answers_compared",
      comparison.answers.compared, "answers_unlisted", comparison.answers.unlisted, "answers",
      array(comparison.answers.changes, answer));
}

// A comparison as tests: a suite of the kinds of findings, a suite of the cases. What the
// exit code fails on fails here, too.

constexpr std::size_t kLongest = 400;  // characters of a message; CI shows it in a line

/// Something found, of a case or of the comparison as a whole.
struct Found {
  std::string name;  // as findings_of has it
  std::string text;  // a line, or several
};

TestOutcome outcome_of(const std::string& finding, const std::set<std::string>& fail_on) {
  constexpr std::array kGood = {"improved", "fixed", "run_in_new"};
  const bool good = std::ranges::find(kGood, finding) != kGood.end();
  if (!fail_on.contains(finding)) return good ? TestOutcome::passed : TestOutcome::skipped;
  return failing_of(finding) == Failing::missing ? TestOutcome::error : TestOutcome::failed;
}

TestCase case_of(const std::string& class_name, const std::string& name,
                 const std::vector<Found>& found, const std::set<std::string>& fail_on) {
  TestCase made{.class_name = class_name, .name = name, .outcome = TestOutcome::passed};
  for (const Found& each : found) {
    const TestOutcome outcome = outcome_of(each.name, fail_on);
    made.text += each.text + "\n";
    if (outcome >= made.outcome) continue;
    made.outcome = outcome;
    made.type = each.name;
    made.message = each.text.substr(0, std::min(kLongest, each.text.find('\n')));
    if (outcome == TestOutcome::skipped && each.name != "waived" && each.name != "left_out") {
      made.message += " (found, and --fail-on does not name it)";
    }
  }
  return made;
}

/// What was found of each case, by its index.
std::map<std::uint32_t, std::vector<Found>> found_of_cases(const Comparison& comparison) {
  std::map<std::uint32_t, std::vector<Found>> made;
  for (const ChangeGroup& group : comparison.conformance.groups) {
    const Evidence* evidence = evidence_of(comparison, group);
    std::string text =
        fmt::format("{} on {}", heading_of(group.kind), place_of(comparison.pairing, group.gpus));
    if (evidence != nullptr && !is_good(group.kind)) {
      text += ": " + evidence->reason;
      if (!evidence->replay.empty()) text += "\n  replay: " + evidence->replay;
    }
    for (const std::uint32_t which : group.cases) {
      made[which].push_back({std::string(name_of(group.kind)), text});
    }
  }
  const std::set<std::uint32_t>& new_cases = comparison.conformance.new_cases;
  for (const std::uint32_t which : new_cases) {
    made[which].push_back({"left_out", "new in the suite of the new side"});
  }
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (is_kept(finding.verdict) || new_cases.contains(finding.of_case)) continue;
    // What moved with all the others is what they share: slower, as a rule.
    const SpeedVerdict verdict =
        finding.verdict == SpeedVerdict::with_all ? comparison.speed.shared : finding.verdict;
    const bool named = is_change(verdict);
    made[finding.of_case].push_back({finding.waived ? "waived"
                                     : named        ? std::string(name_of(verdict))
                                                    : "inconclusive",
                                     text_of(comparison, finding)});
  }
  for (const GpuFindings& group : gpu_findings(comparison)) {
    if (!is_change(group.verdict)) continue;
    for (const GpuFinding* finding : group.findings) {
      if (finding->of_case == kAllMetrics) continue;
      made[finding->of_case].push_back(
          {group.waived ? "waived" : std::string(name_of(group.verdict)),
           text_of(comparison, group)});
    }
  }
  return made;
}

/// Of the comparison as a whole: what is said of no single case, and every kind of finding by name.
TestSuite findings_suite(const Comparison& comparison, const std::set<std::string>& fail_on) {
  const std::set<std::string> found = findings_of(comparison);
  std::map<std::string, std::string> texts;
  for (const std::string& why : comparison.incomplete) texts["incomplete"] += "; " + why;
  if (comparison.paired_gpus == 0) texts["missing_in_new"] += fmt::format("; {}", kNoPairedGpu);
  const SpeedVerdict shared = comparison.speed.shared;
  if (!is_kept(shared) && shared != SpeedVerdict::not_compared) {
    const bool named = shared != SpeedVerdict::ambiguous;
    texts[named ? std::string(name_of(shared)) : "inconclusive"] += "; " + shared_text(comparison);
  }
  for (const GpuFindings& group : gpu_findings(comparison)) {
    if (is_change(group.verdict) && group.findings.front()->of_case == kAllMetrics)
      texts[group.waived ? "waived" : std::string(name_of(group.verdict))] +=
          "; " + text_of(comparison, group);
  }
  for (const AnswerChange& change : comparison.answers.changes)
    texts["answers_changed"] += "; " + text_of(comparison, change);
  if (comparison.answers.unlisted > 0)
    texts["answers_changed"] +=
        fmt::format("; and {} more", plural(comparison.answers.unlisted, "answer"));
  texts["inconclusive"] += "; cause: " + cause_text(comparison);
  for (const std::string& more : failing_more_texts(comparison))
    texts["inconclusive"] += "; " + more;
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    if (waiver.attention) texts["stale_waiver"] += "; waiver " + waiver.text;
  }
  TestSuite made{.name = "tidemark compare",
                 .properties = {{"result", std::string(headline_of(comparison))},
                                {"action", action_text(comparison)},
                                {"cause", cause_text(comparison)}}};
  made.timestamp = without_zone(comparison.fresh.back().launch.created_utc);
  for (const std::string& name : expanded({"all"})) {
    if (expanded({name}) != std::set<std::string>{name}) continue;  // stands for several
    std::vector<Found> one;
    if (found.contains(name))
      one.push_back({name, name + texts[name] + "; which cases, the tests below say"});
    made.cases.push_back(case_of("tidemark.compare", "--fail-on " + name, one, fail_on));
  }
  return made;
}

std::vector<TestSuite> tests_of(const Comparison& comparison,
                                const std::set<std::string>& fail_on) {
  TestSuite cases{.name = "cases"};
  const std::map<std::uint32_t, std::vector<Found>> found = found_of_cases(comparison);
  for (std::uint32_t i = 0; i < comparison.pairing.cases.size(); ++i) {
    const auto at = found.find(i);
    cases.cases.push_back(case_of("tidemark.case", comparison.pairing.cases[i],
                                  at == found.end() ? std::vector<Found>{} : at->second, fail_on));
  }
  std::vector<TestSuite> suites = {findings_suite(comparison, fail_on), std::move(cases)};
  suites.back().timestamp = suites.front().timestamp;
  if (comparison.pairing.launches.front()->launch.is_virtual) {
    for (TestSuite& suite : suites) {
      for (TestCase& one : suite.cases) skip_virtual(one);
    }
  }
  return suites;
}

}  // namespace

Views views_of(const Comparison& comparison, const ShowOptions& options) {
  return {.name = "tidemark compare",
          .document = [&] { return document_of(comparison, options); },
          .json = [&] { return json_of(comparison); },
          .sheet = [&] { return sheet_of(comparison); },
          .tests = [&] { return tests_of(comparison, options.fail_on); }};
}

}  // namespace tidemark
