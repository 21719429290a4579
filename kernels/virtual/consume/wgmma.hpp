// wgmma as the virtual device has it: elements found in shared memory by a matrix descriptor, read
// in their format, multiplied and summed exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"

namespace tidemark::kernels {

/// Shared address of the first byte of element (mn, k) of one step's operand. PTX ISA 9.0,
/// 9.7.15.5.1.2: in units of 16 bytes the canonical layouts are made of rows as wide as the
/// swizzle, eight of them a group; the address bits 4..6 are then exchanged with bits 7..9, counted
/// from where the base offset says that the pattern starts.
std::int64_t element_address(const MatrixDescriptor& descriptor, Major major, std::uint32_t size,
                             std::uint32_t mn, std::uint32_t k, Fault fault);

/// The number that an element's `bits` stand for; NaN and infinity included.
double value_of(MmaType type, std::uint32_t bits, Fault fault);

/// One operand of one step, packed by rows of step_elements(): element (mn, k) stands at
/// [mn * step_elements + k]. Bytes outside `shared` read as 0xee.
std::vector<double> read_operand(const SharedWindow& shared, const TileConsume& op,
                                 GemmOperand which, std::uint32_t step, std::int64_t tile,
                                 Fault fault);

/// d += A B for one step: d is 64 x n, row by row.
void multiply(const std::vector<double>& a, const std::vector<double>& b, std::uint32_t n,
              std::vector<double>& d);

/// The 32 bits in which an accumulator leaves: an f32, or the low 32 bits of the sum.
std::uint32_t accumulator_bits(MmaType type, double sum, Fault fault);

}  // namespace tidemark::kernels
