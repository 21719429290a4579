// cp.async.bulk.tensor.{1..5}d.shared::cluster.global.tile: one box from global to shared memory,
// completing on an mbarrier.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

// What the result of an operation is judged by.

/// What a row is held to; the devices do not look at it.
enum class HeldTo : std::uint8_t {
  documents,    // what NVIDIA promises
  measurement,  // also what was measured where the documents stop
  record,       // the documents stop and nothing was measured yet: that part is noted, not judged
};

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
  edge,    // the same; it ends where what is mapped ends, at an address behind which nothing is
  peer,    // another rank's, of a GPU of this host
};

/// One tile load. The program initialises an mbarrier with count 1 and copies the box twice, into a
/// window that is poisoned before each copy. For each copy it tests the phase, announces
/// tile_bytes() with arrive.expect_tx, issues the copy, waits in all threads, and copies the window
/// out. Errors: an inner coordinate off 16 bytes (PTX ISA 9.0, 5.5.3.1) and a destination off 128
/// bytes fault on a GPU.
struct TileLoad {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank>
      at{};  // first element of the box, per dimension; may be negative
  std::array<std::uint16_t, kMaxSpatial>
      im2col_offsets{};                  // by an im2col map: Step::im2col_offsets
  std::uint32_t destination_offset = 0;  // bytes behind the leading guard; legal on 128
  CacheHint hint = CacheHint::none;
  MemorySource source = MemorySource::device;
  bool cold = false;  // the source is not in L2 when the copy begins
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

/// Bytes of an allocation: guard, base offset, tensor, and guard unless it ends at an edge, rounded
/// up to 16. The tensor map's address is allocation + kGuardBytes + base_offset.
constexpr std::uint64_t allocation_bytes(const TensorMapSpec& map, MemorySource source) {
  return (kGuardBytes + map.base_offset + tensor_bytes(map) + 15) / 16 * 16 +
         (source == MemorySource::edge ? 0 : kGuardBytes);
}
constexpr std::uint64_t source_allocation_bytes(const TileLoad& load) {
  return allocation_bytes(load.map, load.source);
}

/// 32-bit word `index` of the source allocation.
constexpr std::uint32_t source_element_word(const TileLoad& load, std::uint64_t index) {
  return source_element_word(load.payload, load.map.type, index);
}

}  // namespace tidemark
