// The host's half of every rung: tensor maps, grid, launch.
#include "kernels/cuda/gemm/ladder/rung.hpp"

#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kBlockK = 64;  // 128 bytes of bf16: one swizzle span

constexpr std::uint64_t tiles_of(std::uint64_t elements, std::uint64_t tile) {
  return (elements + tile - 1) / tile;
}

RungKernel kernel_of(GemmRung rung, GemmOutput output) {
  switch (rung) {
    case GemmRung::thread_copy:
      return thread_copy_rung(output);
    case GemmRung::cp_async:
      return cp_async_rung(output);
    case GemmRung::tma_wgmma:
      return tma_wgmma_rung(output);
    case GemmRung::ring:
      return ring_rung(output);
    case GemmRung::wide_tile:
      return wide_tile_rung(output);
    case GemmRung::persistent:
      return persistent_rung(output);
    case GemmRung::multicast:
      return multicast_rung(output);
    case GemmRung::tma_store:
      return tma_store_rung(output);
    case GemmRung::none:
      break;
  }
  throw Error("gemm: no such rung of the ladder");
}

/// A K-major matrix of bf16 as TMA reads it, in boxes of 64 k.
TensorMapSpec loaded_map(std::uint64_t rows, const LocalGemm& gemm, std::uint32_t box_rows) {
  return {.type = DataType::bf16,
          .rank = 2,
          .extent = {gemm.k, rows},
          .stride = {gemm.pitch * sizeof(std::uint16_t)},
          .box = {kBlockK, box_rows},
          .swizzle = Swizzle::b128,
          .l2_promotion = L2Promotion::b256};
}

/// C as TMA writes it, in boxes of 128 bytes of a row.
TensorMapSpec stored_map(const LocalGemm& gemm, std::uint32_t box_rows) {
  const auto element = static_cast<std::uint32_t>(c_element_bytes(gemm.output));
  return {.type = gemm.output == GemmOutput::f32 ? DataType::f32 : DataType::bf16,
          .rank = 2,
          .extent = {gemm.n, gemm.m},
          .stride = {gemm.ldc * element},
          .box = {128 / element, box_rows},
          .swizzle = Swizzle::b128};
}

void add_map(ReadyRung& ready, CUtensorMap& map, const TensorMapSpec& spec, void* address) {
  const Encoded encoded = encode(spec, address);
  if (ready.code == CUDA_SUCCESS) ready.code = encoded.code;
  map = encoded.map;
}

/// Coordinates of TMA are signed 32-bit numbers, and a cluster of tiles may reach past the end.
void require_coordinates(const LocalGemm& gemm, std::uint64_t tiles) {
  constexpr std::uint64_t kMost = (1ULL << 31) - 512;
  if (gemm.m <= kMost && gemm.n <= kMost && gemm.k <= kMost && tiles <= kMost / 2) return;
  throw Error("gemm: a block of " + std::to_string(gemm.m) + " x " + std::to_string(gemm.n) +
              " over k = " + std::to_string(gemm.k) +
              " is too large for 32-bit coordinates: use more ranks");
}

cudaLaunchConfig_t configuration(const RungKernel& kernel, std::uint32_t blocks,
                                 cudaLaunchAttribute& cluster, cudaStream_t stream) {
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = kernel.cluster;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kernel.threads);
  config.dynamicSmemBytes = kernel.shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = kernel.cluster > 1 ? 1 : 0;
  return config;
}

/// How many clusters (blocks, where a cluster is one) fit the device at once. Asked for, not
/// reckoned from the SMs: GPCs are uneven, and an SM left over in one cannot join another's.
std::uint64_t clusters_at_once(const RungKernel& kernel) {
  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  if (kernel.cluster == 1) return static_cast<std::uint64_t>(multiprocessors);
  cudaLaunchAttribute cluster{};
  const cudaLaunchConfig_t config = configuration(kernel, kernel.cluster, cluster, nullptr);
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel.kernel, &config),
             "ask how many clusters fit");
  if (clusters < 1)
    throw Error("gemm: this GPU cannot hold a cluster of " + std::to_string(kernel.cluster) +
                " blocks of the ladder's kernel");
  return static_cast<std::uint64_t>(clusters);
}

}  // namespace

ReadyRung prepare_rung(GemmRung rung, const LocalGemm& gemm) {
  ReadyRung ready;
  ready.kernel = kernel_of(rung, gemm.output);
  const RungKernel& kernel = ready.kernel;
  const std::uint64_t m_tiles = tiles_of(gemm.m, std::uint64_t{kernel.tile_m} * kernel.cluster);
  const std::uint64_t n_tiles = tiles_of(gemm.n, kernel.tile_n);
  require_coordinates(gemm, m_tiles * n_tiles);
  ready.problem = {.a = gemm.a,
                   .b = gemm.b,
                   .c = gemm.c,
                   .pitch = gemm.pitch,
                   .ldc = gemm.ldc,
                   .m = static_cast<std::uint32_t>(gemm.m),
                   .n = static_cast<std::uint32_t>(gemm.n),
                   .k = static_cast<std::uint32_t>(gemm.k),
                   .m_tiles = static_cast<std::uint32_t>(m_tiles),
                   .n_tiles = static_cast<std::uint32_t>(n_tiles),
                   .k_blocks = static_cast<std::uint32_t>(tiles_of(gemm.k, kBlockK))};
  if (kernel.a_box_rows != 0) {
    add_map(ready, ready.a_map, loaded_map(gemm.m, gemm, kernel.a_box_rows), gemm.a);
    add_map(ready, ready.b_map, loaded_map(gemm.n, gemm, kernel.b_box_rows), gemm.b);
  }
  if (kernel.c_box_rows != 0)
    add_map(ready, ready.c_map, stored_map(gemm, kernel.c_box_rows), gemm.c);

  cuda_check(cudaFuncSetAttribute(kernel.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kernel.shared_bytes)),
             "give the GEMM kernel its shared memory");
  const std::uint64_t tiles = m_tiles * n_tiles;
  const std::uint64_t clusters =
      kernel.persistent ? even_blocks(tiles, clusters_at_once(kernel)) : tiles;
  ready.blocks = static_cast<std::uint32_t>(clusters) * kernel.cluster;
  return ready;
}

void launch_rung(const ReadyRung& ready, std::uint32_t* timed_out, cudaStream_t stream) {
  RungProblem problem = ready.problem;
  problem.timed_out = timed_out;
  void* arguments[] = {const_cast<CUtensorMap*>(&ready.a_map),
                       const_cast<CUtensorMap*>(&ready.b_map),
                       const_cast<CUtensorMap*>(&ready.c_map), &problem};
  cudaLaunchAttribute cluster{};
  const cudaLaunchConfig_t config = configuration(ready.kernel, ready.blocks, cluster, stream);
  cuda_check(cudaLaunchKernelExC(&config, ready.kernel.kernel, arguments),
             "launch a GEMM kernel of the ladder");
}

}  // namespace tidemark
