// Builds loads with prefetches around them, which nobody is to notice.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

using BoxAt = std::array<std::int32_t, kMaxRank>;

/// The load, with `boxes` of its tensor prefetched before it, and its own while it is in flight.
Program prefetched(const TileLoad& load, const std::vector<BoxAt>& boxes);

/// The box is prefetched, stored over, and loaded.
Program restored(const TileLoad& load);

}  // namespace tidemark::suite
