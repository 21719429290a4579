// Kernels whose tile is higher than wide: each consumer warpgroup multiplies two wgmma, one below
// the other, with the same part of B.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark {

std::span<const EngineKernel> tall_kernels() {
  static const std::vector kKernels =
      plain_kernels<TileShape{.tile_m = 256, .tile_n = 128, .cluster_m = 2},
                    TileShape{.tile_m = 256, .tile_n = 128, .cluster_n = 2},
                    TileShape{.tile_m = 256, .tile_n = 128},
                    TileShape{
                        .tile_m = 256, .tile_n = 192, .cluster_m = 2, .stages = 3, .boxes = 3}>();
  return kKernels;
}

}  // namespace tidemark
