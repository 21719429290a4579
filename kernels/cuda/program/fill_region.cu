// One kernel for regions, by value or many together.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/program/program_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;

__device__ uint4 piece_of(const RegionTask& task, std::uint64_t i) {
  if (task.poison) {
    const auto at = static_cast<std::uint32_t>(16 * i);  // poison repeats after 65,536 bytes
    return make_uint4(poison_word(task.payload, at), poison_word(task.payload, at + 4),
                      poison_word(task.payload, at + 8), poison_word(task.payload, at + 12));
  }
  const auto word = [&](std::uint64_t at) {
    return region_word(task.payload, task.element, task.numbers, at);
  };
  return make_uint4(word(4 * i), word(4 * i + 1), word(4 * i + 2), word(4 * i + 3));
}

__device__ void fill(const RegionTask& task) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  auto* const pieces = reinterpret_cast<uint4*>(task.memory);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < task.bytes / 16;
       i += step)
    pieces[i] = piece_of(task, task.first / 16 + i);
}

__global__ void fill_region(const __grid_constant__ RegionTask task) { fill(task); }

/// One row of the grid a region.
__global__ void fill_regions(const RegionTask* tasks) { fill(tasks[blockIdx.y]); }

}  // namespace

void launch_fill_region(const RegionTask& task, cudaStream_t stream) {
  constexpr std::uint64_t kMostBlocks = 1056;  // eight a SM of an H200; the loop does the rest
  const std::uint64_t blocks = std::min((task.bytes / 16 + kThreads - 1) / kThreads, kMostBlocks);
  fill_region<<<static_cast<std::uint32_t>(blocks), kThreads, 0, stream>>>(task);
  cuda_check(cudaGetLastError(), "launch the fill of a region");
}

void launch_fill_regions(const RegionTask* tasks, std::uint32_t count, cudaStream_t stream) {
  constexpr std::uint32_t kBlocks = 16;
  if (count == 0) return;
  fill_regions<<<dim3(kBlocks, count), kThreads, 0, stream>>>(tasks);
  cuda_check(cudaGetLastError(), "launch the fill of regions");
}

}  // namespace tidemark
