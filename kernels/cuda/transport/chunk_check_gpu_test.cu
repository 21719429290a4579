// The kernels of chunk_check.hpp.
#include <cuda/atomic>
#include <cuda/ptx>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/testing/chunk_check.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint64_t kBoundNs = 5'000'000'000;

__device__ std::uint32_t word_of(const ChunkRows& chunks, std::uint32_t row, std::uint32_t word) {
  const std::uint32_t hash = (row * chunks.row_words + word + 1) * 0x9e3779b9U;
  return (hash ^ (hash >> 15)) + chunks.epoch * 0x85ebca6bU;
}

__global__ void fill(ChunkRows chunks) {
  const std::uint32_t row = chunks.first + blockIdx.x * chunks.step;
  for (std::uint32_t i = threadIdx.x; i < chunks.row_words; i += blockDim.x)
    chunks.rows[std::size_t{row} * chunks.row_words + i] = word_of(chunks, row, i);
}

__global__ void check(ChunkRows chunks, std::uint32_t* arrived, ChunkCounts* counts) {
  const std::uint32_t row = chunks.first + blockIdx.x * chunks.step;
  __shared__ bool there;
  if (threadIdx.x == 0) {
    using Word = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;
    const std::uint64_t start = cuda::ptx::get_sreg_globaltimer();
    // Acquire: without it the row could be read as it was before its word was seen.
    do there = Word(arrived[row]).load(cuda::memory_order_acquire) == chunks.epoch;
    while (!there && cuda::ptx::get_sreg_globaltimer() - start < kBoundNs);
  }
  __syncthreads();  // without it other threads would read before the word was seen
  if (!there) return;
  if (threadIdx.x == 0) atomicAdd(&counts->seen, 1ULL);
  unsigned long long stale = 0;
  const volatile std::uint32_t* const words =  // not from a cache that a copy engine does not know
      chunks.rows + std::size_t{row} * chunks.row_words;
  for (std::uint32_t i = threadIdx.x; i < chunks.row_words; i += blockDim.x)
    if (words[i] != word_of(chunks, row, i)) ++stale;
  if (stale != 0) atomicAdd(&counts->stale, stale);
}

}  // namespace

void fill_chunks(const ChunkRows& chunks, cudaStream_t stream) {
  fill<<<chunks.count, kThreads, 0, stream>>>(chunks);
  cuda_check(cudaGetLastError(), "fill rows");
}

void check_chunks(const ChunkRows& chunks, std::uint32_t* arrived, ChunkCounts* counts,
                  cudaStream_t stream) {
  check<<<chunks.count, kThreads, 0, stream>>>(chunks, arrived, counts);
  cuda_check(cudaGetLastError(), "look at rows");
}

}  // namespace tidemark
