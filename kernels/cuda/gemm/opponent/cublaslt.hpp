// cuBLASLt as the opponent in a benchmark: one product in device memory, every algorithm that its
// heuristics name, and the clock that both sides are timed by.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm_inputs.hpp"

namespace tidemark {

struct Shape {
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t lda = 0, ldb = 0, ldc = 0;  // as in Gemm: 0 is the fewest that start on 16 bytes
  Major a_major = Major::k, b_major = Major::k;
  GemmElement element = GemmElement::bf16;  // of A and B
};

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

/// The product in device memory, as LocalGemm has it: bf16 out.
struct Product {
  Shape shape;
  Stream stream;
  DeviceBuffer a, b, c, workspace, timed_out;
  DeviceBuffer packed;  // LocalGemm::workspace
  LocalGemm local;
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

double median(std::vector<double> values);

/// cuBLASLt's view: column-major C^T[n, m] = op(B)[n, k] op(A)[k, m], in the memory that our
/// kernels read. Both operands K-major are its TN, A K-major beside an MN-major B its NN. Of fp8
/// both scales are 1, and FAST_ACCUM is off: sums are promoted to fp32, as ours are.
class Opponent {
 public:
  explicit Opponent(const Product& product);  // keeps a reference
  Opponent(const Opponent&) = delete;
  Opponent& operator=(const Opponent&) = delete;
  ~Opponent();

  int algorithms() const { return static_cast<int>(found_.size()); }
  void launch(int which) const;

 private:
  void find_algorithms();
  /// Says how an operand lies there, and whether cuBLASLt is to transpose it.
  void describe(cublasLtMatrixLayout_t& into, GemmOperand operand);
  void scale_by_one();

  const Product& product_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  DeviceBuffer one_;  // a float, of fp8
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

}  // namespace tidemark
