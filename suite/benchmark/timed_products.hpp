// What gemm.distributed.speed times.
#pragma once

#include <vector>

#include "kernels/ops/gemm/gemm_shape.hpp"
#include "suite/case.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// The product that the user gave; without one, squares by device and level. All in bf16.
std::vector<GemmShape> timed_products(const RunContext& context);

}  // namespace tidemark::suite
