// Every operation a device can run.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/ops/gemm.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

using Op = std::variant<TileLoad, Gemm, TileConsume>;

/// One value for each alternative of Op, in its order.
enum class OpKind : std::uint8_t { tile_load, gemm, tile_consume };

/// Whether running `op` takes the steps of `kind`: those of its own and of every operation that it
/// is made of. A fault of `kind` can then show in it.
constexpr bool takes_steps_of(const Op& op, OpKind kind) {
  if (std::holds_alternative<TileConsume>(op) && kind == OpKind::tile_load) return true;
  return static_cast<OpKind>(op.index()) == kind;
}

}  // namespace tidemark
