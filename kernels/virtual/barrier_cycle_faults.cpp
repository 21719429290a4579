// What each fault of a barrier cycle is called and does.
#include "kernels/virtual/barrier_cycle_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo cycle_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::barrier_cycle, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    cycle_fault(kFaultCyclePhaseSurvives, "cycle_phase_survives",
                "init: the phase of the life before goes on"),
    cycle_fault(kFaultCycleCountSurvives, "cycle_count_survives",
                "init: the arrival count of the life before stays"),
    cycle_fault(kFaultCycleArrivalEarly, "cycle_arrival_early",
                "arrivals: a phase completes one arrival early"),
    cycle_fault(kFaultCycleArrivalLate, "cycle_arrival_late",
                "arrivals: a phase waits for one arrival too many"),
    cycle_fault(kFaultCyclePendingNotRestored, "cycle_pending_not_restored",
                "completion: the next phase waits for one arrival, whatever the count"),
    cycle_fault(kFaultCycleMemoryNotReturned, "cycle_memory_not_returned",
                "inval: the barrier's state is written over what stands in its memory later"),
    cycle_fault(kFaultCycleEarlyCreditLost, "cycle_early_credit_lost",
                "credit: what comes before the announcement is lost, none goes below zero"),
    cycle_fault(kFaultCycleParityStuck, "cycle_parity_stuck",
                "wait: every parity reads as that of an even phase"),
});

}  // namespace

std::span<const FaultInfo> barrier_cycle_faults() { return kFaults; }

}  // namespace tidemark::kernels
