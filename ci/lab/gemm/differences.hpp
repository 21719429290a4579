// Holds two products in device memory against each other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tidemark::kernels {

/// How many of the `elements` 16-bit elements at `left` and `right` differ; zeros of either sign
/// are the same. Waits for `stream`.
std::uint64_t count_differences(const std::byte* left, const std::byte* right,
                                std::uint64_t elements, cudaStream_t stream);

}  // namespace tidemark::kernels
