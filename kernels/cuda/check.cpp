// Errors of CUDA, and waits that end.
#include "kernels/cuda/check.hpp"

#include <chrono>
#include <thread>

namespace tidemark {

// Which CUDA errors end a context, and how an error reads.

bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorMpsClientTerminated:
      return true;
    default:
      return false;
  }
}

void cuda_check(cudaError_t code, const char* what, Where where) {
  if (code == cudaSuccess) return;
  // Non-sticky errors stay behind as the "last error" and would be blamed on the next launch.
  (void)cudaGetLastError();
  const std::string text = std::string(what) + ": " + cudaGetErrorName(code) + " (" +
                           std::to_string(static_cast<int>(code)) +
                           "): " + cudaGetErrorString(code);
  if (is_sticky(code)) throw StickyError(code, text, where);
  throw Error(text, where);
}

// Polls: cudaStreamSynchronize has no bound, and a kernel that hangs would take the worker along
// without a word.

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

}  // namespace tidemark
