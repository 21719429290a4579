// The faults of programs: each changes one step of an mbarrier, or of the engine where it meets
// one. Their loads can go wrong as tile loads do.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark::kernels {

// Completion: when a phase ends.
inline constexpr Fault kFaultExpectBelowZeroCompletes{500};
inline constexpr Fault kFaultExpectArrivalCompletes{501};
inline constexpr Fault kFaultExpectCreditNeverCompletes{502};
inline constexpr Fault kFaultExpectSurplusForgiven{503};
inline constexpr Fault kFaultExpectNextWaitsTwice{504};
inline constexpr Fault kFaultExpectArrivalTwice{505};
inline constexpr Fault kFaultExpectParityInverted{506};
// Account: what the tx-count makes of expected and credited bytes.
inline constexpr Fault kFaultExpectNegativeClamped{520};
inline constexpr Fault kFaultExpectDebtForgiven{521};
inline constexpr Fault kFaultExpectSecondIgnored{522};
inline constexpr Fault kFaultExpectAloneIgnored{523};
inline constexpr Fault kFaultExpectLowBitsDropped{524};
inline constexpr Fault kFaultExpectHighBitsDropped{525};
inline constexpr Fault kFaultExpectCountSaturates{526};
inline constexpr Fault kFaultExpectZeroCounts{527};
inline constexpr Fault kFaultExpectCompleteTxShort{528};
inline constexpr Fault kFaultExpectCreditBytewise{529};
inline constexpr Fault kFaultExpectSectorHalved{530};
// Place: which barrier, which window.
inline constexpr Fault kFaultExpectCreditOnOther{540};
inline constexpr Fault kFaultExpectOtherOnCopys{541};
inline constexpr Fault kFaultExpectRemoteLost{542};
inline constexpr Fault kFaultExpectRemoteLocal{543};
inline constexpr Fault kFaultExpectPeerWritten{544};
inline constexpr Fault kFaultArriveRemoteLost{545};
inline constexpr Fault kFaultArriveRemoteLocal{546};
// Data: what the expected bytes must have no say in.
inline constexpr Fault kFaultExpectOverLosesLast{550};
inline constexpr Fault kFaultExpectUnannouncedLost{551};
// Tiles: which of several, and what threads do to them.
inline constexpr Fault kFaultLoadFirstBoxAgain{700};
inline constexpr Fault kFaultLoadStale{701};
inline constexpr Fault kFaultLoadFirstPlaceAgain{702};
inline constexpr Fault kFaultAddReachesGuard{710};
inline constexpr Fault kFaultAddSkipsSwizzle{711};
inline constexpr Fault kFaultCopySwizzleRelative{712};
inline constexpr Fault kFaultCopyPaddingKept{713};
inline constexpr Fault kFaultAddFloatAsWhole{714};
inline constexpr Fault kFaultStoreBeforeFence{720};
// Lives: what a barrier carries from one phase, or one init, to the next.
inline constexpr Fault kFaultCyclePhaseSurvives{750};
inline constexpr Fault kFaultCycleCountSurvives{751};
inline constexpr Fault kFaultCycleArrivalEarly{752};
inline constexpr Fault kFaultCycleArrivalLate{753};
inline constexpr Fault kFaultCyclePendingNotRestored{754};
inline constexpr Fault kFaultCycleMemoryNotReturned{755};
inline constexpr Fault kFaultCycleEarlyCreditLost{756};
inline constexpr Fault kFaultCycleParityStuck{757};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> program_faults();

}  // namespace tidemark::kernels
