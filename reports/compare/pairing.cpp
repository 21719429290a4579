// Unions of cases and GPUs over all launches, and names for sets of GPUs.
#include "reports/compare/pairing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "reports/base/words.hpp"

namespace tidemark {
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
  const auto pci = static_cast<std::size_t>(std::ranges::find(gpu_identity_names(), "pci") -
                                            gpu_identity_names().begin());
  for (std::size_t launch = 0; launch < made.launches.size(); ++launch) {
    for (const FactsOfGpu& gpu : made.launches[launch]->gpus) {
      const std::string key = key_of(gpu, by);
      if (key.empty()) continue;
      const double at = made.launches[launch]->launch.created_unix_s;
      PairedGpu& paired =
          found.try_emplace(key, PairedGpu{.key = key, .at_unix_s = at}).first->second;
      ++(launch < made.base ? paired.base : paired.fresh);
      // A GPU that moved is named where it is now.
      if (paired.node.empty() || at > paired.at_unix_s) {
        paired.node = gpu.node;
        paired.number = gpu.number;
        paired.pci = gpu.identity.empty() ? "" : gpu.identity[pci];
        paired.at_unix_s = at;
      }
    }
  }
  for (const auto& [key, gpu] : found) made.gpus.push_back(gpu);
  std::ranges::stable_sort(made.gpus, {},
                           [](const auto& of) { return std::tie(of.node, of.number); });
  const bool paired = std::ranges::any_of(
      made.gpus, [](const PairedGpu& gpu) { return gpu.base > 0 && gpu.fresh > 0; });
  for (PairedGpu& one : made.gpus) {
    const auto takes_its_place = [&](const PairedGpu& gpu) {
      return gpu.base == 0 && gpu.node == one.node && gpu.pci == one.pci && !gpu.pci.empty();
    };
    const bool exchanged = one.fresh == 0 && std::ranges::any_of(made.gpus, takes_its_place);
    one.left_out = paired && (one.base == 0 || exchanged);
  }
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

constexpr std::size_t kNodesNamed = 4;

std::string one_gpu(const PairedGpu& gpu) {
  constexpr std::size_t kUuidDigits = 12;  // "GPU-" and eight digits tell the GPUs of a fleet apart
  const bool hashed = gpu.key.starts_with("GPU-anon-");
  return fmt::format("GPU {} ({})", gpu.number, hashed ? gpu.key : gpu.key.substr(0, kUuidDigits));
}

std::string node_name(const std::string& node) {
  return node.empty() ? "an unknown node" : "node " + node;
}

/// Indices of all GPUs of each node.
std::map<std::string, std::vector<std::uint32_t>> nodes_of(const Pairing& pairing) {
  std::map<std::string, std::vector<std::uint32_t>> made;
  for (std::uint32_t i = 0; i < pairing.gpus.size(); ++i) made[pairing.gpus[i].node].push_back(i);
  return made;
}

std::string on_node(const Pairing& pairing, const std::string& node,
                    const std::vector<std::uint32_t>& gpus, std::size_t there) {
  if (gpus.size() == 1)
    return fmt::format("{}, {}", node_name(node), one_gpu(pairing.gpus[gpus[0]]));
  if (gpus.size() == there) return fmt::format("{}, all {} GPUs", node_name(node), there);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(gpus.size());
  for (const std::uint32_t gpu : gpus) numbers.push_back(pairing.gpus[gpu].number);
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());  // exchanged ones
  return fmt::format("{}, GPUs {}", node_name(node), ranges(numbers));
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

int order_of(const Pairing& pairing) {
  std::vector<double> at;
  at.reserve(pairing.launches.size());
  for (const LaunchFacts* launch : pairing.launches) at.push_back(launch->launch.created_unix_s);
  const auto fresh = at.begin() + static_cast<std::ptrdiff_t>(pairing.base);
  const auto [first, last] = std::minmax_element(at.begin(), fresh);
  const auto [least, most] = std::minmax_element(fresh, at.end());
  return *least > *last ? 1 : *most < *first ? -1 : 0;
}

std::string place_of(const Pairing& pairing, const std::vector<std::uint32_t>& gpus) {
  if (gpus.size() == pairing.gpus.size() && gpus.size() > 1) {
    return fmt::format("all {} GPUs", grouped(gpus.size()));
  }
  const auto nodes = nodes_of(pairing);
  std::map<std::string, std::vector<std::uint32_t>> hit;
  for (const std::uint32_t gpu : gpus) hit[pairing.gpus[gpu].node].push_back(gpu);
  std::string made;
  std::size_t named = 0;
  for (const auto& [node, there] : hit) {
    if (named == kNodesNamed) break;
    made += fmt::format("{}{}", named++ == 0 ? "" : "; ",
                        on_node(pairing, node, there, nodes.at(node).size()));
  }
  if (hit.size() <= named) return made;
  return fmt::format("{} GPUs of {} nodes: {}; and {}", grouped(gpus.size()), grouped(hit.size()),
                     made, plural(hit.size() - named, "more node"));
}

}  // namespace tidemark
