// Names and words of the faults of mismatched announcements.
#include "kernels/virtual/expect_tx_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo expect_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::expect_tx, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    expect_fault(kFaultExpectBelowZeroCompletes, "expect_below_zero_completes",
                 "completion: a tx-count below zero completes, too"),
    expect_fault(kFaultExpectArrivalCompletes, "expect_arrival_completes",
                 "completion: the last arrival completes, whatever the tx-count"),
    expect_fault(kFaultExpectCreditNeverCompletes, "expect_credit_never_completes",
                 "completion: looked at when an arrival comes, not when a credit does"),
    expect_fault(kFaultExpectSurplusForgiven, "expect_surplus_forgiven",
                 "completion: the end of a copy takes off what was announced too much"),
    expect_fault(kFaultExpectNextWaitsTwice, "expect_next_waits_twice",
                 "completion: the next phase waits for one arrival more"),
    expect_fault(kFaultExpectArrivalTwice, "expect_arrival_twice",
                 "completion: an arrival counts for the phase that it begins, too"),
    expect_fault(kFaultExpectParityInverted, "expect_parity_inverted",
                 "waiting: test_wait and try_wait take the other parity"),
    expect_fault(kFaultExpectNegativeClamped, "expect_negative_clamped",
                 "account: credit below zero is lost"),
    expect_fault(kFaultExpectDebtForgiven, "expect_debt_forgiven",
                 "account: an announcement starts from zero where the tx-count is below"),
    expect_fault(kFaultExpectSecondIgnored, "expect_second_ignored",
                 "account: an announcement is lost where one is outstanding"),
    expect_fault(kFaultExpectAloneIgnored, "expect_alone_ignored",
                 "account: an announcement without an arrival is lost"),
    expect_fault(kFaultExpectLowBitsDropped, "expect_low_bits_dropped",
                 "account: announcements lose their low four bits"),
    expect_fault(kFaultExpectHighBitsDropped, "expect_high_bits_dropped",
                 "account: announcements keep their low 16 bits"),
    expect_fault(kFaultExpectCountSaturates, "expect_count_saturates",
                 "account: the tx-count stops at 2^19-1 on either side of zero"),
    expect_fault(kFaultExpectZeroCounts, "expect_zero_counts",
                 "account: an announcement of 0 counts as 16"),
    expect_fault(
        kFaultExpectCompleteTxShort, "expect_complete_tx_short",
        "account: mbarrier.complete_tx takes off a byte too few where it takes more than one"),
    expect_fault(kFaultExpectCreditOnOther, "expect_credit_on_other",
                 "place: a copy credits the barrier behind its own"),
    expect_fault(kFaultExpectOtherOnCopys, "expect_other_on_copys",
                 "place: barriers are told apart by 16 bytes: what is meant for B comes to A"),
    expect_fault(kFaultExpectRemoteLost, "expect_remote_lost",
                 "place: an announcement for the peer is lost"),
    expect_fault(kFaultExpectRemoteLocal, "expect_remote_local",
                 "place: an announcement for the peer stays in its own block"),
    expect_fault(kFaultExpectPeerWritten, "expect_peer_written",
                 "place: in a cluster the copy lands in the peer's window, too"),
    expect_fault(kFaultExpectOverLosesLast, "expect_over_loses_last",
                 "data: the last chunk is not stored where more was announced than comes"),
    expect_fault(kFaultExpectUnannouncedLost, "expect_unannounced_lost",
                 "data: chunks that nothing announced are credited and not stored"),
});

}  // namespace

std::span<const FaultInfo> expect_tx_faults() { return kFaults; }

}  // namespace tidemark::kernels
