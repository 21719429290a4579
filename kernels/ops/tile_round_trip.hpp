// Tiles that go out of a tensor into shared memory, are worked on there by ordinary accesses, and
// go back to memory: the whole way of a kernel that uses bulk tensor copies in both directions.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/source_element.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// What the threads do to a tile between its load and its store.
enum class TileWork : std::uint8_t {
  identity,     // nothing
  add_one,      // add 1 to each element (u32, s32, f32)
  add_index,    // add to each element its index in the tile, dimension 0 fastest (u32, s32, f32)
  thread_copy,  // place the tile a second time, by ordinary accesses; the store takes that copy
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

/// One round trip of a cluster of `ctas` CTAs. CTA c takes the tiles c, c + ctas, c + 2 ctas, ...;
/// its i-th goes through stage i mod stages, a part of the window with an mbarrier of its own. For
/// each, one thread announces and loads, all wait and do the work, and the one thread stores.
/// Behind every `stores_per_group` stores, and the last, these are committed as one group, and when
/// the group has read the window their stages are loaded again.
struct TileRoundTrip {
  TensorMapSpec from, to;
  TileWalk load, store;  // as many tiles each, and boxes of as many bytes
  TileWork work = TileWork::identity;
  Numbers numbers = Numbers::hash;     // of the source; sums in f32 need others than hashed bits
  bool in_place = false;               // `to` describes the source's memory
  std::uint32_t ctas = 1;              // 1..kTripCtas, and no more than tiles
  std::uint32_t stages = 1;            // 1..kTripStages
  std::uint32_t stores_per_group = 1;  // 1..stages
  std::uint32_t issuer = 0;            // the thread that issues, 0..kProgramThreads-1
  Payload payload;
};

inline constexpr std::uint32_t kTripStages = 4;
inline constexpr std::uint32_t kTripCtas = 8;  // of a cluster that every GPU can start

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(TileRoundTrip& trip) { return trip.payload; }

/// Bytes of the allocation that holds the tensor of `map`: guard, base offset, tensor, guard.
constexpr std::uint64_t trip_allocation_bytes(const TensorMapSpec& map) {
  return (kGuardBytes + map.base_offset + tensor_bytes(map) + 15) / 16 * 16 + kGuardBytes;
}

/// Throws Error where loads and stores differ in number or size, or a count is out of its range.
Program program_of(const TileRoundTrip& trip);

}  // namespace tidemark::kernels
