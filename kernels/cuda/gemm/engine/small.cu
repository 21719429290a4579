// Kernels of small tiles, for products that have too few large ones to keep every SM at work.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark {

std::span<const EngineKernel> small_kernels() {
  static const std::vector kKernels =
      plain_kernels<TileShape{.tile_m = 128, .tile_n = 128, .stages = 6},
                    TileShape{.tile_m = 128, .tile_n = 128, .cluster_m = 2, .stages = 6},
                    TileShape{.tile_m = 128, .tile_n = 128, .cluster_n = 2, .stages = 6},
                    TileShape{.tile_m = 64, .tile_n = 256},
                    TileShape{.tile_m = 64, .tile_n = 128, .stages = 8, .boxes = 1},
                    TileShape{.tile_m = 64, .tile_n = 128, .cluster_m = 2, .stages = 8, .boxes = 1},
                    TileShape{
                        .tile_m = 128, .tile_n = 64, .cluster_n = 2, .stages = 8, .boxes = 1}>();
  return kKernels;
}

}  // namespace tidemark
