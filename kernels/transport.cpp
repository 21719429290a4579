// How a device gets the parts of a panel that other ranks own, and which of them are late.
#include "kernels/transport.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>

namespace tidemark {

// The order in which a rank fetches the shards of the others.

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

// Other ranks first: a rank that waits for its own shards waits for others, too. A rank of a GEMM
// is a GPU, as reports number them, and need not be the rank of its process.

namespace {

constexpr std::size_t kMostNames = 8;

std::string in_words(const AwaitedShard& one) {
  return fmt::format("{}, shard {} (rows {} to {})", one.panel, one.index, one.shard.first_row,
                     one.shard.first_row + one.shard.rows);
}

std::string names_of(const std::set<std::uint32_t>& ranks) {
  std::string names;
  std::size_t named = 0;
  for (const std::uint32_t rank : ranks) {
    if (named++ == kMostNames)
      return fmt::format("{} and {} more", names, ranks.size() - kMostNames);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", rank);
  }
  return names;
}

}  // namespace

std::string late_shards(std::span<const AwaitedShard> awaited, std::uint32_t rank, double seconds) {
  std::set<std::uint32_t> owners;
  for (const AwaitedShard& one : awaited)
    if (one.shard.owner != rank) owners.insert(one.shard.owner);
  if (owners.empty())
    return fmt::format("waits until others have read {}: not within {:g} s",
                       in_words(awaited.front()), seconds);
  const auto first = std::find_if(awaited.begin(), awaited.end(), [rank](const AwaitedShard& one) {
    return one.shard.owner != rank;
  });
  const bool one_rank = owners.size() == 1;
  return fmt::format("waits for {} {}: {}{} not ready within {:g} s", one_rank ? "GPU" : "GPUs",
                     names_of(owners), in_words(*first), one_rank ? "" : " and others", seconds);
}

}  // namespace tidemark
