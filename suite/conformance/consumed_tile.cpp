// The builders of consumed tiles.
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark {
namespace {

// Draws from one seed.
struct ConsumeDraws {
  std::uint64_t state = 0;
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(splitmix64(state++) % bound);
  }
};

WgmmaOperand random_operand(MmaType type, ConsumeDraws& draws) {
  WgmmaOperand operand;
  if (element_bytes(type) == 2 && draws.below(2) == 0) operand.major = Major::mn;
  operand.swizzle = kEverySwizzle[draws.below(4)];
  operand.read_as = operand.swizzle;
  operand.offset = 128 * draws.below(8);
  return operand;
}

// A place for the tile anywhere between hanging out below and hanging out above, inner coordinates
// on 16 bytes.
void place_at_random(TileConsume& op, ConsumeDraws& draws) {
  const std::array<std::uint32_t, 3> size{kWgmmaM, op.n, op.k};
  const auto on_16_bytes = static_cast<std::int32_t>(16 / element_bytes(op.type));
  for (std::size_t i = 0; i < 3; ++i) {
    op.extent[i] = size[i] / 2 + draws.below(size[i]);
    const auto reach = static_cast<std::uint32_t>(op.extent[i]) + size[i] / 2;
    const auto from_below = static_cast<std::int32_t>(draws.below(reach));
    op.at[i] = (from_below - static_cast<std::int32_t>(size[i] / 2)) / on_16_bytes * on_16_bytes;
  }
}

}  // namespace

TileConsume consumed(MmaType type, Major a, Major b, Swizzle swizzle, std::uint32_t n,
                     std::uint32_t k) {
  const auto inner = static_cast<std::int32_t>(16 / element_bytes(type));
  return {.type = type,
          .n = n,
          .k = k,
          .a = {.major = a, .swizzle = swizzle, .read_as = swizzle},
          .b = {.major = b, .swizzle = swizzle, .read_as = swizzle},
          .extent = {kWgmmaM + 21, n + 27, k + 37},
          .at = {a == Major::k ? 5 : inner, b == Major::k ? 3 : 2 * inner, inner},
          .payload = {}};
}

TileConsume random_consumed(std::uint64_t seed) {
  ConsumeDraws draws{seed};
  TileConsume op;
  op.type = kEveryMmaType[draws.below(kMmaTypes)];
  op.a = random_operand(op.type, draws);
  op.b = random_operand(op.type, draws);
  op.n = kEveryN[draws.below(5)];
  while (op.b.major == Major::mn && op.n < n_of_span(op.b.swizzle)) op.n *= 2;
  // Whole spans of both operands: those of one are whole in the other's, or the other way round.
  const std::uint32_t a = op.a.major == Major::k ? k_of_spans(op.type, op.a.swizzle, 1) : 16;
  const std::uint32_t b = op.b.major == Major::k ? k_of_spans(op.type, op.b.swizzle, 1) : 16;
  const std::uint32_t whole = a > b ? a : b;
  op.k = whole * (1 + draws.below(2));
  place_at_random(op, draws);
  return op;
}

}  // namespace tidemark
