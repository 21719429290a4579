// Builds copies between neighbours from the layouts of tile loads.
#pragma once

#include <vector>

#include "kernels/ops/op.hpp"
#include "suite/case.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Copies of each type size, rank and swizzle, at the far end of tensors, over it, and anywhere,
/// each with both payloads; more of them at the higher levels. For all ranks the same but for who
/// they are.
std::vector<Op> peer_rows(const RunContext& context, PeerWay way);

}  // namespace tidemark::suite
