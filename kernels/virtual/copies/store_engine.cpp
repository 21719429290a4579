// Reading, landing and waiting, and the faults that change one of these steps.
#include "kernels/virtual/copies/store_engine.hpp"

#include <algorithm>
#include <utility>

#include "kernels/virtual/copies/tile_store_faults.hpp"

namespace tidemark {
namespace {

void break_data(std::array<std::uint8_t, kChunkBytes>& bytes, DataType type, bool last,
                Fault fault) {
  if (fault == kFaultStoreBitFlipped && last) bytes[5] ^= 0x08;
  if (fault == kFaultStoreBitStuck) bytes[15] &= 0x7f;
  if (fault == kFaultStoreChunkShifted && last)
    std::rotate(bytes.begin(), bytes.begin() + 1, bytes.end());
  if (fault == kFaultStoreWideHalvesExchanged && element_bytes(type) == 8)
    for (std::size_t i = 0; i < kChunkBytes; i += 8)
      std::swap_ranges(&bytes[i], &bytes[i] + 4, &bytes[i] + 4);
  if (fault == kFaultStoreU16BytesExchanged && type == DataType::u16)
    for (std::size_t i = 0; i < kChunkBytes; i += 2) std::swap(bytes[i], bytes[i + 1]);
  if (fault == kFaultStoreFtzAsTf32 && type == DataType::f32_ftz)
    for (std::size_t i = 0; i < kChunkBytes; i += 4) {
      bytes[i] = 0;  // the 13 mantissa bits that tf32 does not have
      bytes[i + 1] &= 0xe0;
    }
}

// What a hint or a destination does not do to the last chunk, but for a fault.
void break_last(const StorePath& path, StoreChunk& chunk,
                std::array<std::uint8_t, kChunkBytes>& bytes, Fault fault) {
  const auto hinted = [&](Fault other, CacheHint hint) {
    return fault == other && path.hint == hint;
  };
  if (hinted(kFaultStoreEvictFirstDropsChunk, CacheHint::evict_first)) chunk.written = 0;
  if (hinted(kFaultStoreEvictLastHalvesChunk, CacheHint::evict_last)) chunk.written &= 0x00ff;
  if (hinted(kFaultStoreEvictNormalFlipsBit, CacheHint::evict_normal)) bytes[0] ^= 0x01;
  if (fault == kFaultStorePinnedShort && path.memory == MemorySource::pinned)
    std::fill_n(bytes.end() - 4, 4, std::uint8_t{0});
}

}  // namespace

StoreEngine::StoreEngine(std::uint64_t seed, Fault fault)
    : draw_{splitmix64(seed)}, fault_(fault) {}

void StoreEngine::issue(const StorePath& path, std::vector<StoreChunk> chunks) {
  if (fault_ == kFaultStoreYoungerGroupsLost && committed() > 0) chunks.clear();
  if (!open_) groups_.emplace_back();
  open_ = true;
  std::vector<Transfer>& transfers = groups_.back().transfers;
  for (const StoreChunk& chunk : chunks) transfers.push_back({.path = path, .chunk = chunk});
  if (!chunks.empty()) transfers.back().last = true;
  // Waits that return early do so before the last chunk, which therefore has to come last.
  const bool last_stays = fault_ == kFaultStoreReadWaitEarly || fault_ == kFaultStoreWaitEarly;
  const std::size_t begin = groups_.back().read;
  const auto shuffled = static_cast<std::uint32_t>(transfers.size() - begin) -
                        (last_stays && transfers.size() > begin ? 1 : 0);
  for (std::uint32_t i = shuffled; i > 1; --i)
    std::swap(transfers[begin + i - 1], transfers[begin + below(draw_, i)]);
}

void StoreEngine::commit() {
  if (!open_) groups_.emplace_back();
  open_ = false;
  // An empty group is a group all the same: waits count it.
  if (fault_ == kFaultStoreEmptyUncounted && groups_.back().transfers.empty()) groups_.pop_back();
}

void StoreEngine::wait_read(std::uint32_t pending) {
  if (fault_ == kFaultStoreReadWaitAtOnce) return;
  waits_for_reads_ = true;
  wait(pending, Until::read);
  waits_for_reads_ = false;
}

void StoreEngine::wait_complete(std::uint32_t pending) {
  wait(pending, fault_ == kFaultStoreWaitAsRead ? Until::read : Until::landed);
}

void StoreEngine::wait_of_other_thread() {
  if (groups_.empty()) return;
  std::size_t transfers = 0;
  for (const Group& group : groups_) transfers += group.transfers.size();
  // A transfer takes two steps, so that up to half of all can have landed.
  const std::uint32_t steps = below(draw_, static_cast<std::uint32_t>(transfers) + 1);
  for (std::uint32_t i = 0; i < steps; ++i) advance_one(0);
  if (fault_ == kFaultStoreOtherWaitTakes) forgotten_ = committed();
}

void StoreEngine::finish() {
  for (Group& group : groups_) {
    while (group.read < group.transfers.size()) read_next(group);
    while (group.landed < group.transfers.size()) land_next(group);
  }
}

// How many transfers of a group are read before a wait for its reads returns.
std::size_t StoreEngine::readable(const Group& group) const {
  const bool early = fault_ == kFaultStoreReadWaitEarly && waits_for_reads_;
  return group.transfers.size() - (early && !group.transfers.empty() ? 1 : 0);
}

// How many land before a wait for the group returns.
std::size_t StoreEngine::landable(const Group& group) const {
  const bool early = fault_ == kFaultStoreWaitEarly;
  return group.transfers.size() - (early && !group.transfers.empty() ? 1 : 0);
}

void StoreEngine::wait(std::uint32_t pending, Until until) {
  const std::size_t waited = committed() > pending ? committed() - pending : 0;
  const std::size_t first = fault_ == kFaultStoreYoungestFirst ? committed() - waited : 0;
  for (std::size_t i = std::max(first, forgotten_); i < first + waited; ++i) {
    const Group& group = groups_[i];
    if (fault_ == kFaultStoreEmptyEndsWait && group.transfers.empty()) return;
    while (until == Until::read ? group.read < readable(group) : group.landed < landable(group))
      advance_one(i);
  }
}

// One step of any group, of the one that is waited for more often than of others: they move as
// well, and may be far behind when the wait returns. Reads run ahead of landings by a drawn
// distance.
void StoreEngine::advance_one(std::size_t waited) {
  const std::size_t any = below(draw_, static_cast<std::uint32_t>(groups_.size()));
  const std::size_t start = below(draw_, 2) == 0 ? waited : any;
  const bool prefers_read = below(draw_, 2) == 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[(start + i) % groups_.size()];
    const bool can_read = group.read < readable(group);
    const bool can_land = group.landed < std::min(group.read, landable(group));
    if (!can_read && !can_land) continue;
    if (can_read && (prefers_read || !can_land))
      read_next(group);
    else
      land_next(group);
    return;
  }
}

void StoreEngine::read_next(Group& group) {
  Transfer& transfer = group.transfers[group.read++];
  const SharedWindow& shared = *transfer.path.shared;
  const auto size = static_cast<std::int64_t>(shared.bytes.size());
  const std::int64_t first = transfer.chunk.source - shared.address;
  for (std::int64_t i = 0; i < kChunkBytes; ++i) {
    const bool inside = first + i >= 0 && first + i < size;  // but for a fault
    transfer.bytes[static_cast<std::size_t>(i)] =
        inside ? shared.bytes[static_cast<std::size_t>(first + i)] : std::uint8_t{0xee};
  }
  if (fault_ == kNoFault) return;
  if (transfer.path.reduction != Reduction::none) transfer.memory = memory_at(transfer);
  break_data(transfer.bytes, transfer.path.type, transfer.last, fault_);
  if (transfer.last) break_last(transfer.path, transfer.chunk, transfer.bytes, fault_);
}

std::array<std::uint8_t, kChunkBytes> StoreEngine::memory_at(const Transfer& transfer) const {
  const std::vector<std::uint8_t>& global = *transfer.path.global;
  std::array<std::uint8_t, kChunkBytes> bytes{};
  for (std::uint32_t i = 0; i < kChunkBytes; ++i) {
    const std::int64_t offset = transfer.chunk.destination + i;
    if (offset >= 0 && offset < static_cast<std::int64_t>(global.size()))
      bytes[i] = global[static_cast<std::size_t>(offset)];
  }
  return bytes;
}

void StoreEngine::land_next(Group& group) {
  const Transfer& transfer = group.transfers[group.landed++];
  const bool late = fault_ == kFaultReduceUpdateLost;
  const auto bytes =
      transfer.path.reduction == Reduction::none
          ? transfer.bytes
          : reduced(transfer.path.reduction, transfer.path.type,
                    late ? transfer.memory : memory_at(transfer), transfer.bytes, fault_);
  std::vector<std::uint8_t>& global = *transfer.path.global;
  const auto size = static_cast<std::int64_t>(global.size());
  for (std::uint32_t i = 0; i < kChunkBytes; ++i) {
    const std::int64_t offset = transfer.chunk.destination + i;
    if (offset < 0 || offset >= size || (transfer.chunk.written >> i & 1U) == 0) continue;
    global[static_cast<std::size_t>(offset)] = bytes[i];
  }
  if (fault_ == kFaultStoreSourceOverwritten && transfer.last)
    store(*transfer.path.shared, transfer.chunk.source + kChunkBytes, {.bytes = transfer.bytes});
}

}  // namespace tidemark
