// What a person reads of a comparison on a terminal; what changed comes first.
#include "reports/compare/show_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "reports/compare/places.hpp"
#include "reports/compare/told.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kShown = 30;  // lines of a kind, unless all are asked for
constexpr std::size_t kIndent = 5;

Colour colour_of(std::string_view headline) {
  if (headline == "SAME" || headline == "IMPROVED") return Colour::green;
  return headline == "REGRESSION" ? Colour::red : Colour::yellow;
}

void put_headline(Page& page, const Comparison& comparison) {
  const bool is_virtual = comparison.pairing.launches.front()->launch.is_virtual;
  const std::string result =
      fmt::format("RESULT: {}{}", headline_of(comparison), is_virtual ? " (VIRTUAL)" : "");
  put(page, colour_of(headline_of(comparison)), result.size(),
      fmt::format("{}  {}: {} x {}, {}", result, action_text(comparison),
                  plural(comparison.pairing.cases.size(), "case"),
                  plural(comparison.paired_gpus, "paired GPU"), launches_text(comparison)),
      8);
  put(page, "cause: " + cause_text(comparison), 7);
  if (is_virtual) put(page, "VIRTUAL device: nothing here was measured on a GPU");
  for (const std::string& line : warnings_of(comparison)) {
    put(page, Colour::yellow, line.find(':') + 1, line, 8);
  }
  put(page, results_text(comparison));
  put(page, speed_text(comparison));
  if (const std::string more = more_launches_text(comparison); !more.empty()) put(page, more);
}

void put_changes(Page& page, const Comparison& comparison, bool all) {
  const auto& groups = comparison.conformance.groups;
  if (!groups.empty()) put(page, "");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == kShown && !all) {
      put(page, fmt::format("and {}; --all shows them", plural(groups.size() - i, "more change")));
      break;
    }
    const ChangeGroup& group = groups[i];
    const std::string heading = heading_of(group.kind);
    const bool bad = group.kind == ChangeKind::new_fail || group.kind == ChangeKind::flaky;
    put(page,
        bad                   ? Colour::red
        : is_good(group.kind) ? Colour::green
                              : Colour::yellow,
        heading.size(),
        fmt::format("{} {}  on {}", heading, cases_of(comparison.pairing, group.cases),
                    place_of(comparison.pairing, group.gpus)),
        kIndent);
    const Evidence* evidence = evidence_of(comparison, group);
    if (evidence == nullptr || is_good(group.kind)) continue;
    put(page, std::string(kIndent, ' ') + evidence->reason, kIndent);
    if (!evidence->replay.empty()) put_command(page, "replay: ", evidence->replay, kIndent);
  }
}

void put_gpu_findings(Page& page, const Comparison& comparison) {
  for (const GpuFindings& group : gpu_findings(comparison)) {
    put(page,
        group.waived                               ? Colour::yellow
        : group.verdict == SpeedVerdict::regressed ? Colour::red
        : group.verdict == SpeedVerdict::improved  ? Colour::green
                                                   : Colour::none,
        heading_of(group).size(), text_of(comparison, group), kIndent);
  }
}

void put_series(Page& page, const Comparison& comparison, const SpeedFinding& finding,
                bool why = true) {
  put(page,
      finding.waived                               ? Colour::yellow
      : finding.verdict == SpeedVerdict::regressed ? Colour::red
      : finding.verdict == SpeedVerdict::improved  ? Colour::green
                                                   : Colour::none,
      heading_of(finding).size(), text_of(comparison, finding, why), kIndent);
}

void put_shared(Page& page, const Comparison& comparison) {
  const SpeedVerdict shared = comparison.speed.shared;
  const std::string text = shared_text(comparison);
  if (text.empty()) return;
  put(page,
      shared == SpeedVerdict::regressed  ? Colour::red
      : shared == SpeedVerdict::improved ? Colour::green
                                         : Colour::none,
      text.find(" by "), text, kIndent);
}

/// Metrics that could not be compared for the same reason are one line.
void put_not_compared(Page& page, const Comparison& comparison,
                      const std::vector<const SpeedFinding*>& findings) {
  constexpr std::size_t kNamed = 4;
  std::map<std::string, std::vector<const SpeedFinding*>> by_reason;
  for (const SpeedFinding* finding : findings) by_reason[finding->why].push_back(finding);
  for (const auto& [why, alike] : by_reason) {
    if (alike.size() == 1) {
      put_series(page, comparison, *alike.front());
      continue;
    }
    std::string names;
    for (std::size_t i = 0; i < std::min(kNamed, alike.size()); ++i) {
      names += (i == 0 ? "" : ", ") + name_of(comparison, alike[i]->of_case, alike[i]->metric);
    }
    if (alike.size() > kNamed) {
      names += fmt::format(", and {}", plural(alike.size() - kNamed, "more metric"));
    }
    put(page, fmt::format("{} {}; {}", heading_of(*alike.front()), names, why), kIndent);
  }
}

void put_speed(Page& page, const Comparison& comparison, bool all) {
  std::vector<const SpeedFinding*> shown = speed_in_order(comparison, all), not_compared;
  if (!all) {
    const auto first = std::find_if(shown.begin(), shown.end(), [](const SpeedFinding* finding) {
      return finding->verdict == SpeedVerdict::not_compared;  // the last in order
    });
    not_compared.assign(first, shown.end());
    shown.erase(first, shown.end());
  }
  if (!comparison.speed.series.empty()) put(page, "");
  put_shared(page, comparison);
  put_gpu_findings(page, comparison);
  std::map<std::string, std::size_t> reasons;  // said once for all that share it
  for (const SpeedFinding* finding : shown) {
    if (!finding->why.empty()) ++reasons[finding->why];
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i == kShown && !all) {
      put(page, fmt::format("and {}; --all shows them", plural(shown.size() - i, "more metric")));
      break;
    }
    put_series(page, comparison, *shown[i], reasons[shown[i]->why] == 1);
  }
  for (const auto& [why, times] : reasons) {
    if (times > 1) put(page, fmt::format("{} of these: {}", grouped(times), why), kIndent);
  }
  put_not_compared(page, comparison, not_compared);
  if (const std::string smallest = smallest_text(comparison); !smallest.empty()) {
    put(page, smallest);
  }
}

void put_waivers(Page& page, const Comparison& comparison) {
  if (!comparison.waivers.empty()) put(page, "");
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    const std::string_view heading = "waiver";
    put(page, waiver.attention ? Colour::yellow : Colour::none, heading.size(),
        fmt::format("{} {}", heading, waiver.text), kIndent);
  }
}

void put_setup(Page& page, const Comparison& comparison) {
  put(page, "");
  if (comparison.setup.differences.empty()) put(page, "setup: nothing recorded differs");
  for (const SetupDifference& difference : comparison.setup.differences) {
    put(page,
        fmt::format(
            "{} {}: {} -> {}{}", role_of(difference), difference.factor, difference.base,
            difference.fresh,
            difference.gpus == 0 ? "" : fmt::format("  ({})", plural(difference.gpus, "GPU"))),
        kIndent);
  }
  for (const std::string& note : notes_of(comparison)) put(page, "note: " + note, 6);
}

}  // namespace

std::string show_comparison(const Comparison& comparison, const ShowComparisonOptions& options) {
  Page page{.text = {}, .colour = options.colour, .columns = options.columns};
  put_headline(page, comparison);
  put_changes(page, comparison, options.all);
  put_speed(page, comparison, options.all);
  put_waivers(page, comparison);
  put_setup(page, comparison);
  return page.text;
}

}  // namespace tidemark::reports
