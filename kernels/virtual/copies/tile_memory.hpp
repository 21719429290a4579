// The memory of a tile, and copies that would end the process.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/device.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"

namespace tidemark {

// What an engine says of a copy that it cannot carry out, and what a broken one makes of it.

/// Where copies may start, in tensors of which extents, and what comes of others. As it stands:
/// what an H200 was seen to do (driver 580.159.04, 2026-11); no document says which error it is. A
/// fault of loads or of stores changes one member.
struct IllegalCopyRules {
  std::uint32_t shared_alignment = 128;                   // bytes, of the address in shared memory
  std::uint32_t inner_alignment = 16;                     // bytes, of the coordinate in dimension 0
  std::uint64_t longest_extent = std::uint64_t{1} << 31;  // a map can have 2^32
  bool shared_rounded_down = false;                       // a shared address off 128 bytes
  bool inner_rounded_down = false;                        // an inner coordinate off 16 bytes
  bool negative_clipped = false;                 // a store stores what lies inside the tensor
  bool any_reduction = false;                    // of types that have none
  bool error_lost = false;                       // the copy is dropped and nothing is said
  std::int32_t misaligned = kMisalignedAddress;  // of a shared address
  std::int32_t illegal = kIllegalInstruction;    // of a coordinate, an extent, a reduction
};

/// The rules of loads, and of stores, with `fault` built in.
IllegalCopyRules load_rules(Fault fault);
IllegalCopyRules store_rules(Fault fault);

/// Moves the start of a copy to where an engine takes it from; the copy itself where nothing is
/// rounded.
void round_start(const IllegalCopyRules& rules, DataType type,
                 std::array<std::int32_t, kMaxRank>& at, std::uint32_t& shared_offset);

/// The result of a copy that ends the process: sticky, `code`, and `why` behind the code's name.
RunResult sticky_error(std::int32_t code, const std::string& why);

// What a tile load finds before its first byte moves: the source, the shared window, and whether it
// may run at all. For every operation that is made of tile loads.

/// Shared memory that a CTA may have on sm_90, in bytes. CUDA C Programming Guide, compute
/// capability 9.0.
inline constexpr std::uint64_t kSharedBytesMax = 232448;

/// Where a shared window starts: on 1024, where the 128-byte swizzle repeats.
inline constexpr std::int64_t kWindowAddress = 4096;

/// The address whose distance from the window's start keeps its low `bits`: what faults make of it.
constexpr std::int64_t with_low_bits(std::int64_t address, unsigned bits) {
  return kWindowAddress + ((address - kWindowAddress) & ((std::int64_t{1} << bits) - 1));
}

/// Whether the driver would refuse the map, and whether a copy may start there by `rules`: a map it
/// would refuse gives encode_refused, an inner coordinate off 16 bytes sticky 715, a destination
/// off 128 bytes sticky 716; no fault where nothing ends the run.
RunResult legality(const TensorMapSpec& map, const std::array<std::int32_t, kMaxRank>& at,
                   std::uint32_t shared_offset, const IllegalCopyRules& rules);

}  // namespace tidemark
