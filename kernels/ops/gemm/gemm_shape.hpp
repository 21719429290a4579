// The size of a matrix product.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

/// C m x n over k.
struct GemmShape {
  std::uint64_t m = 0, n = 0, k = 0;

  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

}  // namespace tidemark::kernels
