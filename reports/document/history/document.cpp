// Puts what a history found in order; what fails comes first.
#include "reports/document/history/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "reports/base/words.hpp"
#include "reports/history/levels.hpp"

namespace tidemark {
namespace {

constexpr Most kMost = {.terminal = 20, .page = 100};  // of a kind
constexpr std::size_t kIndent = 5;

Line banner(std::string_view heading, const std::string& text) {
  return warning(fmt::format("{} {}", heading, text), heading.size(), kIndent);
}

/// The newest ones are the ones that something can still be done about.
void add_banners(Section& head, const History& history) {
  const std::vector<PastLaunch>& launches = history.chronicle.launches;
  std::vector<Line> incomplete, slowed;
  for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
    const std::string which = fmt::format("{} {}", utc_text(launch->at_unix_s), launch->path);
    if (!launch->incomplete_reason.empty()) {
      incomplete.push_back(
          banner("INCOMPLETE REPORT", fmt::format("{}: {}", which, launch->incomplete_reason)));
    }
    std::string cases;
    for (const auto& [of_case, share] : launch->slowed) {
      cases += fmt::format("{}{} by {}", cases.empty() ? "" : ", ", of_case, share);
    }
    if (!cases.empty())
      slowed.push_back(banner("SLOWED ON PURPOSE", fmt::format("{}: {}", which, cases)));
  }
  const auto add = [&](const std::vector<Line>& lines, std::string_view what) {
    head.add(List{lines.size(), {.terminal = 20, .page = 20}, what, [lines](std::size_t i) {
                    return lines[i];
                  }});
  };
  add(incomplete, "incomplete report");
  add(slowed, "slowed launch");
}

Document headed(const History& history, const ShowOptions& options) {
  const Chronicle& all = history.chronicle;
  const auto virtual_ones =
      static_cast<std::size_t>(std::ranges::count(all.launches, true, &PastLaunch::is_virtual));
  const std::string newest = utc_text(all.launches.back().at_unix_s);
  Document made{.verb = "history",
                .title = "tidemark history",
                .is_virtual = virtual_ones == all.launches.size(),
                .scope = fmt::format(
                    "{}, {} to {}; {}{}", plural(all.launches.size(), "launch"), when(history, 0),
                    newest, plural(all.gpus.size(), "GPU"),
                    virtual_ones == 0 ? "" : fmt::format("; {} of them VIRTUAL", virtual_ones)),
                .window = "tidemark history: " + newest};
  made.head.add(Line{.text = {ours("cases: " + cases_summary(history))}, .indent = kIndent});
  made.head.add(Line{.text = {ours("speed: " + metrics_summary(history))}, .indent = kIndent});
  if (!options.refused.empty()) {
    const std::string text = fmt::format("{} not read", plural(options.refused.size(), "file"));
    const auto line = [&](const char* where) {
      return Line{.as = Line::As::banner, .text = {ours(text + where)}};
    };
    made.head.add(line(": the last section says why"), kOnPage);
    made.head.add(line(": stderr says why"), kNotOnPage);
  }
  const auto hashed =
      static_cast<std::size_t>(std::ranges::count(all.launches, true, &PastLaunch::anonymised));
  if (hashed > 0 && all.launches.size() > 1 && all.pair_by == PairBy::uuid)
    made.head.add(banner(
        "NOT FOLLOWED",
        fmt::format("the GPUs of {} of {}: each anonymised report hashes names under its own key; "
                    "--pair number goes by number",
                    hashed, plural(all.launches.size(), "launch"))));
  add_banners(made.head, history);
  return made;
}

Line change_line(const History& history, const LevelChange& change) {
  const MetricKey& key = history.metrics[change.metric].key;
  const bool worse = change.is_worse(key);
  const std::string word = worse ? "worse" : "better";
  return {.text = {ours(fmt::format("{}  {}  ", word, step_text(change.step))), title_of(key), "  ",
                   fmt::format("{}, {}", levels_text(history, change), gpu_text(history, change))},
          .heading = word.size(),
          .tone = worse ? Tone::bad : Tone::good,
          .indent = 2 * kIndent};
}

/// A night is no level yet.
Finding newest_of(const History& history, const LevelChange& change) {
  return {.heading = when(history, change.after),
          .text = {fmt::format("newest night lies outside what {} had",
                               plural(change.nights, "night"))},
          .more = {change_line(history, change)},
          .most_more = {.terminal = 1, .page = 1, .review = 1}};
}

/// A step at a release has its name; `factors`: of what else changed with it.
Text cause_text(const ChangeEvent& event, std::size_t factors) {
  const auto release = releases_in(event.setup), rest = releases_in(event.setup, false);
  const char* const where = event.gpu == kNoRow ? "" : " on that GPU";
  if (release.empty()) return {"changed with it", where, ": ", setup_text(rest, factors)};
  Text made = {"step", where, " at ", setup_text(release, factors)};
  if (!rest.empty())
    made.insert(made.end(), {"; changed with it", where, ": ", setup_text(rest, factors)});
  return made;
}

/// A release without a step.
Finding release_of(const History& history, const Release& release) {
  return {.heading = when(history, release.after),
          .text = {release.judged ? "no step found at " : "too few nights for a step at ",
                   setup_text(release.setup, 4)}};
}

/// The newest first. Where nothing was measured, or but another GPU came, no step was looked for.
std::vector<Release> stepless_releases(const History& history) {
  std::vector<Release> made;
  for (auto release = history.releases.rbegin(); release != history.releases.rend(); ++release) {
    const auto steps = [&](const ChangeEvent& event) {
      return event.before < release->after && release->after <= event.after;
    };
    const bool splits = release->judged || release->setup.front().factor != "gpu";
    if (release->measured && splits && std::ranges::none_of(history.events, steps))
      made.push_back(*release);
  }
  return made;
}

Finding event_of(const History& history, const ChangeEvent& event, std::size_t factors) {
  const Chronicle& all = history.chronicle;
  Finding made{.heading = when(history, event.after),
               .text = cause_text(event, factors),
               .why = {{"between ", all.launches[event.before].path, " and ",
                        all.launches[event.after].path}},
               .most_more = {.terminal = 8, .page = 30, .review = 8},
               .more_what = "metric"};
  for (const std::size_t index : event.changes) {
    made.more.push_back(change_line(history, history.changes[index]));
  }
  return made;
}

Section events_of(const History& history) {
  Section made{.id = "changed", .heading = "What changed", .link = "what changed", .bytes = 18'000};
  made.add(List{history.newest.size(), kMost, "metric",
                [&history](std::size_t i) { return newest_of(history, history.newest[i]); }});
  if (history.events.empty()) {
    made.add(Line{.as = Line::As::paragraph, .text = {"No change of a metric was told."}}, kOnPage);
  } else {
    made.add(Line{.as = Line::As::muted,
                  .text = {"changes of speed, the newest first; advice, and no verdict:"}});
  }
  const auto add = [&](std::size_t factors, Readers readers) {
    const auto event = [&history, factors](std::size_t i) {
      return event_of(history, history.events[i], factors);
    };
    made.add(List{history.events.size(), kMost, "change", event}, readers);
  };
  add(12, kOnPage);
  add(8, kNotOnPage);
  const auto releases = stepless_releases(history);
  made.add(List{releases.size(), kMost, "release",
                [&history, releases](std::size_t i) { return release_of(history, releases[i]); }});
  return made;
}

std::vector<Cell> launch_row(const History& history, std::uint32_t launch) {
  const Chronicle& all = history.chronicle;
  const PastLaunch& past = all.launches[launch];
  std::size_t bad = 0, lacking = 0;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    (is_bad(verdict) ? bad : lacking) +=
        is_bad(verdict) || is_lacking(verdict) ? past.verdicts[i] : 0;
  }
  const auto value = [&](std::string_view factor) {
    return text_cell(setup_value(all, launch, factor));
  };
  const std::vector<SetupChange> changed =
      past.previous == kNoRow ? std::vector<SetupChange>{}
                              : setup_changes(all, history.restless, past.previous, launch);
  return {{.text = utc_text(past.at_unix_s), .order = past.at_unix_s},
          {.text = std::filesystem::path(past.path).filename().string(),
           .as = Cell::As::code,
           .title = past.path},
          text_cell(past.level),
          text_cell(past.is_virtual ? "VIRTUAL" : past.device),
          count_cell(past.gpus.size()),
          count_cell(past.verdicts[static_cast<std::size_t>(Verdict::pass)]),
          count_cell(bad),
          count_cell(lacking),
          text_cell(past.incomplete_reason.empty() ? "yes" : "no: " + past.incomplete_reason),
          value("driver"),
          text_cell(changed.empty() ? "" : setup_text(changed, 6)),
          value("git_hash"),
          value("kernels_tree"),
          value("suite_tree")};
}

Section launches_of(const History& history, const ShowOptions& options) {
  const std::vector<PastLaunch>& all = history.chronicle.launches;
  TextTable table{.id = "every-launch",
                  .label = "launches",
                  .columns = headings({">began", "report", "level", "device", ">GPUs", ">pass",
                                       ">wrong", ">lacking", "complete", "driver",
                                       "changed since the one before", "git", "kernels", "suite"})};
  for (std::size_t i = all.size(); i-- > 0 && table.rows.size() < options.most(3000);) {
    table.rows.push_back(launch_row(history, static_cast<std::uint32_t>(i)));
  }
  Section made{.id = "launches", .heading = "Launches", .link = "launches", .readers = kOnPage};
  const std::size_t shown = table.rows.size();
  made.add(std::move(table));
  made.leave_out(all.size(), shown, "line");
  return made;
}

Section refused_of(const ShowOptions& options) {
  Section made{.id = "refused", .heading = "Files not read", .readers = kOnPage};
  for (const std::string& line : options.refused) made.add(Line{.text = {line}});
  return made;
}

}  // namespace

std::string step_text(double step) { return fmt::format("{:+.1f} %", 100 * std::expm1(step)); }

std::string levels_text(const History& history, const LevelChange& change) {
  return fmt::format("{} -> {} {}", short_number(change.from), short_number(change.to),
                     history.metrics[change.metric].key.unit);
}

std::string when(const History& history, std::uint32_t launch) {
  return utc_text(history.chronicle.launches[launch].at_unix_s);
}

std::string opened_text(const History& history, const CasePast& past) {
  std::string failed = past.open_bad ? "failed " + when(history, *past.open_bad) : "";
  if (!past.open_lost) return failed;
  return fmt::format("{}{}lost its GPU {}", failed, failed.empty() ? "" : ", ",
                     when(history, *past.open_lost));
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
  const auto count = [&](bool before, std::initializer_list<CaseState> states) {
    const auto is_one = [&](const CasePast& past) {
      const bool over = past.state == CaseState::passing || past.state == CaseState::quiet;
      return std::ranges::find(states, past.state) != states.end() &&
             before == (over && past.first_bad);
    };
    return grouped(static_cast<std::size_t>(std::ranges::count_if(history.cases, is_one)));
  };
  using enum CaseState;
  return fmt::format(
      "{} failing, {} open, {} waived, {} lacking, {} failed before, {} never failed",
      count(false, {failing}), count(false, {open}), count(false, {waived}),
      count(false, {lacking}), count(true, {passing, quiet}), count(false, {passing, quiet}));
}

std::string metrics_summary(const History& history) {
  const auto of = [&](Judged judged) {
    return grouped(
        static_cast<std::size_t>(std::ranges::count(history.metrics, judged, &MetricPast::judged)));
  };
  return fmt::format("{} of {} changed, {} steady, {} drifting, {} with fewer than {} nights",
                     of(Judged::changed), plural(history.metrics.size(), "metric"),
                     of(Judged::steady), of(Judged::drifting), of(Judged::too_short),
                     kLeastSeries) +
         (history.newest.empty() ? "" : "; newest night lies outside all before");
}

Document document_of(const History& history, const ShowOptions& options) {
  Document made = headed(history, options);
  made.sections.push_back(cases_of(history, options));
  made.sections.push_back(events_of(history));
  made.sections.push_back(metrics_of(history, options));
  made.sections.push_back(launches_of(history, options));
  made.sections.push_back(refused_of(options));
  return made;
}

}  // namespace tidemark
