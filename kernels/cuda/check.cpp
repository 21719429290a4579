// Which CUDA errors end a context, and how an error reads.
#include "kernels/cuda/check.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
