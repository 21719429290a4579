// Tiles that go out of a tensor into shared memory, are worked on there by ordinary accesses, and
// go back to memory: the whole way of a kernel that uses bulk tensor copies in both directions.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// What the threads do to a tile between its load and its store.
enum class TileWork : std::uint8_t {
  identity,     // nothing
  add_one,      // add 1 to each element (u32, s32, f32)
  add_index,    // add to each element its index in the tile, dimension 0 fastest (u32, s32, f32)
  thread_copy,  // place the tile a second time, by ordinary accesses; the store takes that copy
};

/// What the source holds before.
enum class SourceNumbers : std::uint8_t {
  hash,      // hashed bits, as for a tile load
  small,     // hashed numbers of 0..4095 in the element type (u32, s32, f32): sums are exact
  counting,  // element i of memory is i modulo 4096, from the tensor's first on
};

/// Which boxes of a tensor are visited: tile t lies at index k with k[0] = t mod tiles[0], then
/// (t / tiles[0]) mod tiles[1], ...; its first element is at[i] + k[i] * step[i].
struct TileWalk {
  std::array<std::int32_t, kMaxRank> at{};
  std::array<std::int32_t, kMaxRank> step{};  // in elements; where tiles[i] is 1 it does not count
  std::array<std::uint32_t, kMaxRank> tiles{1, 1, 1, 1, 1};
};

constexpr std::uint32_t tiles_of(const TileWalk& walk) {
  std::uint32_t tiles = 1;
  for (const std::uint32_t count : walk.tiles) tiles *= count;
  return tiles;
}

/// One round trip. The device
///   1. fills the source with trip_source_word() and, unless in_place, the destination with
///      poison_byte();
///   2. runs `ctas` thread blocks. Block c takes the tiles c, c + ctas, c + 2 ctas, ...; its i-th
///      tile goes through stage i mod stages. In each block
///      a. the shared windows (trip_window_bytes each) are poisoned, and every stage gets an
///         mbarrier of count 1;
///      b. one thread announces and issues the loads of the first `stages` tiles; the phase that
///         is about to be used must not read as complete before;
///      c. tile by tile all threads wait (bounded) for its phase, do the work by ordinary accesses,
///         fence them for the async proxy and synchronise; the one thread then issues the store;
///      d. after every `stores_per_group` stores, and after the last, it commits them as one bulk
///         group, waits until the group has read shared memory, and issues the next loads into the
///         stages that are free now;
///      e. at the end it waits until all stores are written; the windows are copied out.
/// A wait that ends by its bound ends the block. Errors: as TileLoad; a store that starts before
/// its tensor faults as well.
struct TileRoundTrip {
  TensorMapSpec from, to;
  TileWalk load, store;  // as many tiles each, and boxes of as many bytes
  TileWork work = TileWork::identity;
  SourceNumbers numbers = SourceNumbers::hash;
  bool in_place = false;  // `to` describes the source's memory; base offsets must be equal
  std::uint32_t ctas = 1;
  std::uint32_t stages = 1;            // 1..kTripStages
  std::uint32_t stores_per_group = 1;  // 1..stages
  std::uint32_t issuer = 0;            // the thread that issues, 0..kTripThreads-1
  Payload payload;
};

inline constexpr std::uint32_t kTripStages = 4;
inline constexpr std::uint32_t kTripThreads = 128;

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(TileRoundTrip& trip) { return trip.payload; }

/// Bytes from one stage of a window to the next: the tile, rounded up to 128, so that a swizzle
/// starts anew with another phase in each.
constexpr std::uint32_t trip_stage_bytes(const TileRoundTrip& trip) {
  return (tile_bytes(trip.from) + 127) / 128 * 128;
}

/// Bytes of one shared window: guard, stages, guard.
constexpr std::uint32_t trip_window_bytes(const TileRoundTrip& trip) {
  return kGuardBytes + trip.stages * trip_stage_bytes(trip) + kGuardBytes;
}

/// Windows of a block: what the loads filled and, for thread_copy, what the threads placed. Both
/// start on 1024 bytes.
constexpr std::uint32_t trip_windows(const TileRoundTrip& trip) {
  return trip.work == TileWork::thread_copy ? 2 : 1;
}

/// Bytes of the allocation that holds the tensor of `map`: guard, base offset, tensor, guard.
constexpr std::uint64_t trip_allocation_bytes(const TensorMapSpec& map) {
  return (kGuardBytes + map.base_offset + tensor_bytes(map) + 15) / 16 * 16 + kGuardBytes;
}

/// Bytes of RunResult::bytes: the destination's allocation, then for each block its windows.
constexpr std::uint64_t trip_result_bytes(const TileRoundTrip& trip) {
  return trip_allocation_bytes(trip.to) +
         std::uint64_t{trip.ctas} * trip_windows(trip) * trip_window_bytes(trip);
}

/// 32-bit word `index` of the source allocation.
constexpr std::uint32_t trip_source_word(const TileRoundTrip& trip, std::uint64_t index) {
  const auto hash =
      static_cast<std::uint32_t>(source_word(trip.payload, index / 2) >> (32 * (index % 2)));
  if (trip.numbers == SourceNumbers::hash) return hash;
  constexpr std::uint32_t kLargest = 4095;
  std::uint32_t number = hash & kLargest;
  if (trip.numbers == SourceNumbers::counting) {
    const std::uint64_t first = (kGuardBytes + trip.from.base_offset) / 4;
    number = static_cast<std::uint32_t>(index - first) & kLargest;
    if (trip.payload.inverted) number ^= kLargest;
  }
  return trip.from.type == DataType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                                         : number;
}

}  // namespace tidemark::kernels
