// What a reduction leaves in memory.
#pragma once

#include <cstdint>

#include "kernels/ops/reduction.hpp"

namespace tidemark {

/// Reduces the 16 bytes at `from` into those at `to`, element by element of `type`. PTX ISA 9.0,
/// 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 9.7.13 red. Throws Error where no document says what
/// comes of this reduction of this type.
void reduce_chunk(Reduction reduction, DataType type, const std::uint8_t* from, std::uint8_t* to);

}  // namespace tidemark
