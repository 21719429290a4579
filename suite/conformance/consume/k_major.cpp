// Both operands K-major, in every type and swizzle.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::uint32_t turn = 0;
  for (const Swizzle swizzle : kEverySwizzle)
    for (const MmaType type : kEveryMmaType)
      for (std::uint32_t i = 0; i < kEveryN.size(); ++i, ++turn)
        for (const std::uint32_t spans : {1U, 2U, 4U}) {
          // Quick runs take one width in two, in turn, with one depth; nightly ones all.
          if (context.level == Level::quick && (turn % 2 == 1 || spans != 1 + i % 2)) continue;
          rows.emplace_back(consumed(type, Major::k, Major::k, swizzle, kEveryN[i],
                                     k_of_spans(type, swizzle, spans)));
        }
  return rows;
}

const Register kCase{{
    .name = "consume.k_major",
    .claim = "wgmma makes the exact product of K-major tiles that TMA has written with the swizzle "
             "that the descriptors name, in every type",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2 shared memory matrix layout, 9.7.15.5.2 wgmma.mma_async, "
             "5.5.7 swizzling modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
