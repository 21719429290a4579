// The path of a tile store from shared addresses to the tensor, one 16-byte chunk at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/tile_store.hpp"
#include "kernels/virtual/store_engine.hpp"

namespace tidemark::kernels {

/// The chunks of box `group`, in the order of the unswizzled tile, which starts at the shared
/// address `source`: CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5.3 and 5.5.7. What
/// lies outside the tensor is not written, except that a row reaches to the next 16 bytes
/// (documented by nobody; seen on an H100: github.com/triton-lang/triton, issue 11583).
std::vector<StoreChunk> store_chunks(const TileStore& store, std::uint32_t group,
                                     std::int64_t source, Fault fault);

}  // namespace tidemark::kernels
