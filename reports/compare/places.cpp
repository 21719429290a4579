// Puts GPUs together by node.
#include "reports/compare/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/base/words.hpp"

namespace tidemark::reports {
namespace {

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
  return fmt::format("{}, GPUs {}", node_name(node), ranges(numbers));
}

}  // namespace

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

}  // namespace tidemark::reports
