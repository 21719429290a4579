// Starts panels and asks after their shards until all are there or time is up.
#include "kernels/virtual/gemm/gather.hpp"

#include <iterator>
#include <thread>
#include <vector>

namespace tidemark::kernels {
namespace {

struct Awaited {
  const PanelBuffer* panel;
  std::size_t shard;
};

std::vector<Awaited> start_all(Transport& transport, std::span<const PanelBuffer> panels) {
  std::vector<Awaited> awaited;
  for (const PanelBuffer& panel : panels) {
    transport.start(panel);
    for (std::size_t i = 0; i < panel.shards.size(); ++i) awaited.push_back({&panel, i});
  }
  return awaited;
}

std::string missing(const std::vector<Awaited>& awaited, std::uint32_t rank, double seconds) {
  std::vector<AwaitedShard> late;
  late.reserve(awaited.size());
  for (const Awaited& one : awaited) late.push_back(awaited_shard(*one.panel, one.shard));
  return late_shards(late, rank, seconds);
}

}  // namespace

AwaitedShard awaited_shard(const PanelBuffer& panel, std::size_t index) {
  static constexpr const char* kNames[] = {"panel A",     "panel B", "barrier",
                                           "peer memory", "panel",   "times of the samples"};
  return {.panel = panel.id < std::size(kNames) ? kNames[panel.id] : "panel",
          .shard = panel.shards[index],
          .index = index};
}

std::string gather(Transport& transport, std::span<const PanelBuffer> panels, std::uint32_t rank,
                   double seconds) {
  GatherInFlight in_flight(transport);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<Awaited> awaited = start_all(transport, panels);
  while (true) {
    std::erase_if(awaited, [&transport](const Awaited& one) {
      return transport.ready(one.panel->id, one.shard);
    });
    if (awaited.empty()) break;
    if (std::chrono::steady_clock::now() >= deadline) return missing(awaited, rank, seconds);
    std::this_thread::sleep_for(kPollEvery);
  }
  in_flight.arrived();
  return {};
}

}  // namespace tidemark::kernels
