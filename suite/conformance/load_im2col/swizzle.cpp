// Pixels as rows of every swizzle, from every phase of it.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : kSwizzles)
      for (std::uint32_t phase = 0; phase < 8; ++phase) {
        const std::uint32_t channels = elements_in(swizzle_bytes(swizzle), type);
        TileLoad load = with_corners(
            im2col_load(type, {2 * channels - 1, 7, 5, 2}, channels, 9 + 5 * phase), -1, -1);
        load.at[0] = phase % 2 == 0 ? 0 : static_cast<std::int32_t>(channels);
        load.map.swizzle = swizzle;
        load.destination_offset = 128 * phase;
        rows.emplace_back(with_offset(load, phase % 3));
      }
  return rows;
}

const Register kCase{{
    .name = "load.im2col.swizzle",
    .claim = "pixels lie behind each other as the rows of a box do, under every swizzle and from "
             "every phase of it; channels behind the last are filled",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 5.5.7 swizzling modes; CUDA Driver API, "
             "cuTensorMapEncodeIm2col",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
