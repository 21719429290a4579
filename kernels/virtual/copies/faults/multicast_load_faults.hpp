// The faults of a multicast load; each changes one step that a tile load does not have.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark {

// Mask: who is served.
inline constexpr Fault kFaultMulticastHighestMissed{401};
inline constexpr Fault kFaultMulticastLowestMissed{402};
inline constexpr Fault kFaultMulticastIssuerServed{403};
inline constexpr Fault kFaultMulticastNextServed{404};
inline constexpr Fault kFaultMulticastIssuerOnly{405};
inline constexpr Fault kFaultMulticastMaskReversed{406};
inline constexpr Fault kFaultMulticastMaskFourBits{407};
inline constexpr Fault kFaultMulticastMaskByX{408};
inline constexpr Fault kFaultMulticastMaskZFastest{409};
inline constexpr Fault kFaultMulticastMaskFromIssuer{410};
inline constexpr Fault kFaultMulticastOtherCluster{411};
// Credit: whose barrier is told, and what.
inline constexpr Fault kFaultMulticastCreditToIssuer{420};
inline constexpr Fault kFaultMulticastCreditToNext{421};
inline constexpr Fault kFaultMulticastCreditSplit{422};
inline constexpr Fault kFaultMulticastCreditShort{423};
inline constexpr Fault kFaultMulticastCreditTwice{424};
inline constexpr Fault kFaultMulticastCreditInsideOnly{425};
inline constexpr Fault kFaultMulticastNegativeClamped{426};
// Data: what one destination gets that the others do not.
inline constexpr Fault kFaultMulticastShifted{440};
inline constexpr Fault kFaultMulticastChunkDropped{441};
inline constexpr Fault kFaultMulticastChunksExchanged{442};
inline constexpr Fault kFaultMulticastLastChunkLate{443};
inline constexpr Fault kFaultMulticastWrongWindow{444};
inline constexpr Fault kFaultMulticastFillAtIssuerOnly{445};
inline constexpr Fault kFaultMulticastSwizzleAtIssuerOnly{446};
// Slices: several copies to the same blocks.
inline constexpr Fault kFaultMulticastSlicesExchanged{460};
inline constexpr Fault kFaultMulticastLastSliceMissed{461};
inline constexpr Fault kFaultMulticastSlicesPiledUp{462};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> multicast_load_faults();

}  // namespace tidemark
