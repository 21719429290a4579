// The faults of copies by im2col maps and by interleaved maps.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark {

// im2col: each changes one step from a pixel to the next, or from a pixel to the one that is
// loaded.

inline constexpr Fault kFaultIm2colOffsetsIgnored{860};
inline constexpr Fault kFaultIm2colOffsetsReversed{861};
inline constexpr Fault kFaultIm2colOffsetsShort{862};
inline constexpr Fault kFaultIm2colCarryEarly{863};
inline constexpr Fault kFaultIm2colCarryLate{864};
inline constexpr Fault kFaultIm2colLowerIgnored{865};
inline constexpr Fault kFaultIm2colUpperIgnored{866};
inline constexpr Fault kFaultIm2colStrideIgnored{867};
inline constexpr Fault kFaultIm2colClamped{868};
inline constexpr Fault kFaultIm2colChannelsRunOn{869};
inline constexpr Fault kFaultIm2colBatchStays{870};

// The same steps of stores.
inline constexpr Fault kFaultIm2colStoreCarryEarly{872};
inline constexpr Fault kFaultIm2colStoreCarryLate{873};
inline constexpr Fault kFaultIm2colStoreLowerIgnored{874};
inline constexpr Fault kFaultIm2colStoreUpperIgnored{875};
inline constexpr Fault kFaultIm2colStoreBatchStays{876};
// Last, since it is listed only where the order of the corners is settled.
inline constexpr Fault kFaultIm2colCornersReversed{877};

/// All of them, in the order of their values. Each is harmless where no map is an im2col one.
std::span<const FaultInfo> im2col_faults();

// Interleave: each takes one rule of the layout for that of other maps, or for another reading of
// the documents.

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
