// The ladder: kernels that do the same product with one more of Hopper's features each. What a rung
// says of itself, and how any of them is made ready and launched.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/gemm/local_gemm.hpp"

namespace tidemark {

/// What every rung's kernel is given beside its three tensor maps.
struct RungProblem {
  const void* a = nullptr;  // bf16, m rows of k, `pitch` elements apart
  const void* b = nullptr;  // bf16, n rows of k, likewise
  void* c = nullptr;        // m rows of n, `ldc` elements apart
  std::uint64_t pitch = 0;
  std::uint64_t ldc = 0;
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t m_tiles = 0, n_tiles = 0;  // of a block; m_tiles of a cluster where there is one
  std::uint32_t k_blocks = 0;              // of 64
  std::uint32_t* timed_out = nullptr;      // as launch_rung() has it
};

/// What a rung is made of. Its kernel takes the maps of A, B and C and a RungProblem.
struct RungKernel {
  const void* kernel = nullptr;
  std::uint32_t tile_m = 0, tile_n = 0;  // of C, per block
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;                // dynamic
  std::uint32_t a_box_rows = 0, b_box_rows = 0;  // of loads, 64 k wide; 0: it does not use TMA
  std::uint32_t c_box_rows = 0;                  // of stores, 128 bytes wide; 0: no map of C
  std::uint32_t cluster = 1;                     // blocks, neighbours along M
  bool persistent = false;                       // blocks take tile after tile
};

// From the ground up. Each is a file of the same name.
RungKernel thread_copy_rung(GemmOutput output);
RungKernel cp_async_rung(GemmOutput output);
RungKernel tma_wgmma_rung(GemmOutput output);
RungKernel ring_rung(GemmOutput output);
RungKernel wide_tile_rung(GemmOutput output);
RungKernel persistent_rung(GemmOutput output);
RungKernel multicast_rung(GemmOutput output);
RungKernel tma_store_rung(GemmOutput output);

/// A rung over one piece of memory, launched any number of times.
struct ReadyRung {
  CUresult code = CUDA_SUCCESS;  // of the encoder; anything else: a tensor map was refused
  RungKernel kernel;
  RungProblem problem;
  CUtensorMap a_map{}, b_map{}, c_map{};
  std::uint32_t blocks = 0;
};

/// Encodes the maps and sizes the grid for the current device. Throws Error where the block has
/// 2^31 tiles, rows or elements of k and more, where the device refuses the shared memory, and
/// where it cannot hold a cluster of the rung. `rung` is not GemmRung::none.
ReadyRung prepare_rung(GemmRung rung, const LocalGemm& gemm);

/// Launches on `stream`. A wait inside the kernel that ends by its bound writes a non-zero word to
/// `timed_out` (device memory, zero before; read it with timed_out_wait) and the kernel ends soon
/// after, C undefined.
void launch_rung(const ReadyRung& ready, std::uint32_t* timed_out, cudaStream_t stream);

/// Blocks of a persistent grid: no more than `most`, and no more than the number of rounds that
/// `most` would need calls for, so that the last round is as full as the others.
constexpr std::uint32_t even_blocks(std::uint64_t tiles, std::uint64_t most) {
  const std::uint64_t rounds = (tiles + most - 1) / most;
  return static_cast<std::uint32_t>((tiles + rounds - 1) / rounds);
}

}  // namespace tidemark
