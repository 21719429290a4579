// The order in which a rank fetches the shards of the others.
#include "kernels/transport.hpp"

#include <algorithm>

namespace tidemark::kernels {

std::vector<std::size_t> fetch_order(std::span<const Shard> shards, std::uint32_t rank) {
  const auto own = std::find_if(shards.begin(), shards.end(),
                                [rank](const Shard& shard) { return shard.owner == rank; });
  const auto from = static_cast<std::size_t>(own - shards.begin());  // all of them: no own shard
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::size_t index = (from + i) % shards.size();
    if (shards[index].owner != rank && shards[index].rows != 0) order.push_back(index);
  }
  return order;
}

}  // namespace tidemark::kernels
