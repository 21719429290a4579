// Builds programs of sends between the windows of a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

struct Send {
  std::uint8_t from = 0, to = 0;  // CTAs
  std::uint32_t offset = 0;       // in the window of `from`
  std::uint32_t at = 0;           // in the window of `to`
  std::uint32_t bytes = 0;        // a multiple of 16
  std::uint16_t thread = 0;       // of `from`
};

/// In the first of two rounds the sources are filled, in the second they are what the first
/// brought. Each round has a barrier in each CTA, which waits there for all that comes.
struct SendRounds {
  std::uint32_t ctas = 2;
  std::uint32_t window = 0;
  std::vector<Send> first, second{};
};

Program program_of(const SendRounds& rounds);

/// Each of `ctas` CTAs sends the same `bytes` to each, itself too.
SendRounds every_pair(std::uint32_t ctas, std::uint32_t bytes);

/// Up to eight sends of up to 1 KiB each in a cluster of 1, 2, 4 or 8, some of which are sent on; a
/// function of `seed` alone.
SendRounds random_sends(std::uint64_t seed);

}  // namespace tidemark::suite
