// Gathers values over launches; GPUs that lack one would move the mean by what GPUs differ.
#include "reports/compare/speed/series.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace tidemark::reports {
namespace {

/// NaN also where the launch means another thing by the name: another unit or direction.
double value_at(const Pairing& pairing, const Sources& sources, std::size_t launch,
                std::size_t gpu) {
  const std::uint32_t row = pairing.gpu_rows[launch][gpu];
  const SeriesOfLaunch* const here = sources[launch];
  if (here == nullptr || row == kNoRow || !alike(*here, first_of(sources)))
    return std::numeric_limits<double>::quiet_NaN();
  return sources[launch]->medians[row];
}

/// Launches in which any paired GPU has a value.
std::vector<std::size_t> launches_with(const Pairing& pairing, const Sources& sources) {
  std::vector<std::size_t> made;
  for (std::size_t launch = 0; launch < sources.size(); ++launch) {
    for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      if (!pairing.is_paired(gpu) || std::isnan(value_at(pairing, sources, launch, gpu))) continue;
      made.push_back(launch);
      break;
    }
  }
  return made;
}

/// Whether the GPU has a value in any of these launches.
bool any_value(const Pairing& pairing, const Sources& sources,
               const std::vector<std::size_t>& launches, std::size_t gpu, bool fresh) {
  return std::any_of(launches.begin(), launches.end(), [&](std::size_t launch) {
    return (launch >= pairing.base) == fresh &&
           !std::isnan(value_at(pairing, sources, launch, gpu));
  });
}

/// Of few GPUs one that lacks a launch cannot be judged alone, and left out it could be of any
/// speed: these launches without those in which it lacks its value, where half of each side is
/// left.
std::vector<std::size_t> whole_launches(const Pairing& pairing, const Sources& sources,
                                        const std::vector<std::size_t>& launches) {
  std::vector<std::size_t> gpus, made;
  for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    if (!pairing.is_paired(gpu)) continue;
    if (any_value(pairing, sources, launches, gpu, false) &&
        any_value(pairing, sources, launches, gpu, true)) {
      gpus.push_back(gpu);
    }
  }
  if (gpus.size() >= kFewestGpus) return launches;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(made), [&](std::size_t launch) {
    return std::none_of(gpus.begin(), gpus.end(), [&](std::size_t gpu) {
      return std::isnan(value_at(pairing, sources, launch, gpu));
    });
  });
  const auto in_base = [&](const std::vector<std::size_t>& some) {
    return std::lower_bound(some.begin(), some.end(), pairing.base) - some.begin();
  };
  const auto all = static_cast<std::ptrdiff_t>(launches.size()), base = in_base(launches);
  const auto left = static_cast<std::ptrdiff_t>(made.size()), left_base = in_base(made);
  return 2 * left_base >= base && 2 * (left - left_base) >= all - base ? made : launches;
}

void choose_gpus(Series& series, const Pairing& pairing, const Sources& sources,
                 const std::vector<std::size_t>& launches) {
  const auto everywhere = [&](std::uint32_t gpu) {
    return std::all_of(launches.begin(), launches.end(), [&](std::size_t launch) {
      return !std::isnan(value_at(pairing, sources, launch, gpu));
    });
  };
  for (std::uint32_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    if (!pairing.is_paired(gpu)) continue;
    const bool all = everywhere(gpu);
    const bool whole_in_new =
        std::all_of(launches.begin(), launches.end(), [&](std::size_t launch) {
          return launch < pairing.base || !std::isnan(value_at(pairing, sources, launch, gpu));
        });
    if (!all && whole_in_new) series.lost_in_base.push_back(gpu);
    if (all || (any_value(pairing, sources, launches, gpu, false) &&
                any_value(pairing, sources, launches, gpu, true))) {
      series.gpus.push_back(gpu);
      series.partial.push_back(!all);
    } else {
      series.without.push_back(gpu);
    }
  }
}

void fill(Series& series, const Pairing& pairing, const Sources& sources,
          const std::vector<std::size_t>& launches) {
  const std::size_t all = pairing.launches.size();
  series.goodness = LaunchMatrix(series.gpus.size(), all, pairing.base);
  series.tails = series.goodness;
  const double sign = series.higher_is_better ? 1 : -1;
  for (std::size_t i = 0; i < series.gpus.size(); ++i) {
    for (const std::size_t launch : launches) {
      const std::uint32_t row = pairing.gpu_rows[launch][series.gpus[i]];
      if (std::isnan(value_at(pairing, sources, launch, series.gpus[i]))) continue;
      series.goodness.at(i, launch) = sign * std::log(sources[launch]->medians[row]);
      const std::vector<float>& tails = sources[launch]->tails;
      if (!tails.empty()) series.tails.at(i, launch) = static_cast<double>(tails[row]);
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

/// Of the base alone: what is judged must not say how much of it is noise.
double stored_noise(const Pairing& pairing, const std::string& key) {
  double most = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t launch = 0; launch < pairing.base; ++launch) {
    const auto& noise = pairing.launches[launch]->noise;
    if (const auto at = noise.find(key); at != noise.end()) most = std::fmax(most, at->second);
  }
  return most;
}

}  // namespace

const SeriesOfLaunch& first_of(const Sources& sources) {
  return **std::find_if(sources.begin(), sources.end(), [](const auto* each) { return each; });
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
    series.noise = stored_noise(pairing, pairing.cases[key.first] + "/" + key.second);
    const std::vector<std::size_t> any = launches_with(pairing, sources);
    const std::vector<std::size_t> launches = whole_launches(pairing, sources, any);
    series.launches_left_out = any.size() - launches.size();
    choose_gpus(series, pairing, sources, launches);
    fill(series, pairing, sources, launches);
    made.push_back(std::move(series));
  }
  return made;
}

}  // namespace tidemark::reports
