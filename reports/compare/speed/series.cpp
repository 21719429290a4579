// The values of a metric over launches and GPUs, and those that were lost.
#include "reports/compare/speed/series.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "reports/schema/verdict.hpp"

namespace tidemark {

// Gathers values over launches; GPUs that lack one would move the mean by what GPUs differ.

namespace {

/// By GPU of the pairing and launch: logarithm, above for better. NaN of a GPU that is not paired,
/// and where the launch means another thing by the name: another unit or direction.
LaunchMatrix values_of(const Pairing& pairing, const Sources& sources) {
  LaunchMatrix made(pairing.gpus.size(), sources.size(), pairing.base);
  const SeriesOfLaunch& first = first_of(sources);
  const double sign = first.higher_is_better ? 1 : -1;
  for (std::size_t launch = 0; launch < sources.size(); ++launch) {
    if (sources[launch] == nullptr || !alike(*sources[launch], first)) continue;
    for (std::size_t gpu = 0; gpu < made.rows; ++gpu) {
      const std::uint32_t row = pairing.gpu_rows[launch][gpu];
      if (row == kNoRow || !pairing.is_paired(gpu)) continue;
      made.at(gpu, launch) = sign * std::log(sources[launch]->medians[row]);
    }
  }
  return made;
}

using Launches = std::vector<std::size_t>;

/// Those in which any GPU has a value.
Launches launches_with(const LaunchMatrix& values) {
  Launches made;
  for (std::size_t launch = 0; launch < values.launches; ++launch) {
    for (std::size_t gpu = 0; gpu < values.rows; ++gpu) {
      if (std::isnan(values.at(gpu, launch))) continue;
      made.push_back(launch);
      break;
    }
  }
  return made;
}

/// Whether the GPU has a value in any of these launches of each side.
bool on_both_sides(const LaunchMatrix& values, const Launches& launches, std::size_t gpu) {
  bool base = false, fresh = false;
  for (const std::size_t launch : launches) {
    if (!std::isnan(values.at(gpu, launch))) (launch < values.base ? base : fresh) = true;
  }
  return base && fresh;
}

/// Of few GPUs one that lacks a launch cannot be judged alone, and left out it could be of any
/// speed: these launches without those in which it lacks its value, where half of each side is
/// left.
Launches whole_launches(const LaunchMatrix& values, const Launches& launches) {
  std::vector<std::size_t> gpus;
  for (std::size_t gpu = 0; gpu < values.rows; ++gpu) {
    if (on_both_sides(values, launches, gpu)) gpus.push_back(gpu);
  }
  if (gpus.size() >= kFewestGpus) return launches;
  Launches made;
  std::ranges::copy_if(launches, std::back_inserter(made), [&](std::size_t launch) {
    return std::ranges::none_of(
        gpus, [&](std::size_t gpu) { return std::isnan(values.at(gpu, launch)); });
  });
  const auto in_base = [&](const Launches& some) {
    return std::ranges::lower_bound(some, values.base) - some.begin();
  };
  const auto all = static_cast<std::ptrdiff_t>(launches.size()), base = in_base(launches);
  const auto left = static_cast<std::ptrdiff_t>(made.size()), left_base = in_base(made);
  return 2 * left_base >= base && 2 * (left - left_base) >= all - base ? made : launches;
}

void choose_gpus(Series& series, const Pairing& pairing, const LaunchMatrix& values,
                 const Launches& launches) {
  for (std::uint32_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    if (!pairing.is_paired(gpu)) continue;
    bool in_base = true, in_new = true;
    for (const std::size_t launch : launches) {
      if (std::isnan(values.at(gpu, launch))) (launch < values.base ? in_base : in_new) = false;
    }
    if (!in_base && in_new) series.lost_in_base.push_back(gpu);
    if ((in_base && in_new) || on_both_sides(values, launches, gpu)) {
      series.gpus.push_back(gpu);
      series.partial.push_back(!in_base || !in_new);
    } else {
      series.without.push_back(gpu);
    }
  }
}

void fill(Series& series, const Pairing& pairing, const Sources& sources,
          const LaunchMatrix& values, const Launches& launches) {
  series.goodness = LaunchMatrix(series.gpus.size(), values.launches, values.base);
  series.tails = series.goodness;
  for (std::size_t i = 0; i < series.gpus.size(); ++i) {
    for (const std::size_t launch : launches) {
      series.goodness.at(i, launch) = values.at(series.gpus[i], launch);
      if (std::isnan(series.goodness.at(i, launch)) || sources[launch]->tails.empty()) continue;
      const std::uint32_t row = pairing.gpu_rows[launch][series.gpus[i]];
      series.tails.at(i, launch) = static_cast<double>(sources[launch]->tails[row]);
    }
  }
}

/// Why launches cannot be compared, empty where they can.
std::string unfit_of(const Pairing& pairing, std::uint32_t of_case, const Sources& sources) {
  std::size_t gpus = 0;
  for (std::size_t launch = 0; launch < sources.size(); ++launch) {
    if (sources[launch] == nullptr) continue;
    const LaunchFacts& facts = *pairing.launches[launch];
    if (gpus == 0) gpus = facts.gpus.size();
    // GPUs that work together are as fast as their number lets them.
    if (facts.over_all_gpus[pairing.case_rows[launch][of_case]] && facts.gpus.size() != gpus) {
      return "it ran over another number of GPUs";
    }
  }
  return {};
}

}  // namespace

const SeriesOfLaunch& first_of(const Sources& sources) {
  return **std::ranges::find_if(sources, [](const auto* each) { return each; });
}

bool alike(const SeriesOfLaunch& one, const SeriesOfLaunch& other) {
  return one.unit == other.unit && one.higher_is_better == other.higher_is_better;
}

std::map<std::pair<std::uint32_t, std::string>, Sources> sources_of(const Pairing& pairing) {
  std::map<std::pair<std::uint32_t, std::string>, Sources> made;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const LaunchFacts& facts = *pairing.launches[launch];
    std::vector<std::uint32_t> global(facts.cases.size(), kNoRow);
    for (std::uint32_t i = 0; i < pairing.cases.size(); ++i) {
      if (const std::uint32_t row = pairing.case_rows[launch][i]; row != kNoRow) global[row] = i;
    }
    for (const SeriesOfLaunch& series : facts.series) {
      Sources& sources = made[{global[series.of_case], series.name}];
      sources.resize(pairing.launches.size());
      sources[launch] = &series;
    }
  }
  return made;
}

std::vector<Series> series_of(const Pairing& pairing) {
  std::vector<Series> made;
  for (const auto& [key, sources] : sources_of(pairing)) {
    Series series;
    series.of_case = key.first;
    series.metric = key.second;
    series.unfit = unfit_of(pairing, key.first, sources);
    const SeriesOfLaunch& first = first_of(sources);
    series.unit = first.unit;
    series.higher_is_better = first.higher_is_better;
    const LaunchMatrix values = values_of(pairing, sources);
    const Launches any = launches_with(values), launches = whole_launches(values, any);
    series.launches_left_out = any.size() - launches.size();
    choose_gpus(series, pairing, values, launches);
    if (any.empty() && !series.gpus.empty()) continue;
    fill(series, pairing, sources, values, launches);
    made.push_back(std::move(series));
  }
  return made;
}

// Holds what each result measured against what its case measures elsewhere.

namespace {

bool has_samples(const SeriesOfLaunch& series, std::uint32_t gpu) {
  return !series.tails.empty() && !std::isnan(series.tails[gpu]);
}

/// What counts as a number of a metric.
struct Expected {
  const SeriesOfLaunch& like;  // of this unit and direction
  // 0 is one: no launch has another and less is better, as of the time of an exchange with nobody.
  bool nought = false;
  bool samples = false;  // some launch has enough of them to compare

  bool is_number(const SeriesOfLaunch* series, std::uint32_t gpu) const {
    if (series == nullptr || !alike(*series, like)) return false;
    if (!std::isnan(series->medians[gpu])) return !samples || has_samples(*series, gpu);
    return nought && series->noughts.contains(gpu);
  }
};

Expected expected_of(const Sources& sources) {
  Expected made{.like = first_of(sources)};
  bool number = false;
  for (const SeriesOfLaunch* series : sources) {
    if (series == nullptr) continue;
    made.nought = made.nought || !series->noughts.empty();
    made.samples = made.samples || !series->tails.empty();
    number = number || std::ranges::any_of(series->medians,
                                           [](double median) { return !std::isnan(median); });
  }
  made.nought = made.nought && !number;
  return made;
}

/// Why there is no number of `metric`, for a person.
std::string lost_because(const std::string& metric, const SeriesOfLaunch* series,
                         const SeriesOfLaunch& like, std::uint32_t gpu) {
  if (series == nullptr) return metric + " is not there";
  if (series->unit != like.unit) {
    return fmt::format("{} is in {}, elsewhere in {}", metric, series->unit, like.unit);
  }
  if (series->higher_is_better != like.higher_is_better) {
    return fmt::format("{} is better when {}, elsewhere when {}", metric,
                       series->higher_is_better ? "higher" : "lower",
                       like.higher_is_better ? "higher" : "lower");
  }
  if (!std::isnan(series->medians[gpu])) {
    return fmt::format("{} has fewer than {} samples, elsewhere more", metric, kFewestForTail);
  }
  return metric + (series->noughts.contains(gpu) ? " is 0" : " is not there");
}

/// The launch that stands there in the pairing.
LaunchFacts& launch_at(std::size_t launch, std::vector<LaunchFacts>& base,
                       std::vector<LaunchFacts>& fresh) {
  return launch < base.size() ? base[launch] : fresh[launch - base.size()];
}

/// Each pass of which `why` says something is none.
template <class Why>
void miss(LaunchFacts& facts, std::uint32_t of_case, const Why& why) {
  std::size_t told = 0;
  for (std::uint32_t gpu = 0; gpu < facts.gpus.size(); ++gpu) {
    const std::size_t cell = of_case * facts.gpus.size() + gpu;
    if (!has_passed(facts.verdicts[cell])) continue;
    std::string because = why(gpu, cell);
    if (because.empty()) continue;
    facts.verdicts[cell] = Verdict::not_run;
    if (told++ < kEvidenceOfCase) {
      facts.evidence.try_emplace({of_case, gpu}, Evidence{std::move(because), {}});
    }
  }
}

/// The same suite gives a case tensor maps and about as many rows (a seed draws a few of a hundred
/// more or less) in every launch and on every GPU; more GPUs that work together may have more.
void miss_lost_rows(const Pairing& pairing, std::vector<LaunchFacts>& base,
                    std::vector<LaunchFacts>& fresh) {
  constexpr double kAsMany = 0.9;
  for (std::size_t which = 0; which < pairing.cases.size(); ++which) {
    std::map<std::size_t, std::uint32_t> most;  // by GPUs that work together
    bool maps = false;
    const auto in_each_launch = [&](const auto& why) {
      for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
        const std::uint32_t of_case = pairing.case_rows[launch][which];
        if (of_case == kNoRow) continue;
        LaunchFacts& facts = launch_at(launch, base, fresh);
        std::uint32_t& rows = most[facts.over_all_gpus[of_case] ? facts.gpus.size() : 1];
        miss(facts, of_case,
             [&](std::uint32_t, std::size_t cell) { return why(facts, cell, rows); });
      }
    };
    in_each_launch([&](const LaunchFacts& facts, std::size_t cell, std::uint32_t& rows) {
      rows = std::max(rows, facts.rows[cell]);
      maps = maps || facts.descriptors[cell] != 0;
      return std::string();
    });
    in_each_launch([&](const LaunchFacts& facts, std::size_t cell, std::uint32_t& rows) {
      if (facts.rows[cell] < kAsMany * rows) {
        return fmt::format("passed, but ran {} rows, elsewhere {}", facts.rows[cell], rows);
      }
      return std::string(maps && facts.descriptors[cell] == 0 ? "passed, but kept no tensor maps"
                                                              : "");
    });
  }
}

}  // namespace

void miss_lost_numbers(const Pairing& pairing, bool same_suite, std::vector<LaunchFacts>& base,
                       std::vector<LaunchFacts>& fresh) {
  if (same_suite) miss_lost_rows(pairing, base, fresh);
  for (const auto& [key, sources] : sources_of(pairing)) {
    const Expected expected = expected_of(sources);
    for (std::size_t launch = 0; launch < sources.size(); ++launch) {
      const std::uint32_t of_case = pairing.case_rows[launch][key.first];
      if (of_case == kNoRow) continue;
      const SeriesOfLaunch* const series = sources[launch];
      // clang 14 captures no binding.
      const auto lost = [&, &name = key.second](std::uint32_t gpu, std::size_t) {
        return expected.is_number(series, gpu) ? ""
                                               : "passed without a usable number: " +
                                                     lost_because(name, series, expected.like, gpu);
      };
      miss(launch_at(launch, base, fresh), of_case, lost);
    }
  }
}

std::vector<std::string> incomplete_series(const Pairing& pairing) {
  struct Given {
    std::uint32_t launches = 0;
    std::set<std::uint32_t> numbers;
    std::set<bool> fresh;  // sides that they stand on: halves of one series may be compared
  };
  std::map<std::string, Given> all;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const LaunchRow& row = pairing.launches[launch]->launch;
    Given& given = all[row.series_id];
    given.launches = std::max(given.launches, row.launches);
    given.numbers.insert(row.launch);
    given.fresh.insert(launch >= pairing.base);
  }
  std::vector<std::string> made;
  for (const auto& [id, given] : all) {
    if (given.numbers.size() >= given.launches) continue;
    const std::size_t count = given.launches - given.numbers.size();
    constexpr std::size_t kNamed = 8;  // a report may claim billions
    std::string absent;
    std::size_t named = 0;
    for (std::uint32_t number = 1; named < std::min(count, kNamed); ++number) {
      if (given.numbers.contains(number)) continue;
      absent += fmt::format("{}{}", named++ == 0 ? "" : ", ", number);
    }
    const std::string_view side = given.fresh.size() > 1       ? "base and new"
                                  : given.fresh.contains(true) ? "new"
                                                               : "base";
    made.push_back(fmt::format("{} series {}: launch{} {}{} of {} {} not given", side,
                               id.substr(0, 8), count == 1 ? "" : "es", absent,
                               count > kNamed ? ", ..." : "", given.launches,
                               count == 1 ? "is" : "are"));
  }
  return made;
}

}  // namespace tidemark
