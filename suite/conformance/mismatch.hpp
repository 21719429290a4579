// Builds mismatched announcements in few words, so that a case file shows only what is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/barriers.hpp"

namespace tidemark {

/// Boxes that credit in different ways, 256 bytes to 8 KiB: rank 1 to 3, swizzled, over an edge of
/// the tensor and wholly outside it, where fill is credited, too.
std::vector<TileLoad> mismatch_boxes();

/// `load` with `announced` bytes announced once, together with the arrival, before the issue.
ExpectTx announce(const TileLoad& load, std::uint32_t announced);

/// The same with all its bytes announced.
ExpectTx announce_exactly(const TileLoad& load);

}  // namespace tidemark
