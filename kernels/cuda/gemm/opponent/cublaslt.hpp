// cuBLASLt as the opponent in a benchmark: every algorithm that its heuristics name.
#pragma once

#include <cublasLt.h>

#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/tuning/product.hpp"
#include "kernels/ops/gemm_inputs.hpp"

namespace tidemark {

/// cuBLASLt's view: column-major C^T[n, m] = op(B)[n, k] op(A)[k, m], in the memory that our
/// kernels read. Both operands K-major are its TN, A K-major beside an MN-major B its NN.
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

  const Product& product_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  DeviceBuffer workspace_;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

}  // namespace tidemark
