// Boxes at full rate on a GPU, beside what plain reads of the same memory reach.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/stress.hpp"

namespace tidemark {

/// Stresses the GPU for Stress::seconds in launches of a tenth of a second, each a sample, with a
/// plain read before each. Measurement::last has what each SM did in all launches together, and the
/// wrong words of the first launches that had some. Throws Error where the memory is not to be had.
Measurement measure_stress(RowWorkspace& workspace, const Stress& op);

}  // namespace tidemark
