// Holds a configuration against the reference engine.
#include "ci/lab/gemm/exact.hpp"

#include <fmt/core.h>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/reference.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kBytesOfC = 2;  // an element of bf16 or f16

std::uint64_t c_elements(const Product& product) { return product.local.m * product.local.ldc; }

}  // namespace

std::string differs(const Product& product, const ReadyEngine& ready, const std::byte* expected) {
  const cudaStream_t stream = product.stream.get();
  const std::uint64_t bytes = c_elements(product) * kBytesOfC;
  cuda_check(cudaMemsetAsync(product.local.c, 0xff, bytes, stream), "poison C");
  // Else rows that it does not wait for would be there from another configuration.
  if (product.packed.size() != 0)
    cuda_check(cudaMemsetAsync(product.packed.data(), 0xff, product.packed.size(), stream),
               "poison the workspace");
  start_engine(ready, product.words, stream);
  cuda_check(cudaStreamSynchronize(stream), "wait for a configuration");
  if (take_timed_out(product) != 0) return "a wait inside the kernel ended by its bound";
  const std::uint64_t wrong =
      count_differences(product.c.data(), expected, c_elements(product), stream);
  if (wrong != 0) return fmt::format("{} of {} elements are wrong", wrong, c_elements(product));
  return {};
}

GemmInputs integers_for(GemmElement element) {
  return is_fp8(element) ? GemmInputs::octal_digits : GemmInputs::small_integers;
}

// It knows nothing of pitches, orders and fp8: it multiplies the same numbers in K-major rows of
// bf16 on 16 bytes, or of f16 where C is.
DeviceBuffer expected_integers(const Product& product) {
  const cudaStream_t stream = product.stream.get();
  const LocalGemm& local = product.local;
  DeviceBuffer expected(c_elements(product) * kBytesOfC);
  cuda_check(cudaMemsetAsync(expected.data(), 0xff, expected.size(), stream),
             "poison the reference");
  const Shape& shape = product.shape;
  Shape plain{.m = shape.m, .n = shape.n, .k = shape.k};
  const bool f16 = shape.element == GemmElement::f16;
  if (f16) plain.element = GemmElement::f16;
  const Product packed = make_product(plain, integers_for(shape.element));
  if (f16)
    launch_general_reference(packed.local, stream);
  else
    launch_reference(packed.local, stream);
  cuda_check(cudaMemcpy2DAsync(expected.data(), local.ldc * 2, packed.local.c, packed.local.ldc * 2,
                               local.n * 2, local.m, cudaMemcpyDeviceToDevice, stream),
             "take over what the reference engine made");
  cuda_check(cudaStreamSynchronize(stream), "wait for the reference engine");
  return expected;
}

}  // namespace tidemark
