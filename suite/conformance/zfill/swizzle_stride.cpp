// Swizzle and element stride together, over each side of each dimension.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// A swizzled box of three elements along each outer dimension, every `step` apart.
TileLoad stepped(DataType type, Swizzle swizzle, std::uint32_t rank, std::uint32_t step) {
  const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
  std::vector<std::uint64_t> extent{2 * inner + 1};
  std::vector<std::uint32_t> box{inner};
  for (std::uint32_t i = 1; i < rank; ++i) {
    extent.push_back(3 * step + i);
    box.push_back(2 * step + 1);
  }
  TileLoad load = tile(type, extent, box);
  for (std::uint32_t i = 1; i < rank; ++i) load.map.element_stride[i] = step;
  load.map.swizzle = swizzle;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t rank = 2; rank <= 3; ++rank)
      for (std::uint32_t i = 0; i < rank; ++i)
        for (const bool high : {false, true})
          for (std::uint32_t turn = 0; turn < 4; ++turn) {
            const std::uint32_t step = 2 + (2 * turn + i + (high ? 1 : 0)) % 7;
            TileLoad load = stepped(kTypeOfEachSize[(turn + i) % 4], swizzle, rank, step);
            const auto end = static_cast<std::int32_t>(load.map.extent[i]);
            // Dimension 0 out by one chunk of 16 bytes; the others by one or two of three steps.
            const std::int32_t out = i == 0 ? inner_step(load.map.type)
                                            : static_cast<std::int32_t>(step * (1 + turn % 2));
            const auto last = static_cast<std::int32_t>(load.map.box[i]) - 1;
            load.at[i] = high ? end - 1 - last + out : -out;
            if (i == 0) load.at[i] -= load.at[i] % inner_step(load.map.type);
            load.destination_offset = 128 * ((2 * turn + i) % 8);
            rows.emplace_back(load);
          }
  return rows;
}

const Register kCase{{
    .name = "zfill.swizzle_stride",
    .claim = "under a swizzle and an element stride each element taken is filled or not by its own "
             "coordinate and stands where the tables put it",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.3 and "
             "5.5.7",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
