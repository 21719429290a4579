// Boxes at full rate on the virtual device: a few of each of a few SMs.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark::kernels {

/// Copies boxes element by element and compares them as a GPU does; Stress::seconds counts for
/// nothing. One sample, of no time.
Measurement run_virtual_stress(const Stress& op, Fault fault);

// The faults of a stress: each shows rarely, and on one SM.

inline constexpr Fault kFaultStressBit{950};
inline constexpr Fault kFaultStressAddress{951};
inline constexpr Fault kFaultStressOverrun{952};
inline constexpr Fault kFaultStressUnderrun{953};
inline constexpr Fault kFaultStressStale{954};
inline constexpr Fault kFaultStressLost{955};
inline constexpr Fault kFaultStressMulticast{956};
inline constexpr Fault kFaultStressWriteLost{957};
inline constexpr Fault kFaultStressSum{958};
inline constexpr Fault kFaultStressClip{959};
inline constexpr Fault kFaultStressStray{960};
inline constexpr Fault kFaultStressProduct{961};

/// All of them, in the order of their values.
std::span<const FaultInfo> stress_faults();

}  // namespace tidemark::kernels
