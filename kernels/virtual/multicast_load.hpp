// A multicast load on the virtual device: a cluster of windows, barriers and engines.
#pragma once

#include "kernels/device.hpp"
#include "kernels/ops/multicast_load.hpp"

namespace tidemark::kernels {

/// Runs the steps that MulticastLoad describes; what ends a tile load before them ends this, too. A
/// wait of a block in the mask that ends by its bound gives timeout, with everything else all the
/// same. Throws Error where refusal_of(multicast) says why, and where a tile load would.
RunResult run_virtual_multicast_load(const MulticastLoad& multicast, Fault fault);

}  // namespace tidemark::kernels
