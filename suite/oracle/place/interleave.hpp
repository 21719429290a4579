// Interleaved maps as the oracle counts them, apart from the size functions of the devices.
#pragma once

#include <cstdint>

#include "kernels/ops/held_to.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Bytes that dimension 0 counts in: those of an element, or 16 or 32.
std::uint32_t bytes_counted(const TensorMapSpec& map);

/// How far the box of a tiled map reaches along dimension `i`, and how far apart what it takes
/// there lies. Measured on an H100, driver 580.159.04: dimension rank - 2 of an interleaved map has
/// one slice, whatever box and element stride say, and the element stride of dimension 0 counts.
std::uint32_t reach_along(const TensorMapSpec& map, std::uint32_t i);
std::uint32_t step_along(const TensorMapSpec& map, std::uint32_t i);

/// How many it takes along dimension `i`: those at 0, step, 2 step, ... below the reach.
std::uint32_t taken_along(const TensorMapSpec& map, std::uint32_t i);

/// Throws Error where an interleaved map is one of im2col, or the row is not held to the
/// measurement: PTX ISA 9.0, 5.5.6, and cuda.h do not say what such a copy moves.
void refuse_interleave(const TensorMapSpec& map, HeldTo held_to);

/// Throws Error where `bytes` bytes of an interleaved tile from `first` of the window on end within
/// what the swizzle exchanges, so that it moves some of them behind the end: not measured.
void refuse_part_of_swizzle(const TensorMapSpec& map, std::uint32_t first, std::uint32_t bytes);

}  // namespace tidemark::suite
