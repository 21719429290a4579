// The arithmetic of the virtual device's reductions into memory.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/fault.hpp"
#include "kernels/ops/reduction.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"

namespace tidemark::kernels {

/// What lands where `memory` was and `comes` is reduced into it.
std::array<std::uint8_t, kChunkBytes> reduced(Reduction reduction, DataType type,
                                              const std::array<std::uint8_t, kChunkBytes>& memory,
                                              const std::array<std::uint8_t, kChunkBytes>& comes,
                                              Fault fault);

}  // namespace tidemark::kernels
