// What a person reads of a comparison; what changed comes first.
#include "reports/compare/show_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reports/compare/places.hpp"
#include "reports/render/page.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kShown = 30;  // lines of a kind, unless all are asked for
constexpr std::size_t kIndent = 5;

bool is_confounder(const SetupDifference& difference) {
  return !difference.subject && !difference.allowed;
}

std::string confounders_of(const SetupComparison& setup) {
  std::string made;
  for (const SetupDifference& difference : setup.differences) {
    if (is_confounder(difference)) made += (made.empty() ? "" : ", ") + difference.factor;
  }
  return made;
}

std::string drivers_of(const SetupComparison& setup) {
  for (const SetupDifference& difference : setup.differences) {
    if (difference.subject) return fmt::format("{} -> {}", difference.base, difference.fresh);
  }
  return {};
}

Colour colour_of(std::string_view headline) {
  if (headline == "SAME" || headline == "IMPROVED") return Colour::green;
  return headline == "REGRESSION" ? Colour::red : Colour::yellow;
}

/// Said also where both sides were slowed alike, and no difference says it.
void put_slowed(Page& page, const Comparison& comparison) {
  for (const LaunchFacts* launch : comparison.pairing.launches) {
    for (const auto& [of_case, share] : launch->slowed) {
      const std::string_view banner = "SLOWED ON PURPOSE:";
      put(page, Colour::yellow, banner.size(),
          fmt::format("{} {} by {} in {}", banner, of_case, share, launch->path), 8);
    }
  }
}

void put_headline(Page& page, const Comparison& comparison) {
  const bool is_virtual = comparison.pairing.launches.front()->launch.is_virtual;
  const std::string result =
      fmt::format("RESULT: {}{}", headline_of(comparison), is_virtual ? " (VIRTUAL)" : "");
  const SpeedComparison& speed = comparison.speed;
  const auto series = [&](SpeedVerdict verdict) {
    return speed.counts[static_cast<std::size_t>(verdict)];
  };
  put(page, colour_of(headline_of(comparison)), result.size(),
      fmt::format("{}  {} x {}, {} against {} launches", result,
                  plural(comparison.pairing.cases.size(), "case"),
                  plural(comparison.paired_gpus, "paired GPU"), comparison.pairing.base,
                  comparison.pairing.fresh()),
      8);
  put(page, "cause: " + cause_text(comparison), 7);
  if (is_virtual) put(page, "VIRTUAL device: nothing here was measured on a GPU");
  for (const std::string& why : comparison.incomplete) {
    put(page, Colour::yellow, 18, "INCOMPLETE REPORT: " + why, 8);
  }
  put_slowed(page, comparison);
  if (comparison.paired_gpus == 0) {
    put(page,
        "no GPU is on both sides: UUIDs pair them, and anonymised reports never share one; "
        "--pair number pairs by GPU number");
  }
  put(page, fmt::format("results: {} of {} pass on both sides",
                        grouped(comparison.conformance.passed_in_both),
                        grouped(comparison.conformance.compared)));
  if (speed.series.empty()) {
    put(page, "speed: nothing was measured");
    return;
  }
  put(page, fmt::format("speed: {} regressed, {} improved, {} same, {} ambiguous, {} not compared",
                        series(SpeedVerdict::regressed), series(SpeedVerdict::improved),
                        series(SpeedVerdict::same), series(SpeedVerdict::ambiguous),
                        series(SpeedVerdict::not_compared)));
}

const Evidence* evidence_of(const Comparison& comparison, const ChangeGroup& group) {
  const Pairing& pairing = comparison.pairing;
  for (std::size_t i = pairing.launches.size(); i-- > 0;) {
    const std::uint32_t row = pairing.case_rows[i][group.cases.front()];
    const auto at = pairing.launches[i]->evidence.find(row);
    if (at != pairing.launches[i]->evidence.end()) return &at->second;
  }
  return nullptr;
}

std::string heading_of(ChangeKind kind) {
  std::string made(name_of(kind));
  for (char& c : made) c = c == '_' ? ' ' : static_cast<char>(c - 'a' + 'A');
  return made;
}

bool is_good(ChangeKind kind) {
  return kind == ChangeKind::fixed || kind == ChangeKind::run_in_new;
}

void put_changes(Page& page, const Comparison& comparison, bool all) {
  const auto& groups = comparison.conformance.groups;
  if (!groups.empty()) put(page, "");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == kShown && !all) {
      put(page, fmt::format("and {} more changes; --all shows them", grouped(groups.size() - i)));
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
    const bool fails = bad || group.kind == ChangeKind::still_failing;
    if (!fails && group.kind != ChangeKind::waived) continue;
    if (evidence == nullptr) continue;
    put(page, std::string(kIndent, ' ') + evidence->reason, kIndent);
    if (!evidence->replay.empty()) put_command(page, "replay: ", evidence->replay, kIndent);
  }
}

std::string name_of(const Comparison& comparison, std::uint32_t which, const std::string& metric) {
  return fmt::format("{}/{}", comparison.pairing.cases[which], metric);
}

std::string margin_text(const Effect& effect) {
  if (std::isnan(effect.standard_error)) return " (untested)";
  return fmt::format(" +- {}", percent(effect.margin()));
}

/// Metrics that changed on the same GPUs stand together.
void put_gpu_findings(Page& page, const Comparison& comparison) {
  using Key = std::tuple<SpeedVerdict, std::vector<std::uint32_t>, bool>;
  std::map<Key, std::vector<const GpuFinding*>> alike;
  for (const GpuFinding& finding : comparison.speed.gpus) {
    alike[{finding.verdict, finding.gpus, finding.waived}].push_back(&finding);
  }
  for (const auto& [key, findings] : alike) {
    double least = findings.front()->least, most = findings.front()->most;
    for (const GpuFinding* finding : findings) {
      least = std::min(least, finding->least);
      most = std::max(most, finding->most);
    }
    const bool slower = std::get<0>(key) == SpeedVerdict::regressed;
    const bool waived = std::get<2>(key);
    const std::string_view heading = waived ? "WAIVED SLOWER" : slower ? "SLOWER" : "FASTER";
    put(page,
        waived   ? Colour::yellow
        : slower ? Colour::red
                 : Colour::green,
        heading.size(),
        fmt::format(
            "{} than the other GPUs, unlike before: {}: {}{}, {} to {}", heading,
            place_of(comparison.pairing, std::get<1>(key)),
            name_of(comparison, findings.front()->of_case, findings.front()->metric),
            findings.size() == 1 ? "" : fmt::format(" and {} more metrics", findings.size() - 1),
            percent(least), percent(most)),
        kIndent);
  }
}

void put_series(Page& page, const Comparison& comparison, const SpeedFinding& finding) {
  constexpr double kClockShare = 0.5;  // of an effect, gone at equal clocks: it was the clocks
  std::string heading(name_of(finding.verdict));
  for (char& c : heading) c = c == '_' ? ' ' : static_cast<char>(c - 'a' + 'A');
  const Colour colour = finding.waived                               ? Colour::yellow
                        : finding.verdict == SpeedVerdict::regressed ? Colour::red
                        : finding.verdict == SpeedVerdict::improved  ? Colour::green
                                                                     : Colour::none;
  if (finding.waived) heading = "WAIVED " + heading;
  std::string text =
      fmt::format("{} {}", heading, name_of(comparison, finding.of_case, finding.metric));
  if (!std::isnan(finding.total)) {
    text +=
        fmt::format("  {} -> {} {}  own {}{}, {} in all, on {}", short_number(finding.base_value),
                    short_number(finding.fresh_value), finding.unit, percent(finding.own.effect),
                    margin_text(finding.own), percent(finding.total), plural(finding.gpus, "GPU"));
    if (finding.gpus_left_out > 0) {
      text += fmt::format(" ({} left out)", grouped(finding.gpus_left_out));
    }
  }
  if (finding.verdict == SpeedVerdict::regressed &&
      std::abs(finding.per_clock) < kClockShare * std::abs(finding.total)) {
    text += fmt::format("; {} at equal clocks: the SMs ran slower", percent(finding.per_clock));
  }
  if (!finding.why.empty()) text += "; " + finding.why;
  if (!std::isnan(finding.smallest_stored)) {
    text += fmt::format("; by the stored noise {} would have been seen",
                        percent(finding.smallest_stored));
  }
  put(page, colour, heading.size(), text, kIndent);
}

void put_shared(Page& page, const Comparison& comparison) {
  const SpeedComparison& speed = comparison.speed;
  if (speed.shared == SpeedVerdict::not_compared || speed.shared == SpeedVerdict::same) return;
  const std::string_view heading = speed.shared == SpeedVerdict::regressed  ? "ALL SLOWER"
                                   : speed.shared == SpeedVerdict::improved ? "ALL FASTER"
                                                                            : "ALL AMBIGUOUS";
  put(page,
      speed.shared == SpeedVerdict::regressed  ? Colour::red
      : speed.shared == SpeedVerdict::improved ? Colour::green
                                               : Colour::none,
      heading.size(),
      fmt::format("{} by what all cases share: {} +- {}", heading,
                  percent(speed.effects.shared.effect), percent(speed.effects.shared.margin())),
      kIndent);
}

void put_speed(Page& page, const Comparison& comparison, bool all) {
  std::vector<const SpeedFinding*> shown;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (all || finding.verdict != SpeedVerdict::same) shown.push_back(&finding);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const auto* a, const auto* b) {
    if (a->verdict != b->verdict) return a->verdict < b->verdict;
    return std::abs(a->own.effect) > std::abs(b->own.effect);
  });
  if (!comparison.speed.series.empty()) put(page, "");
  put_shared(page, comparison);
  put_gpu_findings(page, comparison);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i == kShown && !all) {
      put(page, fmt::format("and {} more metrics; --all shows them", grouped(shown.size() - i)));
      break;
    }
    put_series(page, comparison, *shown[i]);
  }
  std::vector<double> smallest;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (!std::isnan(finding.smallest_seen)) smallest.push_back(finding.smallest_seen);
  }
  if (smallest.empty()) return;
  std::sort(smallest.begin(), smallest.end());
  put(page, fmt::format("smallest change that would have been seen 8 times of 10: {} in half of "
                        "the metrics, {} in all",
                        percent(smallest[smallest.size() / 2]), percent(smallest.back())));
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
            "{} {}: {} -> {}{}",
            difference.subject   ? "subject"
            : difference.allowed ? "allowed"
                                 : "confounder",
            difference.factor, difference.base, difference.fresh,
            difference.gpus == 0 ? "" : fmt::format("  ({})", plural(difference.gpus, "GPU"))),
        kIndent);
  }
  for (const std::string& remark : comparison.setup.remarks) put(page, "note: " + remark, 6);
  if (comparison.conformance.descriptors_unjudged > 0) {
    put(page,
        fmt::format("note: {} tensor maps differ, and so does the seed or the build that "
                    "they were made of: not judged",
                    grouped(comparison.conformance.descriptors_unjudged)),
        6);
  }
  for (const std::uint32_t which : comparison.conformance.behaviours_unjudged) {
    put(page,
        fmt::format("note: {} noted something else: not judged, because the base does not show "
                    "that it notes the same every time",
                    comparison.pairing.cases[which]),
        6);
  }
}

}  // namespace

std::string percent(double logarithm) {
  if (std::isnan(logarithm)) return "unknown";
  constexpr double kPercent = 100;
  return fmt::format("{:.2f} %", kPercent * std::expm1(logarithm));
}

std::string_view headline_of(const Comparison& comparison) {
  const std::set<std::string> found = findings_of(comparison);
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return found.contains(name); });
  };
  if (any({"new_fail", "flaky", "regressed"})) return "REGRESSION";
  if (any({"missing_in_new", "missing_in_both", "missing_in_base", "incomplete"})) return "MISSING";
  if (any({"behaviour_changed", "descriptors_changed", "skipped_in_new", "unexpected_pass"})) {
    return "CHANGED";
  }
  if (any({"inconclusive"})) return "INCONCLUSIVE";
  return any({"improved", "fixed", "run_in_new"}) ? "IMPROVED" : "SAME";
}

std::string cause_text(const Comparison& comparison) {
  const SetupComparison& setup = comparison.setup;
  if (setup.cause == Cause::confounded) {
    return "cannot be told, what else differs may be it: " + confounders_of(setup);
  }
  std::set<std::string> found = findings_of(comparison);
  found.erase("stale_waiver");
  if (found.erase("waived") > 0 && found.empty()) return "nothing changed but what is waived";
  if (found == std::set<std::string>{"inconclusive"}) {
    return "no change was found; some could not be excluded";
  }
  if (found.empty()) {
    return setup.cause == Cause::driver
               ? fmt::format("nothing changed with the driver {}", drivers_of(setup))
               : "nothing changed, and nothing recorded differs";
  }
  if (setup.cause == Cause::driver) {
    return fmt::format("the driver {} is all that differs of what was recorded", drivers_of(setup));
  }
  return "nothing recorded differs: the GPUs or what surrounds them";
}

std::string show_comparison(const Comparison& comparison, const ShowComparisonOptions& options) {
  Page page{.text = {}, .colour = options.colour, .columns = options.columns};
  put_headline(page, comparison);
  put_changes(page, comparison, options.all);
  put_speed(page, comparison, options.all);
  put_waivers(page, comparison);
  put_setup(page, comparison);
  return page.text;
}

}  // namespace tidemark
