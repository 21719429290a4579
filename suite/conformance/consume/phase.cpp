// Tiles that start off the 1024 bytes on which patterns repeat. TMA's pattern belongs to the
// address, so it starts on such a boundary wherever the tile does, and the base offset is 0.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (std::uint32_t phase = 0; phase < 8; ++phase) {
      TileConsume k_major = consumed(phase % 2 == 0 ? MmaType::bf16 : MmaType::s8, Major::k,
                                     Major::k, swizzle, 16, 0);
      k_major.k = k_of_spans(k_major.type, swizzle, 1);
      k_major.extent[2] = k_major.k + 37;
      TileConsume mn_major = consumed(MmaType::f16, Major::mn, Major::mn, swizzle, 64, 32);
      for (TileConsume* op : {&k_major, &mn_major}) {
        op->a.destination_offset = 128 * phase;
        op->b.destination_offset = 128 * ((phase + 3) % 8);
        rows.emplace_back(*op);
      }
    }
  return rows;
}

const Register kCase{{
    .name = "consume.phase",
    .claim = "tiles may start on any 128 bytes of shared memory: TMA and wgmma take the swizzle of "
             "the same address bits, and the base offset is 0",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.2 matrix descriptor format, base offset; 5.5.7 swizzling "
             "modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
