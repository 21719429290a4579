// The benchmark's opponent.
#include "ci/lab/gemm/cublaslt.hpp"
#include "kernels/cuda/check.hpp"

#include <fmt/core.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr int kHeuristics = 16;

void lt_check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(fmt::format("cuBLASLt cannot {}: {}", what, cublasLtGetStatusString(status)));
}

cudaDataType_t type_of(GemmElement element) {
  constexpr cudaDataType_t kTypes[] = {CUDA_R_16BF, CUDA_R_16F, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2};
  return kTypes[static_cast<std::size_t>(element)];
}

void layout(cublasLtMatrixLayout_t& into, cudaDataType_t type, std::uint64_t rows,
            std::uint64_t columns, std::uint64_t leading) {
  lt_check(
      cublasLtMatrixLayoutCreate(&into, type, rows, columns, static_cast<std::int64_t>(leading)),
      "describe a matrix");
}

}  // namespace

Opponent::Opponent(const Product& product) : product_(product), workspace_(kWorkspaceBytes) {
  const LocalGemm& gemm = product.local;
  lt_check(cublasLtCreate(&handle_), "start");
  lt_check(cublasLtMatmulDescCreate(&product_desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
           "describe the product");
  describe(b_, GemmOperand::b);
  describe(a_, GemmOperand::a);
  layout(c_, gemm.output == GemmOutput::f16 ? CUDA_R_16F : CUDA_R_16BF, gemm.n, gemm.m, gemm.ldc);
  if (is_fp8(gemm.element)) scale_by_one();
  find_algorithms();
}
Opponent::~Opponent() {
  for (cublasLtMatrixLayout_t which : {a_, b_, c_}) cublasLtMatrixLayoutDestroy(which);
  cublasLtMatmulDescDestroy(product_desc_);
  cublasLtDestroy(handle_);
}

void Opponent::describe(cublasLtMatrixLayout_t& into, GemmOperand operand) {
  const LocalGemm& gemm = product_.local;
  const bool is_a = operand == GemmOperand::a;
  const bool k_major = (is_a ? gemm.a_major : gemm.b_major) == Major::k;
  const std::uint64_t indices = is_a ? gemm.m : gemm.n;
  // The contiguous index is a column-major matrix's first. op(B) is n x k, op(A) k x m.
  layout(into, type_of(gemm.element), k_major ? gemm.k : indices, k_major ? indices : gemm.k,
         is_a ? gemm.pitch : gemm.pitch_of_b());
  const cublasOperation_t operation = k_major == is_a ? CUBLAS_OP_N : CUBLAS_OP_T;
  lt_check(cublasLtMatmulDescSetAttribute(
               product_desc_, is_a ? CUBLASLT_MATMUL_DESC_TRANSB : CUBLASLT_MATMUL_DESC_TRANSA,
               &operation, sizeof(operation)),
           "transpose an operand");
}

void Opponent::scale_by_one() {
  const float one = 1;
  one_ = DeviceBuffer(sizeof(one));
  cuda_check(cudaMemcpy(one_.data(), &one, sizeof(one), cudaMemcpyHostToDevice), "write a scale");
  const void* const at = one_.data();
  for (const auto scale :
       {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER})
    lt_check(cublasLtMatmulDescSetAttribute(product_desc_, scale, &at, sizeof(at)),
             "scale an operand");
  const std::int8_t off = 0;  // as it is unless said; a benchmark says it
  lt_check(cublasLtMatmulDescSetAttribute(product_desc_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &off,
                                          sizeof(off)),
           "promote sums");
}

void Opponent::launch(int which) const {
  const float alpha = 1;
  const float beta = 0;
  const LocalGemm gemm = product_.copy(turn_);
  turn_ = (turn_ + 1) % product_.copies;
  lt_check(cublasLtMatmul(handle_, product_desc_, &alpha, gemm.b, b_, gemm.a, a_, &beta, gemm.c, c_,
                          gemm.c, c_, &found_.at(static_cast<std::size_t>(which)).algo,
                          workspace_.data(), kWorkspaceBytes, product_.stream.get()),
           "multiply");
}

void Opponent::find_algorithms() {
  cublasLtMatmulPreference_t preference = nullptr;
  lt_check(cublasLtMatmulPreferenceCreate(&preference), "take preferences");
  lt_check(
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &kWorkspaceBytes, sizeof(kWorkspaceBytes)),
      "take a workspace");
  found_.resize(kHeuristics);
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_, product_desc_, b_, a_, c_, c_, preference, kHeuristics, found_.data(), &count);
  cublasLtMatmulPreferenceDestroy(preference);
  lt_check(status, "find an algorithm");
  found_.resize(static_cast<std::size_t>(count));
  if (found_.empty()) throw Error("cuBLASLt knows no algorithm for this product");
}

}  // namespace tidemark
