// Numbers for the order in which the virtual device does things: the same seed, the same order.
#pragma once

#include <cstdint>

#include "kernels/ops/payload.hpp"

namespace tidemark {

/// A stream of draws; copies continue independently from the same place.
struct Draw {
  std::uint64_t state = 0;
};

/// The next number in 0..bound-1; `bound` is at least 1. The bias of the multiplication is below
/// bound / 2^32 and of no importance for an order.
inline std::uint32_t below(Draw& draw, std::uint32_t bound) {
  draw.state += 0x9e3779b97f4a7c15ULL;
  return static_cast<std::uint32_t>(((splitmix64(draw.state) >> 32) * bound) >> 32);
}

}  // namespace tidemark
