// A base offset says that the swizzle pattern starts off its boundary. The pattern that TMA writes
// never does, so every base offset but 0 reads something else.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  struct Kind {
    MmaType type;
    Major major;
  };
  constexpr Kind kKinds[] = {{MmaType::bf16, Major::k}, {MmaType::f16, Major::mn}};
  std::vector<Op> rows;
  for (const auto& [type, major] : kKinds)
    for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const TileConsume right = consumed(type, major, major, swizzle, major == Major::k ? 16 : 64,
                                         k_of_spans(type, swizzle, 1));
      rows.emplace_back(right);
      for (std::uint32_t offset = 1; offset < 8; ++offset) {
        if (offset % (swizzle_bytes(swizzle) / 16) == 0) continue;  // where a pattern starts anyway
        TileConsume op = right;
        (offset % 2 == 0 ? op.a : op.b).base_offset = offset;
        rows.emplace_back(op);
      }
    }
  return rows;
}

const Register kCase{{
    .name = "consume.base_offset",
    .claim = "the swizzle pattern of a descriptor starts its base offset, in rows of 128 bytes, "
             "behind the boundary where TMA starts it: the product is that of the elements found "
             "so, and another one",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.2 matrix descriptor format: base offset = (pattern start "
             "address >> 7) & 7; measured on an H200, driver 580.159.04, 2026-11, where the "
             "pattern starts off its boundary",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
