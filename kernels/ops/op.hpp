// Every operation a device can run.
#pragma once

#include <variant>

#include "kernels/ops/gemm.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

using Op = std::variant<TileLoad, Gemm>;

}  // namespace tidemark
