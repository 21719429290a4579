// Tiles that hang out of their matrices along M, N and K: what lies outside multiplies as zero.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kBelow = 1, kAbove = 2;

// Lets the tile hang out along dimension `i`: below by about a third, above by an odd number.
void hang_out(TileConsume& op, std::uint32_t i, std::uint32_t side) {
  const std::uint32_t size[] = {kConsumeM, op.n, op.k};
  const auto on_16_bytes = static_cast<std::int32_t>(16 / element_bytes(op.type));
  if (side == kBelow) op.at[i] = -on_16_bytes;
  if (side == kAbove)
    op.extent[i] = static_cast<std::uint64_t>(op.at[i]) + size[i] - (size[i] > 16 ? 5 : 3);
}

std::vector<Op> rows(const RunContext& context) {
  // One digit a dimension, M, N and K: on which side the tile hangs out.
  constexpr std::uint32_t kSides[][3] = {{0, 0, kAbove},           {0, 0, kBelow},
                                         {kAbove, 0, 0},           {0, kBelow, 0},
                                         {kBelow, kAbove, kBelow}, {kAbove, kAbove, kAbove}};
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (const auto& sides : kSides)
      for (const MmaType type : kEveryMmaType) {
        // Quick runs take two types K-major and one MN-major, nightly ones all.
        const bool quick = type == MmaType::bf16 || type == MmaType::s8;
        if (context.level == Level::quick && !quick) continue;
        for (const Major major : {Major::k, Major::mn}) {
          if (major == Major::mn && element_bytes(type) != 2) continue;
          TileConsume op = consumed(type, major, major, swizzle, major == Major::k ? 32 : 64,
                                    k_of_spans(type, swizzle, 1));
          for (std::uint32_t i = 0; i < 3; ++i) hang_out(op, i, sides[i]);
          rows.emplace_back(op);
        }
      }
  return rows;
}

const Register kCase{{
    .name = "consume.outside",
    .claim = "the product of tiles that hang out of their matrices is that of the matrices as far "
             "as they go",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access, 9.7.15.5.2 wgmma.mma_async",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
