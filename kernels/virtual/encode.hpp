// What a driver makes, on the virtual device: tensor maps, machine code, limits.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark {

/// Answers as cuda.h says, and accepts what it leaves open but for later enumerators. The map that
/// it makes is a hash of the arguments.
RunResult run_virtual_encode(const Encode& op, Fault fault);

/// What the programming guide says of compute capability 9.0, and the same facts of each kernel.
RunResult run_virtual_driver_facts(const DriverFacts& op, Fault fault);

/// The faults of both, in the order of their values.
std::span<const FaultInfo> encode_faults();

}  // namespace tidemark
