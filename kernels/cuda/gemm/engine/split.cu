// Kernels whose clusters share the K of a tile, for products with few tiles and a long K.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark::kernels {

std::span<const EngineKernel> split_kernels() {
  static const std::vector kKernels =
      plain_kernels<TileShape{.tile_m = 128, .tile_n = 128, .split = 2, .stages = 6, .boxes = 1}>();
  return kKernels;
}

}  // namespace tidemark::kernels
