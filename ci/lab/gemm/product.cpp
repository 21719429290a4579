// Memory, inputs and the clock of a tuning run.
#include "ci/lab/gemm/product.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/reference.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kLaunchNs = 5000;  // more than the host takes to launch a kernel
constexpr std::uint64_t kSeed = 1;
constexpr int kMostQueued = 200;  // launches that wait for the GPU
/// Copies of a product take about this many times L2 together, so that what one launch has read is
/// gone when its turn comes again.
constexpr std::uint64_t kTimesL2 = 3;
constexpr std::uint64_t kMostCopies = 50;
constexpr std::uint64_t kCopyAlignment = 1024;

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kCopyAlignment - 1) / kCopyAlignment * kCopyAlignment;
}

std::uint64_t l2_bytes() {
  int device = 0;
  int bytes = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "ask for L2's size");
  return static_cast<std::uint64_t>(bytes);
}

/// The product as an operation, for its layouts and inputs.
Gemm gemm_of(const Shape& shape, GemmInputs inputs) {
  Gemm gemm = whole_product({shape.m, shape.n, shape.k}, inputs);
  gemm.output = output_of(shape.element);
  gemm.seed = kSeed;
  gemm.element = shape.element;
  gemm.a_major = shape.a_major;
  gemm.b_major = shape.b_major;
  gemm.lda = shape.lda;
  gemm.ldb = shape.ldb;
  gemm.ldc = shape.ldc;
  return gemm;
}

}  // namespace

LocalGemm Product::copy(std::uint64_t which) const {
  LocalGemm at = local;
  at.a += which * (a.size() / copies);
  at.b += which * (b.size() / copies);
  at.c += which * (c.size() / copies);
  return at;
}

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
  for (std::uint64_t i = 1; i < product.copies; ++i) {
    const LocalGemm copy = product.copy(i);
    for (const auto& [to, from, bytes] :
         {std::tuple(copy.a, local.a, product.a.size() / product.copies),
          std::tuple(copy.b, local.b, product.b.size() / product.copies)})
      cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
                 "copy the inputs");
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
  const std::uint64_t a_bytes = aligned(layout_of(gemm, GemmOperand::a).rows * pitch * size);
  const std::uint64_t b_bytes = aligned(layout_of(gemm, GemmOperand::b).rows * b_pitch * size);
  const std::uint64_t c_bytes = aligned(shape.m * c_row_pitch(gemm));
  product.copies = std::clamp(kTimesL2 * l2_bytes() / (a_bytes + b_bytes + c_bytes),
                              std::uint64_t{1}, kMostCopies);
  product.a = DeviceBuffer(product.copies * a_bytes);
  product.b = DeviceBuffer(product.copies * b_bytes);
  product.c = DeviceBuffer(product.copies * c_bytes);
  product.words = EngineWords(product.stream.get());
  product.local = {.a = product.a.data(),
                   .b = product.b.data(),
                   .c = product.c.data(),
                   .pitch = pitch,
                   .ldc = c_row_pitch(gemm) / 2,
                   .m = shape.m,
                   .n = shape.n,
                   .k = shape.k,
                   .output = gemm.output,
                   .element = shape.element,
                   .a_major = shape.a_major,
                   .b_major = shape.b_major,
                   .b_pitch = b_pitch};
  product.packed = DeviceBuffer(engine_workspace_bytes(product.local));
  product.local.workspace = product.packed.data();
  fill_product(product, inputs);
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
  cuda_check(cudaMemcpy(&word, product.words.data(), sizeof(word), cudaMemcpyDeviceToHost),
             "read the time-out word");
  // On a stream of its own: the default one would not wait for it.
  if (word != 0) product.words.clear(product.stream.get());
  return word;
}

}  // namespace tidemark
