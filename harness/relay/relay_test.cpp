// The relay transport against a mover, with workers and supervisors as threads of this process.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "harness/base/clock.hpp"
#include "harness/relay/relay.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

/// Byte of a panel: of its row, its place in the row, the panel and the time it is gathered.
std::byte content(std::uint64_t at, std::uint32_t id, std::uint32_t time) {
  return static_cast<std::byte>((at * 2654435761U + at / 251 + id * 17 + time * 101) >> 3U);
}

/// A panel as rank `rank` sees it before gathering: own shards filled, the rest poison.
struct TestPanel {
  PanelBuffer buffer;
  std::vector<std::byte> memory;
};

TestPanel make_panel(std::uint32_t id, std::uint32_t rank, const std::vector<Shard>& shards,
                     std::uint64_t row_bytes, std::uint32_t time) {
  std::uint64_t rows = 0;
  for (const Shard& shard : shards) rows = std::max(rows, shard.first_row + shard.rows);
  TestPanel panel{.buffer = {.id = id, .base = nullptr, .row_bytes = row_bytes, .shards = shards},
                  .memory = std::vector<std::byte>(rows * row_bytes, std::byte{0xee})};
  for (const Shard& shard : shards) {
    if (shard.owner != rank) continue;
    for (std::uint64_t at = shard.first_row * row_bytes;
         at < (shard.first_row + shard.rows) * row_bytes; ++at) {
      panel.memory[at] = content(at, id, time);
    }
  }
  panel.buffer.base = panel.memory.data();
  return panel;
}

bool whole(const TestPanel& panel, std::uint32_t time) {
  for (std::uint64_t at = 0; at < panel.memory.size(); ++at) {
    if (panel.memory[at] != content(at, panel.buffer.id, time)) return false;
  }
  return true;
}

/// Waits until all shards are ready; false after `seconds`.
bool gather(RelayTransport& transport, const TestPanel& panel, double seconds = 10) {
  const double until = monotonic_s() + seconds;
  for (std::size_t shard = 0; shard < panel.buffer.shards.size();) {
    if (transport.ready(panel.buffer.id, shard)) {
      ++shard;
    } else if (monotonic_s() > until) {
      return false;
    } else {
      rest();
    }
  }
  return true;
}

/// Supervisors as threads that pump until the workers are done.
class Movers {
 public:
  explicit Movers(std::vector<std::uint32_t> rank_of_slot, std::optional<std::uint64_t> seed = {})
      : rank_of_slot_(std::move(rank_of_slot)) {
    for (Link& link : local_links(rank_of_slot_.back() + 1)) {
      const std::uint32_t rank = link.rank;
      meshes_.push_back(std::make_unique<Mesh>(std::move(link)));
      movers_.push_back(std::make_unique<RelayMover>(
          *meshes_.back(), rank_of_slot_, seed ? HandOverDelays(*seed, rank) : HandOverDelays()));
    }
    begin_epoch(1);
  }
  Movers(const Movers&) = delete;
  Movers& operator=(const Movers&) = delete;
  ~Movers() { stop(); }

  /// One supervisor after the other, as ranks come to a new epoch: the first ones move panels of it
  /// while the last are still in the one before.
  void begin_epoch(std::uint32_t epoch) {
    stop();
    done_ = false;
    for (std::size_t rank = 0; rank < movers_.size(); ++rank) {
      movers_[rank]->begin_epoch(epoch);
      threads_.emplace_back([this, rank] {
        while (!done_) {
          meshes_[rank]->pump();
          if (!movers_[rank]->step()) rest();
        }
      });
    }
  }
  int segment(std::uint32_t slot) const { return movers_[rank_of_slot_[slot]]->segment_fd(slot); }

 private:
  void stop() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::vector<std::uint32_t> rank_of_slot_;
  std::vector<std::unique_ptr<Mesh>> meshes_;
  std::vector<std::unique_ptr<RelayMover>> movers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> done_ = false;
};

/// Each slot gathers the same panel; true where all of them hold all of it.
bool all_gather(const Movers& movers, std::uint32_t slots, const std::vector<Shard>& shards,
                std::uint64_t row_bytes, std::uint32_t times) {
  std::atomic<std::uint32_t> good = 0;
  std::vector<std::thread> workers;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    workers.emplace_back([&, slot] {
      RelayTransport transport(movers.segment(slot), slot);
      for (std::uint32_t time = 0; time < times; ++time) {
        const TestPanel panel = make_panel(0, slot, shards, row_bytes, time);
        transport.start(panel.buffer);
        if (gather(transport, panel) && whole(panel, time)) ++good;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  return good == slots * times;
}

TEST(Relay, two_slots_of_one_supervisor_exchange_a_panel_again_and_again) {
  const Movers movers({0, 0});
  EXPECT_TRUE(all_gather(movers, 2, {{0, 0, 3}, {1, 3, 5}}, 48, 20));
}

TEST(Relay, slots_of_three_supervisors_exchange_a_panel) {
  const Movers movers({0, 1, 2});
  EXPECT_TRUE(all_gather(movers, 3, {{0, 0, 3}, {1, 3, 5}, {2, 8, 1}}, 4096, 10));
}

TEST(Relay, tens_of_megabytes_arrive_in_pieces) {
  const Movers movers({0, 1});
  EXPECT_TRUE(all_gather(movers, 2, {{0, 0, 500}, {1, 500, 501}}, 40000, 1));
}

TEST(Relay, one_owner_may_have_several_shards_and_another_an_empty_one) {
  const Movers movers({0, 0, 1});
  EXPECT_TRUE(all_gather(movers, 3, {{0, 0, 2}, {1, 2, 2}, {0, 4, 3}, {2, 7, 0}}, 16, 5));
}

TEST(Relay, a_panel_may_grow_between_two_gatherings) {
  const Movers movers({0, 1});
  std::atomic<int> good = 0;
  const auto work = [&](std::uint32_t slot) {
    RelayTransport transport(movers.segment(slot), slot);
    for (const std::uint64_t rows : {1U, 100U, 3U, 3000U}) {
      const TestPanel panel = make_panel(1, slot, {{0, 0, rows}, {1, rows, rows}}, 64, 7);
      transport.start(panel.buffer);
      if (gather(transport, panel) && whole(panel, 7)) ++good;
    }
  };
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(good, 8);
}

TEST(Relay, a_slot_that_sits_out_a_panel_stays_in_step) {
  const Movers movers({0, 0, 1});
  std::atomic<int> good = 0;
  const auto work = [&](std::uint32_t slot) {
    RelayTransport transport(movers.segment(slot), slot);
    // Slot 2 has no part in the first two.
    for (std::uint32_t time = 0; time < 3; ++time) {
      std::vector<Shard> shards = {{0, 0, 4}, {1, 4, 4}};
      if (time == 2) shards.push_back({2, 8, 4});
      if (time < 2 && slot == 2) continue;
      const TestPanel panel = make_panel(0, slot, shards, 32, time);
      transport.start(panel.buffer);
      if (gather(transport, panel) && whole(panel, time)) ++good;
    }
  };
  std::vector<std::thread> workers;
  for (std::uint32_t slot = 0; slot < 3; ++slot) workers.emplace_back(work, slot);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(good, 7);
}

TEST(Relay, nothing_is_ready_while_the_other_has_not_started) {
  const Movers movers({0, 0});
  RelayTransport transport(movers.segment(0), 0);
  const TestPanel panel = make_panel(0, 0, {{0, 0, 1}, {1, 1, 1}}, 16, 0);
  transport.start(panel.buffer);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(transport.ready(0, 1));
  EXPECT_FALSE(transport.ready(3, 0));
  EXPECT_FALSE(transport.ready(0, 9));
}

TEST(Relay, an_aborted_transport_starts_nothing) {
  const Movers movers({0, 0});
  RelayTransport transport(movers.segment(0), 0);
  transport.abort();
  transport.abort();
  const TestPanel panel = make_panel(0, 0, {{0, 0, 1}, {1, 1, 1}}, 16, 0);
  EXPECT_THROW(transport.start(panel.buffer), Error);
}

TEST(Relay, pieces_of_an_epoch_that_has_not_begun_here_wait_for_it) {
  std::vector<Link> links = local_links(2);
  Mesh mesh_0(std::move(links[0]));
  Mesh mesh_1(std::move(links[1]));
  RelayMover mover_0(mesh_0, {0, 1});
  RelayMover mover_1(mesh_1, {0, 1});
  mover_0.begin_epoch(1);
  mover_1.begin_epoch(2);
  RelayTransport ahead(mover_1.segment_fd(1), 1);
  const std::vector<Shard> shards = {{0, 0, 0}, {1, 0, 4}};
  const TestPanel sent = make_panel(0, 1, shards, 16, 5);
  ahead.start(sent.buffer);
  while (mover_1.step()) {
  }
  mesh_0.pump();
  EXPECT_TRUE(mover_0.step());
  mover_0.begin_epoch(2);
  RelayTransport behind(mover_0.segment_fd(0), 0);
  const TestPanel panel = make_panel(0, 0, shards, 16, 5);
  behind.start(panel.buffer);
  mover_0.step();
  EXPECT_TRUE(behind.ready(0, 1));
  EXPECT_TRUE(whole(panel, 5));
}

TEST(Relay, a_nonsense_table_stops_nobody_but_its_own_worker) {
  Mesh mesh(std::move(local_links(1).front()));
  RelayMover mover(mesh, {0, 0});
  mover.begin_epoch(1);
  Segment broken = Segment::of(mover.segment_fd(0));
  SegmentPanel& entry = broken.header().panels[0];
  entry.shards = 5;
  entry.row_bytes = 16;
  entry.table = std::uint64_t{1} << 60;
  entry.data = ~std::uint64_t{0} - 4;
  entry.bytes = 1 << 20;
  entry.posting = 1;
  EXPECT_FALSE(mover.step());
  RelayTransport other(mover.segment_fd(1), 1);
  const TestPanel panel = make_panel(0, 1, {{1, 0, 2}}, 16, 0);
  other.start(panel.buffer);
  EXPECT_TRUE(mover.step());
  EXPECT_TRUE(other.ready(0, 0));
}

TEST(Relay, ranks_of_which_one_aborts_meet_again_in_the_next_epoch) {
  constexpr std::uint32_t kRanks = 4;
  const std::vector<Shard> shards = {{0, 0, 3}, {1, 3, 0}, {2, 3, 2}, {3, 5, 40}};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Movers movers({0, 1, 2, 3}, seed);
    const auto together = [&](const auto& work) {
      std::vector<std::jthread> workers;
      for (std::uint32_t slot = 0; slot < kRanks; ++slot) {
        workers.emplace_back([&, slot] {
          RelayTransport transport(movers.segment(slot), slot, HandOverDelays(seed, 100 + slot));
          work(transport, slot);
        });
      }
    };
    std::atomic<std::uint32_t> wrong_bytes = 0;
    std::atomic<std::uint32_t> good = 0;
    together([&](RelayTransport& transport, std::uint32_t slot) {
      for (std::uint32_t time = 0; time < 6; ++time) {
        const TestPanel panel = make_panel(0, slot, shards, 64, time);
        transport.start(panel.buffer);
        if (slot == seed % kRanks && time == seed % 6) return transport.abort();
        if (!gather(transport, panel, 0.3)) return transport.abort();
        if (!whole(panel, time)) ++wrong_bytes;
      }
    });
    movers.begin_epoch(2);
    together([&](RelayTransport& transport, std::uint32_t slot) {
      const TestPanel panel = make_panel(0, slot, shards, 64, 9);
      transport.start(panel.buffer);
      if (gather(transport, panel) && whole(panel, 9)) ++good;
    });
    EXPECT_EQ(wrong_bytes, 0U) << "seed " << seed;
    EXPECT_EQ(good, kRanks) << "seed " << seed;
  }
}

/// Two slots with a supervisor each; the test moves them by hand.
struct TwoByHand {
  std::vector<Link> links = local_links(2);
  Mesh mesh_0{std::move(links[0])}, mesh_1{std::move(links[1])};
  RelayMover mover_0{mesh_0, {0, 1}}, mover_1{mesh_1, {0, 1}};

  TwoByHand() {
    mover_0.begin_epoch(1);
    mover_1.begin_epoch(1);
  }
};

TEST(Relay, an_empty_panel_is_ready_only_when_its_supervisor_has_read_it) {
  TwoByHand pair;
  RelayTransport transport(pair.mover_0.segment_fd(0), 0);
  const TestPanel panel = make_panel(0, 0, {{0, 0, 0}, {1, 0, 0}}, 16, 0);
  transport.start(panel.buffer);
  EXPECT_FALSE(transport.ready(0, 0));
  EXPECT_FALSE(transport.ready(0, 1));
  pair.mover_0.step();
  EXPECT_TRUE(transport.ready(0, 0));
  EXPECT_TRUE(transport.ready(0, 1));
}

TEST(Relay, both_sides_count_alike_where_one_supervisor_is_slower_than_empty_panels) {
  TwoByHand pair;
  RelayTransport slow(pair.mover_0.segment_fd(0), 0);
  RelayTransport fast(pair.mover_1.segment_fd(1), 1);
  const TestPanel none = make_panel(0, 0, {{0, 0, 0}, {1, 0, 0}}, 16, 0);
  for (int time = 0; time < 3; ++time) {
    fast.start(none.buffer);
    pair.mover_1.step();
  }
  for (int time = 0; time < 3; ++time) {
    slow.start(none.buffer);
    // What a rank does between two panels: it waits until all of the first is ready.
    while (!(slow.ready(0, 0) && slow.ready(0, 1))) pair.mover_0.step();
  }
  pair.mover_0.step();
  // A piece is taken only for the panel of the same number: counts that differ bring nothing.
  const TestPanel one = make_panel(0, 0, {{0, 0, 1}, {1, 1, 1}}, 16, 0);
  const TestPanel other = make_panel(0, 1, {{0, 0, 1}, {1, 1, 1}}, 16, 0);
  slow.start(one.buffer);
  fast.start(other.buffer);
  for (int time = 0; time < 4; ++time) {
    pair.mover_0.step();
    pair.mover_1.step();
    pair.mesh_0.pump();
    pair.mesh_1.pump();
  }
  EXPECT_TRUE(slow.ready(0, 1));
  EXPECT_TRUE(fast.ready(0, 0));
}

TEST(Relay, a_panel_in_flight_cannot_be_started_again) {
  TwoByHand pair;
  RelayTransport transport(pair.mover_0.segment_fd(0), 0);
  const TestPanel panel = make_panel(0, 0, {{0, 0, 1}, {1, 1, 1}}, 16, 0);
  transport.start(panel.buffer);
  pair.mover_0.step();
  EXPECT_THROW(transport.start(panel.buffer), Error);
}

TEST(Relay, a_word_is_written_when_its_shard_is_copied_and_own_words_never) {
  TwoByHand pair;
  RelayTransport first(pair.mover_0.segment_fd(0), 0);
  RelayTransport second(pair.mover_1.segment_fd(1), 1);
  const std::vector<Shard> shards = {{0, 0, 2}, {0, 2, 1}, {1, 3, 2}, {1, 5, 3}};
  std::vector<std::uint32_t> words(shards.size(), 0);
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    const std::vector<std::uint32_t> before = words;
    TestPanel panel = make_panel(0, 0, shards, 16, epoch);
    panel.buffer.arrived = words.data();
    panel.buffer.epoch = epoch;
    const TestPanel theirs = make_panel(0, 1, shards, 16, epoch);
    first.start(panel.buffer);
    second.start(theirs.buffer);
    for (int step = 0; step < 20; ++step) {
      pair.mover_0.step();
      pair.mover_1.step();
      pair.mesh_0.pump();
      pair.mesh_1.pump();
    }
    EXPECT_EQ(words, before) << "nobody has asked";
    EXPECT_TRUE(first.ready(0, 3));
    EXPECT_EQ(words, (std::vector<std::uint32_t>{0, 0, epoch - 1, epoch}));
    EXPECT_TRUE(gather(first, panel));
    EXPECT_EQ(words, (std::vector<std::uint32_t>{0, 0, epoch, epoch}));
    EXPECT_TRUE(whole(panel, epoch));
    EXPECT_TRUE(gather(second, theirs));
  }
}

/// Reads each shard of another rank as soon as its word says so, beside the thread that asks for
/// it; true where its bytes were there, all within ten seconds.
bool read_beside(const TestPanel& panel, std::uint32_t rank, std::uint32_t epoch) {
  const double until = monotonic_s() + 10;
  bool right = true;
  for (std::size_t i = 0; i < panel.buffer.shards.size(); ++i) {
    const Shard& shard = panel.buffer.shards[i];
    if (shard.owner == rank || shard.rows == 0) continue;
    const std::atomic_ref word(panel.buffer.arrived[i]);
    while (word.load(std::memory_order_acquire) != epoch) {
      if (monotonic_s() > until) return false;
      std::this_thread::yield();
    }
    // Backwards: what a copy writes last is what it would lack.
    const std::uint64_t row_bytes = panel.buffer.row_bytes;
    for (std::uint64_t at = (shard.first_row + shard.rows) * row_bytes;
         at-- > shard.first_row * row_bytes;) {
      right = right && panel.memory[at] == content(at, panel.buffer.id, epoch);
    }
  }
  return right;
}

TEST(Relay, a_reader_that_waits_for_words_finds_the_bytes_of_every_chunk) {
  constexpr std::uint32_t kRanks = 3, kTimes = 4;
  std::vector<Shard> shards;
  for (std::uint32_t owner = 0; owner < kRanks; ++owner) {
    for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
      const std::uint64_t first = shards.size() * 40;
      shards.push_back({owner, first, owner == 1 && chunk == 2 ? 0U : 40U});
    }
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Movers movers({0, 1, 2}, seed);
    std::atomic<std::uint32_t> good = 0;
    std::vector<std::jthread> workers;
    for (std::uint32_t slot = 0; slot < kRanks; ++slot) {
      workers.emplace_back([&, slot] {
        RelayTransport transport(movers.segment(slot), slot, HandOverDelays(seed, 100 + slot));
        std::vector<std::uint32_t> words(shards.size(), 0);
        for (std::uint32_t epoch = 1; epoch <= kTimes; ++epoch) {
          TestPanel panel = make_panel(0, slot, shards, 4096, epoch);
          panel.buffer.arrived = words.data();
          panel.buffer.epoch = epoch;
          transport.start(panel.buffer);
          bool right = false;
          std::jthread reader([&] { right = read_beside(panel, slot, epoch); });
          const bool came = gather(transport, panel);
          reader.join();
          if (!came) return transport.abort();
          if (right) ++good;
        }
      });
    }
    workers.clear();
    EXPECT_EQ(good, kRanks * kTimes) << "seed " << seed;
  }
}

TEST(Segment, never_shrinks) {
  const Segment segment = Segment::create();
  EXPECT_NE(::ftruncate(segment.fd(), 0), 0);
}

}  // namespace
}  // namespace tidemark
