// The benchmark's opponent, and what both sides share: memory, inputs, the clock.
#include "kernels/cuda/gemm/opponent/cublaslt.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/general.hpp"
#include "kernels/cuda/gemm/inputs.hpp"
#include "kernels/cuda/spin.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr int kHeuristics = 16;
constexpr std::uint64_t kLaunchNs = 5000;  // more than the host takes to launch a kernel
constexpr std::uint64_t kSeed = 1;
constexpr int kMostQueued = 200;  // launches that wait for the GPU

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

/// The product as an operation, for its layouts and inputs.
Gemm gemm_of(const Shape& shape, GemmInputs inputs) {
  return {.m = shape.m,
          .n = shape.n,
          .k = shape.k,
          .rows = {0, shape.m},
          .cols = {0, shape.n},
          .inputs = inputs,
          .output = GemmOutput::bf16,
          .seed = kSeed,
          .element = shape.element,
          .a_major = shape.a_major,
          .b_major = shape.b_major,
          .lda = shape.lda,
          .ldb = shape.ldb,
          .ldc = shape.ldc};
}

}  // namespace

void fill_product(const Product& product, GemmInputs inputs) {
  const LocalGemm& local = product.local;
  const cudaStream_t stream = product.stream.get();
  if (const Gemm gemm = gemm_of(product.shape, inputs); !is_plain(gemm)) {
    launch_general_fill(gemm, GemmOperand::a, local.a, stream);
    launch_general_fill(gemm, GemmOperand::b, local.b, stream);
  } else {
    const auto fill = [&](std::byte* to, std::uint64_t rows, GemmOperand operand) {
      launch_fill({.base = to, .pitch = local.pitch, .k = local.k, .rows = rows, .first_global = 0},
                  inputs, operand, kSeed, stream);
    };
    fill(local.a, local.m, GemmOperand::a);
    fill(local.b, local.n, GemmOperand::b);
  }
  cuda_check(cudaStreamSynchronize(stream), "make the inputs");
}

Product make_product(const Shape& shape, GemmInputs inputs) {
  const Gemm gemm = gemm_of(shape, inputs);
  if (const std::string_view refusal = layout_refusal(gemm); !refusal.empty())
    throw Error(std::string(refusal));
  Product product;
  product.shape = shape;
  const std::uint64_t pitch = layout_of(gemm, GemmOperand::a).pitch;
  const std::uint64_t b_pitch = layout_of(gemm, GemmOperand::b).pitch;
  const std::uint64_t size = element_bytes(shape.element);
  product.a = DeviceBuffer(layout_of(gemm, GemmOperand::a).rows * pitch * size);
  product.b = DeviceBuffer(layout_of(gemm, GemmOperand::b).rows * b_pitch * size);
  product.c = DeviceBuffer(shape.m * c_row_pitch(gemm));
  product.workspace = DeviceBuffer(kWorkspaceBytes);
  product.timed_out = DeviceBuffer(sizeof(std::uint32_t));
  product.local = {.a = product.a.data(),
                   .b = product.b.data(),
                   .c = product.c.data(),
                   .pitch = pitch,
                   .ldc = c_row_pitch(gemm) / 2,
                   .m = shape.m,
                   .n = shape.n,
                   .k = shape.k,
                   .output = GemmOutput::bf16,
                   .element = shape.element,
                   .a_major = shape.a_major,
                   .b_major = shape.b_major,
                   .b_pitch = b_pitch};
  product.packed = DeviceBuffer(engine_workspace_bytes(product.local));
  product.local.workspace = product.packed.data();
  fill_product(product, inputs);
  cuda_check(
      cudaMemsetAsync(product.timed_out.data(), 0, product.timed_out.size(), product.stream.get()),
      "clear the time-out word");
  cuda_check(cudaStreamSynchronize(product.stream.get()), "make the inputs");
  return product;
}

double time_of(const Product& product, int launches, const std::function<void()>& launch) {
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  // Launches pile up behind it: short kernels would otherwise be timed at the speed of the host.
  launch_spin(static_cast<std::uint64_t>(std::min(launches, kMostQueued)) * kLaunchNs,
              product.stream.get());
  cuda_check(cudaEventRecord(began.get(), product.stream.get()), "record a start");
  for (int i = 0; i < launches; ++i) launch();
  cuda_check(cudaEventRecord(ended.get(), product.stream.get()), "record an end");
  cuda_check(cudaEventSynchronize(ended.get()), "wait for a sample");
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
  return double{milliseconds} * 1e6 / launches;
}

std::uint32_t take_timed_out(const Product& product) {
  std::uint32_t word = 0;
  cuda_check(cudaMemcpy(&word, product.timed_out.data(), sizeof(word), cudaMemcpyDeviceToHost),
             "read the time-out word");
  cuda_check(
      cudaMemsetAsync(product.timed_out.data(), 0, sizeof(word), product.stream.get()),
      "clear the time-out word");  // a stream of its own: the default one would not wait for it
  return word;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

Opponent::Opponent(const Product& product) : product_(product) {
  const LocalGemm& gemm = product.local;
  lt_check(cublasLtCreate(&handle_), "start");
  lt_check(cublasLtMatmulDescCreate(&product_desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
           "describe the product");
  describe(b_, GemmOperand::b);
  describe(a_, GemmOperand::a);
  layout(c_, CUDA_R_16BF, gemm.n, gemm.m, gemm.ldc);
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
  const LocalGemm& gemm = product_.local;
  lt_check(cublasLtMatmul(handle_, product_desc_, &alpha, gemm.b, b_, gemm.a, a_, &beta, gemm.c, c_,
                          gemm.c, c_, &found_.at(static_cast<std::size_t>(which)).algo,
                          product_.workspace.data(), kWorkspaceBytes, product_.stream.get()),
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
