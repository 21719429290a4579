// Every operation a device can run.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/ops/barriers.hpp"
#include "kernels/ops/driver_facts.hpp"
#include "kernels/ops/encode.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/peer_tile.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/stress.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {

using Op =
    std::variant<TileLoad, Gemm, TileStore, MulticastLoad, ExpectTx, TileConsume, TileRoundTrip,
                 BarrierCycle, TileRead, PeerTile, Stress, Encode, DriverFacts, Program>;

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
  encode,
  driver_facts,
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

}  // namespace tidemark
