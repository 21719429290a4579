// Fills the source of a tile load on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// Writes source_allocation_bytes(load) of source_element_word() to `source`.
void launch_fill_source(const TileLoad& load, std::byte* source, cudaStream_t stream);

}  // namespace tidemark::kernels
