// The encoder of tensor maps on the virtual device.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark {

/// Answers as cuda.h says, and accepts what it leaves open but for later enumerators. The map that
/// it makes is a hash of the arguments.
RunResult run_virtual_encode(const Encode& op, Fault fault);

/// The faults of an encoder, in the order of their values.
std::span<const FaultInfo> encode_faults();

}  // namespace tidemark
