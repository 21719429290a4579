// Every operation a device can run.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/ops/barrier_cycle.hpp"
#include "kernels/ops/gemm.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/ops/tile_round_trip.hpp"

namespace tidemark {

using Op = std::variant<TileLoad, Gemm, TileRoundTrip, BarrierCycle>;

/// One value for each alternative of Op, in its order.
enum class OpKind : std::uint8_t { tile_load, gemm, tile_round_trip, barrier_cycle };

/// Whether running `op` takes the steps of `kind`: those of its own and of every operation that it
/// is made of. A fault of `kind` can then show in it.
constexpr bool takes_steps_of(const Op& op, OpKind kind) {
  if (static_cast<OpKind>(op.index()) == kind) return true;
  const bool made_of_loads =
      std::holds_alternative<TileRoundTrip>(op) || std::holds_alternative<BarrierCycle>(op);
  return kind == OpKind::tile_load && made_of_loads;
}

}  // namespace tidemark
