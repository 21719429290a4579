// cp.async.bulk.tensor.{1..5}d.shared::cluster.global.tile: one box from global to shared memory,
// completing on an mbarrier.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/source_element.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// One tile load. The device
///   1. fills the source allocation (source_allocation_bytes) with source_element_word() and the
///      shared window (window_bytes) with poison_byte();
///   2. initialises an mbarrier with count 1, records test_wait(phase 0), announces tile_bytes()
///   with
///      arrive.expect_tx, issues the copy, waits (bounded) for phase 0;
///   3. reads the window and the source allocation back;
///   4. records test_wait(phase 1), announces and issues the copy a second time, waits for phase 1;
///   5. meters the credit of a third copy on a fresh mbarrier (BarrierLedger::credited).
/// Errors: an inner coordinate off 16 bytes faults on the GPU (PTX ISA 9.0, 5.5.3.1).
struct TileLoad {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank>
      at{};                              // first element of the box, per dimension; may be negative
  std::uint32_t destination_offset = 0;  // bytes behind the leading guard; a multiple of 128
  Payload payload;
};

/// What the runner sets for each run of a row; operations without a payload run once.
constexpr Payload& payload_of(TileLoad& load) { return load.payload; }

/// Bytes of the shared window: guard, destination offset, tile (rounded up to 16), guard.
constexpr std::uint32_t window_bytes(const TileLoad& load) {
  return kGuardBytes + load.destination_offset + (tile_bytes(load.map) + 15) / 16 * 16 +
         kGuardBytes;
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

}  // namespace tidemark
