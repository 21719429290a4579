// What a tuning run times: one product in device memory, and the clock that all sides are timed by.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"

namespace tidemark {

struct Shape {
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t lda = 0, ldb = 0, ldc = 0;  // as in Gemm: 0 is the fewest that start on 16 bytes
  Major a_major = Major::k, b_major = Major::k;
  GemmElement element = GemmElement::bf16;  // of A and B
};

/// What C is of, as cuBLASLt has it, too.
constexpr GemmOutput output_of(GemmElement element) {
  return element == GemmElement::f16 ? GemmOutput::f16 : GemmOutput::bf16;
}

/// Whether rows are anywhere else than where they start on 16 bytes and follow each other.
constexpr bool is_pitched(const Shape& shape) {
  return shape.lda != 0 || shape.ldb != 0 || shape.ldc != 0;
}

/// What a pitched product is held against: the sizes rounded to multiples of 64, none pitched.
constexpr Shape neighbour_of(const Shape& shape) {
  const auto nearest = [](std::uint64_t size) { return size < 64 ? 64 : (size + 32) / 64 * 64; };
  return {.m = nearest(shape.m),
          .n = nearest(shape.n),
          .k = nearest(shape.k),
          .a_major = shape.a_major,
          .b_major = shape.b_major,
          .element = shape.element};
}
static_assert(neighbour_of({4095, 14337, 4097}).n == 14336);
static_assert(neighbour_of({8191, 8185, 8184}).k == 8192);

constexpr double operations_of(const Shape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

/// The product in device memory, as LocalGemm has it: bf16 out. Small ones are there several times,
/// with the same numbers: launches that follow each other take one after the other, so that none
/// finds in L2 what the one before it has read.
struct Product {
  Shape shape;
  Stream stream;
  std::uint64_t copies = 1;
  DeviceBuffer a, b, c;  // of all copies
  DeviceBuffer packed;   // LocalGemm::workspace
  EngineWords words;
  LocalGemm local;  // of the first copy

  LocalGemm copy(std::uint64_t which) const;
};

/// Allocates, and waits until the inputs are made; what is between rows of pitched operands is NaN.
/// Throws Error where there is not enough memory, and where a leading dimension is shorter than a
/// row.
Product make_product(const Shape& shape, GemmInputs inputs = GemmInputs::normal);

/// Makes the inputs of `product` anew.
void fill_product(const Product& product, GemmInputs inputs);

/// Nanoseconds of one launch, over `launches` back to back, which the host has no part in unless it
/// needs more than a kernel takes and 5 us for a launch.
double time_of(const Product& product, int launches, const std::function<void()>& launch);

/// The word that a kernel's bounded waits leave, which is cleared: 0 where none ended by its bound.
std::uint32_t take_timed_out(const Product& product);

}  // namespace tidemark
