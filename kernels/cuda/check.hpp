// Errors of CUDA, and waits that end.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/error.hpp"

namespace tidemark {

// Turns error codes of the CUDA runtime into exceptions, those that end the context apart.

/// An error after which this process cannot use its GPU any more. The device turns it into
/// DeviceFault::sticky: it is a verdict about what ran, not a failure of the tool.
struct StickyError : Error {
  StickyError(cudaError_t sticky_code, const std::string& what, Where where)
      : Error(what, where), code(sticky_code) {}

  cudaError_t code;
};

/// Whether `code` leaves the context unusable (CUDA Runtime API, cudaError_t: "the process must be
/// terminated and relaunched").
bool is_sticky(cudaError_t code);

/// Throws StickyError for sticky codes and Error for every other but cudaSuccess, with the code's
/// name and text. `what` says what was tried: "allocate the source".
void cuda_check(cudaError_t code, const char* what, Where where = Where::here());

// Waiting for a stream without waiting for ever.

/// Waits until everything in `stream` is done; false when `seconds` passed first. Throws
/// StickyError or Error where what ran there failed.
bool wait_for_stream(cudaStream_t stream, double seconds);

}  // namespace tidemark
