// Counts how often compare is right about synthetic fleets: a line a question, of which
// reports/compare/README.md has percentages. With --write it leaves the reports of one trial
// instead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "reports/compare/speed/outliers.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

struct Typed {
  std::uint32_t gpus = 8, cases = 100, launches = 5, trials = 200, threads = 2;
  std::uint64_t seed = 1;
  bool outliers = false, brief = false;
  FleetNoise noise = {};
  std::vector<std::string> splits;
  std::string write;
  double write_slower = 0, write_slower_node = 0;
};

std::vector<LaunchFacts> side_of(const SyntheticFleet& fleet, std::uint32_t launches, bool fresh,
                                 const FleetChange& change) {
  std::vector<LaunchFacts> made;
  for (std::uint32_t i = 0; i < launches; ++i) {
    made.push_back(facts_of(synthetic_launch(fleet, i, fresh, change),
                            fmt::format("{}-{}", fresh ? "new" : "base", i)));
  }
  return made;
}

Comparison trial(const Typed& typed, std::uint32_t number, const FleetChange& change) {
  const SyntheticFleet fleet{
      .gpus = typed.gpus, .cases = typed.cases, .seed = typed.seed + number, .noise = typed.noise};
  return compare_launches(side_of(fleet, typed.launches, false, change),
                          side_of(fleet, typed.launches, true, change), {});
}

/// A change is said of anything but the first case.
bool any_other(const Comparison& made) {
  for (const SpeedFinding& finding : made.speed.series) {
    if (finding.of_case != 0 && is_change(finding.verdict)) return true;
  }
  return !made.speed.gpus.empty() || is_change(made.speed.shared);
}

bool first_case_found(const Comparison& made) {
  return made.speed.series.front().verdict == SpeedVerdict::regressed;
}

bool only_first_node(const Comparison& made) {
  if (made.speed.gpus.size() != 1) return false;
  const GpuFinding& finding = made.speed.gpus.front();
  return finding.of_case == kAllMetrics && finding.verdict == SpeedVerdict::regressed &&
         finding.gpus.size() == kGpusOfNode && finding.gpus.back() < kGpusOfNode;
}

/// What names the first GPU alone as slower.
std::vector<const GpuFinding*> findings_of_first_gpu(const Comparison& made) {
  std::vector<const GpuFinding*> found;
  for (const GpuFinding& finding : made.speed.gpus) {
    if (finding.verdict == SpeedVerdict::regressed &&
        finding.gpus == std::vector<std::uint32_t>{0}) {
      found.push_back(&finding);
    }
  }
  return found;
}

/// The lines down to the first empty one: the verdict and its cause.
bool verdict_names_driver(const Comparison& made) {
  const std::string text = show_comparison(made, {});
  return made.setup.cause == Cause::driver ||
         text.substr(0, text.find("\n\n")).find("driver") != std::string::npos;
}

bool rolls_out(const Comparison& made) { return action_text(made).starts_with("roll out"); }

using Judge = std::function<bool(const Comparison&)>;

/// The first case did not lose more than compare says it excludes.
Judge covers(double change) {
  return
      [change](const Comparison& made) { return made.speed.series.front().loss_limit >= -change; };
}

/// How many trials this holds of, for each judge.
std::vector<std::uint32_t> counted(const Typed& typed, const FleetChange& change,
                                   const std::vector<Judge>& judges) {
  std::vector<std::atomic<std::uint32_t>> counts(judges.size());
  for_each_trial(typed.trials, typed.threads, [&](std::uint32_t number) {
    const Comparison made = trial(typed, number, change);
    for (std::size_t i = 0; i < judges.size(); ++i) counts[i] += judges[i](made) ? 1U : 0U;
  });
  return {counts.begin(), counts.end()};
}

/// Trials in which the first case is found if it is slower by what the trial without a change calls
/// the smallest change that would have been seen 8 times of 10.
std::uint32_t smallest_found(const Typed& typed) {
  std::atomic<std::uint32_t> count{0};
  for_each_trial(typed.trials, typed.threads, [&](std::uint32_t number) {
    const double smallest = trial(typed, number, {}).speed.series.front().smallest_seen;
    if (first_case_found(trial(typed, number, {.first_case = -smallest}))) ++count;
  });
  return count;
}

void say(const Typed& typed, std::string_view what, std::string_view asked, std::uint32_t count) {
  constexpr double kPercent = 100;
  fmt::print("| {} | {} | {} | {} | {} of {} ({:.1f} %) |\n", typed.gpus,
             typed.outliers ? typed.cases : typed.launches, what, asked, count, typed.trials,
             kPercent * count / typed.trials);
  std::fflush(stdout);
}

/// One GPU that is slower, which the mean over few GPUs shows in part, or not at all beside one
/// that is faster.
void run_one_gpu_trials(const Typed& typed) {
  const double slower = std::log1p(-0.05), faster = std::log1p(0.05);
  const Judge found = [](const Comparison& made) {
    return findings_of(made).contains("regressed");
  };
  const Judge named = [](const Comparison& made) { return !findings_of_first_gpu(made).empty(); };
  const Judge everywhere = [](const Comparison& made) {
    const auto first = findings_of_first_gpu(made);
    return made.speed.gpus.size() == 1 && first.size() == 1 && first[0]->of_case == kAllMetrics;
  };
  const Judge another = [](const Comparison& made) {
    return made.speed.gpus.size() != findings_of_first_gpu(made).size();
  };
  for (const double percent : {2.0, 5.0}) {
    const std::string what = fmt::format("one GPU {:g} % slower in all cases", percent);
    const auto all = counted(typed, {.first_gpu = std::log1p(-percent / 100)},
                             {found, named, everywhere, another});
    say(typed, what, "a regression", all[0]);
    say(typed, what, "the GPU is named", all[1]);
    say(typed, what, "in all cases, and no other", all[2]);
    say(typed, what, "another GPU is named", all[3]);
  }
  const auto pair = counted(typed, {.first_gpu = slower, .second_gpu = faster}, {found, named});
  say(typed, "one GPU 5 % slower in all cases, one 5 % faster", "a regression", pair[0]);
  say(typed, "one GPU 5 % slower in all cases, one 5 % faster", "the GPU is named", pair[1]);
  const Judge named_there = [](const Comparison& made) {
    const auto first = findings_of_first_gpu(made);
    return std::any_of(first.begin(), first.end(),
                       [](const GpuFinding* one) { return one->of_case == 0; });
  };
  const Judge other = [](const Comparison& made) {
    const auto elsewhere = [](const auto& finding) {
      return finding.of_case != 0 && is_change(finding.verdict);
    };
    return std::any_of(made.speed.series.begin(), made.speed.series.end(), elsewhere) ||
           std::any_of(made.speed.gpus.begin(), made.speed.gpus.end(), elsewhere) ||
           is_change(made.speed.shared);
  };
  const auto little =
      counted(typed, {.one_result = std::log1p(-0.02)}, {found, named_there, other});
  say(typed, "one GPU 2 % slower in one case", "a regression", little[0]);
  say(typed, "one GPU 2 % slower in one case", "the GPU is named there", little[1]);
  say(typed, "one GPU 2 % slower in one case", "a finding in any other case", little[2]);
  const auto one = counted(typed, {.one_result = slower}, {found, named_there, other, another});
  say(typed, "one GPU 5 % slower in one case", "a regression", one[0]);
  say(typed, "one GPU 5 % slower in one case", "the GPU is named there", one[1]);
  say(typed, "one GPU 5 % slower in one case", "a finding in any other case", one[2]);
  say(typed, "one GPU 5 % slower in one case", "another GPU is named", one[3]);
}

void run_trials(const Typed& typed) {
  const Judge other = any_other, first = first_case_found, driver = verdict_names_driver;
  const Judge any = [](const Comparison& made) {
    return any_other(made) || first_case_found(made);
  };
  const Judge shared = [](const Comparison& made) {
    return made.speed.shared == SpeedVerdict::regressed;
  };
  constexpr double kTwoPercent = -0.0202, kThreePercent = -0.0305, kFivePercent = -0.0513,
                   kTenPercent = -0.1054;
  const Judge change_of_all = [](const Comparison& made) { return is_change(made.speed.shared); };
  const Judge one_gpu = [](const Comparison& made) { return !made.speed.gpus.empty(); };
  const Judge drift = [](const Comparison& made) { return made.speed.drift.seen(); };
  const Judge unwarned = [any](const Comparison& made) {
    return any(made) && !made.speed.drift.seen() && !made.setup.in_sequence;
  };
  const auto same =
      counted(typed, {}, {any, change_of_all, one_gpu, drift, unwarned, rolls_out, covers(0)});
  say(typed, "nothing changed", "any finding", same[0]);
  say(typed, "nothing changed", "of these a shift of all", same[1]);
  say(typed, "nothing changed", "of these a GPU", same[2]);
  say(typed, "nothing changed", "a warning of drift", same[3]);
  say(typed, "nothing changed", "any finding, no warning of drift or order", same[4]);
  say(typed, "nothing changed", "roll out", same[5]);
  say(typed, "nothing changed", "the loss limit of the first case holds", same[6]);
  const auto lost =
      counted(typed, {.first_case = kThreePercent}, {first, rolls_out, covers(kThreePercent)});
  say(typed, "one case 3 % slower", "found", lost[0]);
  say(typed, "one case 3 % slower", "roll out", lost[1]);
  say(typed, "one case 3 % slower", "the loss limit holds", lost[2]);
  const auto lone = counted(typed, {.first_case = kTwoPercent}, {first, other, driver});
  say(typed, "one case 2 % slower", "found", lone[0]);
  say(typed, "one case 2 % slower", "any other finding", lone[1]);
  say(typed, "one case 2 % slower", "the verdict names the driver", lone[2]);
  if (typed.brief) return;
  if (typed.gpus > 1) run_one_gpu_trials(typed);
  say(typed, "one case slower by the smallest change said to be seen 8 times of 10", "found",
      smallest_found(typed));
  if (typed.launches < kFewestLaunches) {
    const auto large = counted(typed, {.first_case = kTenPercent}, {first});
    say(typed, "one case 10 % slower", "found", large[0]);
  }
  const auto hidden =
      counted(typed, {.first_case = 1.5 * kTwoPercent, .one_launch = 5 * kTwoPercent}, {first});
  say(typed, "one case 3 % slower, one of its launches 10 % more", "found", hidden[0]);
  const auto all = counted(typed, {.all_cases = kTwoPercent}, {shared});
  say(typed, "all cases 2 % slower", "found as shared by all", all[0]);
  if (typed.gpus > 2 * kGpusOfNode) {
    const auto node = counted(typed, {.first_node = kFivePercent}, {only_first_node});
    say(typed, "one node 5 % slower", "all its GPUs in all cases, and no other", node[0]);
  }
  const auto vbios = counted(typed, {.first_case = kTwoPercent, .vbios = true}, {first, driver});
  say(typed, "one case 2 % slower, other VBIOS", "found", vbios[0]);
  say(typed, "one case 2 % slower, other VBIOS", "the verdict names the driver", vbios[1]);
}

/// One report of a fleet that is odd in this way.
Outliers outliers_in(const Typed& typed, std::uint32_t number, const FleetChange& change) {
  SyntheticFleet fleet{.gpus = typed.gpus, .cases = typed.cases, .seed = typed.seed + number};
  fleet.noise.apart =
      true;  // else all GPUs of a launch have the same noise, and it is no noise here
  return outliers_of(facts_of(synthetic_launch(fleet, 0, true, change), "trial"));
}

void say_outliers(const Typed& typed, std::string_view what, std::string_view asked,
                  const FleetChange& change, const std::function<bool(const Outliers&)>& judge) {
  std::uint32_t count = 0;
  for (std::uint32_t number = 0; number < typed.trials; ++number) {
    count += judge(outliers_in(typed, number, change)) ? 1U : 0U;
  }
  say(typed, what, asked, count);
}

bool names_gpu(const Outliers& made, std::uint32_t gpu) {
  return std::any_of(made.groups.begin(), made.groups.end(), [gpu](const OutlierGroup& group) {
    return group.slower && std::find(group.gpus.begin(), group.gpus.end(), gpu) != group.gpus.end();
  });
}

bool names_only(const Outliers& made, std::uint32_t gpus) {
  std::set<std::uint32_t> named;
  for (const OutlierGroup& group : made.groups) named.insert(group.gpus.begin(), group.gpus.end());
  return named.size() == gpus && *named.rbegin() == gpus - 1;
}

void run_outlier_trials(const Typed& typed) {
  const auto any = [](const Outliers& made) { return !made.groups.empty(); };
  const auto first = [](const Outliers& made) { return names_gpu(made, 0); };
  const auto only_first = [](const Outliers& made) { return names_only(made, 1); };
  const auto node = [](const Outliers& made) { return names_only(made, kGpusOfNode); };
  const auto one_line = [](const Outliers& made) {
    return made.groups.size() == 1 && made.groups[0].gpus.size() == kGpusOfNode;
  };
  say_outliers(typed, "nothing is odd", "anything named", {}, any);
  for (const double percent : {2.0, 5.0, 10.0}) {
    const double effect = std::log1p(-percent / 100);
    const std::string one = fmt::format("one GPU {:g} % slower in all cases", percent);
    say_outliers(typed, one, "named", {.first_gpu = effect}, first);
    say_outliers(typed, one, "and no other", {.first_gpu = effect}, only_first);
  }
  if (typed.gpus < kFewestPeers * kGpusOfNode) return;
  const double effect = std::log1p(-0.05);
  say_outliers(typed, "one node 5 % slower in all cases", "its eight GPUs, no other",
               {.first_node = effect}, node);
  say_outliers(typed, "one node 5 % slower in three cases", "its eight GPUs, no other",
               {.few_cases = effect}, node);
  say_outliers(typed, "one node 5 % slower in three cases", "in one line", {.few_cases = effect},
               one_line);
}

/// What splits of launches without any change between them say of one metric.
struct Coverage {
  std::size_t splits = 0, covered = 0, findings = 0;
};

/// Every way to call half of these reports the base: nothing changed, so that no finding is right
/// and 95 % intervals have to hold 0 in 95 of 100.
void run_splits(const Typed& typed) {
  std::vector<LaunchFacts> all;
  for (const std::string& path : typed.splits) all.push_back(facts_of(read_report(path), path));
  const std::size_t half = all.size() / 2;
  std::map<std::string, Coverage> by_metric;
  std::size_t splits = 0, with_finding = 0;
  for (std::uint32_t mask = 0; mask < (1U << all.size()); ++mask) {
    // The first is always of the base: the other half of the splits is these, turned round.
    if (static_cast<std::size_t>(std::popcount(mask)) != half || (mask & 1U) == 0) continue;
    std::vector<LaunchFacts> sides[2];
    for (std::size_t i = 0; i < all.size(); ++i) sides[(mask >> i) & 1U].push_back(all[i]);
    for (auto& side : sides) {
      for (LaunchFacts& launch : side) launch.launch.series_id = launch.launch.run_id;
      for (LaunchFacts& launch : side) launch.launch.launch = launch.launch.launches = 1;
    }
    const Comparison made =
        compare_launches(std::move(sides[1]), std::move(sides[0]), {.pair_by = PairBy::number});
    ++splits;
    with_finding += any_other(made) || first_case_found(made) ? 1U : 0U;
    for (const SpeedFinding& finding : made.speed.series) {
      if (std::isnan(finding.in_all.standard_error)) continue;
      Coverage& coverage = by_metric[made.pairing.cases[finding.of_case] + "/" + finding.metric];
      ++coverage.splits;
      coverage.covered += std::abs(finding.own.effect) <= finding.own.margin() ? 1U : 0U;
      coverage.findings += is_change(finding.verdict) ? 1U : 0U;
    }
  }
  constexpr double kPercent = 100;
  fmt::print("{} splits, {} with a finding\n", splits, with_finding);
  for (const auto& [metric, coverage] : by_metric) {
    fmt::print(
        "| {} | {} of {} ({:.1f} %) | {} |\n", metric, coverage.covered, coverage.splits,
        kPercent * static_cast<double>(coverage.covered) / static_cast<double>(coverage.splits),
        coverage.findings);
  }
}

void write_reports(const Typed& typed) {
  const SyntheticFleet fleet{
      .gpus = typed.gpus, .cases = typed.cases, .seed = typed.seed, .noise = typed.noise};
  std::filesystem::create_directories(typed.write);
  const FleetChange change{.first_case = std::log1p(-typed.write_slower / 100),
                           .few_cases = std::log1p(-typed.write_slower_node / 100)};
  for (const bool fresh : {false, true}) {
    for (std::uint32_t i = 0; i < typed.launches; ++i) {
      Report made = synthetic_launch(fleet, i, fresh, change);
      add_measured(made);
      write_report(made, fmt::format("{}/{}-{}.h5", typed.write, fresh ? "new" : "base", i),
                   NameInUse::replace);
    }
  }
}

int trials_main(int argc, char** argv) {
  Typed typed;
  CLI::App app("How often compare is right about synthetic fleets");
  app.add_option("--gpus", typed.gpus, "GPUs, eight a node (8)")->check(CLI::Range(1, 4096));
  app.add_option("--cases", typed.cases, "Cases (100)")->check(CLI::Range(1, 10000));
  app.add_option("--launches", typed.launches, "Launches a side (5)")->check(CLI::Range(1, 100));
  app.add_option("--trials", typed.trials, "Trials a line (200)")->check(CLI::Range(1, 1000000));
  app.add_option("--threads", typed.threads, "Threads (2)")->check(CLI::Range(1, 64));
  app.add_option("--seed", typed.seed, "Of the first trial (1)");
  app.add_flag("--apart", typed.noise.apart, "Each GPU has launch noise of its own");
  app.add_flag("--outliers", typed.outliers, "How often show is right about GPUs that lie apart");
  FleetNoise& noise = typed.noise;
  for (const auto& [name, number, what] : {
           std::tuple("--between", &noise.between_cases,
                      "How unlike metrics scatter: standard deviation of the logarithm (0.5)"),
           {"--noise", &noise.launch, "Of a metric from launch to launch (0.0033)"},
           {"--counts", &noise.counts, "Share of metrics that count cycles (0)"},
           {"--heavy", &noise.heavy, "Share of a metric's launches 5 % below the rest (0)"},
           {"--heat", &noise.heat, "Of an AR(0.9) walk that all metrics share (0)"},
           {"--drift", &noise.drift, "Of each metric's slope a launch (0)"},
           {"--clocks", &noise.clocks,
            "What every other launch loses, each metric a share of its own (0)"},
           {"--warm-up", &noise.warm_up, "The same of the first launch of each side (0)"},
           {"--noisy-gpu", &noise.noisy_gpu, "Of the first GPU from launch to launch (0)"},
           {"--step", &noise.step, "Steps to which values are rounded (0)"},
       }) {
    app.add_option(name, *number, what)->check(CLI::Range(0.0, 5.0));
  }
  app.add_flag(
      "--in-sequence", noise.in_sequence,
      "The side after the change ran behind the other; without it their launches alternate");
  app.add_flag("--tails", noise.tails, "Launch noise is Cauchy's");
  app.add_flag("--brief", typed.brief, "Only without a change, and with one case 2 % slower");
  app.add_option("--splits", typed.splits,
                 "What all splits of these reports say, between which nothing changed");
  app.add_option("--write", typed.write, "Leave the reports of one trial in this folder instead");
  app.add_option("--slower", typed.write_slower, "With --write: percent that the first case loses")
      ->check(CLI::Range(0.0, 90.0));
  app.add_option("--slower-node", typed.write_slower_node,
                 "With --write: percent that the first node loses in the first three cases")
      ->check(CLI::Range(0.0, 90.0));
  CLI11_PARSE(app, argc, argv);
  if (!typed.splits.empty()) {
    run_splits(typed);
  } else if (typed.outliers) {
    run_outlier_trials(typed);
  } else if (typed.write.empty()) {
    run_trials(typed);
  } else {
    write_reports(typed);
  }
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  try {
    return tidemark::trials_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fleet_trials: {}\n", error.what());
    return 2;
  }
}
