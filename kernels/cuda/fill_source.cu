// Fills the source of a tile load.
#include "kernels/cuda/fill_source.hpp"

#include <algorithm>

#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {
namespace {

__global__ void fill_source(const __grid_constant__ TileLoad load, uint4* source,
                            std::uint64_t chunks) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chunks;
       i += step)
    source[i] =
        make_uint4(source_element_word(load, 4 * i), source_element_word(load, 4 * i + 1),
                   source_element_word(load, 4 * i + 2), source_element_word(load, 4 * i + 3));
}

}  // namespace

void launch_fill_source(const TileLoad& load, std::byte* source, cudaStream_t stream) {
  constexpr std::uint32_t kFillThreads = 256;
  constexpr std::uint64_t kMostBlocks = 1056;  // eight a SM of an H200; the loop does the rest
  const std::uint64_t chunks = source_allocation_bytes(load) / 16;
  const std::uint64_t blocks = std::min((chunks + kFillThreads - 1) / kFillThreads, kMostBlocks);
  fill_source<<<static_cast<std::uint32_t>(blocks), kFillThreads, 0, stream>>>(
      load, reinterpret_cast<uint4*>(source), chunks);
  cuda_check(cudaGetLastError(), "launch the source fill");
}

}  // namespace tidemark::kernels
