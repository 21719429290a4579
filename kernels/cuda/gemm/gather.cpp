// Gathers with a bound. Panels are freed when their multiplication ends, so a gather that is given
// up has to take the transport with it: a late row would land in somebody else's memory.
#include "kernels/cuda/gemm/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

using Clock = std::chrono::steady_clock;

/// Aborts the transport on every way out but that behind arrived().
class GatherGuard {
 public:
  explicit GatherGuard(Transport& transport) : transport_(&transport) {}
  GatherGuard(const GatherGuard&) = delete;
  GatherGuard& operator=(const GatherGuard&) = delete;
  ~GatherGuard() {
    if (transport_ != nullptr) transport_->abort();
  }
  void arrived() { transport_ = nullptr; }

 private:
  Transport* transport_;
};

struct Awaited {
  const NamedPanel* panel;
  std::size_t shard;
};

/// Timed gathers end within milliseconds and a sleep takes some 70 us; one that takes longer than
/// this leaves the core to those who bring the data.
void pause_between_polls(Clock::duration waited) {
  if (waited < std::chrono::milliseconds(50))
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

std::string missing(const Awaited& awaited, double seconds) {
  const Shard& shard = awaited.panel->buffer.shards[awaited.shard];
  return fmt::format("waits for rank {}: {}, shard {} (rows {} to {}) not ready within {:g} s",
                     shard.owner, awaited.panel->name, awaited.shard, shard.first_row,
                     shard.first_row + shard.rows, seconds);
}

}  // namespace

void require_cover(const std::vector<Shard>& shards, std::uint64_t rows, const char* name) {
  std::vector<Shard> sorted = shards;
  std::sort(sorted.begin(), sorted.end(), [](const Shard& left, const Shard& right) {
    return std::pair(left.first_row, left.rows) < std::pair(right.first_row, right.rows);
  });
  std::uint64_t covered = 0;
  for (const Shard& shard : sorted) {
    if (shard.rows == 0) continue;
    if (shard.first_row != covered || shard.rows > rows - covered)
      throw Error(
          fmt::format("{}: the shard of rank {} starts at row {} and has {} rows, but rows "
                      "0 to {} of {} are those covered before it",
                      name, shard.owner, shard.first_row, shard.rows, covered, rows));
    covered += shard.rows;
  }
  if (covered != rows)
    throw Error(fmt::format("{}: the shards cover {} of {} rows", name, covered, rows));
}

std::string gather_or_abort(Transport& transport, std::span<const NamedPanel> panels,
                            double seconds) {
  GatherGuard guard(transport);
  const auto began = Clock::now();
  std::vector<Awaited> awaited;
  for (const NamedPanel& panel : panels) {
    transport.start(panel.buffer);
    for (std::size_t i = 0; i < panel.buffer.shards.size(); ++i) awaited.push_back({&panel, i});
  }
  while (true) {
    std::erase_if(awaited, [&transport](const Awaited& one) {
      return transport.ready(one.panel->buffer.id, one.shard);
    });
    if (awaited.empty()) break;
    const auto waited = Clock::now() - began;
    if (waited > std::chrono::duration<double>(seconds)) return missing(awaited.front(), seconds);
    pause_between_polls(waited);
  }
  guard.arrived();
  return {};
}

}  // namespace tidemark::kernels
