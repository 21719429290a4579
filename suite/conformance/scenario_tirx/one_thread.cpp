// Whichever thread of a block issues, the whole tile moves and all threads find it.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t issuer : {0U, 1U, 31U, 32U, 63U, 64U, 95U, 127U}) {
    const TensorMapSpec operand =
        map_of(DataType::bf16, {128, 24}, {64, 16}, Swizzle::b128);  // an operand tile of a GEMM
    TileRoundTrip moved = there_and_back(operand, operand);
    moved.issuer = issuer;
    rows.emplace_back(moved);
    TileRoundTrip added = in_place(map_of(DataType::u32, {32, 20}, {16, 8}, Swizzle::b64));
    added.work = TileWork::add_index;
    added.issuer = issuer;
    added.ctas = 2;
    rows.emplace_back(added);
  }
  return rows;
}

const Register kCase{{
    .name = "scenario.tirx.one_thread",
    .claim =
        "one thread of the block, any of them, issues the loads and stores of whole tiles, and "
        "every thread finds the tile behind its own wait",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 and 9.7.13.15.16; TIRx book, Async Data Movement: TMA",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
