// Stores by maps with element strides, which the documents describe for loads alone: a store takes
// the same elements the other way round.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

TileStore strided(std::uint32_t dimension, std::uint32_t step, std::uint32_t box) {
  TileLoad load = tile(DataType::u16, {48, 2, 2, 2, 2}, {24, 1, 1, 1, 1}, {8, 1, 1, 1, 1});
  load.map.extent[dimension] = box + 3;
  load.map.box[dimension] = box;
  load.map.element_stride[dimension] = step;
  for (std::uint32_t i = 1; i < 4; ++i)
    load.map.stride[i] = load.map.stride[i - 1] * load.map.extent[i];
  TileStore store = store_of(load);
  store.held_to = HeldTo::measurement;
  return store;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t dimension = 1; dimension < kMaxRank; ++dimension)
    for (const std::uint32_t step : {2U, 3U, 8U})
      for (const std::uint32_t box : {2 * step, 3 * step + 1}) {
        TileStore store = strided(dimension, step, box);
        rows.emplace_back(store);
        store.at[dimension] = 5;  // the last two hang over the far end
        rows.emplace_back(store);
      }
  for (std::uint32_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    TileStore store = store_of(tile_of_rank(type, 3));
    store.map.element_stride = {1, 2 + i % 3, 1 + i % 2, 1, 1};
    store.held_to = HeldTo::measurement;
    rows.emplace_back(store);
  }
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileStore store = store_of(tile(DataType::u32, {32, 29, 19}, {32, 13, 7}, {0, 2, 3}));
    store.map.element_stride = {1, step, 10 - step, 1, 1};
    store.held_to = HeldTo::measurement;
    rows.emplace_back(store);
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.element_stride",
    .claim =
        "a store by a map with element strides writes the elements of its box that lie a stride "
        "apart, takes them packed from shared memory, and leaves those between them alone",
    .cites =
        "measured on H200s, driver 580.159.04, 2026-11, two processes, 55 rows each; PTX ISA 9.0, "
        "5.5.3.2, has the box skip elements while it iterates the tensor and names no direction; "
        "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides, speaks of loads alone",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
