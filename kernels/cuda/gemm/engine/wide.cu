// Kernels of 128 x 256, the widest wgmma, which reads the fewest bytes of shared memory for a
// product, and one of 128 x 200.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark::kernels {

std::span<const EngineKernel> wide_kernels() {
  static const std::vector kKernels =
      plain_kernels<TileShape{.tile_m = 128, .tile_n = 256, .cluster_m = 2},
                    TileShape{.tile_m = 128, .tile_n = 256, .cluster_n = 2},
                    TileShape{.tile_m = 128, .tile_n = 256}, kStreamShape, kStreamBesideShape,
                    kStreamShape200>();
  return kKernels;
}

}  // namespace tidemark::kernels
