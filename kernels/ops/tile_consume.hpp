// A tile of A and a tile of B come into shared memory by TMA, wgmma reads both through matrix
// descriptors, and their product is stored: does what TMA wrote mean to the tensor core what it
// meant in the tensors?
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/program/wgmma.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

/// C = A B of one 64 x n x k tile: both tensors lie in one region of integers_in(type).
struct TileConsume {
  MmaType type = MmaType::bf16;
  std::uint32_t n = 64, k = 64;
  // Their offsets count from the place on 1024 that wgmma_of() finds: multiples of 128 below 1024.
  WgmmaOperand a{}, b{};
  /// Of the matrices, M, N and K; the tile starts `at` of them and may hang out on any side: what
  /// lies outside is zero.
  std::array<std::uint64_t, 3> extent{64, 64, 64};
  std::array<std::int32_t, 3> at{};
  Payload payload;
};

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(TileConsume& op) { return op.payload; }

/// The product of its window: a guard, A, B from the next 1024 bytes on, a guard, C, a guard. What
/// a descriptor says differently from the tensor map may so reach a guard.
constexpr Wgmma wgmma_of(const TileConsume& op) {
  Wgmma product{.type = op.type, .n = op.n, .k = op.k, .a = op.a, .b = op.b};
  product.a.offset += kGuardBytes;
  const std::uint32_t a_end = product.a.offset + operand_bytes(product, GemmOperand::a);
  product.b.offset += (a_end + 1023) / 1024 * 1024;
  return product;
}

/// Where C lies in the window.
constexpr std::uint32_t product_offset(const Wgmma& product) {
  return product.b.offset + operand_bytes(product, GemmOperand::b) + kGuardBytes;
}

/// Box `box` of an operand as the tile load that it is.
TileLoad box_load(const TileConsume& op, GemmOperand which, std::uint32_t box);

/// Loads all boxes on one barrier, multiplies, and shows the window.
Program program_of(const TileConsume& op);

}  // namespace tidemark
