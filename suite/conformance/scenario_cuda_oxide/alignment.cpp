// Every destination on 128 bytes is a legal one.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128})
    for (std::uint32_t offset = 0; offset <= 2048; offset += 128) {
      TileLoad load = tile(DataType::f32, {96, 20}, {32, 11}, {32, 3});
      load.map.swizzle = swizzle;
      load.destination_offset = offset;
      rows.emplace_back(load);
    }
  return rows;
}

const Register kCase{{
    .name = "scenario.cuda_oxide.alignment",
    .claim =
        "a destination in shared memory at any multiple of 128 bytes receives the box exactly, "
        "and nothing beside it changes",
    .cites = "CUDA C++ Programming Guide, 10.29.2 alignment of shared memory; cuda-oxide book, "
             "Alignment requirements",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
