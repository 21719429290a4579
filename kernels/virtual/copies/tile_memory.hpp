// What a tile load finds before its first byte moves: the source, the shared window, and whether it
// may run at all. For every operation that is made of tile loads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"
#include "kernels/virtual/copies/illegal_copy.hpp"

namespace tidemark::kernels {

/// Shared memory that a CTA may have on sm_90, in bytes. CUDA C Programming Guide, compute
/// capability 9.0.
inline constexpr std::uint64_t kSharedBytesMax = 232448;

/// Where a shared window starts: on 1024, where the 128-byte swizzle repeats.
inline constexpr std::int64_t kWindowAddress = 4096;

/// The address whose distance from the window's start keeps its low `bits`: what faults make of it.
constexpr std::int64_t with_low_bits(std::int64_t address, unsigned bits) {
  return kWindowAddress + ((address - kWindowAddress) & ((std::int64_t{1} << bits) - 1));
}

/// preflight() without the sizes: whether the driver would refuse the map, and whether a copy may
/// start there by `rules`.
RunResult legality(const TensorMapSpec& map, const std::array<std::int32_t, kMaxRank>& at,
                   std::uint32_t shared_offset, const IllegalCopyRules& rules);

/// What would end the run before a byte moves: a map the driver would refuse gives encode_refused,
/// an inner coordinate off 16 bytes sticky 715, a destination off 128 bytes sticky 716; no fault
/// where nothing does. Throws Error where the window does not fit shared memory or the tensor 1
/// GiB.
RunResult preflight(const TileLoad& load);

/// The source allocation, filled.
std::vector<std::uint8_t> make_source(const TileLoad& load);

/// The shared window at kWindowAddress, poisoned.
SharedWindow make_window(const TileLoad& load);

}  // namespace tidemark::kernels
