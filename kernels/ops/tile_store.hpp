// Programs of one tile: a store, and a round trip through shared memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

// cp.async.bulk.tensor.{1..5}d.global.shared::cta.tile.bulk_group: boxes from shared to global
// memory, each a bulk async-group of its own.

inline constexpr std::uint32_t kMaxStores = 4;

/// Which wait of a group is put to the test.
enum class StoreWait : std::uint8_t {
  complete,   // cp.async.bulk.wait_group: what the group wrote can be read
  read,       // cp.async.bulk.wait_group.read: what the group reads can be overwritten
  only_read,  // the kernel ends behind wait_group.read 0, without the wait for the writes
  none,       // the kernel ends behind the last commit, without any wait
};

/// `stores` tile stores, or reductions, of boxes that lie side by side, from a window filled with
/// source words into a region of poison. The program
///   1. has one thread issue all stores, in order, and commit each as a group; where empty_groups
///      says so, it commits once more in front of a store or behind the last, with nothing to
///      commit;
///   2. `bystander`: has a thread of another warp, which committed nothing, wait by wait_group 0
///      and look at the chunks of step 4;
///   3. StoreWait::read only: for each group, oldest first, waits by wait_group.read until no more
///      than the younger groups are pending, and overwrites the tile of that group;
///   4. for each group, oldest first, waits by wait_group until no more than the younger groups are
///      pending (groups_behind) and reads kProbes words of what that group stored (probe_offset),
///      and in the end waits for all groups.
/// With only_read and none the kernel is left in front of step 1, steps 2 to 4 fall away, and
/// wait_group.read 0 is the last step of only_read.
/// Errors: an inner coordinate off 16 bytes faults on a GPU (PTX ISA 9.0, 5.5.3.1); negative
/// coordinates are not allowed in stores (CUDA C++ Programming Guide 13.1, 10.29.2); they and
/// sources off 128 bytes fault on an H200.
struct TileStore {
  TensorMapSpec map{};
  std::array<std::int32_t, kMaxRank> at{};  // first element of the first box; legal from 0 on
  std::uint32_t source_offset = 0;          // bytes behind the leading guard; legal on 128
  std::uint32_t stores = 1;                 // 1..kMaxStores
  StoreWait wait = StoreWait::complete;
  std::uint32_t empty_groups = 0;  // bit i: one in front of store i; bit `stores`: behind the last
  bool bystander = false;
  CacheHint hint = CacheHint::none;
  Reduction reduction = Reduction::none;  // legal for types that reduces() names
  bool one_box = false;                   // all stores go to the box at `at`
  MemorySource destination = MemorySource::device;
  HeldTo held_to = HeldTo::documents;
  Payload payload{};
};

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(TileStore& store) { return store.payload; }

/// First element of box `group`: they follow each other along the last dimension, but for one_box.
constexpr std::array<std::int32_t, kMaxRank> box_at(const TileStore& store, std::uint32_t group) {
  std::array<std::int32_t, kMaxRank> at = store.at;
  const std::uint32_t last = store.map.rank - 1;
  const std::int64_t boxes = store.one_box ? 0 : group;
  at[last] = static_cast<std::int32_t>(at[last] + boxes * store.map.box[last]);
  return at;
}

/// Whether the kernel ends while stores may be in flight.
constexpr bool ends_unwaited(const TileStore& store) {
  return store.wait == StoreWait::only_read || store.wait == StoreWait::none;
}

/// How many groups are committed behind that of store `group`, empty ones included.
constexpr std::uint32_t groups_behind(const TileStore& store, std::uint32_t group) {
  std::uint32_t behind = store.stores - 1 - group;
  for (std::uint32_t i = group + 1; i <= store.stores; ++i) behind += store.empty_groups >> i & 1U;
  return behind;
}

/// Bytes from the tile of one group to that of the next in the shared window: a whole box, rounded
/// up to the 128 on which each has to start. With element strides a tile is smaller than its box,
/// which only a measurement says: a device that takes the whole box finds its bytes, too.
constexpr std::uint32_t tile_pitch(const TileStore& store) {
  TensorMapSpec whole = store.map;
  whole.element_stride = {1, 1, 1, 1, 1};
  return (tile_bytes(whole) + 127) / 128 * 128;
}

/// Offset in the shared window of the tile that box `group` is stored from.
constexpr std::uint32_t tile_offset(const TileStore& store, std::uint32_t group) {
  return kGuardBytes + store.source_offset + group * tile_pitch(store);
}

/// Bytes of the shared window: guard, source offset, tiles, guard.
constexpr std::uint32_t window_bytes(const TileStore& store) {
  return tile_offset(store, store.stores) + kGuardBytes;
}

constexpr std::uint64_t destination_allocation_bytes(const TileStore& store) {
  return allocation_bytes(store.map, store.destination);
}

/// Words of 8 bytes that step 4 reads of each box: that of its first element, and that of its last
/// inside the tensor. None where the destination has islands.
inline constexpr std::uint32_t kProbes = 2;

/// Offset in the destination allocation of word `probe` (0..kProbes-1) of box `group`, or kNowhere
/// where the box lies outside the tensor or beyond `stores`.
constexpr std::uint64_t probe_offset(const TileStore& store, std::uint32_t group,
                                     std::uint32_t probe) {
  if (group >= store.stores) return kNowhere;
  const TensorMapSpec& map = store.map;
  const std::array<std::int32_t, kMaxRank> first = box_at(store, group);
  const std::uint32_t size = unit_bytes(map);
  std::uint64_t offset = kGuardBytes + map.base_offset;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const auto begin = static_cast<std::uint64_t>(first[i]);
    if (begin >= map.extent[i]) return kNowhere;
    std::uint64_t index = begin;
    if (probe != 0) {
      // No map has a stride of 0; that of a refused one must not end the process.
      const std::uint32_t step = std::max(traversal_step(map, i), 1U);
      const std::uint64_t end = std::min(begin + spanned(map, i), map.extent[i]);
      index = begin + (end - 1 - begin) / step * step;
    }
    offset += i == 0 ? index * size / 8 * 8 : index * map.stride[i - 1];
  }
  return offset;
}

Program program_of(const TileStore& store);

// Tiles that go out of a tensor into shared memory, are worked on there by ordinary accesses, and
// go back to memory: the whole way of a kernel that uses bulk tensor copies in both directions.

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

}  // namespace tidemark
