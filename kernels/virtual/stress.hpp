// Boxes at full rate on the virtual device: a few of each of a few SMs.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark {

/// Copies boxes element by element and compares them as a GPU does; Stress::seconds counts for
/// nothing. One sample, of no time.
Measurement run_virtual_stress(const Stress& op, Fault fault);

// The faults of a stress: each shows rarely, and on one SM.

inline constexpr Fault kFaultStressBit{980};
inline constexpr Fault kFaultStressAddress{981};
inline constexpr Fault kFaultStressOverrun{982};
inline constexpr Fault kFaultStressUnderrun{983};
inline constexpr Fault kFaultStressStale{984};
inline constexpr Fault kFaultStressLost{985};
inline constexpr Fault kFaultStressMulticast{986};
inline constexpr Fault kFaultStressWriteLost{987};
inline constexpr Fault kFaultStressSum{988};
inline constexpr Fault kFaultStressClip{989};
inline constexpr Fault kFaultStressStray{990};
inline constexpr Fault kFaultStressProduct{991};

/// All of them, in the order of their values.
std::span<const FaultInfo> stress_faults();

}  // namespace tidemark
