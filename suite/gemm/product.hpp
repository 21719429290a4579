// A distributed product of sizes that a user gives: what it takes of memory and time.
#pragma once

#include <cstdint>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

/// Ranks in row-major order: rank r stands in grid row r / cols, grid column r % cols.
struct Grid {
  std::uint32_t rows = 1, cols = 1;

  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Largest m, n and k of a product that a user gives.
inline constexpr std::uint64_t kMostProductSize = std::uint64_t{1} << 20;

/// What a user gives in place of usual sizes and of the planned grid.
struct ProductOptions {
  GemmShape shape = {};                // m, n and k are all 0: the usual sizes
  Grid grid = {.rows = 0, .cols = 0};  // no rows: plan_grid()

  bool has_shape() const { return shape.n != 0; }
  bool has_grid() const { return grid.rows != 0; }

  friend bool operator==(const ProductOptions&, const ProductOptions&) = default;
};

/// Bytes that one rank needs for a product in bf16, verification included.
struct ProductMemory {
  /// Both panels, and C; in fp32, as the reference engine computes it behind the timed product.
  std::uint64_t device = 0;
  std::uint64_t host = 0;  // C of the product and of the reference engine
};

/// Of rank `rank` of `ranks`. Throws Error when `rank` is not below `ranks`.
ProductMemory memory_of(const ProductOptions& product, std::uint32_t rank, std::uint32_t ranks);

/// As many samples of a product over `ranks` ranks as a benchmark takes in half a minute, at most
/// those of Timing, at least 20; a fifth as many warm-ups more. The same on all ranks.
Timing timing_of(const GemmShape& shape, std::uint32_t ranks, DeviceKind device);

/// Seconds without a sign of life after which a rank that times or verifies such a product is
/// given up: tenfold what a slow device of this kind needs.
double patience_s(const GemmShape& shape, std::uint32_t ranks, DeviceKind device);

}  // namespace tidemark
