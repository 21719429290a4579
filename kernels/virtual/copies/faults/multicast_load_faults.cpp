// What each fault of a multicast load is called and does.
#include "kernels/virtual/copies/faults/multicast_load_faults.hpp"

#include <array>

namespace tidemark {
namespace {

constexpr FaultInfo multicast_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::multicast_load, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    multicast_fault(kFaultMulticastHighestMissed, "multicast_highest_missed",
                    "mask: the highest CTA gets neither data nor credit"),
    multicast_fault(kFaultMulticastLowestMissed, "multicast_lowest_missed",
                    "mask: the lowest CTA gets neither data nor credit"),
    multicast_fault(kFaultMulticastIssuerServed, "multicast_issuer_served",
                    "mask: the CTA that issues always counts as in it"),
    multicast_fault(kFaultMulticastNextServed, "multicast_next_served",
                    "mask: the CTA after the highest is served, too"),
    multicast_fault(kFaultMulticastIssuerOnly, "multicast_issuer_only",
                    "mask: ignored, the CTA that issues is served alone"),
    multicast_fault(kFaultMulticastMaskReversed, "multicast_mask_reversed",
                    "mask: the lowest bit is the last CTA of the cluster"),
    multicast_fault(kFaultMulticastMaskFourBits, "multicast_mask_four_bits",
                    "mask: only bits 0 to 3 are looked at"),
    multicast_fault(kFaultMulticastMaskByX, "multicast_mask_by_x",
                    "mask: the bit of a CTA is its x in the cluster, not its rank"),
    multicast_fault(kFaultMulticastMaskZFastest, "multicast_mask_z_fastest",
                    "mask: CTAs are counted along z first, not along x"),
    multicast_fault(kFaultMulticastMaskFromIssuer, "multicast_mask_from_issuer",
                    "mask: bits count from the CTA that issues"),
    multicast_fault(kFaultMulticastOtherCluster, "multicast_other_cluster",
                    "mask: where clusters run side by side, it is that of another cluster"),
    multicast_fault(kFaultMulticastCreditToIssuer, "multicast_credit_to_issuer",
                    "credit: all of it goes to the barrier of the CTA that issues"),
    multicast_fault(kFaultMulticastCreditToNext, "multicast_credit_to_next",
                    "credit: that of the lowest CTA goes to the barrier of the next"),
    multicast_fault(kFaultMulticastCreditSplit, "multicast_credit_split",
                    "credit: each chunk is credited in one destination, in turn"),
    multicast_fault(kFaultMulticastCreditShort, "multicast_credit_short",
                    "credit: 16 bytes are missing in the highest CTA"),
    multicast_fault(kFaultMulticastCreditTwice, "multicast_credit_twice",
                    "credit: given twice in the lowest CTA"),
    multicast_fault(kFaultMulticastCreditInsideOnly, "multicast_credit_inside_only",
                    "credit: the highest CTA is told only of bytes from inside the tensor"),
    multicast_fault(kFaultMulticastNegativeClamped, "multicast_negative_clamped",
                    "credit: a tx-count that would become negative stays 0"),
    multicast_fault(kFaultMulticastShifted, "multicast_shifted",
                    "data: lands 16 bytes too far in the highest CTA"),
    multicast_fault(kFaultMulticastChunkDropped, "multicast_chunk_dropped",
                    "data: the last chunk is credited and not stored in the highest CTA"),
    multicast_fault(kFaultMulticastChunksExchanged, "multicast_chunks_exchanged",
                    "data: the two chunks in the middle change places in the lowest CTA"),
    multicast_fault(kFaultMulticastLastChunkLate, "multicast_last_chunk_late",
                    "data: the last chunk lands behind its credit in the highest CTA"),
    multicast_fault(kFaultMulticastWrongWindow, "multicast_wrong_window",
                    "data: that of the lowest CTA lands in the window of the next"),
    multicast_fault(kFaultMulticastFillAtIssuerOnly, "multicast_fill_at_issuer_only",
                    "data: what lies outside is stored only in the CTA that issues"),
    multicast_fault(kFaultMulticastSwizzleAtIssuerOnly, "multicast_swizzle_at_issuer_only",
                    "data: swizzled only in the CTA that issues"),
    multicast_fault(kFaultMulticastSlicesExchanged, "multicast_slices_exchanged",
                    "slices: the first two that follow each other land in each other's place"),
    multicast_fault(kFaultMulticastLastSliceMissed, "multicast_last_slice_missed",
                    "slices: the last of several that follow each other misses the highest CTA"),
    multicast_fault(kFaultMulticastSlicesPiledUp, "multicast_slices_piled_up",
                    "slices: those that follow each other land where the first does"),
});

}  // namespace

std::span<const FaultInfo> multicast_load_faults() { return kFaults; }

}  // namespace tidemark
