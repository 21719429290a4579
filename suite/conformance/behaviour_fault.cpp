// Copies that are not allowed: a shared address off 128 bytes, an inner coordinate off 16, stores
// that start before their tensor, which a load may, and tensors of more than 2^31 elements along a
// dimension, whose maps the driver makes, and reductions that a type has not. A row each, in a
// process of its own.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

Op load_to(TileLoad load, Swizzle swizzle, std::uint32_t destination) {
  load.map.swizzle = swizzle;
  load.destination_offset = destination;
  return load;
}

Op load_from(DataType type, std::int32_t inner) {
  TileLoad load = tile_of_rank(type, 2);
  load.at[0] = inner;
  return load;
}

Op store_from(const TileLoad& like, Swizzle swizzle, std::uint32_t source) {
  TileStore store = store_of(like);
  store.map.swizzle = swizzle;
  store.source_offset = source;
  return store;
}

Op store_to(DataType type, std::uint32_t rank, std::uint32_t dimension, std::int32_t index) {
  TileStore store = store_of(tile_of_rank(type, rank));
  store.at[dimension] = index;
  return store;
}

constexpr std::uint64_t kBit31 = std::uint64_t{1} << 31;

// A box at the origin of a tensor that only its map knows to be so long.
TileLoad load_of_long(const std::vector<std::uint64_t>& extent,
                      const std::vector<std::uint32_t>& box) {
  TileLoad load = tile(DataType::u64, extent, box);
  load.source = MemorySource::mapped;
  return load;
}

Op store_of_long(const std::vector<std::uint64_t>& extent, const std::vector<std::uint32_t>& box) {
  const TileLoad load = load_of_long(extent, box);
  TileStore store = store_of(load);
  store.destination = load.source;
  return store;
}

Op reduction_of(Reduction reduction, DataType type) {
  TileStore store = store_of(tile_of_rank(type, 2));
  store.reduction = reduction;
  return store;
}

struct IllegalCopy {
  ExpectedError error;
  Op op;
};

std::vector<IllegalCopy> illegal_copies() {
  return {
      {{kMisalignedAddress, "a load to a shared address 8 bytes off 128, no swizzle"},
       load_to(tile_of_rank(DataType::u8, 2), Swizzle::none, 8)},
      {{kMisalignedAddress, "a load to a shared address 16 bytes off 128, 128-byte swizzle"},
       load_to(tile(DataType::bf16, {128, 8}, {64, 4}), Swizzle::b128, 16)},
      {{kMisalignedAddress, "a load to a shared address 64 bytes off 128, 64-byte swizzle"},
       load_to(tile(DataType::f32, {32, 8}, {16, 4}), Swizzle::b64, 64)},
      {{kIllegalInstruction, "a load of bf16 from inner coordinate 4, 8 bytes off 16"},
       load_from(DataType::bf16, 4)},
      // Outside the tensor, where there is nothing to read.
      {{kIllegalInstruction, "a load of f32 from inner coordinate -1"},
       load_from(DataType::f32, -1)},
      {{kMisalignedAddress, "a store from a shared address 16 bytes off 128, no swizzle"},
       store_from(tile_of_rank(DataType::u16, 2), Swizzle::none, 16)},
      {{kMisalignedAddress, "a store from a shared address 32 bytes off 128, 32-byte swizzle"},
       store_from(tile(DataType::f32, {32, 8}, {8, 4}), Swizzle::b32, 32)},
      {{kIllegalInstruction, "a store of u8 to inner coordinate 1"},
       store_to(DataType::u8, 2, 0, 1)},
      {{kIllegalInstruction, "a store of f64 to inner coordinate 1, 8 bytes off 16"},
       store_to(DataType::f64, 2, 0, 1)},
      {{kIllegalInstruction, "a store of bf16 to inner coordinate -8, 16 bytes before the tensor"},
       store_to(DataType::bf16, 2, 0, -8)},
      {{kIllegalInstruction, "a store of a box wholly before the tensor, at inner coordinate -256"},
       store_to(DataType::u8, 2, 0, -256)},
      {{kIllegalInstruction, "a store to row -1"}, store_to(DataType::f32, 2, 1, -1)},
      {{kIllegalInstruction, "a store to plane -1 of a tensor of rank 3"},
       store_to(DataType::u16, 3, 2, -1)},
      // cuda.h allows 2^32 elements along a dimension.
      {{kIllegalInstruction, "a load from a tensor of 2^31 + 1 rows"},
       load_of_long({8, kBit31 + 1}, {8, 4})},
      {{kIllegalInstruction, "a load from a tensor of 2^32 elements in dimension 0"},
       load_of_long({2 * kBit31}, {64})},
      {{kIllegalInstruction, "a store to a tensor of 2^31 + 1 rows"},
       store_of_long({8, kBit31 + 1}, {8, 4})},
      {{kIllegalInstruction, "a store to a tensor of 2^32 elements in dimension 0"},
       store_of_long({2 * kBit31}, {64})},
      // ptxas takes every reduction: the type is known to the map alone.
      {{kIllegalInstruction, "a reduction of u8 by add"},
       reduction_of(Reduction::add, DataType::u8)},
      {{kIllegalInstruction, "a reduction of f32 by min"},
       reduction_of(Reduction::min, DataType::f32)},
      {{kIllegalInstruction, "a reduction of s64 by add"},
       reduction_of(Reduction::add, DataType::s64)},
      {{kIllegalInstruction, "a reduction of u64 by inc"},
       reduction_of(Reduction::inc, DataType::u64)},
  };
}

std::vector<Op> illegal_copies_rows(const RunContext&) {
  std::vector<Op> rows;
  for (IllegalCopy& copy : illegal_copies()) rows.push_back(std::move(copy.op));
  return rows;
}

ExpectedError expected_error(std::uint32_t row) { return illegal_copies().at(row).error; }

const Register kIllegalCopies{{
    .name = "behaviour.fault.illegal_copies",
    .claim = "a tile load or store at a shared address off 128 bytes ends in CUDA error 716, one "
             "at an inner coordinate off 16 bytes, inside the tensor or outside, in 715, and so "
             "does a store that starts before its tensor, a copy of a tensor with more than "
             "2^31 elements along a dimension, or a reduction that the type has not; each costs "
             "its process and leaves an "
             "Xid in the kernel log, so it runs at level soak, or where it is named",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; PTX "
             "ISA 9.0, 5.5.3.1, asks for 16 bytes, CUDA C++ Programming Guide 13.1, 10.29.2, for "
             "128, and forbids negative indices in stores; neither names an error. cuda.h "
             "allows an extent of 2^32: CUDA Driver API, cuTensorMapEncodeTiled, globalDim; the "
             "types of reductions: PTX ISA 9.0, 9.7.9.25.5.3",
    .level = Level::soak,
    .seconds = 5,
    .rows = illegal_copies_rows,
    .expected_error = expected_error,
}};

}  // namespace
}  // namespace tidemark
