// Every number of steps along K: inside a swizzle span the start address moves by 32 bytes, between
// spans by a box.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  const std::uint32_t most = context.level == Level::quick ? 8 : 16;
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (std::uint32_t steps = 1; steps <= most; ++steps) {
      const MmaType type = kEveryMmaType[steps % kMmaTypes];
      const std::uint32_t n = kEveryN[steps % 3];
      const std::uint32_t k = steps * step_elements(type);
      if (k % k_of_spans(type, swizzle, 1) == 0)
        rows.emplace_back(consumed(type, Major::k, Major::k, swizzle, n, k));
      // B without a swizzle: its steps are of another size than those of A.
      TileConsume mixed = consumed(MmaType::bf16, Major::mn, Major::k, swizzle, 16, 16 * steps);
      mixed.b.swizzle = mixed.b.read_as = Swizzle::none;
      rows.emplace_back(mixed);
    }
  return rows;
}

const Register kCase{{
    .name = "consume.k_steps",
    .claim = "a descriptor whose start address is moved on by 32 bytes of K reads the next step of "
             "the tile, inside a swizzle span and from one span to the next",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.2 matrix descriptor format and 9.7.15.5.1.2.1.3 canonical "
             "layouts",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
