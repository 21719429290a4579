// gemm_opponent [M N K]...: the ladder's top rung against the best of cuBLASLt's first 16
// heuristics, one after the other in one process, so that heat and clocks meet both alike. A
// program of its own: tidemark does not need cuBLASLt. Prints one line of JSON a shape.
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/inputs.hpp"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/gemm.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr int kHeuristics = 16;
constexpr int kLaunches = 20;  // of one sample
constexpr int kPairs = 9;
constexpr double kVoidAbove = 0.02;  // the opponent against its own second run

struct Shape {
  std::uint64_t m, n, k;
};

void lt_check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(fmt::format("cuBLASLt cannot {}: {}", what, cublasLtGetStatusString(status)));
}

/// The product in device memory, as LocalGemm has it: normal numbers, bf16 out.
struct Product {
  Stream stream;
  DeviceBuffer a, b, c, workspace, timed_out;
  LocalGemm local;
};

Product make_product(const Shape& shape) {
  Product product;
  const std::uint64_t pitch = (shape.k + 7) / 8 * 8;
  const std::uint64_t ldc = c_row_pitch(shape.n, GemmOutput::bf16) / 2;
  product.a = DeviceBuffer(shape.m * pitch * 2);
  product.b = DeviceBuffer(shape.n * pitch * 2);
  product.c = DeviceBuffer(shape.m * ldc * 2);
  product.workspace = DeviceBuffer(kWorkspaceBytes);
  product.timed_out = DeviceBuffer(sizeof(std::uint32_t));
  product.local = {.a = product.a.data(),
                   .b = product.b.data(),
                   .c = product.c.data(),
                   .pitch = pitch,
                   .ldc = ldc,
                   .m = shape.m,
                   .n = shape.n,
                   .k = shape.k,
                   .output = GemmOutput::bf16};
  const auto fill = [&](const DeviceBuffer& to, std::uint64_t rows, GemmOperand operand) {
    launch_fill({.base = to.data(), .pitch = pitch, .k = shape.k, .rows = rows, .first_global = 0},
                GemmInputs::normal, operand, 1, product.stream.get());
  };
  fill(product.a, shape.m, GemmOperand::a);
  fill(product.b, shape.n, GemmOperand::b);
  cuda_check(
      cudaMemsetAsync(product.timed_out.data(), 0, product.timed_out.size(), product.stream.get()),
      "clear the time-out word");
  cuda_check(cudaStreamSynchronize(product.stream.get()), "make the inputs");
  return product;
}

/// Nanoseconds of one launch, over kLaunches back to back.
double time_of(const Product& product, const std::function<void()>& launch) {
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  cuda_check(cudaEventRecord(began.get(), product.stream.get()), "record a start");
  for (int i = 0; i < kLaunches; ++i) launch();
  cuda_check(cudaEventRecord(ended.get(), product.stream.get()), "record an end");
  cuda_check(cudaEventSynchronize(ended.get()), "wait for a sample");
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
  return double{milliseconds} * 1e6 / kLaunches;
}

/// cuBLASLt's view: column-major C^T[n, m] = op(B)[n, k] A^T[k, m], both operands with k first
/// (TN), in the memory that the rung reads.
class Opponent {
 public:
  explicit Opponent(const Product& product) : product_(product) {
    const LocalGemm& gemm = product.local;
    lt_check(cublasLtCreate(&handle_), "start");
    lt_check(cublasLtMatmulDescCreate(&product_desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
             "describe the product");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    lt_check(cublasLtMatmulDescSetAttribute(product_desc_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                            sizeof(transposed)),
             "transpose B");
    layout(b_, gemm.k, gemm.n, gemm.pitch);
    layout(a_, gemm.k, gemm.m, gemm.pitch);
    layout(c_, gemm.n, gemm.m, gemm.ldc);
    find_algorithms();
  }
  Opponent(const Opponent&) = delete;
  Opponent& operator=(const Opponent&) = delete;
  ~Opponent() {
    for (cublasLtMatrixLayout_t which : {a_, b_, c_}) cublasLtMatrixLayoutDestroy(which);
    cublasLtMatmulDescDestroy(product_desc_);
    cublasLtDestroy(handle_);
  }

  int algorithms() const { return static_cast<int>(found_.size()); }

  void launch(int which) const {
    const float alpha = 1;
    const float beta = 0;
    const LocalGemm& gemm = product_.local;
    lt_check(cublasLtMatmul(handle_, product_desc_, &alpha, gemm.b, b_, gemm.a, a_, &beta, gemm.c,
                            c_, gemm.c, c_, &found_.at(static_cast<std::size_t>(which)).algo,
                            product_.workspace.data(), kWorkspaceBytes, product_.stream.get()),
             "multiply");
  }

 private:
  static void layout(cublasLtMatrixLayout_t& into, std::uint64_t rows, std::uint64_t columns,
                     std::uint64_t leading) {
    lt_check(cublasLtMatrixLayoutCreate(&into, CUDA_R_16BF, rows, columns,
                                        static_cast<std::int64_t>(leading)),
             "describe a matrix");
  }

  void find_algorithms() {
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

  const Product& product_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

void compare(const Shape& shape) {
  const Product product = make_product(shape);
  const Opponent opponent(product);
  const ReadyRung rung = prepare_rung(GemmRung::tma_store, product.local);
  if (rung.code != CUDA_SUCCESS) throw Error("the tensor maps of the top rung were refused");
  const auto ours = [&] {
    launch_rung(rung, product.timed_out.as<std::uint32_t>(), product.stream.get());
  };
  std::vector<double> tried;  // hot: the choice is made in the state that is then measured
  for (int i = 0; i < opponent.algorithms(); ++i) {
    const auto launch = [&] { opponent.launch(i); };
    (void)time_of(product, launch);
    tried.push_back(time_of(product, launch));
  }
  const auto best = static_cast<int>(std::min_element(tried.begin(), tried.end()) - tried.begin());
  const auto theirs = [&] { opponent.launch(best); };
  std::vector<double> our_ns, their_ns, again_ns, ratios;
  (void)time_of(product, ours);
  for (int pair = 0; pair < kPairs; ++pair) {
    their_ns.push_back(time_of(product, theirs));
    our_ns.push_back(time_of(product, ours));
    again_ns.push_back(time_of(product, theirs));
    ratios.push_back((their_ns.back() + again_ns.back()) / 2 / our_ns.back());
  }
  std::uint32_t timed_out = 0;
  cuda_check(
      cudaMemcpy(&timed_out, product.timed_out.data(), sizeof(timed_out), cudaMemcpyDeviceToHost),
      "read the time-out word");
  if (timed_out != 0) throw Error("a wait inside the top rung ended by its bound: no figure");
  const double operations = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                            static_cast<double>(shape.k) * 1e-3;
  const double drift = std::abs(median(again_ns) / median(their_ns) - 1);
  fmt::print(
      "{{\"m\": {}, \"n\": {}, \"k\": {}, \"tma_store\": {:.1f}, \"cublaslt_best\": {:.1f}, "
      "\"cublaslt_first\": {:.1f}, \"ratio\": {:.4f}, \"heuristics\": {}, \"best\": {}, "
      "\"drift\": {:.4f}, \"void\": {}}}\n",
      shape.m, shape.n, shape.k, operations / median(our_ns), operations / median(their_ns),
      operations / tried.front(), median(ratios), opponent.algorithms(), best, drift,
      drift > kVoidAbove);
  std::fflush(stdout);
}

std::uint64_t size_of(const char* text) {
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value == 0)
    throw Error(fmt::format("'{}' is no size: give M N K, each at least 1", text));
  return value;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  using tidemark::Shape;
  try {
    std::vector<Shape> shapes;
    if (argc % 3 != 1) throw tidemark::Error("sizes come in threes: gemm_opponent [M N K]...");
    for (int i = 1; i < argc; i += 3)
      shapes.push_back({tidemark::size_of(argv[i]), tidemark::size_of(argv[i + 1]),
                        tidemark::size_of(argv[i + 2])});
    if (shapes.empty())
      shapes = {{2048, 2048, 2048}, {4096, 4096, 4096},    {6144, 6144, 6144},
                {8192, 8192, 8192}, {16384, 16384, 16384}, {8191, 8185, 8184}};
    for (const Shape& shape : shapes) tidemark::compare(shape);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_opponent: {}\n", error.what());
    return 2;
  }
  return 0;
}
