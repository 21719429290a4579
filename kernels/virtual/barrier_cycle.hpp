// A barrier cycle on the virtual device.
#pragma once

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that BarrierCycle describes. A wait that ends by its bound gives timeout, with
/// all that was seen. Throws Error for what the operation does not allow.
RunResult run_virtual_barrier_cycle(const BarrierCycle& cycle, Fault fault);

}  // namespace tidemark::kernels
