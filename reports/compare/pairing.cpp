// Unions of cases and GPUs over all launches.
#include "reports/compare/pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tidemark::reports {
namespace {

std::string key_of(const FactsOfGpu& gpu, PairBy by) {
  if (by == PairBy::uuid || gpu.uuid.empty()) return gpu.uuid;
  return fmt::format("GPU {}", gpu.number);
}

void add_cases(Pairing& made) {
  for (const LaunchFacts* launch : made.launches) {
    made.cases.insert(made.cases.end(), launch->cases.begin(), launch->cases.end());
  }
  std::ranges::sort(made.cases);
  made.cases.erase(std::unique(made.cases.begin(), made.cases.end()), made.cases.end());
  for (const LaunchFacts* launch : made.launches) {
    std::vector<std::uint32_t> rows(made.cases.size(), kNoRow);
    for (std::size_t row = 0; row < launch->cases.size(); ++row) {
      const auto at = std::ranges::lower_bound(made.cases, launch->cases[row]);
      rows[static_cast<std::size_t>(at - made.cases.begin())] = static_cast<std::uint32_t>(row);
    }
    made.case_rows.push_back(std::move(rows));
  }
}

void add_gpus(Pairing& made, PairBy by) {
  std::map<std::string, PairedGpu> found;
  for (std::size_t launch = 0; launch < made.launches.size(); ++launch) {
    for (const FactsOfGpu& gpu : made.launches[launch]->gpus) {
      const std::string key = key_of(gpu, by);
      if (key.empty()) continue;
      const double at = made.launches[launch]->launch.created_unix_s;
      PairedGpu& paired =
          found.try_emplace(key, PairedGpu{.key = key, .node = {}, .at_unix_s = at}).first->second;
      ++(launch < made.base ? paired.base : paired.fresh);
      // A GPU that moved is named where it is now.
      if (paired.node.empty() || at > paired.at_unix_s) {
        paired.node = gpu.node;
        paired.number = gpu.number;
        paired.at_unix_s = at;
      }
    }
  }
  for (const auto& [key, gpu] : found) made.gpus.push_back(gpu);
  std::ranges::stable_sort(made.gpus, {},
                           [](const auto& of) { return std::tie(of.node, of.number); });
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < made.gpus.size(); ++i) places[made.gpus[i].key] = i;
  for (const LaunchFacts* launch : made.launches) {
    std::vector<std::uint32_t> rows(made.gpus.size(), kNoRow);
    std::size_t nameless = 0;
    for (std::size_t row = 0; row < launch->gpus.size(); ++row) {
      const std::string key = key_of(launch->gpus[row], by);
      if (key.empty()) {
        ++nameless;
      } else {
        rows[places.at(key)] = static_cast<std::uint32_t>(row);
      }
    }
    made.nameless_gpus = std::max(made.nameless_gpus, nameless);
    made.gpu_rows.push_back(std::move(rows));
  }
}

}  // namespace

PairBy pairing_of(const std::vector<LaunchFacts>& base, const std::vector<LaunchFacts>& fresh,
                  PairBy asked) {
  if (asked != PairBy::uuid || base.empty() || fresh.empty()) return asked;
  const std::string& series = base.front().launch.series_id;
  const auto of_series = [&](const LaunchFacts& facts) {
    return facts.launch.anonymised && facts.launch.series_id == series;
  };
  const bool one_series = !series.empty() && std::ranges::all_of(base, of_series) &&
                          std::ranges::all_of(fresh, of_series);
  return one_series ? PairBy::number_of_series : asked;
}

Pairing pair_up(const std::vector<LaunchFacts>& base, const std::vector<LaunchFacts>& fresh,
                PairBy by) {
  Pairing made;
  for (const LaunchFacts& launch : base) made.launches.push_back(&launch);
  for (const LaunchFacts& launch : fresh) made.launches.push_back(&launch);
  made.base = base.size();
  add_cases(made);
  add_gpus(made, by);
  return made;
}

}  // namespace tidemark::reports
