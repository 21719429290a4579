// What each fault of a copy by an im2col map or an interleaved one does.
#include "kernels/virtual/copies/map_faults.hpp"

#include <array>

namespace tidemark {
namespace {

constexpr FaultInfo im2col_load_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_load, .name = name, .step = step};
}

constexpr FaultInfo im2col_store_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_store, .name = name, .step = step};
}

constexpr auto kIm2colFaults = std::to_array<FaultInfo>({
    im2col_load_fault(kFaultIm2colOffsetsIgnored, "im2col_offsets_ignored",
                      "im2col: the pixels themselves are loaded, whatever the offsets"),
    im2col_load_fault(kFaultIm2colOffsetsReversed, "im2col_offsets_reversed",
                      "im2col: the offsets are taken in the other order, W last"),
    im2col_load_fault(kFaultIm2colOffsetsShort, "im2col_offsets_short",
                      "im2col: the offsets lose the highest of their bits"),
    im2col_load_fault(kFaultIm2colCarryEarly, "im2col_carry_early",
                      "im2col: the bounding box ends a pixel early"),
    im2col_load_fault(kFaultIm2colCarryLate, "im2col_carry_late",
                      "im2col: the bounding box ends a pixel late"),
    im2col_load_fault(kFaultIm2colLowerIgnored, "im2col_lower_ignored",
                      "im2col: behind the end of the box a coordinate starts anew at 0"),
    im2col_load_fault(kFaultIm2colUpperIgnored, "im2col_upper_ignored",
                      "im2col: the bounding box ends with the image"),
    im2col_load_fault(kFaultIm2colStrideIgnored, "im2col_stride_ignored",
                      "im2col: the next pixel is one further, whatever the traversal stride"),
    im2col_load_fault(kFaultIm2colClamped, "im2col_clamped",
                      "im2col: outside the image its nearest pixel is read"),
    im2col_load_fault(kFaultIm2colChannelsRunOn, "im2col_channels_run_on",
                      "im2col: behind the last channel what follows in memory is read"),
    im2col_load_fault(kFaultIm2colBatchStays, "im2col_batch_stays",
                      "im2col: behind the end of an image it is read again"),
    im2col_store_fault(kFaultIm2colStoreCarryEarly, "im2col_store_carry_early",
                       "im2col store: the bounding box ends a pixel early"),
    im2col_store_fault(kFaultIm2colStoreCarryLate, "im2col_store_carry_late",
                       "im2col store: the bounding box ends a pixel late"),
    im2col_store_fault(kFaultIm2colStoreLowerIgnored, "im2col_store_lower_ignored",
                       "im2col store: behind the end of the box a coordinate starts anew at 0"),
    im2col_store_fault(kFaultIm2colStoreUpperIgnored, "im2col_store_upper_ignored",
                       "im2col store: the bounding box ends with the image"),
    im2col_store_fault(kFaultIm2colStoreBatchStays, "im2col_store_batch_stays",
                       "im2col store: behind the end of an image it is stored to again"),
    im2col_load_fault(kFaultIm2colCornersReversed, "im2col_corners_reversed",
                      "im2col: the corners are taken in the other order, W last"),
});

}  // namespace

std::span<const FaultInfo> im2col_faults() { return kIm2colFaults; }

namespace {

// No document says how such a copy goes: only cases held to the measurement can know it.
constexpr FaultInfo interleave_load_fault(Fault fault, std::string_view name,
                                          std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_load, .name = name, .step = step, .documented = false};
}

constexpr FaultInfo interleave_store_fault(Fault fault, std::string_view name,
                                           std::string_view step) {
  return {
      .fault = fault, .op = OpKind::tile_store, .name = name, .step = step, .documented = false};
}

constexpr auto kInterleaveFaults = std::to_array<FaultInfo>({
    interleave_load_fault(kFaultInterleaveAsElements, "interleave_as_elements",
                          "interleave: a step along dimension 0 is an element, not a unit"),
    interleave_load_fault(kFaultInterleaveSlicesTraversed, "interleave_slices_traversed",
                          "interleave: the box has as many slices as box[rank - 2] says"),
    interleave_load_fault(
        kFaultInterleaveStrideIgnored, "interleave_stride_ignored",
        "interleave: units lie side by side, whatever the element stride of dimension 0"),
    interleave_load_fault(kFaultInterleaveRowsPadded, "interleave_rows_padded",
                          "interleave: rows narrower than the swizzle lie its width apart"),
    interleave_load_fault(kFaultInterleaveSliceStride, "interleave_slice_stride",
                          "interleave: the next slice is a step of the dimension below further"),
    interleave_load_fault(kFaultInterleaveSliceByChannel, "interleave_slice_by_channel",
                          "interleave: the coordinate of the slice counts channels"),
    interleave_load_fault(kFaultInterleaveHalvesExchanged, "interleave_halves_exchanged",
                          "interleave: the halves of a unit of 32 bytes change places"),
    interleave_store_fault(kFaultInterleaveStoreAsElements, "interleave_store_as_elements",
                           "interleaved store: a step along dimension 0 is an element, not a unit"),
    interleave_store_fault(kFaultInterleaveStoreSlicesTraversed,
                           "interleave_store_slices_traversed",
                           "interleaved store: the box has as many slices as box[rank - 2] says"),
    interleave_store_fault(kFaultInterleaveStoreRowsPadded, "interleave_store_rows_padded",
                           "interleaved store: rows narrower than the swizzle lie its width apart"),
    interleave_store_fault(
        kFaultInterleaveStoreSliceStride, "interleave_store_slice_stride",
        "interleaved store: the next slice is a step of the dimension below further"),
    interleave_store_fault(kFaultInterleaveStoreSliceByChannel, "interleave_store_slice_by_channel",
                           "interleaved store: the coordinate of the slice counts channels"),
    interleave_store_fault(kFaultInterleaveStoreHalvesExchanged,
                           "interleave_store_halves_exchanged",
                           "interleaved store: the halves of a unit of 32 bytes change places"),
});

}  // namespace

std::span<const FaultInfo> interleave_faults() { return kInterleaveFaults; }

}  // namespace tidemark
