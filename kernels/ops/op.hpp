// Every operation a device can run.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/ops/barriers.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/peer_tile.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/stress.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {

using Op = std::variant<TileLoad, Gemm, TileStore, MulticastLoad, ExpectTx, TileConsume,
                        TileRoundTrip, BarrierCycle, TileRead, PeerTile, Stress, Program>;

/// One value for each alternative of Op, in its order.
enum class OpKind : std::uint8_t {
  tile_load,
  gemm,
  tile_store,
  multicast_load,
  expect_tx,
  tile_consume,
  tile_round_trip,
  barrier_cycle,
  tile_read,
  peer_tile,
  stress,
  program,  // of a fault: whatever is carried out as a program
};

/// Whether program_of() makes a program of it.
constexpr bool is_program(const Op& op) {
  return std::visit(
      [](const auto& which) {
        return requires { program_of(which); };
      },
      op);
}

/// Whether running `op` takes the steps of `kind`: those of its own and of every operation that it
/// is made of. A fault of `kind` can then show in it.
constexpr bool takes_steps_of(const Op& op, OpKind kind) {
  if (kind == OpKind::program) return is_program(op);
  if (static_cast<OpKind>(op.index()) == kind) return true;
  if (const auto* peer = std::get_if<PeerTile>(&op))
    return kind == (peer->way == PeerWay::load ? OpKind::tile_load : OpKind::tile_store);
  return kind == OpKind::tile_load && !std::holds_alternative<Gemm>(op) &&
         !std::holds_alternative<Stress>(op) && !std::holds_alternative<TileStore>(op);
}

}  // namespace tidemark
