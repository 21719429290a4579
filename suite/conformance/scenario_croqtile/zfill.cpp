// Operands of a GEMM whose M, N and K are no multiples of the tile: the last tiles are filled with
// zeros, and C is cut where it ends.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

// The ragged operand into a tensor of whole tiles, which then shows the zeros.
TileRoundTrip padded(const TensorMapSpec& ragged) {
  TensorMapSpec whole = ragged;
  const TileWalk walk = cover(ragged);
  for (std::uint32_t i = 0; i < ragged.rank; ++i)
    whole.extent[i] = std::uint64_t{walk.tiles[i]} * ragged.box[i];
  whole.stride[0] = whole.extent[0] * element_bytes(whole.type) + 48;
  return there_and_back(ragged, whole);
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::b64, Swizzle::b128})
    for (const std::uint64_t rows_left : {1U, 5U, 15U})
      for (const std::uint64_t columns_left : {1U, 7U, 8U, 31U}) {
        const std::uint32_t inner = swizzle_bytes(swizzle) / 2;
        const TensorMapSpec ragged =
            map_of(DataType::f16, {inner + columns_left, 16 + rows_left}, {inner, 16}, swizzle);
        TileRoundTrip operand = padded(ragged);
        rows.emplace_back(operand);
        if (columns_left == 7) {
          operand.work = TileWork::thread_copy;
          rows.emplace_back(operand);
        }
        if (columns_left != 8) continue;
        // Rows that end on 16 bytes: a store is cut exactly there, too.
        TileRoundTrip cut = there_and_back(ragged, ragged);
        cut.ctas = 2;
        rows.emplace_back(cut);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.croqtile.zfill",
    .claim = "the part of a last tile that lies beyond M, N or K arrives as zeros, whatever memory "
             "holds there, and a store of such a tile stops where the tensor does",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; Croqtile manual, Zero-padding: .zfill",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
