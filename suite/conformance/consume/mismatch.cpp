// Descriptors that name another swizzle than the one TMA wrote with, beside the same tiles read as
// they were written. What they lead to follows from where TMA puts a byte and where wgmma looks for
// it, as long as they do not lead out of both tiles.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

TileConsume written(MmaType type, Major major, Swizzle swizzle) {
  return consumed(type, major, major, swizzle, major == Major::k ? 32 : 64,
                  k_of_spans(type, swizzle, 1));
}

// Whether B, read like this, would lead behind itself. A leads into B there.
bool leads_behind(Major major, Swizzle swizzle, Swizzle read_as) {
  if (major == Major::k) return read_as > swizzle;
  return read_as == Swizzle::none || swizzle == Swizzle::b128;
}

// The product of tiles written with `swizzle`, one of which is read as `read_as`: A and B in turn.
TileConsume mismatched(MmaType type, Major major, Swizzle swizzle, Swizzle read_as) {
  TileConsume op = written(type, major, swizzle);
  // Without a swizzle M goes on eight rows of K further: a larger B takes all of it.
  if (major == Major::mn && read_as == Swizzle::none)
    op = consumed(type, major, major, swizzle, 128, k_of_spans(type, swizzle, 2));
  const bool turn = (static_cast<std::uint32_t>(read_as) + (major == Major::k ? 0 : 1) +
                     (type == MmaType::s8 ? 1 : 0)) %
                        2 ==
                    0;
  (turn || leads_behind(major, swizzle, read_as) ? op.a : op.b).read_as = read_as;
  return op;
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
        // Four boxes apart, M would go on behind both tiles, which have at most three.
        if (major == Major::mn && swizzle == Swizzle::b128 && read_as == Swizzle::b32) continue;
        rows.emplace_back(mismatched(type, major, swizzle, read_as));
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
    .claim = "a tile that TMA wrote with one swizzle and a descriptor reads with another gives the "
             "exact product of the elements that the descriptor leads to, which is another one",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes, 9.7.15.5.1.2.1.3 canonical layouts, "
             "9.7.15.5.1.2.2 matrix descriptor format",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
