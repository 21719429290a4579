// What each fault of an im2col copy does.
#include "kernels/virtual/copies/faults/im2col_faults.hpp"

#include <array>

namespace tidemark {
namespace {

constexpr FaultInfo im2col_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_load, .name = name, .step = step};
}

constexpr FaultInfo store_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_store, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    im2col_fault(kFaultIm2colOffsetsIgnored, "im2col_offsets_ignored",
                 "im2col: the pixels themselves are loaded, whatever the offsets"),
    im2col_fault(kFaultIm2colOffsetsReversed, "im2col_offsets_reversed",
                 "im2col: the offsets are taken in the other order, W last"),
    im2col_fault(kFaultIm2colOffsetsShort, "im2col_offsets_short",
                 "im2col: the offsets lose the highest of their bits"),
    im2col_fault(kFaultIm2colCarryEarly, "im2col_carry_early",
                 "im2col: the bounding box ends a pixel early"),
    im2col_fault(kFaultIm2colCarryLate, "im2col_carry_late",
                 "im2col: the bounding box ends a pixel late"),
    im2col_fault(kFaultIm2colLowerIgnored, "im2col_lower_ignored",
                 "im2col: behind the end of the box a coordinate starts anew at 0"),
    im2col_fault(kFaultIm2colUpperIgnored, "im2col_upper_ignored",
                 "im2col: the bounding box ends with the image"),
    im2col_fault(kFaultIm2colStrideIgnored, "im2col_stride_ignored",
                 "im2col: the next pixel is one further, whatever the traversal stride"),
    im2col_fault(kFaultIm2colClamped, "im2col_clamped",
                 "im2col: outside the image its nearest pixel is read"),
    im2col_fault(kFaultIm2colChannelsRunOn, "im2col_channels_run_on",
                 "im2col: behind the last channel what follows in memory is read"),
    im2col_fault(kFaultIm2colBatchStays, "im2col_batch_stays",
                 "im2col: behind the end of an image it is read again"),
    store_fault(kFaultIm2colStoreCarryEarly, "im2col_store_carry_early",
                "im2col store: the bounding box ends a pixel early"),
    store_fault(kFaultIm2colStoreCarryLate, "im2col_store_carry_late",
                "im2col store: the bounding box ends a pixel late"),
    store_fault(kFaultIm2colStoreLowerIgnored, "im2col_store_lower_ignored",
                "im2col store: behind the end of the box a coordinate starts anew at 0"),
    store_fault(kFaultIm2colStoreUpperIgnored, "im2col_store_upper_ignored",
                "im2col store: the bounding box ends with the image"),
    store_fault(kFaultIm2colStoreBatchStays, "im2col_store_batch_stays",
                "im2col store: behind the end of an image it is stored to again"),
    im2col_fault(kFaultIm2colCornersReversed, "im2col_corners_reversed",
                 "im2col: the corners are taken in the other order, W last"),
});

}  // namespace

std::span<const FaultInfo> im2col_faults() { return kFaults; }

}  // namespace tidemark
