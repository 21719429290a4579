// A tile of A and a tile of B come into shared memory by TMA, wgmma reads both through matrix
// descriptors, and their product goes to device memory: does what TMA wrote mean to the tensor core
// what it meant in the tensors?
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/ops/gemm/gemm_inputs.hpp"
#include "kernels/ops/gemm/mma_element.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

inline constexpr std::uint32_t kConsumeM = 64;  // rows of every wgmma

/// How one operand is laid out, and how the descriptor says that it is.
struct ConsumedOperand {
  Major major = Major::k;
  Swizzle swizzle = Swizzle::b128;       // of the tensor map
  Swizzle read_as = Swizzle::b128;       // of the matrix descriptor
  std::uint32_t base_offset = 0;         // of the matrix descriptor, 0..7
  std::uint32_t destination_offset = 0;  // bytes behind the place on 1024 that it starts from; a
                                         // multiple of 128 below 1024
};

/// C = A B of one 64 x n x k tile: A[m][k], B[n][k]. The device
///   1. fills the source allocation (source_allocation_bytes) with source_element_word(), the
///      window with poison_byte() and the result (result_bytes) with poison_byte();
///   2. initialises an mbarrier with count 1, records test_wait(phase 0), announces the bytes of
///      both tiles with one arrive.expect_tx, issues box_count() loads for each, waits (bounded)
///      for phase 0 and records test_wait(phase 1);
///   3. unless that wait ended by its bound: sets every accumulator to kStaleAccumulator, then for
///      each of step_count() steps one wgmma m64n{n} with descriptor() of A and B, the first of
///      them without accumulating; waits for them; stores C behind the leading guard of the result,
///      packed row by row, 4 bytes an element: f32, s32 for integer types;
///   4. reads the result and the source allocation back.
/// Both tensors lie in one allocation. Of the ledger complete_before_issue, complete,
/// next_complete_early and announced are filled in. There is no timed form.
struct TileConsume {
  MmaType type = MmaType::bf16;
  std::uint32_t n = 64, k = 64;  // of the tile: 8, 16, 32, 64 or 128; whole steps and spans
  ConsumedOperand a{}, b{};
  /// Of the matrices, M, N and K; the tile starts `at` of them and may hang out on any side: what
  /// lies outside is zero.
  std::array<std::uint64_t, 3> extent{64, 64, 64};
  std::array<std::int32_t, 3> at{};
  Payload payload;
};

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(TileConsume& op) { return op.payload; }

/// What the accumulators hold before the first wgmma, which must not add to it: 1.0F.
inline constexpr std::uint32_t kStaleAccumulator = 0x3f800000;

constexpr const ConsumedOperand& operand_of(const TileConsume& op, GemmOperand which) {
  return which == GemmOperand::a ? op.a : op.b;
}

/// Whether the descriptors say of both operands what the tensor maps did. The pattern of a swizzle
/// that TMA writes belongs to the address, so that its base offset is 0 wherever the tile starts.
constexpr bool reads_as_written(const TileConsume& op) {
  const auto same = [](const ConsumedOperand& operand) {
    return operand.read_as == operand.swizzle && operand.base_offset == 0;
  };
  return same(op.a) && same(op.b);
}

/// Rows of A, or columns of B, of the tile.
constexpr std::uint32_t mn_of(const TileConsume& op, GemmOperand which) {
  return which == GemmOperand::a ? kConsumeM : op.n;
}

/// Elements of the tile along its contiguous dimension.
constexpr std::uint32_t tile_inner(const TileConsume& op, GemmOperand which) {
  return operand_of(op, which).major == Major::k ? op.k : mn_of(op, which);
}

/// Rows of tile_inner() elements that the tile has.
constexpr std::uint32_t tile_outer(const TileConsume& op, GemmOperand which) {
  return operand_of(op, which).major == Major::k ? mn_of(op, which) : op.k;
}

/// Bytes of the contiguous dimension that one box spans: the swizzle's, or 16 without, where the
/// core matrices of wgmma are 16 bytes wide.
constexpr std::uint32_t span_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 16 : swizzle_bytes(swizzle);
}

/// Boxes side by side along the contiguous dimension; each has all tile_outer() rows.
constexpr std::uint32_t box_count(const TileConsume& op, GemmOperand which) {
  return tile_inner(op, which) * element_bytes(op.type) / span_bytes(operand_of(op, which).swizzle);
}

constexpr std::uint32_t box_bytes(const TileConsume& op, GemmOperand which) {
  return span_bytes(operand_of(op, which).swizzle) * tile_outer(op, which);
}

constexpr std::uint32_t operand_bytes(const TileConsume& op, GemmOperand which) {
  return box_count(op, which) * box_bytes(op, which);
}

/// Which of extent and at the two dimensions of a tensor are: M, N, K are 0, 1, 2.
struct TensorDimensions {
  std::uint32_t inner = 2, outer = 0;
};

constexpr TensorDimensions dimensions_of(const TileConsume& op, GemmOperand which) {
  const std::uint32_t mn = which == GemmOperand::a ? 0 : 1;
  if (operand_of(op, which).major == Major::k) return {.inner = 2, .outer = mn};
  return {.inner = mn, .outer = 2};
}

/// Bytes from one row of a tensor to the next: never packed, so that the pitch matters.
constexpr std::uint64_t tensor_pitch(const TileConsume& op, GemmOperand which) {
  const std::uint64_t row = op.extent[dimensions_of(op, which).inner] * element_bytes(op.type);
  return (row + 15) / 16 * 16 + 16;
}

/// Bytes from the first to past the last row of a tensor.
constexpr std::uint64_t tensor_span(const TileConsume& op, GemmOperand which) {
  return op.extent[dimensions_of(op, which).outer] * tensor_pitch(op, which);
}

/// Where a tensor starts in the source allocation, less kGuardBytes: A first, a guard between.
/// Swizzled tensors on 128 bytes, as the stricter of two documents asks.
constexpr std::uint64_t tensor_start(const TileConsume& op, GemmOperand which) {
  if (which == GemmOperand::a) return 0;
  return (tensor_span(op, GemmOperand::a) + kGuardBytes + 127) / 128 * 128;
}

/// Bytes of the source allocation, which holds both tensors.
constexpr std::uint64_t source_allocation_bytes(const TileConsume& op) {
  const std::uint64_t end = tensor_start(op, GemmOperand::b) + tensor_span(op, GemmOperand::b);
  return kGuardBytes + (end + 15) / 16 * 16 + kGuardBytes;
}

/// Bytes from the start of the window to a tile: a guard, A, B from the next 1024 bytes on.
constexpr std::uint32_t tile_offset(const TileConsume& op, GemmOperand which) {
  const std::uint32_t a = kGuardBytes + op.a.destination_offset;
  if (which == GemmOperand::a) return a;
  return (a + operand_bytes(op, GemmOperand::a) + 1023) / 1024 * 1024 + op.b.destination_offset;
}

/// Bytes of the shared window, a guard behind B included: a descriptor that says something else
/// than the tensor map may reach so far.
constexpr std::uint32_t window_bytes(const TileConsume& op) {
  return tile_offset(op, GemmOperand::b) + operand_bytes(op, GemmOperand::b) + kGuardBytes;
}

/// Bytes of C.
constexpr std::uint32_t product_bytes(const TileConsume& op) { return kConsumeM * op.n * 4; }

/// Bytes of RunResult::bytes: guard, C, guard.
constexpr std::uint32_t result_bytes(const TileConsume& op) {
  return kGuardBytes + product_bytes(op) + kGuardBytes;
}

constexpr std::uint32_t step_count(const TileConsume& op) { return op.k / step_elements(op.type); }

/// Box `box` of an operand as the tile load that it is.
constexpr TileLoad box_load(const TileConsume& op, GemmOperand which, std::uint32_t box) {
  const ConsumedOperand& operand = operand_of(op, which);
  const TensorDimensions of = dimensions_of(op, which);
  const std::uint32_t inner = span_bytes(operand.swizzle) / element_bytes(op.type);
  TileLoad load;
  load.map.type = data_type(op.type);
  load.map.rank = 2;
  load.map.extent = {op.extent[of.inner], op.extent[of.outer]};
  load.map.stride = {tensor_pitch(op, which)};
  load.map.box = {inner, tile_outer(op, which)};
  load.map.swizzle = operand.swizzle;
  load.map.base_offset = static_cast<std::uint32_t>(tensor_start(op, which));
  load.at = {op.at[of.inner] + static_cast<std::int32_t>(box * inner), op.at[of.outer]};
  load.destination_offset = tile_offset(op, which) - kGuardBytes + box * box_bytes(op, which);
  load.payload = op.payload;
  return load;
}

/// The random bits of the element at byte `offset` of the source allocation.
constexpr std::uint32_t source_bits(const TileConsume& op, std::uint64_t offset) {
  return static_cast<std::uint32_t>(source_word(op.payload, offset / 8) >> (8 * (offset % 8)));
}

/// 32-bit word `index` of the source allocation: elements that stand for integers.
constexpr std::uint32_t source_element_word(const TileConsume& op, std::uint64_t index) {
  const std::uint32_t size = element_bytes(op.type);
  std::uint32_t word = 0;
  for (std::uint32_t byte = 0; byte < 4; byte += size)
    word |= bits_of(op.type, integer_of(op.type, source_bits(op, 4 * index + byte))) << (8 * byte);
  return word;
}

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
constexpr MatrixDescriptor descriptor(const TileConsume& op, GemmOperand which, std::uint32_t step,
                                      std::uint32_t tile) {
  const ConsumedOperand& operand = operand_of(op, which);
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
constexpr std::string_view shape_refusal(const TileConsume& op) {
  if (op.n != 8 && op.n != 16 && op.n != 32 && op.n != 64 && op.n != 128)
    return "n is none of 8, 16, 32, 64, 128";
  if (op.k == 0 || op.k % step_elements(op.type) != 0) return "k is no whole number of steps";
  for (const GemmOperand which : {GemmOperand::a, GemmOperand::b}) {
    const ConsumedOperand& operand = operand_of(op, which);
    if (operand.major == Major::mn && element_bytes(op.type) != 2)
      return "only 16-bit types can be MN-major";
    if (tile_inner(op, which) * element_bytes(op.type) % span_bytes(operand.swizzle) != 0)
      return "the tile is no whole number of swizzle spans wide";
    if (tile_outer(op, which) > 256) return "the tile has more than 256 rows";
    if (operand.base_offset > 7) return "the base offset is above 7";
    if (operand.destination_offset % 128 != 0 || operand.destination_offset >= 1024)
      return "the destination offset is no multiple of 128 below 1024";
  }
  return {};
}

}  // namespace tidemark::kernels
