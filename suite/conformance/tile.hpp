// Builds tile loads, stores, multicasts, round trips and warp reads in few words, so that a case
// shows only what it varies.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/barriers.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/ops/tile_store.hpp"
#include "suite/case.hpp"

namespace tidemark {

/// One plain type for each element size.
inline constexpr std::array<DataType, 4> kTypeOfEachSize{DataType::u8, DataType::u16, DataType::u32,
                                                         DataType::u64};

/// Every type that NaN fill is allowed for.
inline constexpr std::array<DataType, 7> kFloatingTypes{
    DataType::f16,     DataType::f32,  DataType::f64,     DataType::bf16,
    DataType::f32_ftz, DataType::tf32, DataType::tf32_ftz};

/// Every swizzle that moves bytes.
inline constexpr std::array<Swizzle, 3> kSwizzles{Swizzle::b32, Swizzle::b64, Swizzle::b128};

/// A stream of draws from one seed: the same everywhere. `bound` and the width of a range are at
/// least 1.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(splitmix64(state_++) % bound);
  }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + below(high - low + 1);
  }

 private:
  std::uint64_t state_;
};

/// One row for each of as many seeds as `by_level` says of quick, nightly and soak: what `draw`
/// makes of the seed.
template <typename Draw>
std::vector<Op> drawn_rows(const RunContext& context, const std::array<std::uint32_t, 3>& by_level,
                           const Draw& draw) {
  const std::uint32_t count = by_level[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i) rows.emplace_back(draw(splitmix64(context.seed + i)));
  return rows;
}

/// Elements of `type` in `bytes`.
constexpr std::uint32_t elements_in(std::uint32_t bytes, DataType type) {
  return bytes / element_bytes(type);
}

/// Dimension 0 moves in steps of 16 bytes: the elements in one.
constexpr std::int32_t inner_step(DataType type) {
  return static_cast<std::int32_t>(elements_in(16, type));
}

/// A load of `box` at `at` (all zeros where empty) from a tensor whose rows are padded to 16 bytes
/// and whose outer strides are packed. `extent` and `box` have one entry a dimension.
TileLoad tile(DataType type, const std::vector<std::uint64_t>& extent,
              const std::vector<std::uint32_t>& box, const std::vector<std::int32_t>& at = {});

/// A load of a tensor of `rank` whose extents all differ, so that exchanged dimensions show. The
/// box is smaller in every dimension and starts one step inside.
TileLoad tile_of_rank(DataType type, std::uint32_t rank);

/// A row-major matrix as groups of columns, each as wide as one swizzle atom.
struct GroupedMatrix {
  DataType type = DataType::u8;
  Swizzle swizzle = Swizzle::b128;  // not none: its width is that of a group
  std::uint32_t rows = 0;
  std::uint32_t groups = 0;
  std::uint32_t padding = 0;  // bytes from the last group of a row to the next row
};

/// One copy of `rows` x `groups` atoms' worth of `matrix` by a map of rank 3: dimension 0 runs over
/// the columns of a group, dimension 1 over rows (a row pitch apart), dimension 2 over groups (a
/// swizzle width apart). In shared memory each group lies whole, `rows` x the swizzle width, behind
/// the one before: with a multiple of 8 rows, a column of swizzle atoms as wgmma reads them.
TileLoad atoms(const GroupedMatrix& matrix, std::uint32_t rows, std::uint32_t groups,
               std::int32_t first_row = 0, std::int32_t first_group = 0);

/// The step in which `at` may move along dimension `i`: 16 bytes in dimension 0, else one element.
std::int32_t step_of(const TileLoad& load, std::uint32_t i);

/// The highest coordinate at which the box lies within the tensor along dimension `i`; negative
/// where the box is larger than the tensor.
std::int32_t highest_inside(const TileLoad& load, std::uint32_t i);

/// Puts the box into a corner: bit i of `corner` says which end of dimension i. It hangs out by
/// `overhang` steps in every dimension; 0 keeps it within.
TileLoad in_corner(TileLoad load, std::uint32_t corner, std::int32_t overhang);

/// Boxes of 64 KiB and more: the largest fills the shared memory of a CTA.
std::vector<TileLoad> large_boxes();

/// Boxes behind 64, 128 and 192 KiB of shared memory, across these bounds, at its end, and under
/// each swizzle every 16 KiB.
std::vector<TileLoad> at_shared_end();

/// Boxes of rows that lie 2^32 bytes and more apart, up to the longest stride that a map can have.
std::vector<TileLoad> far_strides();

/// Boxes that begin beyond the first 2^32 bytes of their tensor, by coordinates of any size.
std::vector<TileLoad> far_boxes();

/// A legal load of any rank, type, swizzle, fill, hint and source, anywhere about its tensor; a
/// function of `seed` alone.
TileLoad random_tile(std::uint64_t seed);

// Tile stores, from the layouts of tile loads.

/// The store that takes the way of `load` back: same map, box and shared offset. A negative
/// coordinate becomes 0.
TileStore store_of(const TileLoad& load);

/// A store whose box hangs over the far end by `overhang` steps along each dimension of
/// `dimensions` (bit i: dimension i), in a tensor of tile_of_rank.
TileStore over_far_end(DataType type, std::uint32_t rank, std::uint32_t dimensions,
                       std::int32_t overhang);

/// A store into 2 or more rows whose inner extent ends `left` elements behind its last whole 16
/// bytes. The box takes the end of each row; the row is held to what was measured.
TileStore ragged_store(DataType type, std::uint32_t rank, std::uint32_t left);

/// A legal store of any rank, type, swizzle, number of groups and wait, starting anywhere from the
/// tensor's first element to just behind its last; a function of `seed` alone.
TileStore random_store(std::uint64_t seed);

// Multicasts.

/// `load` multicast in a cluster of `size` blocks along x.
MulticastLoad multicast(const TileLoad& load, std::uint32_t size, std::uint32_t mask,
                        std::uint32_t issuer);

/// 8 rows of 64 bytes inside a tensor.
TileLoad small_box();

/// Every mask of a cluster of `size` blocks with each of its blocks as the issuer.
std::vector<Op> all_masks_and_issuers(std::uint32_t size);

/// A legal multicast of any box, cluster of up to 8 blocks, mask, issuer, order and number of
/// slices; a function of `seed` alone.
MulticastLoad random_multicast(std::uint64_t seed);

// Round trips.

/// A map of a tensor whose rows are padded to 16 bytes and whose outer strides are packed. `extent`
/// and `box` have one entry a dimension.
TensorMapSpec map_of(DataType type, const std::vector<std::uint64_t>& extent,
                     const std::vector<std::uint32_t>& box, Swizzle swizzle = Swizzle::none);

/// Boxes side by side from the origin until they cover the tensor; the last may hang over.
TileWalk cover(const TensorMapSpec& map);

/// Every box of `from` to the box of the same number in `to`, one CTA a tile as far as a
/// cluster has them.
TileRoundTrip there_and_back(const TensorMapSpec& from, const TensorMapSpec& to);

/// The tensor of `map` back into its own memory.
TileRoundTrip in_place(const TensorMapSpec& map);

// Warp reads of atom layouts.

/// A read of `rows` rows of `groups` groups, a group's row one `swizzle` wide (`row_bytes` without
/// a swizzle), of a row-major matrix that is larger on every side.
TileRead atom_read(DataType type, Swizzle swizzle, std::uint32_t row_bytes, std::uint32_t rows,
                   std::uint32_t groups);

// Products.

/// A legal product read as it was written, of any type, layout, width, depth and place; a function
/// of `seed` alone.
TileConsume random_consumed(std::uint64_t seed);

// Mismatched announcements.

/// Boxes that credit in different ways, 256 bytes to 8 KiB: rank 1 to 3, swizzled, over an edge of
/// the tensor and wholly outside it, where fill is credited, too.
std::vector<TileLoad> mismatch_boxes();

/// `load` with `announced` bytes announced once, together with the arrival, before the issue.
ExpectTx announce(const TileLoad& load, std::uint32_t announced);

/// The same with all its bytes announced.
ExpectTx announce_exactly(const TileLoad& load);

// Drawn programs: copies, stores, barriers and accesses by threads that meet in any order that the
// documents define.

/// A program of 1 to 8 CTAs that the oracle can predict; a function of `seed` alone. It loads boxes
/// of one tensor, stores boxes of another one, and changes its window by threads in between; phases
/// overlap, barriers are given up and initialized again, CTAs multicast and arrive for each other.
/// Some multiply tiles or read columns of them, and some end with a phase whose bytes do not match.
Program random_program(std::uint64_t seed);

}  // namespace tidemark
