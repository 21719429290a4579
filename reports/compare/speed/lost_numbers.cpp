// Holds what each result measured against what its case measures elsewhere.
#include "reports/compare/speed/lost_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/compare/speed/series.hpp"
#include "reports/schema/verdict_kinds.hpp"

namespace tidemark::reports {
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
    number = number || std::any_of(series->medians.begin(), series->medians.end(),
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

}  // namespace tidemark::reports
