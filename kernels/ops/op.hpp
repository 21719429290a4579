// Every operation a device can run.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/ops/expect_tx.hpp"
#include "kernels/ops/gemm.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

using Op = std::variant<TileLoad, Gemm, ExpectTx>;

/// One value for each alternative of Op, in its order.
enum class OpKind : std::uint8_t { tile_load, gemm, expect_tx };

/// Whether running `op` takes the steps of `kind`: those of its own and of every operation that it
/// is made of. A fault of `kind` can then show in it.
constexpr bool takes_steps_of(const Op& op, OpKind kind) {
  if (kind == OpKind::tile_load && std::holds_alternative<ExpectTx>(op)) return true;
  return static_cast<OpKind>(op.index()) == kind;
}

}  // namespace tidemark
