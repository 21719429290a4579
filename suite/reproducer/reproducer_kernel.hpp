// The kernel of a CUDA reproducer: the steps of a program as straight code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// The kernel `reproduce`, a line a step with its comment.
std::string kernel_text(const Program& program);

/// The regions that the kernel reads, which it takes as parameters behind the maps.
std::vector<std::size_t> regions_read(const Program& program);

/// The name of a map in the kernel, as an address.
std::string map_in_code(const Program& program, std::uint8_t map);

/// Coordinates of a copy by this map. A map of another rank than 1 to 5 is refused before the first
/// step.
std::uint32_t rank_of(const TensorMapSpec& spec);

/// Whether a step reads 8 bytes of a region.
bool reads_region(const Step& step);

/// The i-th 8 bytes of memory that is filled as a region of `element` is, in code.
std::string_view source_in_code(DataType element);

}  // namespace tidemark
