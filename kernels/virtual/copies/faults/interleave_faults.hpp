// The faults of copies by interleaved maps: each takes one rule of their layout for that of other
// maps, or for another reading of the documents.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark {

inline constexpr Fault kFaultInterleaveAsElements{880};
inline constexpr Fault kFaultInterleaveSlicesTraversed{881};
inline constexpr Fault kFaultInterleaveStrideIgnored{882};
inline constexpr Fault kFaultInterleaveRowsPadded{883};
inline constexpr Fault kFaultInterleaveSliceStride{884};
inline constexpr Fault kFaultInterleaveSliceByChannel{885};
inline constexpr Fault kFaultInterleaveHalvesExchanged{886};

// The same steps of stores, whose element strides are not measured.
inline constexpr Fault kFaultInterleaveStoreAsElements{890};
inline constexpr Fault kFaultInterleaveStoreSlicesTraversed{891};
inline constexpr Fault kFaultInterleaveStoreRowsPadded{893};
inline constexpr Fault kFaultInterleaveStoreSliceStride{894};
inline constexpr Fault kFaultInterleaveStoreSliceByChannel{895};
inline constexpr Fault kFaultInterleaveStoreHalvesExchanged{896};

/// All of them, in the order of their values. Each is harmless where no map is interleaved.
std::span<const FaultInfo> interleave_faults();

}  // namespace tidemark
