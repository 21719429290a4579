// Reductions, bulk and by tiles: of each type that has one, at once and one after the other.
#include <cstdint>
#include <vector>

#include "suite/case.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/load_store_im2col.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

struct ReducedType {
  Reduction reduction = Reduction::none;
  DataType type = DataType::u32;
};

// Every reduction with every type that has it.
std::vector<ReducedType> reduced_types() {
  std::vector<ReducedType> all;
  for (std::uint32_t i = 0; i < kReductions; ++i)
    for (std::uint32_t type = 0; type < kDataTypes; ++type)
      if (reduces(static_cast<Reduction>(i), static_cast<DataType>(type)))
        all.push_back(
            {.reduction = static_cast<Reduction>(i), .type = static_cast<DataType>(type)});
  return all;
}

// What random_store() draws, into memory of the device, as a reduction that its
// type has, one in two into one box; a function of `seed` alone.
TileStore random_reduction(std::uint64_t seed) {
  const std::vector<ReducedType> all = reduced_types();
  for (std::uint64_t drawn = seed;; drawn = splitmix64(drawn)) {
    TileStore store = random_store(drawn);
    if (store.held_to != HeldTo::documents) continue;
    std::vector<Reduction> possible;
    for (const ReducedType& one : all)
      if (one.type == store.map.type) possible.push_back(one.reduction);
    if (possible.empty()) continue;
    store.destination = MemorySource::device;
    store.reduction = possible[splitmix64(drawn + 1) % possible.size()];
    store.one_box = store.stores > 1 && commutes(store.reduction, store.map.type) && drawn % 2 == 0;
    return store;
  }
}

// Every bulk reduction of every type that has it, once and several into the same elements.
std::vector<Op> bulk_op_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kReductions; ++i)
    for (std::uint32_t type = 0; type < kDataTypes; ++type) {
      const auto reduction = static_cast<Reduction>(i);
      const auto element = static_cast<DataType>(type);
      if (!reduces_in_bulk(reduction, element)) continue;
      TileLoad load = bulk_load(element, 528, 16);
      load.destination_offset = 16;
      TileStore store = store_of(load);
      store.reduction = reduction;
      rows.emplace_back(store);
      if (!commutes(reduction, element)) continue;
      store.stores = kMaxStores;
      store.one_box = true;
      rows.emplace_back(store);
    }
  return rows;
}

const Register kBulkOp{{
    .name = "reduce.bulk.op",
    .claim = "each of so many consecutive elements is combined with the one in memory by the "
             "reduction of its type, atomically, and nothing else is written",
    .cites =
        "PTX ISA 9.0, 9.7.9.25.4.2 cp.reduce.async.bulk; of floating-point elements, rounding, NaN "
        "and zeros: 9.7.4 add, min, max",
    .rows = bulk_op_rows,
}};

// Legal reductions by im2col maps, of every type and operation that there is.
std::vector<Op> im2col_random_rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {1, 20, 80};  // of each, by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  std::uint64_t drawn = context.seed;
  for (const ReducedType& one : reduced_types())
    for (std::uint32_t i = 0; i < count; ++i) {
      TileStore store;
      do store = random_im2col_store(drawn = splitmix64(drawn));
      while (store.map.type != one.type);
      store.reduction = one.reduction;
      store.destination = MemorySource::device;
      rows.emplace_back(store);
    }
  return rows;
}

const Register kIm2colRandom{{
    .name = "reduce.im2col.random",
    .claim = "a reduction by an im2col map reduces the pixels that a store would write, of every "
             "type and operation that there is, and nothing else",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor, "
             ".im2col_no_offs",
    .rows = im2col_random_rows,
}};

// Four reductions of different tiles into one box, all in flight at once.
std::vector<Op> tile_one_box_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const ReducedType& reduced : reduced_types())
    for (std::uint32_t rank = 1; commutes(reduced.reduction, reduced.type) && rank <= 3; ++rank)
      for (const StoreWait wait : {StoreWait::complete, StoreWait::read}) {
        TileStore store = over_far_end(reduced.type, rank, 0, 0);
        store.reduction = reduced.reduction;
        store.stores = kMaxStores;
        store.one_box = true;
        store.wait = wait;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kTileOneBox{{
    .name = "reduce.tile.one_box",
    .claim = "integer reductions of one thread into the same elements are atomic: none is lost, in "
             "whatever "
             "order they come",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor: each reduction operation has "
             ".relaxed.gpu semantics",
    .rows = tile_one_box_rows,
}};

// Every reduction of every type that has it, on a whole box and over the far end of the tensor.
std::vector<Op> tile_op_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const ReducedType& reduced : reduced_types())
    for (const std::uint32_t rank : {1U, 2U, 3U})
      for (const std::int32_t overhang : {0, 1}) {
        TileStore store = over_far_end(reduced.type, rank, (1U << rank) - 1, overhang);
        store.reduction = reduced.reduction;
        store.stores = 2;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kTileOp{{
    .name = "reduce.tile.op",
    .claim = "each element of the box inside the tensor is combined with the one in memory by the "
             "reduction of its type, and nothing else is written",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 9.7.13.5 red; of "
             "floating-point elements, rounding, NaN and zeros: 9.7.4 add, min, max",
    .rows = tile_op_rows,
}};

// Legal reductions drawn at random over what random stores vary, types and operations.
std::vector<Op> tile_random_rows(const RunContext& context) {
  return drawn_rows(context, {64, 1000, 4000}, random_reduction);
}

const Register kTileRandom{{
    .name = "reduce.tile.random",
    .claim = "any legal tile reduction does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = tile_random_rows,
}};

// Reductions from swizzled tiles, for both element sizes, at every phase of the source address.
std::vector<Op> tile_swizzle_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      for (const DataType type : {DataType::u32, DataType::u64}) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad box = tile(type, {3 * inner, 21}, {inner, 18}, {0, 2});
        box.map.swizzle = swizzle;
        box.destination_offset = 128 * phase;
        TileStore store = store_of(box);
        store.reduction = phase % 2 == 0 ? Reduction::add : Reduction::bit_xor;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kTileSwizzle{{
    .name = "reduce.tile.swizzle",
    .claim = "a reduction takes its 16-byte chunks from where the swizzle tables put them for the "
             "absolute shared address",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 5.5.7 swizzling modes",
    .rows = tile_swizzle_rows,
}};

}  // namespace
}  // namespace tidemark
