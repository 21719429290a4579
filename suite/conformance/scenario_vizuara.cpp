// The claims of the Vizuara article; suite/articles.md lists them.
#include "kernels/ops/barriers.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// The article's loop: a barrier of all 256 threads, initialised once; each step the leader issues
// the copy and then announces its bytes, and all others arrive.
std::vector<Op> handshake_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const bool copy_first : {true, false})
    for (const std::uint32_t count : {256U, 128U, 32U, 2U, 1U})
      for (const std::uint32_t steps : {1U, 3U}) {
        const bool whole = context.level != Level::quick;
        const std::uint32_t height = whole ? 128 : 16;
        BarrierCycle cycle{
            .map = map_of(DataType::bf16, {192, height}, {64, height}, Swizzle::b128),
            .payload = {}};
        cycle.step = {64};  // along K
        cycle.lives[0] = {.count = count, .phases = steps};
        cycle.copy_first = copy_first;
        rows.emplace_back(cycle);
      }
  return rows;
}

const Register kHandshake{{
    .name = "scenario.vizuara.handshake",
    .claim = "a barrier initialised with the number of threads opens each step only when all have "
             "arrived and all announced bytes have landed, the copy issued before the announcement "
             "or behind it",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; Vizuara Kernel Engineering, the mbarrier "
             "handshake",
    .rows = handshake_rows,
}};

// The tile of step `k` in block row `block` of a row-major A with 256 rows of 192.
TileLoad operand_tile(std::int32_t k, std::int32_t block, std::uint32_t rows, std::uint32_t inner,
                      Swizzle swizzle) {
  TileLoad load =
      tile(DataType::bf16, {192, 256}, {inner, rows},
           {k * static_cast<std::int32_t>(inner), block * static_cast<std::int32_t>(rows)});
  load.map.swizzle = swizzle;
  load.map.l2_promotion = L2Promotion::b128;
  return load;
}

// The article's operand tile: 128 rows of 64 bf16 with the 128-byte swizzle, 16384 bytes.
std::vector<Op> tile_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::int32_t block = 0; block < 2; ++block)
    for (std::int32_t k = 0; k < 3; ++k)
      if (context.level != Level::quick || k != 1)
        rows.emplace_back(operand_tile(k, block, 128, 64, Swizzle::b128));
  // The smaller tile of the kernel with BM = BN = 64 and BK = 16.
  rows.emplace_back(operand_tile(2, 1, 64, 16, Swizzle::b32));
  rows.emplace_back(operand_tile(11, 3, 64, 16, Swizzle::none));
  return rows;
}

const Register kTile{{
    .name = "scenario.vizuara.tile",
    .claim =
        "a 128 x 64 tile of bf16 announces and is credited with exactly 16384 bytes and lies in "
        "shared memory as the 128-byte swizzle has it",
    .cites = "PTX ISA 9.0, 5.5.7 and 9.7.13.15.5; Vizuara Kernel Engineering, Hopper's TMA: async "
             "bulk copy",
    .rows = tile_rows,
}};

}  // namespace
}  // namespace tidemark
