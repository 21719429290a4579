// What an engine says of a copy that it cannot carry out, and what a broken one makes of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/device.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
