// The faults of programs: each changes one step of an mbarrier, or of the engine where it meets
// one. Their loads can go wrong as tile loads do.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kernels/fault.hpp"

namespace tidemark {

// Completion: when a phase ends.
inline constexpr Fault kFaultExpectBelowZeroCompletes{500};
inline constexpr Fault kFaultExpectArrivalCompletes{501};
inline constexpr Fault kFaultExpectCreditNeverCompletes{502};
inline constexpr Fault kFaultExpectSurplusForgiven{503};
inline constexpr Fault kFaultExpectNextWaitsTwice{504};
inline constexpr Fault kFaultExpectArrivalTwice{505};
inline constexpr Fault kFaultExpectParityInverted{506};
// Of what is less than 16 bytes off alone: of one kind of copy, or behind the first phase.
inline constexpr Fault kFaultExpectBulkForgives{507};
inline constexpr Fault kFaultExpectMulticastForgives{508};
inline constexpr Fault kFaultExpectLaterBelowZero{509};
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
inline constexpr Fault kFaultLoadThirtyThirdLost{552};
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
inline constexpr Fault kFaultCycleCountTruncated{749};
inline constexpr Fault kFaultCyclePhaseSurvives{750};
inline constexpr Fault kFaultCycleCountSurvives{751};
inline constexpr Fault kFaultCycleArrivalEarly{752};
inline constexpr Fault kFaultCycleArrivalLate{753};
inline constexpr Fault kFaultCyclePendingNotRestored{754};
inline constexpr Fault kFaultCycleMemoryNotReturned{755};
inline constexpr Fault kFaultCycleEarlyCreditLost{756};
inline constexpr Fault kFaultCycleParityStuck{757};
inline constexpr Fault kFaultDropIgnored{758};
inline constexpr Fault kFaultDropNoArrival{759};
// Sends: from window to window.
inline constexpr Fault kFaultSendWrongCta{760};
inline constexpr Fault kFaultSendChunkLost{761};
inline constexpr Fault kFaultSendCreditLost{762};
inline constexpr Fault kFaultSendCreditStays{763};
inline constexpr Fault kFaultSendPlaceIgnored{764};
inline constexpr Fault kFaultSendEndLost{765};
inline constexpr Fault kFaultSendOddCluster{766};
// Prefetches, which nobody is to notice.
inline constexpr Fault kFaultPrefetchCredits{770};
inline constexpr Fault kFaultPrefetchWrites{771};
inline constexpr Fault kFaultPrefetchOutsideFails{772};
inline constexpr Fault kFaultPrefetchStale{773};
// Where CTAs meet.
inline constexpr Fault kFaultSyncIgnored{780};
// Maps: which of many.
inline constexpr Fault kFaultMapAliased{784};
// Maps that are replaced: a field, or who comes to know.
inline constexpr Fault kFaultReplaceAddressKept{785};
inline constexpr Fault kFaultReplaceRankKept{786};
inline constexpr Fault kFaultReplaceExtentKept{787};
inline constexpr Fault kFaultReplaceStrideKept{788};
inline constexpr Fault kFaultReplaceBoxKept{789};
inline constexpr Fault kFaultReplaceElementStrideKept{790};
inline constexpr Fault kFaultReplaceTypeKept{791};
inline constexpr Fault kFaultReplaceSwizzleKept{792};
inline constexpr Fault kFaultReplaceFillKept{793};
inline constexpr Fault kFaultReplaceStrideInSixteens{794};
inline constexpr Fault kFaultReplaceTypeAsDriver{795};
inline constexpr Fault kFaultReplaceNextDimension{796};
inline constexpr Fault kFaultPublishLost{797};
inline constexpr Fault kFaultPublishStays{798};
inline constexpr Fault kFaultAcquireIgnored{799};
// Writes and reductions into the window of another CTA.
inline constexpr Fault kFaultAsyncCreditStays{810};
inline constexpr Fault kFaultAsyncCreditTwice{811};
inline constexpr Fault kFaultAsyncCreditHalf{812};
inline constexpr Fault kFaultAsyncSecondLost{813};
inline constexpr Fault kFaultAsyncLandsAtHome{814};
inline constexpr Fault kFaultAsyncNotAtomic{815};
inline constexpr Fault kFaultAsyncReduceStores{816};
inline constexpr Fault kFaultAsyncMinAsMax{817};
inline constexpr Fault kFaultAsyncSignedAsUnsigned{818};
inline constexpr Fault kFaultAsyncCarryLost{819};
inline constexpr Fault kFaultAsyncIncUnbounded{820};
inline constexpr Fault kFaultAsyncDecUnbounded{821};
inline constexpr Fault kFaultAsyncThreadLost{822};
// Arrivals that return a token, and credit by hand of another CTA.
inline constexpr Fault kFaultTokenCountIgnored{826};
inline constexpr Fault kFaultTokenOfLastPhase{827};
inline constexpr Fault kFaultPendingCountBehind{828};
inline constexpr Fault kFaultCompleteRemoteLocal{829};

/// Of a program; `step`: what it changes, and how.
constexpr FaultInfo program_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::program, .name = name, .step = step};
}

/// The same of a step that no document promises.
constexpr FaultInfo undocumented_fault(Fault fault, std::string_view name, std::string_view step) {
  FaultInfo info = program_fault(fault, name, step);
  info.documented = false;
  return info;
}

inline constexpr auto kProgramFaults = std::to_array<FaultInfo>({
    program_fault(kFaultExpectBelowZeroCompletes, "expect_below_zero_completes",
                  "completion: a tx-count below zero completes, too"),
    program_fault(kFaultExpectArrivalCompletes, "expect_arrival_completes",
                  "completion: the last arrival completes, whatever the tx-count"),
    program_fault(kFaultExpectCreditNeverCompletes, "expect_credit_never_completes",
                  "completion: looked at when an arrival comes, not when a credit does"),
    program_fault(kFaultExpectSurplusForgiven, "expect_surplus_forgiven",
                  "completion: the end of a copy takes off what was announced too much"),
    program_fault(kFaultExpectNextWaitsTwice, "expect_next_waits_twice",
                  "completion: the next phase waits for one arrival more"),
    program_fault(kFaultExpectArrivalTwice, "expect_arrival_twice",
                  "completion: an arrival counts for the phase that it begins, too"),
    program_fault(kFaultExpectParityInverted, "expect_parity_inverted",
                  "waiting: test_wait and try_wait take the other parity"),
    program_fault(kFaultExpectBulkForgives, "expect_bulk_forgives",
                  "completion: the end of a bulk copy takes off a surplus below 16 bytes"),
    program_fault(kFaultExpectMulticastForgives, "expect_multicast_forgives",
                  "completion: the end of a multicast takes off a surplus below 16 bytes"),
    program_fault(kFaultExpectLaterBelowZero, "expect_later_below_zero",
                  "completion: from the second phase on a tx-count from -15 to -1 completes, too"),
    program_fault(kFaultExpectNegativeClamped, "expect_negative_clamped",
                  "account: credit below zero is lost"),
    program_fault(kFaultExpectDebtForgiven, "expect_debt_forgiven",
                  "account: an announcement starts from zero where the tx-count is below"),
    program_fault(kFaultExpectSecondIgnored, "expect_second_ignored",
                  "account: an announcement is lost where one is outstanding"),
    program_fault(kFaultExpectAloneIgnored, "expect_alone_ignored",
                  "account: an announcement without an arrival is lost"),
    program_fault(kFaultExpectLowBitsDropped, "expect_low_bits_dropped",
                  "account: announcements lose their low four bits"),
    program_fault(kFaultExpectHighBitsDropped, "expect_high_bits_dropped",
                  "account: announcements keep their low 16 bits"),
    program_fault(kFaultExpectCountSaturates, "expect_count_saturates",
                  "account: the tx-count stops at 2^19-1 on either side of zero"),
    program_fault(kFaultExpectZeroCounts, "expect_zero_counts",
                  "account: an announcement of 0 counts as 16"),
    program_fault(
        kFaultExpectCompleteTxShort, "expect_complete_tx_short",
        "account: mbarrier.complete_tx takes off a byte too few where it takes more than one"),
    program_fault(kFaultExpectCreditBytewise, "expect_credit_bytewise",
                  "account: a copy credits its bytes one by one"),
    undocumented_fault(kFaultExpectSectorHalved, "expect_sector_halved",
                       "account: a copy of whole sectors credits half a sector by itself"),
    program_fault(kFaultExpectCreditOnOther, "expect_credit_on_other",
                  "place: a copy credits the barrier behind its own"),
    program_fault(kFaultExpectOtherOnCopys, "expect_other_on_copys",
                  "place: barriers are told apart by 16 bytes: what is meant for B comes to A"),
    program_fault(kFaultExpectRemoteLost, "expect_remote_lost",
                  "place: an announcement for the peer is lost"),
    program_fault(kFaultExpectRemoteLocal, "expect_remote_local",
                  "place: an announcement for the peer stays in its own CTA"),
    program_fault(kFaultExpectPeerWritten, "expect_peer_written",
                  "place: in a cluster the copy lands in the peer's window, too"),
    program_fault(kFaultArriveRemoteLost, "arrive_remote_lost",
                  "place: an arrival for another CTA is lost"),
    program_fault(kFaultArriveRemoteLocal, "arrive_remote_local",
                  "place: an arrival for another CTA counts in its own"),
    program_fault(kFaultExpectOverLosesLast, "expect_over_loses_last",
                  "data: the last chunk is not stored where more was announced than comes"),
    program_fault(kFaultExpectUnannouncedLost, "expect_unannounced_lost",
                  "data: chunks that nothing announced are credited and not stored"),
    program_fault(
        kFaultLoadThirtyThirdLost, "load_thirty_third_lost",
        "data: of the loads that a phase waits for, the thirty-third neither lands nor credits"),
    program_fault(kFaultLoadFirstBoxAgain, "load_first_box_again",
                  "start of the box: every load of a CTA takes the coordinates of its first"),
    program_fault(kFaultLoadStale, "load_stale",
                  "source: memory that was stored to is read as it was before the program"),
    program_fault(kFaultLoadFirstPlaceAgain, "load_first_place_again",
                  "destination: every load of a CTA lands where its first does"),
    program_fault(kFaultAddReachesGuard, "add_reaches_guard",
                  "add: four elements behind the tile are added to, too"),
    program_fault(kFaultAddSkipsSwizzle, "add_skips_swizzle",
                  "add: elements are looked for where they would stand without a swizzle"),
    program_fault(
        kFaultCopySwizzleRelative, "copy_swizzle_relative",
        "copy by threads: the swizzle's phase counts from the tile, not from the address"),
    program_fault(kFaultCopyPaddingKept, "copy_padding_kept",
                  "copy by threads: what lies outside the tensor stays as it was"),
    program_fault(kFaultAddFloatAsWhole, "add_float_as_whole",
                  "add: the bits of f32 elements are added to as whole numbers"),
    program_fault(kFaultStoreBeforeFence, "store_before_fence",
                  "store: every second chunk is read as it was before the threads' accesses"),
    program_fault(kFaultCycleCountTruncated, "cycle_count_truncated",
                  "init: of a count above 4,096 the low twelve bits are taken"),
    program_fault(kFaultCyclePhaseSurvives, "cycle_phase_survives",
                  "init: the phase of the life before goes on"),
    program_fault(kFaultCycleCountSurvives, "cycle_count_survives",
                  "init: the arrival count of the life before stays"),
    program_fault(kFaultCycleArrivalEarly, "cycle_arrival_early",
                  "arrivals: a phase completes one arrival early"),
    program_fault(kFaultCycleArrivalLate, "cycle_arrival_late",
                  "arrivals: a phase waits for one arrival too many"),
    program_fault(kFaultCyclePendingNotRestored, "cycle_pending_not_restored",
                  "completion: the next phase waits for one arrival, whatever the count"),
    program_fault(kFaultCycleMemoryNotReturned, "cycle_memory_not_returned",
                  "inval: the barrier's state is written over what stands in its memory later"),
    program_fault(kFaultCycleEarlyCreditLost, "cycle_early_credit_lost",
                  "credit: what comes before the announcement is lost, none goes below zero"),
    program_fault(kFaultCycleParityStuck, "cycle_parity_stuck",
                  "wait: every parity reads as that of an even phase"),
    program_fault(kFaultDropIgnored, "drop_ignored",
                  "arrive_drop: later phases wait for as many arrivals as before"),
    program_fault(kFaultDropNoArrival, "drop_no_arrival",
                  "arrive_drop: is no arrival in the phase that it comes in"),
    program_fault(kFaultSendWrongCta, "send_wrong_cta",
                  "send: lands in the window of the CTA behind the one that is named"),
    program_fault(kFaultSendChunkLost, "send_chunk_lost",
                  "send: the 16 bytes in the middle are credited and not stored"),
    program_fault(kFaultSendCreditLost, "send_credit_lost", "send: no barrier is credited"),
    program_fault(kFaultSendCreditStays, "send_credit_stays",
                  "send: the sender's own barrier is credited"),
    program_fault(kFaultSendPlaceIgnored, "send_place_ignored",
                  "send: lands where it stands in the sender's window"),
    program_fault(kFaultSendEndLost, "send_end_lost",
                  "send: the last 16 bytes are neither stored nor credited"),
    program_fault(kFaultSendOddCluster, "send_odd_cluster",
                  "send: lands one CTA further in clusters of an odd number of CTAs"),
    program_fault(kFaultPrefetchCredits, "prefetch_credits",
                  "prefetch: barrier 0 is credited with 16 bytes"),
    program_fault(kFaultPrefetchWrites, "prefetch_writes",
                  "prefetch: the first 16 bytes of the window are overwritten"),
    program_fault(kFaultPrefetchOutsideFails, "prefetch_outside_fails",
                  "prefetch: an error where the box is not wholly in the tensor"),
    program_fault(kFaultPrefetchStale, "prefetch_stale",
                  "prefetch: later loads read memory as it was then"),
    program_fault(kFaultSyncIgnored, "sync_ignored", "cluster_sync: no CTA waits for the others"),
    program_fault(kFaultMapAliased, "map_aliased",
                  "maps: the thirty-second of a program is taken for the one before"),
    program_fault(kFaultReplaceAddressKept, "replace_address_kept",
                  "replace: global_address stays as it was"),
    program_fault(kFaultReplaceRankKept, "replace_rank_kept", "replace: rank stays as it was"),
    program_fault(kFaultReplaceExtentKept, "replace_extent_kept",
                  "replace: global_dim stays as it was"),
    program_fault(kFaultReplaceStrideKept, "replace_stride_kept",
                  "replace: global_stride stays as it was"),
    program_fault(kFaultReplaceBoxKept, "replace_box_kept", "replace: box_dim stays as it was"),
    program_fault(kFaultReplaceElementStrideKept, "replace_element_stride_kept",
                  "replace: element_stride stays as it was"),
    program_fault(kFaultReplaceTypeKept, "replace_type_kept", "replace: elemtype stays as it was"),
    program_fault(kFaultReplaceSwizzleKept, "replace_swizzle_kept",
                  "replace: swizzle_mode stays as it was"),
    program_fault(kFaultReplaceFillKept, "replace_fill_kept", "replace: fill_mode stays as it was"),
    program_fault(kFaultReplaceStrideInSixteens, "replace_stride_in_sixteens",
                  "replace: global_stride is given in units of 16 bytes"),
    program_fault(kFaultReplaceTypeAsDriver, "replace_type_as_driver",
                  "replace: elemtype is given as the driver numbers it"),
    program_fault(kFaultReplaceNextDimension, "replace_next_dimension",
                  "replace: what is meant for a dimension comes to the one behind it"),
    program_fault(kFaultPublishLost, "publish_lost",
                  "publish: what was replaced does not come to global memory"),
    program_fault(kFaultPublishStays, "publish_stays",
                  "publish: what was replaced is seen by the CTA that did it, and by no other"),
    program_fault(kFaultAcquireIgnored, "acquire_ignored",
                  "acquire: a CTA keeps the map that it used last"),
    program_fault(kFaultAsyncCreditStays, "async_credit_stays",
                  "st.async, red.async: the issuing CTA's own barrier is credited"),
    program_fault(kFaultAsyncCreditTwice, "async_credit_twice",
                  "st.async, red.async: twice the bytes are credited"),
    program_fault(kFaultAsyncCreditHalf, "async_credit_half",
                  "st.async, red.async: half of the bytes are credited"),
    program_fault(kFaultAsyncSecondLost, "async_second_lost",
                  "st.async: the second element of a vector is credited and not stored"),
    program_fault(kFaultAsyncLandsAtHome, "async_lands_at_home",
                  "st.async, red.async: lands in the window of the issuing CTA"),
    program_fault(kFaultAsyncNotAtomic, "async_not_atomic",
                  "reductions in windows: what others reduced since the issue is lost"),
    program_fault(kFaultAsyncReduceStores, "async_reduce_stores",
                  "reductions in windows: store what comes"),
    program_fault(kFaultAsyncMinAsMax, "async_min_as_max",
                  "reductions in windows: min takes the greater"),
    program_fault(kFaultAsyncSignedAsUnsigned, "async_signed_as_unsigned",
                  "reductions in windows: min and max take s32 for u32"),
    program_fault(kFaultAsyncCarryLost, "async_carry_lost",
                  "reductions in windows: sums of u64 lose what their low halves carry"),
    program_fault(kFaultAsyncIncUnbounded, "async_inc_unbounded",
                  "reductions in windows: inc does not go back to 0"),
    program_fault(kFaultAsyncDecUnbounded, "async_dec_unbounded",
                  "reductions in windows: dec goes below 0"),
    program_fault(kFaultAsyncThreadLost, "async_thread_lost",
                  "red.async: of several threads one alone reduces, all are credited"),
    program_fault(kFaultTokenCountIgnored, "token_count_ignored",
                  "arrive_token: counts as one arrival, whatever its count"),
    program_fault(kFaultTokenOfLastPhase, "token_of_last_phase",
                  "arrive_token: the token is that of the phase before"),
    program_fault(kFaultPendingCountBehind, "pending_count_behind",
                  "pending_count: the arrivals that are pending behind its own"),
    program_fault(kFaultCompleteRemoteLocal, "complete_remote_local",
                  "complete_tx: the own barrier is credited, whichever CTA is named"),
});

/// All of them, in the order of their values. Each is harmless where its step does not occur.
inline std::span<const FaultInfo> program_faults() { return kProgramFaults; }

}  // namespace tidemark
