// Says which tiles of a product can be computed, by the words that the transport writes.
#include "kernels/virtual/gemm/gemm_arrivals.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark {
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
