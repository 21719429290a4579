// Copies own shards into the segment, asks for the others, and copies them out as they arrive.
#include "harness/relay/relay_transport.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint64_t panel_bytes(const PanelBuffer& panel) {
  std::uint64_t rows = 0;
  for (const Shard& shard : panel.shards) rows = std::max(rows, shard.first_row + shard.rows);
  return rows * panel.row_bytes;
}

}  // namespace

RelayTransport::RelayTransport(int segment_fd, std::uint32_t rank, HandOverDelays delays)
    : segment_(Segment::of(segment_fd)), rank_(rank), delays_(delays) {}

void RelayTransport::start(const PanelBuffer& panel) {
  if (segment_.header().aborted.load(std::memory_order_acquire) != 0) {
    throw Error("the relay transport was aborted");
  }
  auto found = flights_.find(panel.id);
  if (found == flights_.end()) {
    if (flights_.size() == kRelayPanels) {
      throw Error("more than " + std::to_string(kRelayPanels) + " panels in flight");
    }
    const std::size_t place = flights_.size();
    found = flights_.try_emplace(panel.id).first;
    found->second.place = place;
  }
  Flight& flight = found->second;
  if (flight.posting != 0 && !gathered(flight)) {
    throw Error("panel " + std::to_string(panel.id) +
                " is started again while it is still being gathered: wait for all its shards");
  }
  flight.panel = panel;
  flight.copied.assign(panel.shards.size(), false);
  ++flight.posting;
  reserve(flight, pages(panel.shards.size() * sizeof(SegmentShard)), panel_bytes(panel));
  write_table(flight);
  for (const Shard& shard : panel.shards) {
    const std::uint64_t offset = shard.first_row * panel.row_bytes;
    const std::uint64_t bytes = shard.rows * panel.row_bytes;
    if (shard.owner != rank_ || bytes == 0) continue;
    std::memcpy(segment_.at(flight.data + offset, bytes).data(), panel.base + offset, bytes);
  }
  SegmentPanel& entry = segment_.header().panels[flight.place];
  entry.id = panel.id;
  entry.shards = static_cast<std::uint32_t>(panel.shards.size());
  entry.row_bytes = panel.row_bytes;
  entry.table = flight.table;
  entry.data = flight.data;
  entry.bytes = panel_bytes(panel);
  delays_.before(HandOver::post);
  // Release: the supervisor that sees the posting sees the table and the bytes, too.
  entry.posting.store(flight.posting, std::memory_order_release);
}

void RelayTransport::reserve(Flight& flight, std::uint64_t table_bytes, std::uint64_t panel_bytes) {
  const std::uint64_t needed = table_bytes + panel_bytes;
  // A panel id keeps its place while the panel fits: rows of a case differ in size, and a region
  // for each would add up to all the memory there is.
  if (flight.region.bytes < needed) {
    if (flight.region.bytes > 0) segment_.release(flight.region.offset, flight.region.bytes);
    flight.region = {.offset = segment_.grow(needed), .bytes = pages(needed)};
  }
  flight.table = flight.region.offset;
  flight.data = flight.region.offset + table_bytes;
}

void RelayTransport::write_table(const Flight& flight) {
  const std::size_t count = flight.panel.shards.size();
  std::byte* table = segment_.at(flight.table, count * sizeof(SegmentShard)).data();
  for (std::size_t i = 0; i < count; ++i) {
    const Shard& shard = flight.panel.shards[i];
    new (table + i * sizeof(SegmentShard)) SegmentShard{
        .owner = shard.owner, .arrived = 0, .first_row = shard.first_row, .rows = shard.rows};
  }
}

bool RelayTransport::gathered(const Flight& flight) {
  for (std::size_t shard = 0; shard < flight.copied.size(); ++shard) {
    if (!ready(flight.panel.id, shard)) return false;
  }
  return segment_.header().panels[flight.place].adopted.load(std::memory_order_acquire) ==
         flight.posting;
}

bool RelayTransport::ready(std::uint32_t id, std::size_t index) {
  const auto found = flights_.find(id);
  if (found == flights_.end() || index >= found->second.copied.size()) return false;
  Flight& flight = found->second;
  if (flight.copied[index]) return true;
  // Acquire: what comes after, the next start() above all, comes after the supervisor's reading.
  if (segment_.header().panels[flight.place].adopted.load(std::memory_order_acquire) !=
      flight.posting) {
    return false;
  }
  const Shard& shard = flight.panel.shards[index];
  if (shard.rows > 0) {
    const auto* entry = std::launder(reinterpret_cast<const SegmentShard*>(
        segment_.at(flight.table + index * sizeof(SegmentShard), sizeof(SegmentShard)).data()));
    // Acquire: the bytes of the shard are there once the supervisor's mark is seen.
    if (entry->arrived.load(std::memory_order_acquire) != flight.posting) return false;
    if (shard.owner != rank_) {
      const std::uint64_t offset = shard.first_row * flight.panel.row_bytes;
      const std::uint64_t bytes = shard.rows * flight.panel.row_bytes;
      std::memcpy(flight.panel.base + offset, segment_.at(flight.data + offset, bytes).data(),
                  bytes);
    }
  }
  if (shard.owner != rank_ && flight.panel.arrived != nullptr) {
    // Release: whoever sees the word sees the bytes that were copied above.
    std::atomic_ref(flight.panel.arrived[index])
        .store(flight.panel.epoch, std::memory_order_release);
  }
  flight.copied[index] = true;
  return true;
}

void RelayTransport::abort() noexcept {
  delays_.before(HandOver::abort);
  segment_.header().aborted.store(1, std::memory_order_release);
}

}  // namespace tidemark
