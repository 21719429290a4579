// What each fault of a tile store is called and does.
#include "kernels/virtual/tile_store_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo store_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_store, .name = name, .step = step};
}

constexpr FaultInfo undocumented_store_fault(Fault fault, std::string_view name,
                                             std::string_view step) {
  FaultInfo info = store_fault(fault, name, step);
  info.documented = false;
  return info;
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    store_fault(kFaultStoreStridesExchanged, "store_strides_exchanged",
                "destination address: the strides of dimensions 1 and 2 change places"),
    store_fault(kFaultStoreStridesPacked, "store_strides_packed",
                "destination address: rows lie packed, whatever the strides say"),
    store_fault(kFaultStoreBaseOffsetIgnored, "store_base_offset_ignored",
                "destination address: the tensor starts where its allocation does"),
    store_fault(kFaultStoreStartExchanged, "store_start_exchanged",
                "start of the box: coordinates 1 and 2 change places"),
    store_fault(kFaultStoreStartTruncated, "store_start_truncated",
                "start of the box: coordinates keep their low 16 bits"),
    store_fault(kFaultStoreBf16AsFourBytes, "store_bf16_as_four_bytes",
                "destination address: a bf16 element counts as 4 bytes"),
    store_fault(kFaultStoreTf32AsTwoBytes, "store_tf32_as_two_bytes",
                "destination address: a tf32 or tf32_ftz element counts as 2 bytes"),
    store_fault(kFaultStoreLastRowMissing, "store_last_row_missing",
                "traversal: the last row of the box is not stored"),
    store_fault(kFaultStoreFirstTileAgain, "store_first_tile_again",
                "source address: every store takes the tile of the first"),
    store_fault(kFaultStoreUpperInnerExact, "store_upper_inner_exact",
                "bounds: a row ends at its last element, not at the next 16 bytes"),
    store_fault(kFaultStoreUpperInnerLong, "store_upper_inner_long",
                "bounds: a row reaches 16 bytes too far"),
    store_fault(kFaultStoreUpperInnerShort, "store_upper_inner_short",
                "bounds: the last 16 bytes of a row are not stored"),
    store_fault(kFaultStoreUpperInnerTo32, "store_upper_inner_to32",
                "bounds: a row reaches to the next 32 bytes"),
    store_fault(kFaultStoreUpperInnerIgnored, "store_upper_inner_ignored",
                "bounds: a row has no end"),
    store_fault(kFaultStoreUpperOuterLong, "store_upper_outer_long",
                "bounds: dimensions 1 and up reach one index too far"),
    store_fault(kFaultStoreUpperOuterShort, "store_upper_outer_short",
                "bounds: dimensions 1 and up end one index early"),
    store_fault(kFaultStoreInnerOverhangDropped, "store_inner_overhang_dropped",
                "bounds: a box that overhangs dimension 0 is dropped whole"),
    store_fault(kFaultStoreOuterOverhangDropped, "store_outer_overhang_dropped",
                "bounds: a box that overhangs dimension 1 or up is dropped whole"),
    store_fault(kFaultStoreBitFlipped, "store_bit_flipped",
                "data: bit 3 of byte 5 of the last chunk is flipped"),
    store_fault(kFaultStoreBitStuck, "store_bit_stuck",
                "data: bit 7 of byte 15 of every chunk is stored as 0"),
    store_fault(kFaultStoreWideHalvesExchanged, "store_wide_halves_exchanged",
                "data: the halves of 8-byte elements change places"),
    store_fault(kFaultStoreU16BytesExchanged, "store_u16_bytes_exchanged",
                "data: the bytes of u16 elements change places"),
    store_fault(kFaultStoreChunkShifted, "store_chunk_shifted",
                "data: the last chunk is rotated by one byte"),
    store_fault(kFaultStoreFtzAsTf32, "store_ftz_as_tf32",
                "data: f32_ftz elements lose the 13 mantissa bits that tf32 has not"),
    store_fault(kFaultStoreSourceOverwritten, "store_source_overwritten",
                "data: the last chunk is also written behind itself in shared memory"),
    store_fault(kFaultStoreSwizzleIgnored, "store_swizzle_ignored",
                "swizzle: chunks are taken from where they would stand without"),
    store_fault(kFaultStoreSwizzleNarrower, "store_swizzle_narrower",
                "swizzle: the pattern of the next smaller width"),
    store_fault(kFaultStoreSwizzleWider, "store_swizzle_wider",
                "swizzle: the pattern of the next larger width"),
    store_fault(kFaultStoreSwizzleRelative, "store_swizzle_relative",
                "swizzle: the phase counts from the tile, not from the address"),
    store_fault(kFaultStoreSwizzleRowShifted, "store_swizzle_row_shifted",
                "swizzle: the phase is taken one address bit too high"),
    store_fault(kFaultStoreSwizzlePlaneAnew, "store_swizzle_plane_anew",
                "swizzle: the phase starts anew with each plane of dimensions 0 and 1"),
    store_fault(kFaultStoreChunkDropped, "store_chunk_dropped",
                "delivery: the last chunk inside the tensor does not land"),
    store_fault(kFaultStoreChunkDuplicated, "store_chunk_duplicated",
                "delivery: the last chunk also takes the place of the one before"),
    store_fault(kFaultStoreChunksExchanged, "store_chunks_exchanged",
                "delivery: the two chunks in the middle change places"),
    store_fault(kFaultStoreWritesBefore, "store_writes_before",
                "delivery: the first chunk also lands in front of its place"),
    store_fault(kFaultStoreWritesBehind, "store_writes_behind",
                "delivery: the last chunk also lands behind its place"),
    store_fault(kFaultStoreYoungerGroupsLost, "store_younger_groups_lost",
                "groups: stores committed behind the first group do not land"),
    store_fault(kFaultStoreYoungestFirst, "store_youngest_first",
                "groups: waits take the youngest groups for the oldest"),
    store_fault(kFaultStoreReadWaitEarly, "store_read_wait_early",
                "groups: wait_group.read returns before the last chunk has been read"),
    store_fault(kFaultStoreReadWaitAtOnce, "store_read_wait_at_once",
                "groups: wait_group.read returns at once"),
    store_fault(kFaultStoreWaitEarly, "store_wait_early",
                "groups: wait_group returns before the last chunk has landed"),
    store_fault(kFaultStoreWaitAsRead, "store_wait_as_read",
                "groups: wait_group returns when the sources have been read"),
    undocumented_store_fault(kFaultStoreMisalignedRoundedDown, "store_misaligned_rounded_down",
                             "illegal copy: an address off 128 bytes is taken as the 128 below"),
    undocumented_store_fault(kFaultStoreMisalignedTo16, "store_misaligned_to_16",
                             "illegal copy: an address on 16 bytes is taken as it is"),
    undocumented_store_fault(kFaultStoreMisalignedAs719, "store_misaligned_as_719",
                             "illegal copy: an address off 128 bytes is error 719 instead of 716"),
    undocumented_store_fault(kFaultStoreInnerRoundedDown, "store_inner_rounded_down",
                             "illegal copy: an inner coordinate is taken as the 16 bytes below"),
    undocumented_store_fault(kFaultStoreInnerAtElement, "store_inner_at_element",
                             "illegal copy: an inner coordinate off 16 bytes is taken as it is"),
    undocumented_store_fault(kFaultStoreIllegalAs700, "store_illegal_as_700",
                             "illegal copy: an inner coordinate or a negative start is error 700 "
                             "instead of 715"),
    undocumented_store_fault(kFaultStoreNegativeClipped, "store_negative_clipped",
                             "illegal copy: of a box with a negative start, what lies inside is "
                             "stored"),
    undocumented_store_fault(kFaultStoreErrorLost, "store_error_lost",
                             "illegal copy: dropped, and no error comes"),
    store_fault(kFaultStoreEmptyUncounted, "store_empty_uncounted",
                "groups: a commit with no store before it makes no group"),
    store_fault(kFaultStoreEmptyEndsWait, "store_empty_ends_wait",
                "groups: a wait returns at the first group without a store"),
    store_fault(kFaultStoreOtherWaitTakes, "store_other_wait_takes",
                "groups: a wait of another thread takes the groups of this one for waited for"),
    undocumented_store_fault(kFaultStoreElementStrideIgnored, "store_element_stride_ignored",
                             "element stride: taken as 1, with the tile as large as before"),
    undocumented_store_fault(kFaultStoreElementStrideRoundsDown, "store_element_stride_rounds_down",
                             "element stride: box / stride elements are moved, rounded down"),
});

}  // namespace

std::span<const FaultInfo> tile_store_faults() { return kFaults; }

}  // namespace tidemark::kernels
