// Descriptors that name another swizzle than the one TMA wrote with, beside the same tiles read as
// they were written: a suite whose products came out right either way would prove nothing.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

TileConsume written(MmaType type, Major major, Swizzle swizzle) {
  return consumed(type, major, major, swizzle, major == Major::k ? 32 : 64,
                  k_of_spans(type, swizzle, 1));
}

std::vector<Op> rows(const RunContext&) {
  struct Kind {
    MmaType type;
    Major major;
  };
  constexpr Kind kKinds[] = {
      {MmaType::bf16, Major::k}, {MmaType::s8, Major::k}, {MmaType::f16, Major::mn}};
  std::vector<Op> rows;
  for (const auto& [type, major] : kKinds)
    for (const Swizzle swizzle : kEverySwizzle) {
      rows.emplace_back(written(type, major, swizzle));
      for (const Swizzle read_as : kEverySwizzle) {
        if (read_as == swizzle) continue;
        TileConsume op = written(type, major, swizzle);
        // A and B in turn; each pair is met by both over the three kinds.
        const bool of_a = (static_cast<std::uint32_t>(read_as) + (major == Major::k ? 0 : 1) +
                           (type == MmaType::s8 ? 1 : 0)) %
                              2 ==
                          0;
        (of_a ? op.a : op.b).read_as = read_as;
        rows.emplace_back(op);
      }
    }
  for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    TileConsume op = written(MmaType::bf16, Major::k, swizzle);
    op.a.base_offset = 1;
    rows.emplace_back(op);
  }
  return rows;
}

const Register kCase{{
    .name = "consume.mismatch",
    .claim = "a tile that TMA wrote with one swizzle and a descriptor reads with another does not "
             "give the product",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.1.3 canonical layouts, 9.7.15.5.1.2.2 matrix descriptor "
             "format",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
