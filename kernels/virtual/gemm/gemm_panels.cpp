// The panels of a product on the virtual device: gathered from other ranks, kept, and read.
#include "kernels/virtual/gemm/gemm_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"

namespace tidemark {

// Starts panels and asks after their shards until all are there or time is up.

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

// Makes the parts of panels that this rank owns, and poisons the others.

namespace {

void write_shard(GemmPanel& panel, const Gemm& gemm, GemmOperand operand, const Shard& shard) {
  const Range& range = operand == GemmOperand::a ? gemm.rows : gemm.cols;
  for (std::uint64_t row = shard.first_row; row < shard.first_row + shard.rows; ++row) {
    for (std::uint64_t k = 0; k < panel.k; ++k)
      panel.elements[panel.index_of(row, k, panel.pitch)] =
          gemm_element(gemm.inputs, operand, gemm.seed, range.first + row, k, panel.element);
    if (!panel.plain) continue;
    std::uint16_t* const to = panel.elements.data() + row * panel.pitch;
    std::fill(to + panel.k, to + panel.pitch, std::uint16_t{0});
  }
}

}  // namespace

GemmPanel make_gemm_panel(const Gemm& gemm, GemmOperand operand) {
  const bool is_a = operand == GemmOperand::a;
  const OperandLayout layout = layout_of(gemm, operand);
  GemmPanel panel{.rows = is_a ? gemm.rows.count : gemm.cols.count,
                  .k = gemm.k,
                  .pitch = layout.pitch,
                  .elements = {},
                  .shards = is_a ? gemm.a_shards : gemm.b_shards,
                  .arrived = {},
                  .major = is_a ? gemm.a_major : gemm.b_major,
                  .element = gemm.element,
                  .plain = is_plain(gemm)};
  if (gemm.transport == nullptr) panel.shards = {{gemm.rank, 0, panel.rows}};
  panel.elements.assign(layout.rows * layout.pitch, 0xffff);
  panel.arrived.assign(panel.shards.size(), 0);
  for (const Shard& shard : panel.shards) {
    if (shard.first_row > panel.rows || shard.rows > panel.rows - shard.first_row)
      throw Error(fmt::format("panel {}: shard of rank {} covers rows {} to {}, the panel has {}",
                              is_a ? "A" : "B", shard.owner, shard.first_row,
                              shard.first_row + shard.rows, panel.rows));
    if (shard.owner == gemm.rank) write_shard(panel, gemm, operand, shard);
  }
  for (const PlantedElement& planted : gemm.planted)
    if (planted.operand == operand)
      panel.elements[element_index(gemm, operand, planted.row, planted.k)] =
          to_element(gemm.element, planted.value);
  return panel;
}

void poison_foreign_shards(GemmPanel& panel, std::uint32_t rank) {
  for (const Shard& shard : panel.shards)
    if (shard.owner != rank)
      std::fill_n(panel.elements.data() + shard.first_row * panel.pitch, shard.rows * panel.pitch,
                  std::uint16_t{0xffff});
}

PanelBuffer buffer_of(GemmPanel& panel, std::uint32_t id, const GatherEpoch& epoch) {
  return {.id = id,
          .base = reinterpret_cast<std::byte*>(panel.elements.data()),
          .row_bytes = panel.pitch * sizeof(std::uint16_t),
          .shards = panel.shards,
          .arrived = epoch.number == 0 ? nullptr : panel.arrived.data(),
          .epoch = epoch.number,
          .last = epoch.last};
}

// Finds the elements that a tile is multiplied from, as the faults of reading have it.

namespace {

Shard last_shard(const GemmPanel& panel) {
  const auto full = std::find_if(panel.shards.rbegin(), panel.shards.rend(),
                                 [](const Shard& shard) { return shard.rows > 0; });
  return full == panel.shards.rend() ? Shard{} : *full;
}

/// Which row of the panel is read in place of `row`.
std::uint64_t row_read_for(const GemmReader& reader, std::uint64_t row) {
  const auto& [panel, operand, fault] = reader;
  const bool is_a = operand == GemmOperand::a;
  const std::uint64_t last = panel.rows - 1;
  if (is_a && fault == kFaultGemmRowsExchanged && last > 0 && row + 1 >= last)
    return row == last ? last - 1 : last;
  if (!is_a && fault == kFaultGemmNeighbourRow && row == last && last > 0) return row - 1;
  if (is_a && fault == kFaultGemmShardDisplaced) {
    const Shard shard = last_shard(panel);
    const bool inside = row > shard.first_row && row < shard.first_row + shard.rows;
    return inside ? row - 1 : row;
  }
  return row;
}

/// Where in memory element (row, k) is looked for.
std::uint64_t index_read_for(const GemmReader& reader, std::uint64_t row, std::uint64_t k) {
  const auto& [panel, operand, fault] = reader;
  std::uint64_t apart = panel.pitch;
  if (fault == kFaultGemmPackedRows) {
    const std::uint64_t sixteen = 16 / element_bytes(panel.element);  // bytes, in elements
    const std::uint64_t elements = panel.major == Major::k ? panel.k : panel.rows;
    apart = std::min(apart, (elements + sixteen - 1) / sixteen * sixteen);
  }
  if (fault == kFaultGemmMajorIgnored && panel.major == Major::mn) {
    // The square of 64 is read along its other side, as far as there is an element.
    const std::uint64_t turned_row = row / kGemmTile * kGemmTile + k % kGemmTile;
    const std::uint64_t turned_k = k / kGemmTile * kGemmTile + row % kGemmTile;
    if (turned_row < panel.rows && turned_k < panel.k)
      return panel.index_of(turned_row, turned_k, apart);
  }
  const std::uint64_t index = panel.index_of(row, k, apart);
  const std::uint64_t line = panel.major == Major::k ? row : k;
  return fault == kFaultGemmRowCut ? index - line * apart % 8 : index;
}

/// The type that the panel's elements are taken for.
GemmElement element_taken_for(const GemmReader& reader) {
  const auto& [panel, operand, fault] = reader;
  if (fault == kFaultGemmTypeIgnored && panel.element == GemmElement::f16) return GemmElement::bf16;
  if (fault == kFaultGemmE5m2AsE4m3 && panel.element == GemmElement::e5m2) return GemmElement::e4m3;
  return panel.element;
}

float element(const GemmReader& reader, std::uint64_t row, std::uint64_t k) {
  const auto& [panel, operand, fault] = reader;
  const bool is_a = operand == GemmOperand::a;
  if (!is_a && fault == kFaultGemmShardStale) {
    const Shard shard = last_shard(panel);
    if (row + 1 == shard.first_row + shard.rows) return std::numeric_limits<float>::quiet_NaN();
  }
  if (k >= panel.k) return fault == kFaultGemmPadding ? 1.0F : 0.0F;
  if (fault == kFaultGemmLastProduct && k + 1 == panel.k) return 0.0F;
  std::uint16_t bits = panel.elements[index_read_for(reader, row_read_for(reader, row), k)];
  if (is_a && fault == kFaultGemmBitFlip && row == panel.rows / 2 && k == panel.k / 2) bits ^= 1U;
  const float value = from_element(element_taken_for(reader), bits);
  return fault == kFaultGemmNonFiniteZeroed && !std::isfinite(value) ? 0.0F : value;
}

}  // namespace

void read_rows(const GemmReader& reader, std::uint64_t first, std::uint64_t k, std::uint64_t depth,
               GemmTileRows& to) {
  for (std::uint64_t i = 0; i < kGemmTile; ++i) {
    const std::uint64_t row = first + i;
    if (row >= reader.panel.rows) {
      to[i].fill(0.0F);
    } else if (reader.fault == kNoFault && reader.panel.plain) {
      const std::uint16_t* from = reader.panel.elements.data() + row * reader.panel.pitch + k;
      for (std::uint64_t d = 0; d < depth; ++d) to[i][d] = from_bf16(from[d]);
    } else {
      for (std::uint64_t d = 0; d < depth; ++d) to[i][d] = element(reader, row, k + d);
    }
  }
}

// Says which tiles of a product can be computed, by the words that the transport writes.

namespace {

constexpr std::uint16_t kPoison = 0xffff;

/// Whether the tile's rows from `first` on are rows of the shard.
bool overlap(const Shard& shard, std::uint64_t first) {
  return shard.rows > 0 && shard.first_row < first + kGemmTile &&
         first < shard.first_row + shard.rows;
}

std::atomic_ref<std::uint32_t> word(const PanelBuffer& panel, std::size_t shard) {
  return std::atomic_ref(panel.arrived[shard]);
}

}  // namespace

GemmArrivals::GemmArrivals(const Gemm& gemm, GemmPanel& a, GemmPanel& b, const GatherEpoch& epoch,
                           Fault fault)
    : transport_(*gemm.transport),
      in_flight_(transport_),
      panels_{buffer_of(a, kPanelA, epoch), buffer_of(b, kPanelB, epoch)},
      rank_(gemm.rank),
      deadline_s_(gemm.deadline_s),
      fault_(fault),
      complete_(Clock::now()) {
  for (std::size_t panel = 0; panel < panels_.size(); ++panel)
    for (std::size_t i = 0; i < panels_[panel].shards.size(); ++i) {
      const Shard& shard = panels_[panel].shards[i];
      (shard.owner == rank_ ? own_ : awaited_).push_back({panel, i});
      if (fault == kFaultGemmFlagEarly && shard.owner != rank_ && shard.rows > 0)
        early_ = Part{panel, i};
    }
  for (const PanelBuffer& panel : panels_) transport_.start(panel);
  if (early_)
    word(panels_[early_->panel], early_->shard).store(epoch.number, std::memory_order_release);
}

bool GemmArrivals::has_arrived(const Part& part) const {
  const PanelBuffer& panel = panels_[part.panel];
  if (panel.shards[part.shard].owner == rank_) return true;
  // Acquire: the bytes of the shard are read after its word.
  const std::uint32_t seen = word(panel, part.shard).load(std::memory_order_acquire);
  return fault_ == kFaultGemmFlagOfLastEpoch ? seen != 0 : seen == panel.epoch;
}

std::optional<GemmArrivals::Part> GemmArrivals::lacking(const GemmTileStart& tile) const {
  for (std::size_t panel = 0; panel < panels_.size(); ++panel)
    for (std::size_t i = 0; i < panels_[panel].shards.size(); ++i)
      if (overlap(panels_[panel].shards[i], panel == 0 ? tile.row : tile.col) &&
          !has_arrived({panel, i}))
        return Part{panel, i};
  return {};
}

bool GemmArrivals::is_ready(const Part& part) {
  return transport_.ready(panels_[part.panel].id, part.shard);
}

void GemmArrivals::ask() {
  if (awaited_.empty()) return;
  std::erase_if(awaited_, [this](const Part& part) { return part != early_ && is_ready(part); });
  if (awaited_.empty()) complete_ = Clock::now();
}

void GemmArrivals::name_late(const Part& first) {
  std::vector<AwaitedShard> late = {awaited_shard(panels_[first.panel], first.shard)};
  for (const Part& part : awaited_)
    if (part != first) late.push_back(awaited_shard(panels_[part.panel], part.shard));
  late_ = late_shards(late, rank_, deadline_s_);
}

template <typename Missing>
bool GemmArrivals::wait(const Missing& missing) {
  const Clock::time_point start = Clock::now();
  const auto deadline = start + std::chrono::duration<double>(deadline_s_);
  std::optional<Part> part;
  while (true) {
    ask();
    part = missing();
    if (!part || Clock::now() >= deadline) break;
    std::this_thread::sleep_for(kPollEvery);
  }
  wait_ns_ += std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  if (part) name_late(*part);
  return !part;
}

std::optional<std::size_t> GemmArrivals::next(std::span<const GemmTileStart> tiles) {
  std::size_t found = 0;
  const auto missing = [&]() -> std::optional<Part> {
    std::optional<Part> of_the_first;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const std::optional<Part> part = lacking(tiles[i]);
      if (!part) {
        found = i;
        return {};
      }
      if (i == 0) of_the_first = part;
    }
    return of_the_first;
  };
  if (missing() && !wait(missing)) return {};
  return found;
}

bool GemmArrivals::wait_for_all() {
  const auto missing = [this]() -> std::optional<Part> {
    for (const Part& part : awaited_)
      if (part != early_) return part;
    return {};
  };
  return !missing() || wait(missing);
}

bool GemmArrivals::finish() {
  early_.reset();
  const bool there = wait([this]() -> std::optional<Part> {
    std::erase_if(own_, [this](const Part& part) { return is_ready(part); });
    if (!awaited_.empty()) return awaited_.front();
    return own_.empty() ? std::nullopt : std::optional(own_.front());
  });
  if (there) in_flight_.arrived();
  return there;
}

void leave_out_late_bytes(GemmPanel& a, GemmPanel& b, Fault fault) {
  if (fault == kFaultGemmFlagEarly && a.rows > 0) {
    const std::uint64_t late = std::min<std::uint64_t>(a.k, 16 / element_bytes(a.element));
    for (std::uint64_t k = a.k - late; k < a.k; ++k)
      a.elements[a.index_of(a.rows - 1, k, a.pitch)] = kPoison;
  }
  if (fault == kFaultGemmFlagOfLastEpoch)
    for (std::uint64_t row = b.rows / 2; row < b.rows; ++row)
      for (std::uint64_t k = 0; k < b.k; ++k) b.elements[b.index_of(row, k, b.pitch)] = kPoison;
}

}  // namespace tidemark
