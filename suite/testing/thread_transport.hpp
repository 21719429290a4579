// A transport for tests: the ranks are threads of one process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// What the ranks of one process have offered to each other. A panel is found by its id, its owner
/// and how often that owner started it.
struct Exchange {
  struct Key {
    std::uint32_t owner, id, round;
    auto operator<=>(const Key&) const = default;
  };
  std::mutex mutex;
  std::map<Key, PanelBuffer> offered;
  std::map<Key, std::map<std::size_t, std::size_t>> taken;  // each shard, by how many other ranks
  bool aborted = false;
};

/// Copies between threads. ready() takes a shard as soon as its owner has offered it; with a seed
/// it asks in vain now and then, and the shards of each panel come in an order drawn from the seed.
class ThreadTransport : public Transport {
 public:
  ThreadTransport(Exchange& exchange, std::uint32_t rank, std::optional<std::uint64_t> seed = {})
      : exchange_(exchange), rank_(rank), shuffled_(seed.has_value()) {
    if (seed) draws_.seed(*seed * 1000 + rank);
  }

  void start(const PanelBuffer& panel) override {
    const std::lock_guard lock(exchange_.mutex);
    if (exchange_.aborted) throw Error("the transport between threads was aborted");
    Flight& flight = flights_[panel.id];
    flight = {.panel = panel,
              .round = flight.round + 1,
              .order = {},
              .copied = std::vector<bool>(panel.shards.size(), false)};
    for (std::size_t i = 0; i < panel.shards.size(); ++i)
      if (panel.shards[i].owner != rank_) flight.order.push_back(i);
    if (shuffled_) std::shuffle(flight.order.begin(), flight.order.end(), draws_);
    exchange_.offered[{rank_, panel.id, flight.round}] = panel;
  }

  bool ready(std::uint32_t id, std::size_t index) override {
    const std::lock_guard lock(exchange_.mutex);
    if (exchange_.aborted) return false;
    Flight& flight = flights_.at(id);
    const std::vector<Shard>& shards = flight.panel.shards;
    if (shards.at(index).owner == rank_) {
      std::set<std::uint32_t> others;
      for (const Shard& shard : shards) others.insert(shard.owner);
      others.erase(rank_);
      return exchange_.taken[{rank_, id, flight.round}][index] == others.size();
    }
    if (!shuffled_) {
      if (!flight.copied[index]) take(flight, index);
    } else if (!flight.order.empty() && draws_() % 4 == 0 && take(flight, flight.order.front())) {
      flight.order.erase(flight.order.begin());
    }
    return flight.copied[index];
  }

  void abort() noexcept override {
    const std::lock_guard lock(exchange_.mutex);
    exchange_.aborted = true;
  }

 private:
  struct Flight {
    PanelBuffer panel;
    std::uint32_t round = 0;         // how often this id was started
    std::vector<std::size_t> order;  // shards of others that are to come; used with a seed
    std::vector<bool> copied;
  };

  /// False while the owner has not offered the shard.
  bool take(Flight& flight, std::size_t index) {
    const PanelBuffer& mine = flight.panel;
    const Shard& shard = mine.shards[index];
    const Exchange::Key source{shard.owner, mine.id, flight.round};
    const auto theirs = exchange_.offered.find(source);
    if (theirs == exchange_.offered.end()) return false;
    if (shard.rows > 0)
      std::memcpy(mine.base + shard.first_row * mine.row_bytes,
                  theirs->second.base + shard.first_row * mine.row_bytes,
                  shard.rows * mine.row_bytes);
    if (mine.arrived != nullptr)
      std::atomic_ref(mine.arrived[index]).store(mine.epoch, std::memory_order_release);
    ++exchange_.taken[source][index];
    flight.copied[index] = true;
    return true;
  }

  Exchange& exchange_;
  std::uint32_t rank_;
  bool shuffled_;
  std::mt19937_64 draws_;
  std::map<std::uint32_t, Flight> flights_;  // by panel id
};

}  // namespace tidemark
