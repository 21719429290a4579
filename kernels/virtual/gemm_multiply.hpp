// The arithmetic of the virtual matrix multiplication: a blocked loop with fp32 sums in order of k.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/fault.hpp"
#include "kernels/ops/gemm.hpp"
#include "kernels/virtual/gemm_panels.hpp"

namespace tidemark {

/// C of this rank, packed row-major, in the output type. `bytes` is all of the allocation: guard,
/// block, guard.
struct GemmBlock {
  GemmOutput output = GemmOutput::f32;
  std::uint64_t rows = 0, cols = 0;
  std::span<std::uint8_t> bytes;
};

constexpr std::uint64_t output_bytes(GemmOutput output) {
  return output == GemmOutput::f32 ? 4 : 2;
}

/// Multiplies tile by tile; `fault` changes one step.
void multiply_blocked(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c, Fault fault);

/// The textbook triple loop.
void multiply_plain(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c);

}  // namespace tidemark
