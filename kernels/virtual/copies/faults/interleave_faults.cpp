// What each fault of a copy by an interleaved map does.
#include "kernels/virtual/copies/faults/interleave_faults.hpp"

#include <array>

namespace tidemark {
namespace {

// No document says how such a copy goes: only cases held to the measurement can know it.
constexpr FaultInfo load_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_load, .name = name, .step = step, .documented = false};
}

constexpr FaultInfo store_fault(Fault fault, std::string_view name, std::string_view step) {
  return {
      .fault = fault, .op = OpKind::tile_store, .name = name, .step = step, .documented = false};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    load_fault(kFaultInterleaveAsElements, "interleave_as_elements",
               "interleave: a step along dimension 0 is an element, not a unit"),
    load_fault(kFaultInterleaveSlicesTraversed, "interleave_slices_traversed",
               "interleave: the box has as many slices as box[rank - 2] says"),
    load_fault(kFaultInterleaveStrideIgnored, "interleave_stride_ignored",
               "interleave: units lie side by side, whatever the element stride of dimension 0"),
    load_fault(kFaultInterleaveRowsPadded, "interleave_rows_padded",
               "interleave: rows narrower than the swizzle lie its width apart"),
    load_fault(kFaultInterleaveSliceStride, "interleave_slice_stride",
               "interleave: the next slice is a step of the dimension below further"),
    load_fault(kFaultInterleaveSliceByChannel, "interleave_slice_by_channel",
               "interleave: the coordinate of the slice counts channels"),
    load_fault(kFaultInterleaveHalvesExchanged, "interleave_halves_exchanged",
               "interleave: the halves of a unit of 32 bytes change places"),
    store_fault(kFaultInterleaveStoreAsElements, "interleave_store_as_elements",
                "interleaved store: a step along dimension 0 is an element, not a unit"),
    store_fault(kFaultInterleaveStoreSlicesTraversed, "interleave_store_slices_traversed",
                "interleaved store: the box has as many slices as box[rank - 2] says"),
    store_fault(kFaultInterleaveStoreRowsPadded, "interleave_store_rows_padded",
                "interleaved store: rows narrower than the swizzle lie its width apart"),
    store_fault(kFaultInterleaveStoreSliceStride, "interleave_store_slice_stride",
                "interleaved store: the next slice is a step of the dimension below further"),
    store_fault(kFaultInterleaveStoreSliceByChannel, "interleave_store_slice_by_channel",
                "interleaved store: the coordinate of the slice counts channels"),
    store_fault(kFaultInterleaveStoreHalvesExchanged, "interleave_store_halves_exchanged",
                "interleaved store: the halves of a unit of 32 bytes change places"),
});

}  // namespace

std::span<const FaultInfo> interleave_faults() { return kFaults; }

}  // namespace tidemark
