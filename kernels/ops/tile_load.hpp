// cp.async.bulk.tensor.{1..5}d.shared::cluster.global.tile: one box from global to shared memory,
// completing on an mbarrier.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/held_to.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/ops/source_element.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// What the copy asks of the L2 cache: a policy made by createpolicy.fractional for all of its
/// bytes, given to the instruction as .L2::cache_hint. A performance hint: it changes no byte and
/// no credit. PTX ISA 9.0, 9.7.9.25.5.2 and 9.7.9.16.
enum class CacheHint : std::uint8_t { none, evict_normal, evict_first, evict_last };

/// Where the source allocation comes from. All of it is global memory to a copy.
enum class MemorySource : std::uint8_t {
  device,  // cudaMalloc
  async,   // cudaMallocAsync, the pool of the device
  pinned,  // cudaMallocHost: memory of the host, at its own address
  mapped,  // cuMemCreate and cuMemMap
};

/// Copies of a tile load behind the first, each into a window that was poisoned anew.
inline constexpr std::uint32_t kLaterCopies = 3;

/// One tile load. The device
///   1. fills the source allocation (source_allocation_bytes) with source_element_word() and the
///      shared window (window_bytes) with poison_byte();
///   2. meters an announcement without a copy (BarrierLedger::announced);
///   3. initialises an mbarrier with count 1, records test_wait(phase 0), announces tile_bytes()
///      with arrive.expect_tx, issues the copy, waits (bounded) for phase 0 and reads the window;
///   4. poisons the window, records test_wait(phase 1), announces and issues the copy a second
///   time,
///      waits for phase 1 and reads the window;
///   5. poisons the window, meters the credit of a third copy on a fresh mbarrier
///      (BarrierLedger::credited) and reads the window;
///   6. poisons the window, records test_wait(phase 1) of the metered barrier, announces and issues
///      an exact fourth copy there, waits for phase 1 and reads the window: credit of the third
///      copy that came behind the meter's back keeps this phase open;
///   7. reads the source allocation.
/// The meter of step 5 gives the copy 100 us to land before it counts. Credit that is later than
/// that reads as missing in `credited` if it is still out when the count ends, and shows in step 6
/// as long as it comes before the fourth copy is through, which takes about 2 us more; surplus
/// credit that comes later than this is not seen. A step whose wait ended by its bound leaves out
/// those that build on it: step 4 is left out where step 3 ended so, and step 6 where the metered
/// phase did, or completed though more was announced than the copy can credit. Errors: an inner
/// coordinate off 16 bytes (PTX ISA 9.0, 5.5.3.1) and a destination off 128 bytes fault on a GPU.
struct TileLoad {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank>
      at{};                              // first element of the box, per dimension; may be negative
  std::uint32_t destination_offset = 0;  // bytes behind the leading guard; legal on 128
  CacheHint hint = CacheHint::none;
  MemorySource source = MemorySource::device;
  HeldTo held_to = HeldTo::documents;
  Payload payload;
};

/// What the runner sets for each run of a row; operations without a payload run once.
constexpr Payload& payload_of(TileLoad& load) { return load.payload; }

/// Bytes of the shared window: guard, destination offset, tile (rounded up to 16), guard;
/// kTooManyBytes32 where they are that many or more.
constexpr std::uint32_t window_bytes(const TileLoad& load) {
  const std::uint64_t tile = (std::uint64_t{tile_span(load.map)} + 15) / 16 * 16;
  const std::uint64_t bytes = 2 * std::uint64_t{kGuardBytes} + load.destination_offset + tile;
  return bytes < kTooManyBytes32 ? static_cast<std::uint32_t>(bytes) : kTooManyBytes32;
}

/// Bytes of the source allocation: guard, base offset, tensor, guard, rounded up to 16. The tensor
/// map's address is allocation + kGuardBytes + base_offset.
constexpr std::uint64_t source_allocation_bytes(const TileLoad& load) {
  return (kGuardBytes + load.map.base_offset + tensor_bytes(load.map) + 15) / 16 * 16 + kGuardBytes;
}

/// 32-bit word `index` of the source allocation.
constexpr std::uint32_t source_element_word(const TileLoad& load, std::uint64_t index) {
  return source_element_word(load.payload, load.map.type, index);
}

}  // namespace tidemark::kernels
