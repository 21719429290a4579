// Panels are matched by their id and by how many panels with that id the two slots have shared
// before: ranks that sit out a panel do not get out of step with the others.
#include "harness/relay/relay.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <set>
#include <string>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;  // keeps the loop live
constexpr std::uint64_t kMostUnsent = std::uint64_t{8} << 20;  // in the mesh, per rank
constexpr std::uint64_t kMostPanel = std::uint64_t{1} << 40;   // bytes of a believable panel
constexpr std::uint32_t kMostShards = std::uint32_t{1} << 20;
constexpr std::size_t kPieceHead = 6 * sizeof(std::uint32_t) + sizeof(std::uint64_t);

const SegmentShard& shard_at(const std::byte* table, std::size_t index) {
  return *std::launder(reinterpret_cast<const SegmentShard*>(table + index * sizeof(SegmentShard)));
}

/// What a panel's entry says, copied before anything can move the mapping.
RelayPosted posted_in(const SegmentPanel& entry, std::uint32_t posting) {
  return {.posting = posting,
          .shards = entry.shards,
          .row_bytes = entry.row_bytes,
          .table = entry.table,
          .data = entry.data,
          .bytes = entry.bytes};
}

}  // namespace

RelayMover::RelayMover(Mesh& mesh, std::vector<std::uint32_t> rank_of_slot, HandOverDelays delays)
    : mesh_(mesh), rank_of_slot_(std::move(rank_of_slot)), delays_(delays) {}

void RelayMover::begin_epoch(std::uint32_t epoch) {
  epoch_ = epoch;
  boxes_.clear();
  for (std::uint32_t slot = 0; slot < rank_of_slot_.size(); ++slot) {
    if (rank_of_slot_[slot] == mesh_.rank()) boxes_.emplace(slot, Segment::create());
  }
  std::vector<Piece> ahead = std::exchange(ahead_, {});
  for (Piece& piece : ahead) deliver(std::move(piece));
}

bool RelayMover::step() {
  bool moved = false;
  while (std::optional<Message> message = mesh_.take(Tag::shard)) {
    Piece piece;
    if (unpacked(message->bytes, piece)) deliver(std::move(piece));
    moved = true;
  }
  for (auto& [slot, box] : boxes_) {
    if (box.broken) continue;
    try {
      moved = adopt_postings(slot, box) || moved;
      moved = send_some(slot, box) || moved;
    } catch (const Error&) {
      box.broken = true;  // its worker waits for nothing, and the deadline of its case speaks
    }
  }
  return moved;
}

bool RelayMover::adopt_postings(std::uint32_t slot, Box& box) {
  bool any = false;
  for (std::size_t i = 0; i < kRelayPanels; ++i) {
    // Not kept longer: a mapping that follows the growth of the segment moves the header.
    const SegmentPanel& entry = box.segment.header().panels[i];
    const std::uint32_t posting = entry.posting.load(std::memory_order_acquire);
    if (posting == 0 || box.panels[entry.id].posting == posting) continue;
    delays_.before(HandOver::adopt);
    adopt(slot, box, entry.id, posted_in(entry, posting));
    // Release: the worker may overwrite the posting from here on, so it must have been read.
    box.segment.header().panels[i].adopted.store(posting, std::memory_order_release);
    any = true;
  }
  return any;
}

void RelayMover::adopt(std::uint32_t slot, Box& box, std::uint32_t id, const RelayPosted& posted) {
  Panel& panel = box.panels[id];
  // Everything but the counts is of the last posting, which is over for this slot.
  const std::map<std::uint32_t, std::uint32_t> sequence = std::move(panel.sequence);
  panel = Panel{.posting = posted.posting, .table = posted.table, .data = posted.data};
  panel.sequence = sequence;
  std::set<std::uint32_t> peers = read_table(box, panel, posted);
  peers.erase(slot);
  for (const std::uint32_t peer : peers) ++panel.sequence[peer];
  for (std::uint32_t i = 0; i < panel.owner.size(); ++i) {
    if (panel.owner[i] != slot || panel.bytes[i] == 0) continue;
    for (const std::uint32_t peer : peers) {
      panel.outgoing.push_back({.to = peer,
                                .sequence = panel.sequence[peer],
                                .shard = i,
                                .from_byte = panel.first_byte[i],
                                .bytes = panel.bytes[i]});
    }
    panel.unsent[i] = static_cast<std::uint32_t>(peers.size());
    if (peers.empty()) mark(box, panel, i);
  }
  std::vector<Piece> early = std::exchange(box.early, {});
  for (Piece& piece : early) {
    if (piece.id != id || !place(box, piece)) box.early.push_back(std::move(piece));
  }
}

std::set<std::uint32_t> RelayMover::read_table(Box& box, Panel& panel,
                                               const RelayPosted& posted) const {
  if (posted.shards > kMostShards || posted.bytes > kMostPanel) {
    throw Error("a panel that cannot be");
  }
  static_cast<void>(box.segment.at(posted.data, posted.bytes));
  const std::byte* table =
      box.segment.at(posted.table, posted.shards * sizeof(SegmentShard)).data();
  const std::uint64_t rows = posted.row_bytes == 0 ? 0 : posted.bytes / posted.row_bytes;
  std::set<std::uint32_t> owners;
  for (std::size_t i = 0; i < posted.shards; ++i) {
    const SegmentShard& shard = shard_at(table, i);
    if (shard.owner >= rank_of_slot_.size() || shard.first_row > rows ||
        shard.rows > rows - shard.first_row) {
      throw Error("a shard outside its panel");
    }
    panel.owner.push_back(shard.owner);
    panel.first_byte.push_back(shard.first_row * posted.row_bytes);
    panel.bytes.push_back(shard.rows * posted.row_bytes);
    owners.insert(shard.owner);
  }
  panel.got.assign(posted.shards, 0);
  panel.unsent.assign(posted.shards, 0);
  return owners;
}

bool RelayMover::send_some(std::uint32_t slot, Box& box) {
  bool any = false;
  for (auto& [id, panel] : box.panels) {
    // One piece a panel and turn, and none while MPI has enough: panels of many megabytes must not
    // keep a barrier, a crash or a signal waiting.
    if (panel.outgoing.empty() || mesh_.unsent_bytes() >= kMostUnsent) continue;
    send_piece(slot, box, id, panel);
    any = true;
  }
  return any;
}

void RelayMover::send_piece(std::uint32_t slot, Box& box, std::uint32_t id, Panel& panel) {
  Outgoing& next = panel.outgoing.front();
  const std::uint64_t bytes = std::min(kPieceBytes, next.bytes - next.sent);
  const std::span<const std::byte> from =
      box.segment.at(panel.data + next.from_byte + next.sent, bytes);
  Piece piece{.epoch = epoch_,
              .id = id,
              .from = slot,
              .to = next.to,
              .sequence = next.sequence,
              .shard = next.shard,
              .offset = next.sent,
              .bytes = std::string(reinterpret_cast<const char*>(from.data()), bytes)};
  next.sent += bytes;
  if (next.sent == next.bytes) {
    // The bytes are copied: as far as the worker is concerned, nobody needs them any more.
    if (--panel.unsent[next.shard] == 0) mark(box, panel, next.shard);
    panel.outgoing.pop_front();
  } else {
    panel.outgoing.push_back(next);  // the peers take turns
    panel.outgoing.pop_front();
  }
  const std::uint32_t rank = rank_of_slot_[piece.to];
  if (rank == mesh_.rank()) {
    deliver(std::move(piece));
  } else {
    mesh_.send(rank, Tag::shard, packed(piece));
  }
}

void RelayMover::deliver(Piece piece) {
  if (piece.epoch > epoch_) {  // that rank has begun the epoch that this one is about to begin
    ahead_.push_back(std::move(piece));
    return;
  }
  const auto found = boxes_.find(piece.to);
  if (piece.epoch < epoch_ || found == boxes_.end() || found->second.broken) return;
  Box& box = found->second;
  try {
    if (!place(box, piece)) box.early.push_back(std::move(piece));
  } catch (const Error&) {
    box.broken = true;
  }
}

bool RelayMover::place(Box& box, const Piece& piece) {
  const auto found = box.panels.find(piece.id);
  if (found == box.panels.end()) return false;
  Panel& panel = found->second;
  const auto sequence = panel.sequence.find(piece.from);
  if (sequence == panel.sequence.end() || sequence->second < piece.sequence) return false;
  // Of a panel that this slot has left behind, or not what the table says: nothing to do with it.
  if (sequence->second > piece.sequence || piece.shard >= panel.owner.size() ||
      panel.owner[piece.shard] != piece.from ||
      piece.offset + piece.bytes.size() > panel.bytes[piece.shard]) {
    return true;
  }
  const std::span<std::byte> to =
      box.segment.at(panel.data + panel.first_byte[piece.shard] + piece.offset, piece.bytes.size());
  std::memcpy(to.data(), piece.bytes.data(), piece.bytes.size());
  panel.got[piece.shard] += piece.bytes.size();
  if (panel.got[piece.shard] == panel.bytes[piece.shard]) mark(box, panel, piece.shard);
  return true;
}

void RelayMover::mark(Box& box, const Panel& panel, std::size_t shard) {
  delays_.before(HandOver::arrive);
  auto* entry = std::launder(reinterpret_cast<SegmentShard*>(
      box.segment.at(panel.table + shard * sizeof(SegmentShard), sizeof(SegmentShard)).data()));
  // Release: the worker that sees the mark sees the bytes.
  entry->arrived.store(panel.posting, std::memory_order_release);
}

std::string RelayMover::packed(const Piece& piece) {
  std::string bytes;
  bytes.reserve(kPieceHead + piece.bytes.size());
  for (const std::uint32_t number :
       {piece.epoch, piece.id, piece.from, piece.to, piece.sequence, piece.shard})
    put_number(bytes, number);
  put_number(bytes, piece.offset);
  return bytes + piece.bytes;
}

bool RelayMover::unpacked(std::string_view bytes, Piece& piece) {
  if (bytes.size() < kPieceHead) return false;
  for (std::uint32_t* number :
       {&piece.epoch, &piece.id, &piece.from, &piece.to, &piece.sequence, &piece.shard})
    *number = take_number<std::uint32_t>(bytes);
  piece.offset = take_number<std::uint64_t>(bytes);
  piece.bytes = bytes;
  return true;
}

// Copies own shards into the segment, asks for the others, and copies them out as they arrive.

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
