// The chunks of a store, and what a reduction makes of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/reduction.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"
#include "kernels/virtual/copies/store_engine.hpp"

namespace tidemark {

// The path of a tile store from shared addresses to the tensor, one 16-byte chunk at a time.

/// A tile store as the engine takes it.
struct StoreBox {
  const TensorMapSpec& map;
  std::array<std::int32_t, kMaxRank> at{};  // first element of the box
  std::int64_t source = 0;                  // shared address of the tile
  MemorySource memory = MemorySource::device;
  std::span<const Island> islands{};  // of the memory
};

/// The chunks of a box, in the order of the unswizzled tile: CUDA Driver API,
/// cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5.3 and 5.5.7. What lies outside the tensor is not
/// written, except that a row reaches to the next 16 bytes (documented by nobody; seen on an H100:
/// github.com/triton-lang/triton, issue 11583). Element strides are taken as loads take them, which
/// no document says either and H200s do.
std::vector<StoreChunk> store_chunks(const StoreBox& box, Fault fault);

// The arithmetic of the virtual device's reductions into memory.

/// What lands where `memory` was and `comes` is reduced into it.
std::array<std::uint8_t, kChunkBytes> reduced(Reduction reduction, DataType type,
                                              const std::array<std::uint8_t, kChunkBytes>& memory,
                                              const std::array<std::uint8_t, kChunkBytes>& comes,
                                              Fault fault);

}  // namespace tidemark
