// A transport for tests: the ranks are threads of one process.
#pragma once

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/transport.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// What the ranks of one process have offered to each other. A panel is found by its id, its owner
/// and how often that owner started it.
struct Exchange {
  struct Key {
    std::uint32_t owner, id, round;
    auto operator<=>(const Key&) const = default;
  };
  std::mutex mutex;
  std::map<Key, PanelBuffer> offered;
  std::map<Key, std::size_t> taken;  // by how many other ranks
};

/// Copies between threads: ready() takes a shard as soon as its owner has offered it.
class ThreadTransport : public Transport {
 public:
  ThreadTransport(Exchange& exchange, std::uint32_t rank) : exchange_(exchange), rank_(rank) {}

  void start(const PanelBuffer& panel) override {
    const std::lock_guard lock(exchange_.mutex);
    const std::uint32_t round = ++rounds_[panel.id];
    exchange_.offered[{rank_, panel.id, round}] = panel;
    copied_[panel.id].assign(panel.shards.size(), false);
  }

  bool ready(std::uint32_t id, std::size_t index) override {
    const std::lock_guard lock(exchange_.mutex);
    const PanelBuffer& mine = exchange_.offered.at({rank_, id, rounds_[id]});
    const Shard& shard = mine.shards.at(index);
    const Exchange::Key source{shard.owner, id, rounds_[id]};
    if (shard.owner == rank_) return exchange_.taken[source] + 1 == mine.shards.size();
    if (copied_[id][index]) return true;
    const auto theirs = exchange_.offered.find(source);
    if (theirs == exchange_.offered.end()) return false;
    if (shard.rows > 0)
      std::memcpy(mine.base + shard.first_row * mine.row_bytes,
                  theirs->second.base + shard.first_row * mine.row_bytes,
                  shard.rows * mine.row_bytes);
    ++exchange_.taken[source];
    copied_[id][index] = true;
    return true;
  }

  void abort() noexcept override {}

 private:
  Exchange& exchange_;
  std::uint32_t rank_;
  std::map<std::uint32_t, std::uint32_t> rounds_;
  std::map<std::uint32_t, std::vector<bool>> copied_;
};

}  // namespace tidemark::suite
