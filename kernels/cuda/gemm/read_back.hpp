// Brings C from the GPU to the host as fast as one core writes memory. A vector that is resized and
// then copied into costs six times as much: its pages are mapped one by one, zeroed, and filled by
// way of the driver's own staging memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/gemm/resident_gemm.hpp"
#include "kernels/device.hpp"

namespace tidemark {

/// Appends `rows` rows of `row_bytes` to `to`, which has the capacity for them, by way of two
/// `halves` of one size that hold a row or more: start(half, first, count) starts to copy rows into
/// the beginning of a half, wait(half) returns when they are there. One half is filled while the
/// other is emptied.
template <class Start, class Wait>
void append_rows(std::uint64_t rows, std::uint64_t row_bytes,
                 const std::array<std::span<const std::byte>, 2>& halves, const Start& start,
                 const Wait& wait, std::vector<std::uint8_t>& to) {
  const std::uint64_t step = halves[0].size() / row_bytes;
  const auto count_at = [&](std::uint64_t first) { return std::min(step, rows - first); };
  if (rows != 0) start(std::size_t{0}, std::uint64_t{0}, count_at(0));
  std::size_t half = 0;
  for (std::uint64_t first = 0; first < rows; first += step, half ^= 1U) {
    const std::uint64_t next = first + step;
    if (next < rows) start(half ^ 1U, next, count_at(next));
    wait(half);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(halves[half].data());
    to.insert(to.end(), bytes, bytes + count_at(first) * row_bytes);
  }
}

/// C without its padding into result.bytes; both guards, and the padding, into surroundings, as
/// RunResult has them. The block's kernels are done. Throws Error where the machine fails.
void read_back(const Gemm& gemm, const ResidentGemm& block, RunResult& result);

}  // namespace tidemark
