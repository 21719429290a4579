// Launches in the order of time, and what else differs between two of them.
#include "reports/history/chronicle.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "reports/schema/verdict.hpp"

namespace tidemark {

// From the facts of a launch to the columns of a history.

namespace {

std::string key_of(const Chronicle& all, const LaunchFacts& facts, const FactsOfGpu& gpu) {
  if (all.pair_by == PairBy::number) return fmt::format("GPU {}", gpu.number);
  // Without a UUID it is nobody else's GPU.
  if (gpu.uuid.empty()) return fmt::format("GPU {} of {}", gpu.number, facts.launch.run_id);
  return gpu.uuid;
}

template <class Key>
std::uint32_t place_in(std::map<Key, std::uint32_t>& places, const Key& key) {
  return places.try_emplace(key, static_cast<std::uint32_t>(places.size())).first->second;
}

void add_gpus(Chronicle& all, PastLaunch& launch, const LaunchFacts& facts) {
  for (const FactsOfGpu& gpu : facts.gpus) {
    const std::string key = key_of(all, facts, gpu);
    const std::uint32_t place = place_in(all.gpu_places, key);
    const double at = facts.launch.created_unix_s;
    const PastGpu now{.key = key, .node = gpu.node, .number = gpu.number, .at_unix_s = at};
    if (place == all.gpus.size()) {
      all.gpus.push_back(now);
    } else if (at > all.gpus[place].at_unix_s) {
      all.gpus[place] = now;  // it may have moved
    }
    launch.gpus.push_back(place);
    std::vector<std::string> setup = gpu.values;
    setup.push_back(gpu.boot);
    const std::uint32_t setup_place = place_in(all.setup_places, setup);
    if (setup_place == all.setups.size()) all.setups.push_back(std::move(setup));
    launch.gpu_setup.push_back(setup_place);
  }
}

void add_metrics(Chronicle& all, std::uint32_t launch, const LaunchFacts& facts) {
  for (const SeriesOfLaunch& series : facts.series) {
    PastValues values{.launch = launch};
    bool any = false;
    for (const double median : series.medians) {
      const auto value = static_cast<float>(median);
      const bool usable = std::isfinite(value) && value > 0;
      values.medians.push_back(usable ? value : std::numeric_limits<float>::quiet_NaN());
      any = any || usable;
    }
    if (!any) continue;
    const MetricKey key{.case_name = facts.cases[series.of_case],
                        .metric = series.name,
                        .unit = series.unit,
                        .level = facts.launch.level,
                        .is_virtual = facts.launch.is_virtual,
                        .gpus = facts.over_all_gpus[series.of_case]
                                    ? static_cast<std::uint32_t>(facts.gpus.size())
                                    : 0,
                        .higher_is_better = series.higher_is_better};
    all.metrics[key].push_back(std::move(values));
  }
}

std::uint32_t& count_of(PastResults& results, Verdict verdict) {
  if (is_bad(verdict)) return results.bad;
  if (is_lacking(verdict)) return results.lacking;
  if (verdict == Verdict::waived) return results.waived;
  return verdict == Verdict::pass ? results.passed : results.quiet;
}

/// What a pass of this launch answers for: no more than the GPU that ran least; and what a failure
/// asks for where nothing passed.
std::uint32_t rows_of(const LaunchFacts& facts, std::size_t which, const PastResults& results) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t passed = kNone, most = 0;
  for (std::size_t gpu = 0; gpu < results.verdicts.size(); ++gpu) {
    const std::uint32_t rows = facts.rows[which * results.verdicts.size() + gpu];
    most = std::max(most, rows);
    if (results.verdicts[gpu] == Verdict::pass) passed = std::min(passed, rows);
  }
  return passed == kNone ? most : passed;
}

/// Columns of another length than their cases and GPUs say were made by hand, and wrongly.
void check_columns(const LaunchFacts& facts) {
  const std::size_t cells = facts.cases.size() * facts.gpus.size();
  if (facts.over_all_gpus.size() == facts.cases.size() && facts.verdicts.size() == cells &&
      facts.rows.size() == cells) {
    return;
  }
  throw std::logic_error(
      fmt::format("{}: {} cases on {} GPUs have {} marks, {} verdicts and {} counts of rows",
                  facts.path, facts.cases.size(), facts.gpus.size(), facts.over_all_gpus.size(),
                  facts.verdicts.size(), facts.rows.size()));
}

/// By case and GPU: whether it has a number. A time of nought is one.
std::vector<bool> numbered_of(const LaunchFacts& facts) {
  const std::size_t gpus = facts.gpus.size();
  std::vector<bool> made(facts.cases.size() * gpus);
  for (const SeriesOfLaunch& series : facts.series) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      if (!std::isnan(series.medians[gpu])) made[series.of_case * gpus + gpu] = true;
    }
    for (const std::uint32_t gpu : series.noughts) made[series.of_case * gpus + gpu] = true;
  }
  return made;
}

void add_cases(Chronicle& all, std::uint32_t launch, const LaunchFacts& facts) {
  constexpr std::size_t kNamed = 8;
  PastLaunch& past = all.launches[launch];
  const std::size_t gpus = facts.gpus.size();
  const std::vector<bool> numbered = numbered_of(facts);
  for (std::size_t which = 0; which < facts.cases.size(); ++which) {
    PastResults results{.launch = launch};
    const auto first = facts.verdicts.begin() + static_cast<std::ptrdiff_t>(which * gpus);
    results.verdicts.assign(first, first + static_cast<std::ptrdiff_t>(gpus));
    for (std::size_t gpu = 0; gpu < gpus; ++gpu)
      results.numbered = results.numbered || numbered[which * gpus + gpu];
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      Verdict& verdict = results.verdicts[gpu];
      if (has_passed(verdict) && results.numbered && !numbered[which * gpus + gpu])
        verdict = Verdict::not_run;
      ++past.verdicts[static_cast<std::size_t>(verdict)];
      if (rank_of(verdict) < rank_of(results.worst)) results.worst = verdict;
      ++count_of(results, verdict);
      const bool named = is_bad(verdict) || verdict == Verdict::waived;
      if (named && results.bad_gpus.size() < kNamed) results.bad_gpus.push_back(past.gpus[gpu]);
    }
    results.rows = rows_of(facts, which, results);
    if (results.passed == gpus) results.verdicts = {};
    all.cases[{facts.launch.is_virtual, facts.cases[which]}].push_back(std::move(results));
  }
}

}  // namespace

const std::vector<std::string>& setup_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made = gpu_factor_names();
    made.emplace_back("boot");
    return made;
  }();
  return names;
}

void record_launch(Chronicle& all, const LaunchFacts& facts) {
  check_columns(facts);
  const LaunchRow& row = facts.launch;
  if (!is_launch_time(row.created_unix_s)) {
    throw ReportError(
        fmt::format("{}: its time is {:g} s since 1970, which no launch has; leave this report out",
                    facts.path, row.created_unix_s));
  }
  const auto [seen, fresh] = all.paths.try_emplace(row.run_id, facts.path);
  if (!fresh) {
    throw ReportError(fmt::format("{}: is the same launch as {}; counted once, remove one of them",
                                  facts.path, seen->second));
  }
  const auto launch = static_cast<std::uint32_t>(all.launches.size());
  all.launches.push_back({.path = facts.path,
                          .run_id = row.run_id,
                          .series_id = row.series_id,
                          .level = row.level,
                          .device = row.device,
                          .tool_version = row.tool_version,
                          .incomplete_reason = row.complete ? ""
                                               : row.incomplete_reason.empty()
                                                   ? "no reason given"
                                                   : row.incomplete_reason,
                          .at_unix_s = row.created_unix_s,
                          .is_virtual = row.is_virtual,
                          .anonymised = row.anonymised,
                          .factors = facts.factors,
                          .slowed = facts.slowed});
  add_gpus(all, all.launches.back(), facts);
  add_metrics(all, launch, facts);
  add_cases(all, launch, facts);
}

void sort_by_time(Chronicle& all) {
  std::vector<std::uint32_t> order(all.launches.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const PastLaunch &first = all.launches[a], &second = all.launches[b];
    return std::tie(first.at_unix_s, first.run_id) < std::tie(second.at_unix_s, second.run_id);
  });
  std::vector<std::uint32_t> place(order.size());
  std::vector<PastLaunch> sorted;
  sorted.reserve(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(all.launches[order[i]]));
  }
  all.launches = std::move(sorted);
  std::array<std::uint32_t, 2> last = {kNoRow, kNoRow};  // on GPUs, on the virtual device
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    all.launches[i].previous = std::exchange(last[all.launches[i].is_virtual ? 1 : 0], i);
  }
  const auto by_launch = [](const auto& a, const auto& b) { return a.launch < b.launch; };
  for (auto& [key, values] : all.metrics) {
    for (PastValues& each : values) each.launch = place[each.launch];
    std::ranges::sort(values, by_launch);
  }
  for (auto& [key, results] : all.cases) {
    for (PastResults& each : results) each.launch = place[each.launch];
    std::ranges::sort(results, by_launch);
  }
}

void miss_lost_numbers(Chronicle& all) {
  for (auto& [key, pasts] : all.cases) {
    std::set<std::pair<std::string, std::string>> numbered;  // level and suite of launches
    for (PastResults& past : pasts) {
      PastLaunch& launch = all.launches[past.launch];
      // What a case measures may change with the suite.
      const std::pair of{launch.level, setup_value(all, past.launch, "suite_tree")};
      if (past.numbered) numbered.insert(of);
      if (past.numbered || past.passed == 0 || !numbered.contains(of)) continue;
      if (past.verdicts.empty()) past.verdicts.assign(launch.gpus.size(), Verdict::pass);
      std::ranges::replace(past.verdicts, Verdict::pass, Verdict::not_run);
      launch.verdicts[static_cast<std::size_t>(Verdict::pass)] -= past.passed;
      launch.verdicts[static_cast<std::size_t>(Verdict::not_run)] += past.passed;
      past.lacking += std::exchange(past.passed, 0);
      if (rank_of(Verdict::not_run) < rank_of(past.worst)) past.worst = Verdict::not_run;
    }
  }
}

// Holds two launches against each other, factor by factor.

namespace {

using Values = std::set<std::string>;

std::string listed(const Values& values) {
  constexpr std::size_t kNamed = 3;
  if (values.empty() || values == Values{""}) return {};
  std::string made;
  std::size_t named = 0;
  for (const std::string& value : values) {
    if (named == kNamed) return made + fmt::format(" and {} more", values.size() - kNamed);
    made += fmt::format("{}{}", named++ == 0 ? "" : ", ", value.empty() ? "unknown" : value);
  }
  return made;
}

/// Setups of the launch's GPUs, or of one of them, each once.
std::set<std::uint32_t> setups_in(const PastLaunch& launch, std::uint32_t gpu) {
  std::set<std::uint32_t> made;
  for (std::size_t i = 0; i < launch.gpus.size(); ++i) {
    if (gpu == kNoRow || launch.gpus[i] == gpu) made.insert(launch.gpu_setup[i]);
  }
  return made;
}

Values values_in(const Chronicle& all, const std::set<std::uint32_t>& setups, std::size_t factor) {
  Values made;
  for (const std::uint32_t setup : setups) made.insert(all.setups[setup][factor]);
  return made;
}

/// Names are hashes under a key of their own in each anonymised report.
bool is_name(std::string_view factor) {
  return factor == "node" || factor == "boot" || factor == "arguments" || factor == "gpus" ||
         factor == "gpu" || factor.starts_with("environment.");
}

void add(std::vector<SetupChange>& made, const std::string& factor, const Values& before,
         const Values& after) {
  if (before == after) return;
  const std::string old = listed(before), now = listed(after);
  made.push_back({factor, old.empty() ? "unknown" : old, now.empty() ? "unknown" : now});
}

void add_gpu_set(std::vector<SetupChange>& made, const Chronicle& all, const PastLaunch& before,
                 const PastLaunch& after) {
  Values old, now, gone, come;
  for (const std::uint32_t gpu : before.gpus) old.insert(all.gpus[gpu].key);
  for (const std::uint32_t gpu : after.gpus) now.insert(all.gpus[gpu].key);
  std::ranges::set_difference(old, now, std::inserter(gone, gone.end()));
  std::ranges::set_difference(now, old, std::inserter(come, come.end()));
  if (gone.size() == come.size()) return add(made, "gpu", gone, come);  // exchanged
  made.push_back({"gpus", fmt::format("{}, {} of them only here", old.size(), gone.size()),
                  fmt::format("{}, {} of them only here", now.size(), come.size())});
}

void add_launch_factors(std::vector<SetupChange>& made, const PastLaunch& before,
                        const PastLaunch& after) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<Values, Values>> values;
  for (const PastLaunch* const launch : {&before, &after}) {
    for (const Factor& factor : launch->factors) {
      if (!values.contains(factor.name)) names.push_back(factor.name);
      auto& [old, now] = values[factor.name];
      (launch == &before ? old : now).insert(factor.value);
    }
  }
  for (const std::string& name : names) {
    if (name != "seed") add(made, name, values[name].first, values[name].second);
  }
}

}  // namespace

std::vector<SetupChange> setup_changes(const Chronicle& all, const std::set<std::string>& restless,
                                       std::uint32_t before, std::uint32_t after,
                                       std::uint32_t gpu) {
  const PastLaunch &first = all.launches[before], &second = all.launches[after];
  std::vector<SetupChange> made;
  const std::set<std::uint32_t> old = setups_in(first, gpu), now = setups_in(second, gpu);
  if (old != now) {
    for (std::size_t i = 0; i < setup_names().size(); ++i) {
      add(made, setup_names()[i], values_in(all, old, i), values_in(all, now, i));
    }
  }
  if (gpu == kNoRow && first.gpus != second.gpus) add_gpu_set(made, all, first, second);
  add_launch_factors(made, first, second);
  const bool anonymous = first.anonymised || second.anonymised;
  std::erase_if(made, [&](const SetupChange& change) {
    return restless.contains(change.factor) || (anonymous && is_name(change.factor));
  });
  return made;
}

std::vector<SetupChange> releases_in(std::vector<SetupChange> setup, bool wanted) {
  std::erase_if(setup, [&](const SetupChange& change) {
    const bool is_known = change.before != "unknown" && change.after != "unknown";
    return wanted != (is_known && std::ranges::count(kReleaseFactors, change.factor) > 0);
  });
  return setup;
}

std::set<std::string> restless_factors(const Chronicle& all) {
  constexpr std::size_t kFewest = 4;
  std::map<std::string, std::size_t> times;
  std::size_t pairs = 0;
  for (std::uint32_t i = 0; i < all.launches.size(); ++i) {
    const std::uint32_t previous = all.launches[i].previous;
    if (previous == kNoRow) continue;
    ++pairs;
    for (const SetupChange& change : setup_changes(all, {}, previous, i)) ++times[change.factor];
  }
  std::set<std::string> made;
  for (const auto& [factor, number] : times) {
    if (pairs >= kFewest && 2 * number > pairs) made.insert(factor);
  }
  return made;
}

std::string setup_value(const Chronicle& all, std::uint32_t launch, std::string_view factor,
                        std::uint32_t gpu) {
  const PastLaunch& past = all.launches[launch];
  const auto at = std::ranges::find(setup_names(), factor);
  if (at != setup_names().end()) {
    const auto index = static_cast<std::size_t>(at - setup_names().begin());
    return listed(values_in(all, setups_in(past, gpu), index));
  }
  for (const Factor& each : past.factors) {
    if (each.name == factor) return each.value;
  }
  return {};
}

}  // namespace tidemark
