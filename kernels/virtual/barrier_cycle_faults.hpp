// The steps of a barrier cycle that can be told to be wrong; its loads can go wrong as tile loads
// do.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark::kernels {

inline constexpr Fault kFaultCyclePhaseSurvives{750};
inline constexpr Fault kFaultCycleCountSurvives{751};
inline constexpr Fault kFaultCycleArrivalEarly{752};
inline constexpr Fault kFaultCycleArrivalLate{753};
inline constexpr Fault kFaultCyclePendingNotRestored{754};
inline constexpr Fault kFaultCycleMemoryNotReturned{755};
inline constexpr Fault kFaultCycleEarlyCreditLost{756};
inline constexpr Fault kFaultCycleParityStuck{757};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> barrier_cycle_faults();

}  // namespace tidemark::kernels
