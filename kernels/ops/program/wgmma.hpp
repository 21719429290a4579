// One product by wgmma: where its two tiles lie in a window, how they were written there, and what
// the instruction is told of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/ops/gemm/gemm_inputs.hpp"
#include "kernels/ops/gemm/mma_element.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

inline constexpr std::uint32_t kWgmmaM = 64;         // rows of every wgmma
inline constexpr std::uint32_t kWgmmaThreads = 128;  // a warpgroup

/// How one operand is laid out, and how the descriptor says that it is.
struct WgmmaOperand {
  Major major = Major::k;
  Swizzle swizzle = Swizzle::b128;  // of the tensor map that wrote it
  Swizzle read_as = Swizzle::b128;  // of the matrix descriptor
  std::uint32_t base_offset = 0;    // of the matrix descriptor, 0..7
  std::uint32_t offset = 0;         // bytes from the start of the window; a multiple of 128

  friend bool operator==(const WgmmaOperand&, const WgmmaOperand&) = default;
};

/// C = A B of one 64 x n x k tile: A[m][k], B[n][k]. Each operand lies in the window as box_count()
/// boxes, one behind the other, each one swizzle span wide and all its rows high.
struct Wgmma {
  MmaType type = MmaType::bf16;
  std::uint32_t n = 64, k = 64;  // of the tile: 8, 16, 32, 64 or 128; whole steps and spans
  WgmmaOperand a{}, b{};

  friend bool operator==(const Wgmma&, const Wgmma&) = default;
};

/// What the accumulators hold before the first wgmma, which must not add to it: 1.0F.
inline constexpr std::uint32_t kStaleAccumulator = 0x3f800000;

constexpr const WgmmaOperand& operand_of(const Wgmma& op, GemmOperand which) {
  return which == GemmOperand::a ? op.a : op.b;
}

/// Whether the descriptors say of both operands what the tensor maps did. The pattern of a swizzle
/// that TMA writes belongs to the address, so that its base offset is 0 wherever the tile starts.
constexpr bool reads_as_written(const Wgmma& op) {
  const auto same = [](const WgmmaOperand& operand) {
    return operand.read_as == operand.swizzle && operand.base_offset == 0;
  };
  return same(op.a) && same(op.b);
}

/// Rows of A, or columns of B, of the tile.
constexpr std::uint32_t mn_of(const Wgmma& op, GemmOperand which) {
  return which == GemmOperand::a ? kWgmmaM : op.n;
}

/// Elements of the tile along its contiguous dimension.
constexpr std::uint32_t tile_inner(const Wgmma& op, GemmOperand which) {
  return operand_of(op, which).major == Major::k ? op.k : mn_of(op, which);
}

/// Rows of tile_inner() elements that the tile has.
constexpr std::uint32_t tile_outer(const Wgmma& op, GemmOperand which) {
  return operand_of(op, which).major == Major::k ? mn_of(op, which) : op.k;
}

/// Bytes of the contiguous dimension that one box spans: the swizzle's, or 16 without, where the
/// core matrices of wgmma are 16 bytes wide.
constexpr std::uint32_t span_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 16 : swizzle_bytes(swizzle);
}

/// Boxes side by side along the contiguous dimension; each has all tile_outer() rows.
constexpr std::uint32_t box_count(const Wgmma& op, GemmOperand which) {
  return tile_inner(op, which) * element_bytes(op.type) / span_bytes(operand_of(op, which).swizzle);
}

constexpr std::uint32_t box_bytes(const Wgmma& op, GemmOperand which) {
  return span_bytes(operand_of(op, which).swizzle) * tile_outer(op, which);
}

constexpr std::uint32_t operand_bytes(const Wgmma& op, GemmOperand which) {
  return box_count(op, which) * box_bytes(op, which);
}

/// Bytes of C.
constexpr std::uint32_t product_bytes(const Wgmma& op) { return kWgmmaM * op.n * 4; }

constexpr std::uint32_t step_count(const Wgmma& op) { return op.k / step_elements(op.type); }

/// What wgmma is told of an operand. PTX ISA 9.0, 9.7.15.5.1.2.2.
struct MatrixDescriptor {
  std::uint32_t start = 0;    // shared address
  std::uint32_t leading = 0;  // leading dimension byte offset
  std::uint32_t stride = 0;   // stride dimension byte offset
  std::uint32_t base_offset = 0;
  Swizzle swizzle = Swizzle::none;
};

/// The descriptor of an operand for step `step`, its tile being at shared address `tile`: strides
/// as the boxes lie, swizzle and base offset as the case says. PTX ISA 9.0, 9.7.15.5.1.2.1:
/// - K-major, no swizzle: leading is from one 16-byte column to the next, here a box; stride from 8
///   rows to the next 8. Swizzled: leading is not used ("assumed to be 1", 16 bytes encoded).
/// - MN-major, no swizzle: leading is from 8 indices of K to the next 8, stride from 16 bytes of MN
///   to the next, here a box. Swizzled: leading is from one span of MN to the next, here a box;
///   stride from 8 indices of K to the next 8.
/// A step starts 32 bytes of K further on: inside a span the start address moves by these, and the
/// swizzle, which is one of address bits, still holds.
constexpr MatrixDescriptor descriptor(const Wgmma& op, GemmOperand which, std::uint32_t step,
                                      std::uint32_t tile) {
  const WgmmaOperand& operand = operand_of(op, which);
  const std::uint32_t span = span_bytes(operand.swizzle);
  const std::uint32_t box = box_bytes(op, which);
  const std::uint32_t at_k = step * kStepBytes;  // bytes of K, along a row if K-major
  const bool plain = operand.swizzle == Swizzle::none;
  MatrixDescriptor d{.base_offset = operand.base_offset, .swizzle = operand.read_as};
  if (operand.major == Major::k) {
    d.start = tile + at_k / span * box + at_k % span;
    d.leading = plain ? box : 16;
    d.stride = 8 * span;
  } else {
    d.start = tile + step * step_elements(op.type) * span;
    d.leading = plain ? 8 * span : box;
    d.stride = plain ? box : 8 * span;
  }
  return d;
}

/// Why no device can run `op`, or nothing.
constexpr std::string_view shape_refusal(const Wgmma& op) {
  if (op.type > MmaType::u8) return "its type is unknown";
  if (op.n != 8 && op.n != 16 && op.n != 32 && op.n != 64 && op.n != 128)
    return "n is none of 8, 16, 32, 64, 128";
  if (op.k == 0 || op.k > 1024 || op.k % step_elements(op.type) != 0)
    return "k is no whole number of steps up to 1024";
  for (const GemmOperand which : {GemmOperand::a, GemmOperand::b}) {
    const WgmmaOperand& operand = operand_of(op, which);
    if (operand.major > Major::mn || operand.swizzle > Swizzle::b128 ||
        operand.read_as > Swizzle::b128)
      return "an operand's major-ness or swizzle is unknown";
    if (operand.major == Major::mn && element_bytes(op.type) != 2)
      return "only 16-bit types can be MN-major";
    if (tile_inner(op, which) * element_bytes(op.type) % span_bytes(operand.swizzle) != 0)
      return "the tile is no whole number of swizzle spans wide";
    if (tile_outer(op, which) > 256) return "the tile has more than 256 rows";
    if (operand.base_offset > 7) return "the base offset is above 7";
    if (operand.offset % 128 != 0) return "a tile starts off 128 bytes";
  }
  return {};
}

}  // namespace tidemark
