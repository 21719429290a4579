// Every member sends each of its shards to every other member.
#include "kernels/cuda/transport/exchange.hpp"

#include <fmt/format.h>

#include <map>

#include "kernels/error.hpp"

namespace tidemark {

std::set<std::uint32_t> members_of(const PanelBuffer& panel) {
  std::set<std::uint32_t> members;
  for (const Shard& shard : panel.shards) members.insert(shard.owner);
  return members;
}

void require_members(const PanelBuffer& panel, std::uint32_t rank, std::uint32_t ranks) {
  const std::set<std::uint32_t> members = members_of(panel);
  if (members.count(rank) == 0)
    throw Error(
        fmt::format("panel {}: rank {} owns no shard of it and may not start it", panel.id, rank));
  if (*members.rbegin() >= ranks)
    throw Error(fmt::format("panel {}: a shard belongs to rank {}, but there are {} ranks",
                            panel.id, *members.rbegin(), ranks));
}

std::vector<Transfer> transfers_of(const PanelBuffer& panel, std::uint32_t rank) {
  const std::set<std::uint32_t> members = members_of(panel);
  if (members.count(rank) == 0) return {};
  std::vector<Transfer> transfers;
  for (std::size_t index = 0; index < panel.shards.size(); ++index) {
    const Shard& shard = panel.shards[index];
    const std::uint64_t offset = shard.first_row * panel.row_bytes;
    const std::uint64_t bytes = shard.rows * panel.row_bytes;
    if (bytes == 0) continue;
    if (shard.owner != rank) {
      transfers.push_back(
          {.send = false, .peer = shard.owner, .offset = offset, .bytes = bytes, .shard = index});
      continue;
    }
    for (const std::uint32_t member : members)
      if (member != rank)
        transfers.push_back(
            {.send = true, .peer = member, .offset = offset, .bytes = bytes, .shard = index});
  }
  return transfers;
}

std::vector<std::uint32_t> steps_of(const PanelBuffer& panel) {
  std::map<std::uint32_t, std::uint32_t> before;  // by owner
  std::vector<std::uint32_t> steps;
  for (const Shard& shard : panel.shards)
    steps.push_back(shard.rows == 0 ? 0 : before[shard.owner]++);
  return steps;
}

}  // namespace tidemark
