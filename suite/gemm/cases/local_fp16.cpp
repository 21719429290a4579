// One GPU multiplies fp16: integers with one right answer in every type of C, and normal numbers
// within the rounding of their sums.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall[] = {{1, 1, 1}, {64, 64, 64}, {65, 130, 72}, {33, 20, 1031}};
// The last one has tiles enough for stream-K.
constexpr GemmShape kCuda[] = {{257, 511, 1032}, {1000, 520, 200}, {2560, 2400, 1032}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmOutput output, GemmInputs inputs, float alpha,
                       float beta) {
    Gemm gemm = whole_product(shape, inputs);
    gemm.output = output;
    gemm.element = GemmElement::f16;
    gemm.alpha = alpha;
    gemm.beta = beta;
    rows.emplace_back(gemm);
  };
  for (const GemmOutput output : kOutputs) {
    for (const GemmShape& shape : kSmall) add(shape, output, GemmInputs::small_integers, 1, 0);
    add(kSmall[2], output, GemmInputs::small_integers, -2, 3);
    add(kSmall[2], output, GemmInputs::normal, 1, 0);
    add(kSmall[3], output, GemmInputs::normal, 0.75F, -1.5F);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kCuda) add(shape, output, GemmInputs::small_integers, 1, 0);
    add(kCuda[0], output, GemmInputs::normal, 1, 0);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.fp16",
    .claim = "products of fp16 are exact in integers, rounded once where C is of 16 bits, and "
             "within the rounding of fp32 sums otherwise",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .f16 products with .f32 accumulators; IEEE 754-2019, "
             "3.6: binary16",
    .seconds = 3,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
