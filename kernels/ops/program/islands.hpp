// Memory of which only some parts are there: tensors of many GiB, of which a row touches a few
// rows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// A part of a region's addresses that has memory. Multiples of 16.
struct Island {
  std::uint64_t at = 0;     // bytes from the start of the region's addresses
  std::uint64_t bytes = 0;  // of memory

  friend bool operator==(const Island&, const Island&) = default;
};

/// No byte of a region.
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// Which byte of the memory stands at `address`; kNowhere where there is none. The islands' memory
/// counts through them; without islands memory and addresses are the same.
std::uint64_t held_byte(std::span<const Island> islands, std::uint64_t address);

/// The address of byte `held` of the memory.
std::uint64_t address_of(std::span<const Island> islands, std::uint64_t held);

/// A coordinate for each dimension.
using BoxStart = std::array<std::int32_t, kMaxRank>;

/// The first address that a copy of the box at `at` may touch and that has no memory; kNowhere
/// where all have.
std::uint64_t missing_byte(std::span<const Island> islands, const TensorMapSpec& map,
                           const BoxStart& at);

/// Islands that hold all rows of these boxes, as far as they lie in the tensor, with guards on
/// either side; ascending, those that touch made one.
std::vector<Island> islands_around(const TensorMapSpec& map, std::span<const BoxStart> boxes);

/// Regions of more bytes have islands.
inline constexpr std::uint64_t kDenseBytes = std::uint64_t{1} << 30;

}  // namespace tidemark
