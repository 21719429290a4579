// What the hardware does with stores where the documents stop: strides, padding, missing waits.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"
#include "suite/conformance/interleave.hpp"
#include "suite/conformance/tile.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
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

// Stores by maps with element strides, which the documents describe for loads alone: a store takes
// the same elements the other way round.
std::vector<Op> element_stride_rows(const RunContext&) {
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

const Register kElementStride{{
    .name = "behaviour.store.element_stride",
    .claim =
        "a store by a map with element strides writes the elements of its box that lie a stride "
        "apart, takes them packed from shared memory, and leaves those between them alone",
    .cites =
        "measured on H200s, driver 580.159.04, 2026-11, two processes, 55 rows each; PTX ISA 9.0, "
        "5.5.3.2, has the box skip elements while it iterates the tensor and names no direction; "
        "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides, speaks of loads alone",
    .rows = element_stride_rows,
}};

// Stores by interleaved maps: the units of one slice, clipped at the ends of the tensor.
std::vector<Op> interleave_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : interleaved_loads()) {
    rows.emplace_back(interleaved_store(load));
    rows.emplace_back(interleaved_store(over_end(load, true)));
  }
  return rows;
}

const Register kInterleave{{
    .name = "behaviour.store.interleave",
    .claim = "a store by an interleaved map writes the units that a load would take, packed from "
             "shared memory, and nothing outside of the tensor",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = interleave_rows,
}};

// Stores by interleaved maps drawn at random; more of them at the higher levels.
std::vector<Op> interleave_random_rows(const RunContext& context) {
  return drawn_rows(context, {128, 1000, 4000}, random_interleaved_store);
}

const Register kInterleaveRandom{{
    .name = "behaviour.store.interleave_random",
    .claim = "any store by an interleaved map that the encoder takes moves the units that "
             "behaviour.store.interleave says, however its features meet",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = interleave_random_rows,
}};

// Rows that end off 16 bytes: what a store does to the padding behind their last element, which
// the documents say is outside the tensor and left alone.
std::vector<Op> row_padding_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t left = 1; left < elements_in(16, type); ++left)
      for (const std::int32_t at : {0, inner_step(type), 2 * inner_step(type)}) {
        TileStore store = ragged_store(type, 2, left);
        store.at[0] = at;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kRowPadding{{
    .name = "behaviour.store.row_padding",
    .claim = "stores write the 16 bytes that hold the last element of a row whole, the padding in "
             "them included, and nothing behind them",
    .cites =
        "measured on H200s, driver 580.159.04, 2026-11, four runs in four processes; first seen "
        "on an H100, github.com/triton-lang/triton, issue 11583; no NVIDIA document",
    .rows = row_padding_rows,
}};

// Rows that end off 16 bytes in tensors of each rank, under swizzles, through several groups; the
// last row is the last of the tensor, with the guard behind it.
std::vector<Op> row_padding_rank_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const Swizzle swizzle : {Swizzle::none, Swizzle::b64}) {
        TileStore store = ragged_store(type, rank, elements_in(16, type) - 1);  // 64 bytes wide
        store.map.swizzle = swizzle;
        store.stores = rank == 1 ? 1 : 2;  // the second reaches the end of the last dimension
        rows.emplace_back(store);
      }
  return rows;
}

const Register kRowPaddingRank{{
    .name = "behaviour.store.row_padding_rank",
    .claim = "at any rank and under a swizzle, too, stores write the 16 bytes that hold the last "
             "element of a row whole and nothing behind them",
    .cites =
        "measured on H200s, driver 580.159.04, 2026-11, four runs in four processes; first seen "
        "on an H100, github.com/triton-lang/triton, issue 11583; no NVIDIA document",
    .rows = row_padding_rank_rows,
}};

struct Landed {
  std::uint64_t bytes = 0, right = 0, poison = 0;  // of the boxes
};

Landed landed(const TileStore& store, const RunResult& result) {
  const ProgramExpectation expected = predict(checked_program(store));
  Landed sum;
  const std::size_t bytes = std::min(expected.region_compare.size(), result.surroundings.size());
  for (std::size_t i = 0; i < bytes; ++i) {
    if (expected.region_compare[i] != Compare::recorded) continue;
    ++sum.bytes;
    if (result.surroundings[i] == expected.regions[i])
      ++sum.right;
    else if (result.surroundings[i] == poison_byte(store.payload, i))
      ++sum.poison;
  }
  return sum;
}

std::string observed(const Op& op, const RunResult& result) {
  const auto& store = std::get<TileStore>(op);
  const Landed sum = landed(store, result);
  const char* const when =
      store.wait == StoreWait::none ? "without any wait" : "behind wait_group.read alone";
  if (sum.right == sum.bytes)
    return fmt::format("kernel ended {}: all that it stored was there", when);
  const bool foreign = sum.right + sum.poison < sum.bytes;
  return fmt::format("kernel ended {}: {}", when,
                     foreign          ? "other bytes than it stored were there"
                     : sum.right == 0 ? "nothing that it stored was there"
                                      : "a part of what it stored was not there");
}

// Kernels that end while their stores may be in flight. No document says that the bytes are there
// when the kernel has ended, nor that shared memory stays readable until they are; what came is
// noted. Judged is that nothing else was written. The virtual device lets all land at the end.
std::vector<Op> unwaited_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const StoreWait wait : {StoreWait::none, StoreWait::only_read})
    for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores)
      for (const std::uint32_t height : {1U, 8U, 64U}) {
        TileStore store = store_of(
            tile(DataType::u8, {272, std::uint64_t{stores} * height + 1}, {256, height}, {16, 1}));
        store.map.base_offset = 48;
        store.map.stride[0] += 32;
        store.stores = stores;
        store.wait = wait;
        store.held_to = HeldTo::record;
        rows.emplace_back(store);
        store.empty_groups = 1U << stores;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kUnwaited{{
    .name = "behaviour.store.unwaited",
    .claim = "a kernel that ends without waiting for its stores writes nothing outside their "
             "boxes, and whether the boxes are whole by then is noted",
    .cites = "recorded; PTX ISA 9.0, 9.7.9.25.5.2: what is outside a box is not accessed; no "
             "document says what becomes of stores that nobody waits for",
    .rows = unwaited_rows,
    .observed = observed,
}};

}  // namespace
}  // namespace tidemark
