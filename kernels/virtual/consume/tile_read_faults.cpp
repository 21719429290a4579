// What each fault of a warp's read is called and does.
#include "kernels/virtual/consume/tile_read_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo read_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_read, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    read_fault(kFaultReadLaneStale, "read_lane_stale", "data: lane 5 gets zeros"),
    read_fault(kFaultReadNeighbourRow, "read_neighbour_row",
               "address: lane 9 reads the row of lane 8"),
    read_fault(kFaultReadNextColumn, "read_next_column",
               "address: lanes 24 and up read one column of their row too far"),
    read_fault(kFaultReadSwizzleIgnored, "read_swizzle_ignored",
               "address: read where the chunk would lie without a swizzle"),
    read_fault(kFaultReadWordsRotated, "read_words_rotated",
               "data: the four words of lane 31 come rotated by one"),
    read_fault(kFaultReadLastLaneRepeats, "read_last_lane_repeats",
               "data: lane 31 gets what lane 30 got"),
    read_fault(kFaultReadFirstGroupOnly, "read_first_group_only",
               "address: columns past the first group wrap into it"),
    read_fault(kFaultReadBitFlipped, "read_bit_flipped", "data: bit 0 of byte 7 of lane 16 flips"),
    read_fault(kFaultReadTooEarly, "read_too_early",
               "order: the lanes read before the copy is complete"),
});

}  // namespace

std::span<const FaultInfo> tile_read_faults() { return kFaults; }

}  // namespace tidemark::kernels
