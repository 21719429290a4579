// The words of launches, zero at first.
#include "kernels/cuda/gemm/engine/words.hpp"

#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {

EngineWords::EngineWords(cudaStream_t stream)
    : words_(kCount * sizeof(std::uint32_t)), sums_(std::size_t{kMostSms} * kGivenBytes) {
  clear(stream);
  cuda_check(cudaStreamSynchronize(stream), "clear the words of a launch");
}

void EngineWords::clear(cudaStream_t stream) const {
  cuda_check(cudaMemsetAsync(words_.data(), 0, words_.size(), stream),
             "clear the words of a launch");
}

}  // namespace tidemark::kernels
