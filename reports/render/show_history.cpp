// What a person reads of a history.
#include "reports/render/show_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/history/change_points.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kShown = 20;  // of a kind, unless all are asked for
constexpr std::size_t kIndent = 5;

std::size_t shown_of(std::size_t number, const ShowHistoryOptions& options) {
  return options.all ? number : std::min(number, kShown);
}

void put_slowed(Page& page, const History& history, const ShowHistoryOptions& options) {
  const std::vector<std::string> slowed = slowed_launches(history);
  const std::size_t shown = shown_of(slowed.size(), options);
  constexpr std::string_view kBanner = "SLOWED ON PURPOSE";
  for (std::size_t i = 0; i < shown; ++i) {
    put(page, Colour::yellow, kBanner.size(), fmt::format("{} {}", kBanner, slowed[i]), kIndent);
  }
  put_left_out(page, slowed.size() - shown, "launch slowed on purpose");
}

void put_head(Page& page, const History& history, const ShowHistoryOptions& options) {
  const Chronicle& all = history.chronicle;
  const auto virtual_ones = static_cast<std::size_t>(std::count_if(
      all.launches.begin(), all.launches.end(), [](const auto& each) { return each.is_virtual; }));
  put(page,
      fmt::format("HISTORY: {}, {} to {}; {}{}", launches_text(all.launches.size()),
                  utc_text(all.launches.front().at_unix_s), utc_text(all.launches.back().at_unix_s),
                  plural(all.gpus.size(), "GPU"),
                  virtual_ones == 0 ? "" : fmt::format("; {} of them VIRTUAL", virtual_ones)),
      kIndent);
  put(page, "cases: " + cases_summary(history), kIndent);
  put(page, "speed: " + metrics_summary(history), kIndent);
  if (!options.refused.empty()) {
    put(page, fmt::format("{} not read: stderr says why", plural(options.refused.size(), "file")));
  }
  std::vector<const PastLaunch*> incomplete;
  for (const PastLaunch& launch : all.launches) {
    if (!launch.incomplete_reason.empty()) incomplete.push_back(&launch);
  }
  const std::size_t shown = shown_of(incomplete.size(), options);
  // The newest ones are the ones that something can still be done about.
  for (std::size_t i = 0; i < shown; ++i) {
    const PastLaunch& launch = *incomplete[incomplete.size() - 1 - i];
    put(page, Colour::yellow, 17,
        fmt::format("INCOMPLETE REPORT {} {}: {}", utc_text(launch.at_unix_s), launch.path,
                    launch.incomplete_reason),
        kIndent);
  }
  put_left_out(page, incomplete.size() - shown, "incomplete report");
  put_slowed(page, history, options);
}

std::string bad_gpus_text(const History& history, const PastResults& results) {
  if (results.bad_gpus.empty()) return {};
  std::string made = gpu_name(history, results.bad_gpus.front());
  const std::size_t all = std::size_t{results.bad} + results.waived;
  if (all > 1) made += fmt::format(" and {}", plural(all - 1, "more GPU"));
  return made;
}

/// Launches that do not have a case say nothing about it.
std::string without_text(const CasePast& past) {
  if (past.launches_without == 0) return {};
  return fmt::format("; not in the newest {}", launches_text(past.launches_without));
}

void put_failing(Page& page, const History& history, const CasePast& past) {
  const Chronicle& all = history.chronicle;
  put(page, Colour::red, 7,
      fmt::format("FAILING {}{}  since {} ({} in a row), {} on {}", past.name,
                  past.is_virtual ? " (VIRTUAL)" : "", utc_text(all.launches[past.since].at_unix_s),
                  launches_text(past.in_a_row), name_of(past.results->back().worst),
                  bad_gpus_text(history, past.results->back())),
      kIndent);
  std::string more = past.last_pass == kNoRow
                         ? "nothing as large passed before"
                         : fmt::format("it last passed {}; changed since: {}",
                                       utc_text(all.launches[past.last_pass].at_unix_s),
                                       setup_text(past.setup, 6));
  if (*past.first_bad != past.since) {
    more += fmt::format("; it first failed {}, in {} of {}",
                        utc_text(all.launches[*past.first_bad].at_unix_s),
                        grouped(past.launches_bad), launches_text(past.results->size()));
  }
  put(page, "     " + more + without_text(past), kIndent);
}

std::string open_gpus_text(const History& history, const CasePast& past) {
  std::string made = gpu_name(history, past.open_gpus.front());
  if (past.open_gpus.size() > 1) {
    made += fmt::format(" and {}", plural(past.open_gpus.size() - 1, "more GPU"));
  }
  return made;
}

std::string before_text(const History& history, const CasePast& past) {
  const Chronicle& all = history.chronicle;
  return fmt::format("in {} of {}, first {}", grouped(past.launches_bad),
                     launches_text(past.results->size()),
                     utc_text(all.launches[*past.first_bad].at_unix_s));
}

void put_case(Page& page, const History& history, const CasePast& past) {
  if (past.state == CaseState::failing) return put_failing(page, history, past);
  const Chronicle& all = history.chronicle;
  const std::string name = past.name + (past.is_virtual ? " (VIRTUAL)" : "");
  const PastResults& last = past.results->back();
  const auto at = [&](std::uint32_t launch) { return utc_text(all.launches[launch].at_unix_s); };
  if (past.state == CaseState::open) {
    put(page, Colour::yellow, 4,
        fmt::format("OPEN {}  failed {} on {}; nothing as large passed there since, only smaller "
                    "runs, other GPUs or none{}",
                    name, at(past.last_bad), open_gpus_text(history, past), without_text(past)),
        kIndent);
  } else if (past.state == CaseState::waived) {
    put(page, Colour::yellow, 6,
        fmt::format("WAIVED {}  since {} ({} in a row), on {}; failed {}{}", name, at(past.since),
                    launches_text(past.in_a_row), bad_gpus_text(history, last),
                    before_text(history, past), without_text(past)),
        kIndent);
  } else if (past.state == CaseState::lacking) {
    put(page, Colour::yellow, 7,
        fmt::format("LACKING {}  {} on {} in {}{}", name, name_of(last.worst),
                    plural(last.lacking, "GPU"), all.launches[last.launch].path,
                    without_text(past)),
        kIndent);
  } else {
    put(page,
        fmt::format("failed before: {}  {}; passing since {}{}{}", name, before_text(history, past),
                    at(past.since),
                    past.state == CaseState::passing
                        ? fmt::format(" ({} in a row)", grouped(past.in_a_row))
                        : fmt::format(", skipped in the last {}", launches_text(past.in_a_row)),
                    without_text(past)),
        kIndent);
  }
}

void put_cases(Page& page, const History& history, const ShowHistoryOptions& options) {
  std::vector<const CasePast*> told;
  for (const CasePast& past : history.cases) {
    if (past.state == CaseState::lacking || past.first_bad) told.push_back(&past);
  }
  if (told.empty()) return;
  put(page, "");
  const std::size_t shown = shown_of(told.size(), options);
  for (std::size_t i = 0; i < shown; ++i) put_case(page, history, *told[i]);
  put_left_out(page, told.size() - shown, "case");
}

void put_event(Page& page, const History& history, const ChangeEvent& event,
               const ShowHistoryOptions& options) {
  const Chronicle& all = history.chronicle;
  const PastLaunch &before = all.launches[event.before], &after = all.launches[event.after];
  put(page,
      fmt::format("{}  {}: {}", utc_text(after.at_unix_s),
                  event.gpu == kNoRow ? "changed with it" : "changed with it on that GPU",
                  setup_text(event.setup, 8)),
      kIndent);
  put(page, fmt::format("     between {} and {}", before.path, after.path), kIndent);
  constexpr std::size_t kOfEvent = 8;
  const std::size_t shown =
      options.all ? event.changes.size() : std::min(event.changes.size(), kOfEvent);
  for (std::size_t i = 0; i < shown; ++i) {
    const LevelChange& change = history.changes[event.changes[i]];
    const MetricKey& key = history.metrics[change.metric].key;
    const bool worse = change.is_worse(key);
    const std::string word = worse ? "worse" : "better";
    put(page, worse ? Colour::red : Colour::green, 5 + word.size(),
        fmt::format("     {}  {}  {}  {}, {}", word, step_text(change.step), title_of(key),
                    levels_text(history, change), gpu_text(history, change)),
        2 * kIndent);
  }
  put_left_out(page, event.changes.size() - shown, "metric");
}

}  // namespace

std::vector<std::string> slowed_launches(const History& history) {
  std::vector<std::string> made;
  const std::vector<PastLaunch>& launches = history.chronicle.launches;
  for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
    if (launch->slowed.empty()) continue;
    std::string cases;
    for (const auto& [of_case, share] : launch->slowed) {
      cases += fmt::format("{}{} by {}", cases.empty() ? "" : ", ", of_case, share);
    }
    made.push_back(fmt::format("{} {}: {}", utc_text(launch->at_unix_s), launch->path, cases));
  }
  return made;
}

std::string launches_text(std::size_t number) {
  return fmt::format("{} launch{}", grouped(number), number == 1 ? "" : "es");
}

std::string step_text(double step) { return fmt::format("{:+.1f} %", 100 * std::expm1(step)); }

std::string levels_text(const History& history, const LevelChange& change) {
  return fmt::format("{} -> {} {}", short_number(change.from), short_number(change.to),
                     history.metrics[change.metric].key.unit);
}

std::string gpu_name(const History& history, std::uint32_t gpu) {
  constexpr std::size_t kShortKey = 12;  // "GPU-5f1c2d3e"
  const PastGpu& past = history.chronicle.gpus[gpu];
  if (history.chronicle.pair_by == PairBy::number) return past.key;
  return fmt::format("GPU {} ({}{}{})", past.number, past.node, past.node.empty() ? "" : ", ",
                     past.key.substr(0, kShortKey));
}

std::string gpu_text(const History& history, const LevelChange& change) {
  if (change.gpu == kNoRow) return "the typical GPU";
  return gpu_name(history, change.gpu) + (change.apart ? " apart from the others" : "");
}

std::string setup_text(const std::vector<SetupChange>& setup, std::size_t most) {
  if (setup.empty()) return "nothing that was recorded";
  std::string made;
  for (std::size_t i = 0; i < std::min(most, setup.size()); ++i) {
    made += fmt::format("{}{} {} -> {}", i == 0 ? "" : "; ", setup[i].factor, setup[i].before,
                        setup[i].after);
  }
  if (setup.size() > most) made += fmt::format(" and {} more", setup.size() - most);
  return made;
}

std::string cases_summary(const History& history) {
  std::array<std::size_t, 6> counts{};
  std::size_t before = 0;
  for (const CasePast& past : history.cases) {
    const bool over = past.state == CaseState::passing || past.state == CaseState::quiet;
    if (over && past.first_bad) {
      ++before;
    } else {
      ++counts[static_cast<std::size_t>(past.state)];
    }
  }
  const auto of = [&](CaseState state) { return counts[static_cast<std::size_t>(state)]; };
  return fmt::format(
      "{} failing, {} open, {} waived, {} lacking, {} failed before, {} never failed",
      grouped(of(CaseState::failing)), grouped(of(CaseState::open)), grouped(of(CaseState::waived)),
      grouped(of(CaseState::lacking)), grouped(before),
      grouped(of(CaseState::passing) + of(CaseState::quiet)));
}

std::string metrics_summary(const History& history) {
  std::array<std::size_t, 4> counts{};
  for (const MetricPast& metric : history.metrics) {
    ++counts[static_cast<std::size_t>(metric.judged)];
  }
  const auto of = [&](Judged judged) { return grouped(counts[static_cast<std::size_t>(judged)]); };
  return fmt::format("{} of {} changed, {} steady, {} drifting, {} with fewer than {} nights",
                     of(Judged::changed), plural(history.metrics.size(), "metric"),
                     of(Judged::steady), of(Judged::drifting), of(Judged::too_short), kLeastSeries);
}

std::string show_history(const History& history, const ShowHistoryOptions& options) {
  Page page{.text = {}, .colour = options.colour, .columns = options.columns};
  put_head(page, history, options);
  put_cases(page, history, options);
  if (!history.events.empty()) {
    put(page, "");
    put(page, "changes of speed, the newest first; advice, and no verdict:");
  }
  const std::size_t shown = shown_of(history.events.size(), options);
  for (std::size_t i = 0; i < shown; ++i) put_event(page, history, history.events[i], options);
  put_left_out(page, history.events.size() - shown, "change");
  return page.text;
}

}  // namespace tidemark::reports
