// Polls: cudaStreamSynchronize has no bound, and a kernel that hangs would take the worker along
// without a word.
#include "kernels/cuda/wait.hpp"

#include <chrono>
#include <thread>

#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {

bool wait_for_stream(cudaStream_t stream, double seconds) {
  using Clock = std::chrono::steady_clock;
  // Most rows take less than this; past it, sleeping costs nothing that anybody would notice.
  constexpr auto kSpin = std::chrono::milliseconds(3);
  const auto began = Clock::now();
  const auto bound = std::chrono::duration<double>(seconds);
  while (true) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) {
      cuda_check(state, "run on the GPU");
      return true;
    }
    const auto waited = Clock::now() - began;
    if (waited > bound) return false;
    if (waited > kSpin)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else
      std::this_thread::yield();
  }
}

}  // namespace tidemark::kernels
