// cuBLASLt as the opponent in a benchmark: every algorithm that its heuristics name.
#pragma once

#include <cublasLt.h>

#include <vector>

#include "ci/lab/gemm/product.hpp"
#include "kernels/cuda/buffer.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"

namespace tidemark {

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
  /// The copies of the product in turn.
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
  DeviceBuffer workspace_;
  DeviceBuffer one_;  // a float, of fp8
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
  mutable std::uint64_t turn_ = 0;
};

}  // namespace tidemark
