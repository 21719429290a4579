// The confounder gate.
#include "reports/compare/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tidemark::reports {
namespace {

using Values = std::set<std::string>;

std::string listed(const Values& values) {
  constexpr std::size_t kNamed = 4;
  std::string made;
  std::size_t named = 0;
  for (const std::string& value : values) {
    if (named == kNamed) return made + fmt::format(" and {} more", values.size() - kNamed);
    made += fmt::format("{}{}", named++ == 0 ? "" : ", ", value.empty() ? "unknown" : value);
  }
  return made.empty() ? "unknown" : made;
}

/// What a launch says that does not name this factor.
std::string absent(std::string_view name) {
  if (name.starts_with("environment.")) return "not set";
  if (name == "gemm_table") return "that of the build";
  return name.starts_with("slow.") ? "not slowed" : "";
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
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(pairing.base);
    const Values base(values.begin(), middle), fresh(middle, values.end());
    if (base == fresh) continue;
    // Seeds that differ within each side are drawn: they cannot tell the sides apart.
    if (name == "seed" && base.size() > 1 && fresh.size() > 1) continue;
    made.differences.push_back({.factor = name, .base = listed(base), .fresh = listed(fresh)});
  }
}

/// Values of one factor of one GPU over the launches of each side.
std::pair<Values, Values> values_of(const Pairing& pairing, std::size_t gpu, std::size_t factor) {
  std::pair<Values, Values> made;
  for (std::size_t launch = 0; launch < pairing.launches.size(); ++launch) {
    const std::uint32_t row = pairing.gpu_rows[launch][gpu];
    if (row == kNoRow) continue;
    (launch < pairing.base ? made.first : made.second)
        .insert(pairing.launches[launch]->gpus[row].values[factor]);
  }
  return made;
}

void add_gpu_factors(SetupComparison& made, const Pairing& pairing) {
  std::string unknown;
  for (std::size_t factor = 0; factor < gpu_factor_names().size(); ++factor) {
    Values base, fresh;
    std::size_t gpus = 0, nowhere = 0;
    for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
      if (!pairing.is_paired(gpu)) continue;
      auto [before, after] = values_of(pairing, gpu, factor);
      nowhere += before == Values{""} && after == Values{""} ? 1U : 0U;
      if (before == after) continue;
      ++gpus;
      base.merge(before);
      fresh.merge(after);
    }
    const std::string& name = gpu_factor_names()[factor];
    const bool subject = factor < kDriverFactors;
    if (gpus > 0) made.differences.push_back({name, listed(base), listed(fresh), gpus, subject});
    if (nowhere > 0) unknown += (unknown.empty() ? "" : ", ") + name;
  }
  if (!unknown.empty()) made.remarks.push_back("recorded on neither side: " + unknown);
}

/// Two drivers on one side: which of them the side stands for cannot be told.
void add_mixed_drivers(SetupComparison& made, const Pairing& pairing) {
  Values base, fresh;
  std::size_t gpus = 0;
  for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    auto [before, after] = values_of(pairing, gpu, 0);
    if (before.size() < 2 && after.size() < 2) continue;
    ++gpus;
    base.merge(before);
    fresh.merge(after);
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
      (launch < pairing.base ? base : fresh).insert(gpu.boot);
    }
  }
  const bool several = std::all_of(boots.begin(), boots.end(), [](const auto& node) {
    return node.second.first.size() > 1 && node.second.second.size() > 1;
  });
  const bool same = std::all_of(boots.begin(), boots.end(), [](const auto& node) {
    return node.second.first == node.second.second;
  });
  if (!several && !same) {
    made.remarks.push_back("one boot a side: an effect of the boot cannot be excluded");
  }
}

Cause cause_of(const std::vector<SetupDifference>& differences) {
  bool subject = false;
  for (const SetupDifference& difference : differences) {
    if (!difference.subject && !difference.allowed) return Cause::confounded;
    subject = subject || difference.subject;
  }
  return subject ? Cause::driver : Cause::nothing_recorded;
}

}  // namespace

bool SetupComparison::differs(std::string_view factor) const {
  return std::any_of(differences.begin(), differences.end(),
                     [&](const auto& difference) { return difference.factor == factor; });
}

SetupComparison compare_setups(const Pairing& pairing, PairBy by,
                               const std::set<std::string>& allowed) {
  SetupComparison made;
  add_gpu_factors(made, pairing);
  add_mixed_drivers(made, pairing);
  add_gpu_set(made, pairing);
  add_launch_factors(made, pairing);
  if (by == PairBy::number) {
    made.differences.push_back(
        {.factor = "pairing", .base = "by number, not UUID", .fresh = "GPUs may be others"});
  }
  for (SetupDifference& difference : made.differences) {
    const std::string name = difference.factor.substr(0, difference.factor.find('.'));
    difference.allowed = allowed.contains(difference.factor) || allowed.contains(name);
  }
  add_boots(made, pairing);
  made.cause = cause_of(made.differences);
  return made;
}

std::vector<std::string_view> factor_names() {
  std::vector<std::string_view> made = {"level",        "seed",        "tool_version", "git_hash",
                                        "kernels_tree", "suite_tree",  "nvcc",         "compiler",
                                        "arguments",    "environment", "slow",         "gemm_table",
                                        "gpus",         "pairing",     "mixed_drivers"};
  for (std::size_t i = kDriverFactors; i < gpu_factor_names().size(); ++i) {
    made.push_back(gpu_factor_names()[i]);
  }
  return made;
}

}  // namespace tidemark::reports
