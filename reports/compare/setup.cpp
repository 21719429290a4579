// The confounder gate.
#include "reports/compare/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark {
namespace {

/// Values of a factor and in how many launches (or launches times GPUs) of a side each stands.
using Values = std::map<std::string, std::size_t>;

std::size_t readings(const Values& values) {
  std::size_t made = 0;
  for (const auto& [value, times] : values) made += times;
  return made;
}

/// Whether each value stands in the same share of both sides: 600 W in two of five launches before
/// and in four of five after is a difference, although both sides know the same values.
bool alike(const Values& base, const Values& fresh) {
  const std::size_t all_base = readings(base), all_fresh = readings(fresh);
  return std::ranges::equal(base, fresh, [&](const auto& one, const auto& other) {
    return one.first == other.first && one.second * all_fresh == other.second * all_base;
  });
}

/// "700 W", or with shares where there are several: "600 W (40 %), 700 W (60 %)".
std::string listed(const Values& values) {
  constexpr std::size_t kNamed = 4;
  std::string made;
  std::size_t named = 0;
  for (const auto& [value, times] : values) {
    if (named == kNamed) return made + fmt::format(" and {} more", values.size() - kNamed);
    made += fmt::format("{}{}", named++ == 0 ? "" : ", ", value.empty() ? "unknown" : value);
    if (values.size() > 1) {
      made += fmt::format(" ({:.0f} %)",
                          100 * static_cast<double>(times) / static_cast<double>(readings(values)));
    }
  }
  return made.empty() ? "unknown" : made;
}

void merge(Values& into, const Values& values) {
  for (const auto& [value, times] : values) into[value] += times;
}

/// What a launch says that does not name this factor.
std::string absent(std::string_view name) {
  if (name.starts_with("environment.")) return "not set";
  if (name == "gemm_table") return "that of the build";
  return name.starts_with("slow.") ? "not slowed" : "";
}

/// Both sides have it in the same shares: it cannot make them differ, but adds to the noise.
std::string varied(std::string_view name, const Values& values) {
  return fmt::format("{} varied alike on both sides: {}", name, listed(values));
}

void add_launch_factors(SetupComparison& made, const Pairing& pairing) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> by_launch;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    for (const Factor& factor : pairing.launches[launch]->factors) {
      std::vector<std::string>& values = by_launch[factor.name];
      if (values.empty()) names.push_back(factor.name);
      // A launch without it is one value more: else three launches of five that have it would look
      // like five.
      values.resize(pairing.launches.size(), absent(factor.name));
      values[launch] = factor.value;
    }
  }
  for (const std::string& name : names) {
    const std::vector<std::string>& values = by_launch[name];
    Values base, fresh;
    for (std::size_t launch = 0; launch < values.size(); ++launch) {
      ++(launch < pairing.base ? base : fresh)[values[launch]];
    }
    if (alike(base, fresh)) {
      if (base.size() > 1) made.remarks.push_back(varied(name, base));
      continue;
    }
    // Seeds that differ within each side are drawn: they cannot tell the sides apart.
    if (name == "seed" && base.size() > 1 && fresh.size() > 1) continue;
    made.differences.push_back({.factor = name, .base = listed(base), .fresh = listed(fresh)});
  }
}

/// One of the lists of values that each GPU of a launch has.
using ValuesOfGpu = std::vector<std::string> FactsOfGpu::*;

/// Values of one factor of one GPU over the launches of each side.
std::pair<Values, Values> values_of(const Pairing& pairing, std::size_t gpu, ValuesOfGpu list,
                                    std::size_t factor) {
  std::pair<Values, Values> made;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const std::uint32_t row = pairing.gpu_rows[launch][gpu];
    if (row == kNoRow) continue;
    ++(launch < pairing.base ? made.first
                             : made.second)[(pairing.launches[launch]->gpus[row].*list)[factor]];
  }
  return made;
}

bool unknown_everywhere(const Values& values) {
  return values.size() == 1 && values.begin()->first.empty();
}

void add_gpu_factors(SetupComparison& made, const Pairing& pairing) {
  std::string unknown;
  std::set<std::uint32_t> subject_gpus;
  for (std::size_t factor = 0; factor < gpu_factor_names().size(); ++factor) {
    Values base, fresh, both;
    std::size_t gpus = 0, nowhere = 0;
    for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      if (!pairing.is_paired(gpu)) continue;
      auto [before, after] = values_of(pairing, gpu, &FactsOfGpu::values, factor);
      nowhere += unknown_everywhere(before) && unknown_everywhere(after) ? 1U : 0U;
      if (alike(before, after)) {
        if (before.size() > 1) merge(both, before);
        continue;
      }
      ++gpus;
      merge(base, before);
      merge(fresh, after);
      if (factor < kDriverFactors) subject_gpus.insert(static_cast<std::uint32_t>(gpu));
    }
    const std::string& name = gpu_factor_names()[factor];
    const bool subject = factor < kDriverFactors;
    if (gpus > 0) made.differences.push_back({name, listed(base), listed(fresh), gpus, subject});
    if (!both.empty()) made.remarks.push_back(varied(name, both));
    if (nowhere > 0) unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (!unknown.empty()) made.remarks.push_back("recorded on neither side: " + unknown);
  made.subject_gpus.assign(subject_gpus.begin(), subject_gpus.end());
}

/// Where GPUs are, and `names`: what differs and no change is put down to.
void add_identities(SetupComparison& made, const Pairing& pairing, std::string names) {
  for (std::size_t i = 0; i < gpu_identity_names().size(); ++i) {
    if (gpu_identity_names()[i] == "boot_id") continue;  // add_boots has more to say of it
    for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      if (!pairing.is_paired(gpu)) continue;
      const auto [before, after] = values_of(pairing, gpu, &FactsOfGpu::identity, i);
      if (alike(before, after)) continue;
      names += (names.empty() ? "" : ", ") + gpu_identity_names()[i];
      break;
    }
  }
  if (!names.empty())
    made.remarks.push_back("differs, too, and is not taken for a cause: " + names);
}

/// One reading of a GPU over the launches of a side, ascending.
using Readings = std::vector<double>;

std::pair<Readings, Readings> readings_of(const Pairing& pairing, std::size_t gpu,
                                          std::size_t which) {
  std::pair<Readings, Readings> made;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const std::uint32_t row = pairing.gpu_rows[launch][gpu];
    if (row == kNoRow) continue;
    const double value = pairing.launches[launch]->gpus[row].readings[which];
    if (std::isnan(value)) continue;
    (launch < pairing.base ? made.first : made.second).push_back(value);
  }
  std::ranges::sort(made.first);
  std::ranges::sort(made.second);
  return made;
}

bool alike(const Reading& reading, double one, double other) {
  const double scale = reading.relative ? std::max(std::abs(one), std::abs(other)) : 1;
  return std::abs(one - other) <= reading.alike * scale;
}

/// Two launches of five that are hot move no median: the ends are compared, too.
bool alike(const Reading& reading, const Readings& base, const Readings& fresh) {
  if (base.empty() || fresh.empty()) return base.empty() && fresh.empty();
  return alike(reading, base.front(), fresh.front()) && alike(reading, base.back(), fresh.back()) &&
         alike(reading, median_of(base), median_of(fresh));
}

/// "48 C", or "48 to 92 C" where they are unlike each other.
std::string text_of(const Reading& reading, Readings values) {
  if (values.empty()) return "unknown";
  const auto [low, high] = std::ranges::minmax_element(values);
  return alike(reading, *low, *high)
             ? fmt::format("{:.0f} {}", median_of(values), reading.unit)
             : fmt::format("{:.0f} to {:.0f} {}", *low, *high, reading.unit);
}

void add_readings(SetupComparison& made, const Pairing& pairing, std::string& no_cause) {
  for (std::size_t which = 0; which < gpu_readings().size(); ++which) {
    const Reading& reading = gpu_readings()[which];
    Readings base, fresh;
    std::size_t gpus = 0;
    for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      if (!pairing.is_paired(gpu)) continue;
      const auto [before, after] = readings_of(pairing, gpu, which);
      if (alike(reading, before, after)) continue;
      ++gpus;
      base.insert(base.end(), before.begin(), before.end());
      fresh.insert(fresh.end(), after.begin(), after.end());
    }
    if (gpus == 0) continue;
    if (!reading.cause) {
      no_cause += (no_cause.empty() ? "" : ", ") + std::string(reading.name);
      continue;
    }
    made.differences.push_back({.factor = std::string(reading.name),
                                .base = text_of(reading, std::move(base)),
                                .fresh = text_of(reading, std::move(fresh)),
                                .gpus = gpus});
  }
}

void add_shifts(SetupComparison& made, const Pairing& pairing) {
  for (std::size_t which = 0; which < gpu_readings().size(); ++which) {
    if (!gpu_readings()[which].relative) continue;
    std::pair<Readings, Readings> sides;  // by launch: mean logarithm
    for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
      double sum = 0, gpus = 0;
      for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
        const std::uint32_t row = pairing.gpu_rows[launch][gpu];
        if (row == kNoRow || !pairing.is_paired(gpu)) continue;
        const double value = pairing.launches[launch]->gpus[row].readings[which];
        if (!(value > 0)) continue;
        sum += std::log(value);
        ++gpus;
      }
      if (gpus > 0) (launch < pairing.base ? sides.first : sides.second).push_back(sum / gpus);
    }
    auto& [base, fresh] = sides;
    if (std::min(base.size(), fresh.size()) < kFewestLaunches) continue;
    std::ranges::sort(base);
    std::ranges::sort(fresh);
    if (base.back() < fresh.front() || fresh.back() < base.front())
      made.shifts.push_back({gpu_readings()[which].name, median_of(fresh) - median_of(base)});
  }
}

/// Two drivers on one side: which of them the side stands for cannot be told.
void add_mixed_drivers(SetupComparison& made, const Pairing& pairing) {
  Values base, fresh;
  std::size_t gpus = 0;
  for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    const auto [before, after] = values_of(pairing, gpu, &FactsOfGpu::values, 0);
    if (before.size() < 2 && after.size() < 2) continue;
    ++gpus;
    merge(base, before);
    merge(fresh, after);
  }
  if (gpus > 0) made.differences.push_back({"mixed_drivers", listed(base), listed(fresh), gpus});
}

void add_gpu_set(SetupComparison& made, const Pairing& pairing) {
  std::size_t base = 0, fresh = 0;
  for (const PairedGpu& gpu : pairing.gpus) {
    base += gpu.fresh == 0 ? 1U : 0U;
    fresh += gpu.base == 0 ? 1U : 0U;
  }
  if (base + fresh == 0) return;
  made.differences.push_back({.factor = "gpus",
                              .base = fmt::format("{} only here", base),
                              .fresh = fmt::format("{} only here", fresh),
                              .gpus = base + fresh});
}

void add_boots(SetupComparison& made, const Pairing& pairing) {
  std::map<std::string, std::pair<Values, Values>> boots;  // by node
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    for (const FactsOfGpu& gpu : pairing.launches[launch]->gpus) {
      if (gpu.uuid.empty()) continue;
      auto& [base, fresh] = boots[gpu.node];
      ++(launch < pairing.base ? base : fresh)[gpu.boot];
    }
  }
  std::erase_if(boots, [](const auto& node) {
    return node.second.first.empty() || node.second.second.empty();
  });
  const bool several = std::ranges::all_of(boots, [](const auto& node) {
    return node.second.first.size() > 1 && node.second.second.size() > 1;
  });
  const bool same = std::ranges::all_of(
      boots, [](const auto& node) { return alike(node.second.first, node.second.second); });
  made.one_boot = boots.empty() || (!several && !same);
  if (made.one_boot) {
    made.remarks.push_back("one boot a side: an effect of the boot cannot be excluded");
  }
}

Cause cause_of(const std::vector<SetupDifference>& differences) {
  bool subject = false;
  for (const SetupDifference& difference : differences) {
    if (!difference.subject && !difference.allowed && !difference.idle) return Cause::confounded;
    subject = subject || difference.subject;
  }
  return subject ? Cause::driver : Cause::nothing_recorded;
}

}  // namespace

bool SetupComparison::differs(std::string_view factor) const {
  return std::ranges::find(differences, factor, &SetupDifference::factor) != differences.end();
}

void SetupComparison::add(SetupDifference difference) {
  differences.push_back(std::move(difference));
  cause = cause_of(differences);
}

void SetupComparison::set_idle(std::string_view factor) {
  for (SetupDifference& difference : differences) {
    if (difference.factor == factor) difference.idle = true;
  }
  cause = cause_of(differences);
}

SetupComparison compare_setups(const Pairing& pairing, PairBy by,
                               const std::set<std::string>& allowed) {
  SetupComparison made;
  add_gpu_factors(made, pairing);
  add_mixed_drivers(made, pairing);
  add_gpu_set(made, pairing);
  std::string no_cause;
  add_readings(made, pairing, no_cause);
  add_launch_factors(made, pairing);
  if (by == PairBy::number) {
    made.differences.push_back(
        {.factor = "pairing", .base = "by number, not UUID", .fresh = "GPUs may be others"});
  }
  if (by == PairBy::number_of_series) {
    // One command ran on one set of nodes; their hashed names differ from report to report.
    std::erase_if(made.differences, [](const auto& difference) {
      return difference.factor == "node" || difference.factor == "gpus";
    });
  }
  for (SetupDifference& difference : made.differences) {
    const std::string name = difference.factor.substr(0, difference.factor.find('.'));
    difference.allowed = allowed.contains(difference.factor) || allowed.contains(name);
  }
  add_identities(made, pairing, std::move(no_cause));
  add_shifts(made, pairing);
  add_boots(made, pairing);
  // One launch a side cannot alternate.
  made.backwards = order_of(pairing) < 0;
  made.in_sequence = pairing.launches.size() > 2 && order_of(pairing) != 0;
  made.cause = cause_of(made.differences);
  return made;
}

std::vector<std::string_view> factor_names() {
  std::vector<std::string_view> made = {
      "level", "seed",     "tool_version",  "git_hash",    "kernels_tree", "suite_tree",
      "nvcc",  "compiler", "arguments",     "environment", "slow",         "gemm_table",
      "gpus",  "pairing",  "mixed_drivers", "ranks",       "drift",        "other_gpus"};
  for (const Reading& reading : gpu_readings()) {
    if (reading.cause) made.push_back(reading.name);
  }
  for (std::size_t i = kDriverFactors; i < gpu_factor_names().size(); ++i) {
    made.push_back(gpu_factor_names()[i]);
  }
  return made;
}

}  // namespace tidemark
