// The faults of a tile load, each of which changes one step of the copy engine or of its mbarrier,
// and those of a multicast load.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark {

// Geometry: which elements are meant and where they lie.
inline constexpr Fault kFaultStridesExchanged{101};
inline constexpr Fault kFaultStridesPacked{102};
inline constexpr Fault kFaultBaseOffsetIgnored{103};
inline constexpr Fault kFaultStartExchanged{104};
inline constexpr Fault kFaultStartTruncated{105};
inline constexpr Fault kFaultBf16AsFourBytes{106};
inline constexpr Fault kFaultTf32AsTwoBytes{107};
inline constexpr Fault kFaultElementStrideIgnored{108};
inline constexpr Fault kFaultElementStrideInner{109};
inline constexpr Fault kFaultElementStrideRoundsDown{110};
inline constexpr Fault kFaultElementStrideScalesStart{111};
inline constexpr Fault kFaultLastRowMissing{112};
// Illegal copies: what comes of one that starts where none may.
inline constexpr Fault kFaultMisalignedRoundedDown{113};
inline constexpr Fault kFaultMisalignedTo16{114};
inline constexpr Fault kFaultMisalignedAs719{115};
inline constexpr Fault kFaultInnerRoundedDown{116};
inline constexpr Fault kFaultInnerAtElement{117};
inline constexpr Fault kFaultIllegalAs700{118};
inline constexpr Fault kFaultErrorLost{119};
// Bounds: what is inside the tensor.
inline constexpr Fault kFaultUpperInnerLong{120};
inline constexpr Fault kFaultUpperInnerShort{121};
inline constexpr Fault kFaultUpperOuterLong{122};
inline constexpr Fault kFaultUpperOuterShort{123};
inline constexpr Fault kFaultUpperInnerRounded{124};
inline constexpr Fault kFaultUpperInnerByChunk{125};
inline constexpr Fault kFaultUpperInnerByRow{126};
inline constexpr Fault kFaultUpperOuterByBox{127};
inline constexpr Fault kFaultLowerInnerIgnored{128};
inline constexpr Fault kFaultLowerOuterIgnored{129};
inline constexpr Fault kFaultLowerOuterClamped{130};
// Far addresses: how many bits of them count, and extents beyond 2^31.
inline constexpr Fault kFaultStride32Bits{131};
inline constexpr Fault kFaultStride36Bits{132};
inline constexpr Fault kFaultOffset32Bits{133};
inline constexpr Fault kFaultLongExtentTaken{134};
// Fill: what stands for what is outside.
inline constexpr Fault kFaultFillOnes{135};
inline constexpr Fault kFaultZeroFillNan{136};
inline constexpr Fault kFaultNanFillZero{137};
inline constexpr Fault kFaultNanFillLowWord{138};
inline constexpr Fault kFaultFillSkipped{139};
// Conversion: what a map of f32_ftz, tf32 or tf32_ftz makes of an element.
inline constexpr Fault kFaultTf32Truncated{140};
inline constexpr Fault kFaultTf32TiesAway{141};
inline constexpr Fault kFaultTf32NanKept{142};
inline constexpr Fault kFaultTf32SubnormalsFlushed{143};
inline constexpr Fault kFaultFtzFlushes{144};
// Data: the sixteen bytes of a chunk.
inline constexpr Fault kFaultBitFlipped{145};
inline constexpr Fault kFaultBitStuck{146};
inline constexpr Fault kFaultWideHalvesExchanged{147};
inline constexpr Fault kFaultU16BytesExchanged{148};
inline constexpr Fault kFaultChunkShifted{149};
inline constexpr Fault kFaultSourceOverwritten{150};
inline constexpr Fault kFaultFtzAsTf32{151};
// Bulk copies, which have no map.
inline constexpr Fault kFaultBulkTo128{152};
inline constexpr Fault kFaultBulkOddPieceLost{153};
// Swizzle: where a chunk goes.
inline constexpr Fault kFaultSwizzleIgnored{155};
inline constexpr Fault kFaultSwizzleNarrower{156};
inline constexpr Fault kFaultSwizzleWider{157};
inline constexpr Fault kFaultSwizzleRelative{158};
inline constexpr Fault kFaultSwizzleRowShifted{159};
inline constexpr Fault kFaultSwizzlePlaneAnew{160};
// Geometry and fill once more.
inline constexpr Fault kFaultGroupStrideAsRow{161};
inline constexpr Fault kFaultNanFillOtherBits{162};
inline constexpr Fault kFaultNanFillInfinity{163};
inline constexpr Fault kFaultStartTruncated24{164};
// Delivery: what is stored.
inline constexpr Fault kFaultChunkDropped{165};
inline constexpr Fault kFaultChunkDuplicated{166};
inline constexpr Fault kFaultChunksExchanged{167};
inline constexpr Fault kFaultWritesBefore{168};
inline constexpr Fault kFaultWritesBehind{169};
inline constexpr Fault kFaultSecondCopyShort{170};
inline constexpr Fault kFaultLaterCopyShort{171};
inline constexpr Fault kFaultShared16Bits{172};
inline constexpr Fault kFaultShared17Bits{173};
inline constexpr Fault kFaultSwizzle32Upper{174};
// Credit: what the barrier is told.
inline constexpr Fault kFaultCreditInsideOnly{175};
inline constexpr Fault kFaultFilledChunkNoCredit{176};
inline constexpr Fault kFaultCreditShort{177};
inline constexpr Fault kFaultCreditOver{178};
inline constexpr Fault kFaultCreditTwice{179};
inline constexpr Fault kFaultCreditFollowedByMore{180};
inline constexpr Fault kFaultCreditBeforeLastChunk{181};
inline constexpr Fault kFaultCreditLate{182};
// Rows of a box once more.
inline constexpr Fault kFaultWideRowCut{183};
// Barrier: when a phase completes and what a waiter sees.
inline constexpr Fault kFaultPhaseNeverFlips{185};
inline constexpr Fault kFaultResidueCarried{186};
inline constexpr Fault kFaultTxCountIgnored{187};
inline constexpr Fault kFaultFreshBarrierComplete{188};
inline constexpr Fault kFaultWaitReturnsAtOnce{189};
// Hints and sources: what should change nothing.
inline constexpr Fault kFaultEvictFirstDropsChunk{190};
inline constexpr Fault kFaultEvictLastHalvesChunk{191};
inline constexpr Fault kFaultEvictNormalFlipsBit{192};
inline constexpr Fault kFaultPinnedShort{193};
inline constexpr Fault kFaultAsyncShifted{194};
inline constexpr Fault kFaultMappedRepeats{195};
// Rows narrower than the swizzle.
inline constexpr Fault kFaultNarrowRowsPacked{196};
// Sources once more.
inline constexpr Fault kFaultEdgeOverrun{197};
inline constexpr Fault kFaultColdShort{198};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_load_faults();

// The faults of a multicast load; each changes one step that a tile load does not have.

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
inline constexpr Fault kFaultMulticastOddCluster{412};
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
