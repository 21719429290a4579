// Draws programs: copies, stores, barriers and accesses by threads that meet in any order that the
// documents define.
#pragma once

#include <cstdint>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// A program of 1 to 4 CTAs that the oracle can predict; a function of `seed` alone. It loads boxes
/// of one tensor, stores boxes of another one, and changes its window by threads in between; phases
/// overlap, barriers are given up and initialized again, CTAs multicast and arrive for each other.
Program random_program(std::uint64_t seed);

}  // namespace tidemark
