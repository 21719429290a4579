// Kernels whose consumer warpgroups have a tile each and multiply in turn: one stores while the
// other multiplies. Their widths are chosen so that the tiles of common sizes fill 132 SMs.
#include "kernels/cuda/gemm/engine/instances.cuh"

namespace tidemark::kernels {

std::span<const EngineKernel> turn_kernels() {
  static const std::vector kKernels = plain_kernels<
      TileShape{.tile_m = 64, .tile_n = 128, .stages = 7, .in_turn = true},
      TileShape{.tile_n = 128, .stages = 6, .in_turn = true},
      TileShape{.tile_n = 128, .cluster_m = 2, .stages = 6, .in_turn = true},
      TileShape{.tile_n = 168, .cluster_m = 2, .stages = 5, .in_turn = true},
      TileShape{.tile_n = 176, .cluster_m = 2, .stages = 5, .in_turn = true},
      TileShape{.tile_n = 184, .cluster_m = 2, .stages = 5, .boxes = 1, .in_turn = true},
      TileShape{.tile_n = 192, .cluster_m = 2, .stages = 5, .boxes = 1, .in_turn = true},
      kTurnStreamShape>();
  return kKernels;
}

}  // namespace tidemark::kernels
