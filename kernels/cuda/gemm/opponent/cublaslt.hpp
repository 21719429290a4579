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
};

constexpr double operations_of(const Shape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

/// The product in device memory, as LocalGemm has it: bf16 out.
struct Product {
  Stream stream;
  DeviceBuffer a, b, c, workspace, timed_out;
  LocalGemm local;
};

/// Allocates, and waits until the inputs are made. Throws Error where there is not enough memory.
Product make_product(const Shape& shape, GemmInputs inputs = GemmInputs::normal);

/// Makes the inputs of `product` anew.
void fill_product(const Product& product, GemmInputs inputs);

/// Nanoseconds of one launch, over `launches` back to back, which the host has no part in unless it
/// needs more than a kernel takes and 5 us for a launch.
double time_of(const Product& product, int launches, const std::function<void()>& launch);

/// The word that a kernel's bounded waits leave, which is cleared: 0 where none ended by its bound.
std::uint32_t take_timed_out(const Product& product);

double median(std::vector<double> values);

/// cuBLASLt's view: column-major C^T[n, m] = op(B)[n, k] A^T[k, m], both operands with k first
/// (TN), in the memory that our kernels read.
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

  const Product& product_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

}  // namespace tidemark
