// Counts elements that differ, so that a product of 512 MiB is checked in a millisecond.
#include "ci/lab/gemm/exact.hpp"

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocks = 1056;

__global__ void __launch_bounds__(kThreads)
    differences(const std::uint16_t* left, const std::uint16_t* right, std::uint64_t elements,
                unsigned long long* count) {
  unsigned long long found = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += std::uint64_t{kBlocks} * kThreads) {
    const bool zeros = ((left[i] | right[i]) & 0x7fffU) == 0;
    if (left[i] != right[i] && !zeros) ++found;
  }
  if (found != 0) atomicAdd(count, found);
}

}  // namespace

std::uint64_t count_differences(const std::byte* left, const std::byte* right,
                                std::uint64_t elements, cudaStream_t stream) {
  const DeviceBuffer count(sizeof(unsigned long long));
  cuda_check(cudaMemsetAsync(count.data(), 0, count.size(), stream), "clear a counter");
  differences<<<kBlocks, kThreads, 0, stream>>>(reinterpret_cast<const std::uint16_t*>(left),
                                                reinterpret_cast<const std::uint16_t*>(right),
                                                elements, count.as<unsigned long long>());
  cuda_check(cudaGetLastError(), "launch the kernel that compares two products");
  unsigned long long found = 0;
  cuda_check(cudaMemcpyAsync(&found, count.data(), sizeof(found), cudaMemcpyDeviceToHost, stream),
             "read the number of differences");
  cuda_check(cudaStreamSynchronize(stream), "compare two products");
  return found;
}

}  // namespace tidemark
