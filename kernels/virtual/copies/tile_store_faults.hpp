// The faults of a tile store: each changes one step of the store engine.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark {

// Geometry: which elements are meant and where they lie.
inline constexpr Fault kFaultStoreStridesExchanged{301};
inline constexpr Fault kFaultStoreStridesPacked{302};
inline constexpr Fault kFaultStoreBaseOffsetIgnored{303};
inline constexpr Fault kFaultStoreStartExchanged{304};
inline constexpr Fault kFaultStoreStartTruncated{305};
inline constexpr Fault kFaultStoreBf16AsFourBytes{306};
inline constexpr Fault kFaultStoreTf32AsTwoBytes{307};
inline constexpr Fault kFaultStoreLastRowMissing{308};
inline constexpr Fault kFaultStoreFirstTileAgain{309};
// Far addresses: how many bits of them count, and extents beyond 2^31.
inline constexpr Fault kFaultStoreStride32Bits{310};
inline constexpr Fault kFaultStoreStride36Bits{311};
inline constexpr Fault kFaultStoreOffset32Bits{312};
inline constexpr Fault kFaultStoreLongExtentTaken{313};
// Bounds: what is inside the tensor.
inline constexpr Fault kFaultStoreUpperInnerExact{315};
inline constexpr Fault kFaultStoreUpperInnerLong{316};
inline constexpr Fault kFaultStoreUpperInnerShort{317};
inline constexpr Fault kFaultStoreUpperInnerTo32{318};
inline constexpr Fault kFaultStoreUpperInnerIgnored{319};
inline constexpr Fault kFaultStoreUpperOuterLong{320};
inline constexpr Fault kFaultStoreUpperOuterShort{321};
inline constexpr Fault kFaultStoreInnerOverhangDropped{322};
inline constexpr Fault kFaultStoreOuterOverhangDropped{323};
// Data: the sixteen bytes of a chunk.
inline constexpr Fault kFaultStoreBitFlipped{330};
inline constexpr Fault kFaultStoreBitStuck{331};
inline constexpr Fault kFaultStoreWideHalvesExchanged{332};
inline constexpr Fault kFaultStoreU16BytesExchanged{333};
inline constexpr Fault kFaultStoreChunkShifted{334};
inline constexpr Fault kFaultStoreFtzAsTf32{335};
inline constexpr Fault kFaultStoreSourceOverwritten{336};
// Swizzle: where in shared memory a chunk is taken from.
inline constexpr Fault kFaultStoreSwizzleIgnored{345};
inline constexpr Fault kFaultStoreSwizzleNarrower{346};
inline constexpr Fault kFaultStoreSwizzleWider{347};
inline constexpr Fault kFaultStoreSwizzleRelative{348};
inline constexpr Fault kFaultStoreSwizzleRowShifted{349};
inline constexpr Fault kFaultStoreSwizzlePlaneAnew{350};
inline constexpr Fault kFaultStoreSwizzle32Upper{351};
// Delivery: what lands.
inline constexpr Fault kFaultStoreChunkDropped{360};
inline constexpr Fault kFaultStoreChunkDuplicated{361};
inline constexpr Fault kFaultStoreChunksExchanged{362};
inline constexpr Fault kFaultStoreWritesBefore{363};
inline constexpr Fault kFaultStoreWritesBehind{364};
// Groups: what a wait lets go on.
inline constexpr Fault kFaultStoreYoungerGroupsLost{375};
inline constexpr Fault kFaultStoreYoungestFirst{376};
inline constexpr Fault kFaultStoreReadWaitEarly{377};
inline constexpr Fault kFaultStoreReadWaitAtOnce{378};
inline constexpr Fault kFaultStoreWaitEarly{379};
inline constexpr Fault kFaultStoreWaitAsRead{380};
// Illegal copies: what comes of one that starts where none may.
inline constexpr Fault kFaultStoreMisalignedRoundedDown{381};
inline constexpr Fault kFaultStoreMisalignedTo16{382};
inline constexpr Fault kFaultStoreMisalignedAs719{383};
inline constexpr Fault kFaultStoreInnerRoundedDown{384};
inline constexpr Fault kFaultStoreInnerAtElement{385};
inline constexpr Fault kFaultStoreIllegalAs700{386};
inline constexpr Fault kFaultStoreNegativeClipped{387};
inline constexpr Fault kFaultStoreErrorLost{388};
// Groups again: those without a store, and those of another thread.
inline constexpr Fault kFaultStoreEmptyUncounted{389};
inline constexpr Fault kFaultStoreEmptyEndsWait{390};
inline constexpr Fault kFaultStoreOtherWaitTakes{391};
// Element strides, as loads have them.
inline constexpr Fault kFaultStoreElementStrideIgnored{392};
inline constexpr Fault kFaultStoreElementStrideRoundsDown{393};
// Hints and destinations: what should change nothing.
inline constexpr Fault kFaultStoreEvictFirstDropsChunk{394};
inline constexpr Fault kFaultStoreEvictLastHalvesChunk{395};
inline constexpr Fault kFaultStoreEvictNormalFlipsBit{396};
inline constexpr Fault kFaultStorePinnedShort{397};
inline constexpr Fault kFaultStoreAsyncShifted{398};
inline constexpr Fault kFaultStoreMappedRepeats{399};
// Reductions: what is left in memory.
inline constexpr Fault kFaultReduceStores{960};
inline constexpr Fault kFaultReduceSignedAsUnsigned{961};
inline constexpr Fault kFaultReduceUnsignedAsSigned{962};
inline constexpr Fault kFaultReduceCarryLost{963};
inline constexpr Fault kFaultReduceMinAsMax{964};
inline constexpr Fault kFaultReduceIncUnbounded{965};
inline constexpr Fault kFaultReduceDecUnbounded{966};
inline constexpr Fault kFaultReduceXorAsOr{967};
inline constexpr Fault kFaultReduceUpdateLost{968};
// Sources: which bits of a shared address count.
inline constexpr Fault kFaultStoreShared16Bits{969};
inline constexpr Fault kFaultStoreShared17Bits{970};

// Reductions of floating-point elements.
inline constexpr Fault kFaultReduceSumTruncated{971};
inline constexpr Fault kFaultReduceSubnormalFlushed{972};
inline constexpr Fault kFaultReduceHalfAsBfloat{973};
inline constexpr Fault kFaultReduceNanWins{974};
inline constexpr Fault kFaultReduceNanKept{975};
inline constexpr Fault kFaultReducePairTaken{976};
// Bulk copies, which have no map.
inline constexpr Fault kFaultStoreBulkFrom128{977};
inline constexpr Fault kFaultStoreBulkOddPieceLost{978};
inline constexpr Fault kFaultReduceBulkStores{979};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_store_faults();

}  // namespace tidemark
