// Whether a configuration multiplies small integers exactly, which is asked before it is timed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "ci/lab/gemm/product.hpp"
#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark {

/// What a product of `element` is checked on. Of fp8 -3..3 would not do: their sums are short
/// enough to be exact without promotion.
GemmInputs integers_for(GemmElement element);

/// The reference engine's product of integers, in memory of its own that is handed back.
DeviceBuffer expected_integers(const Product& product);

/// Multiplies once; what is other than `expected`, on one line, or nothing. The inputs of `product`
/// are small integers.
std::string differs(const Product& product, const ReadyEngine& ready, const std::byte* expected);

/// How many of the `elements` 16-bit elements at `left` and `right` differ; zeros of either sign
/// are the same. Waits for `stream`.
std::uint64_t count_differences(const std::byte* left, const std::byte* right,
                                std::uint64_t elements, cudaStream_t stream);

}  // namespace tidemark
