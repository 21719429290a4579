// One GPU multiplies e4m3 and e5m2: integers with one right answer in every type of C, whatever
// lies between rows, elements that are no finite numbers, and normal numbers within the bound of
// sums of which the tensor cores keep 14 bits.
#include <cstddef>

#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

struct Scalars {
  float alpha, beta;
};

// One element; a tile of 64; tails of m, n and k; one stage of 128 k, a little more, and several.
constexpr GemmShape kSmall[] = {
    {1, 1, 1}, {64, 64, 64}, {65, 130, 72}, {20, 24, 128}, {33, 20, 521}};
constexpr GemmShape kCuda[] = {
    {128, 128, 128}, {257, 511, 1032}, {1000, 520, 200}, {300, 265, 139}, {129, 640, 2047}};
constexpr GemmShape kNormal = {33, 20, 521};
// Few enough for every element to be worked out.
constexpr GemmShape kNormalCuda = {260, 390, 1031};
constexpr GemmShape kLongSums = {20, 24, 2048};  // about 25000: the tensor core has 14 bits
constexpr Scalars kScalars[] = {{2, 0}, {1, 1}, {-0.5F, 3}, {0, -2}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

Gemm product(const GemmShape& shape, GemmElement element, GemmOutput output) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.output = output;
  gemm.element = element;
  return gemm;
}

/// Rows of A and B on 16 bytes further apart than they need be, those of C anywhere.
Gemm apart(Gemm gemm, std::uint64_t ldc_more) {
  gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 16;
  gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 48;
  gemm.ldc = gemm.cols.count + ldc_more;
  return gemm;
}

void add_scaled(std::vector<Op>& rows, GemmElement element, const GemmShape& shape) {
  std::size_t turn = 0;
  for (const Scalars& scalars : kScalars) {
    Gemm gemm = product(shape, element, kOutputs[turn++ % std::size(kOutputs)]);
    gemm.alpha = scalars.alpha;
    gemm.beta = scalars.beta;
    rows.emplace_back(gemm);
  }
}

/// A NaN in A; with e5m2 an infinity in B, too.
void add_planted(std::vector<Op>& rows, GemmElement element, const GemmShape& shape) {
  Gemm gemm = product(shape, element, GemmOutput::f32);
  gemm.planted = {{GemmOperand::a, shape.m / 2, shape.k - 1, NonFinite::nan}};
  if (element == GemmElement::e5m2)
    gemm.planted.push_back({GemmOperand::b, shape.n / 3, shape.k / 2, NonFinite::minus_infinity});
  rows.emplace_back(gemm);
}

void add_normal(std::vector<Op>& rows, GemmElement element, const GemmShape& shape) {
  for (const GemmOutput output : kOutputs) {
    Gemm gemm = product(shape, element, output);
    gemm.inputs = GemmInputs::normal;
    rows.emplace_back(gemm);
  }
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    for (const GemmOutput output : kOutputs) {
      for (const GemmShape& shape : kSmall) rows.emplace_back(product(shape, element, output));
      rows.emplace_back(apart(product(kSmall[2], element, output), 3));
      rows.emplace_back(apart(product(kSmall[4], element, output), 20));
      if (!on_gpu) continue;
      for (const GemmShape& shape : kCuda) rows.emplace_back(product(shape, element, output));
      rows.emplace_back(apart(product(kCuda[1], element, output), 0));
      rows.emplace_back(apart(product(kCuda[3], element, output), 7));
    }
    add_scaled(rows, element, kSmall[2]);
    add_planted(rows, element, kSmall[2]);
    add_normal(rows, element, kNormal);
    rows.emplace_back(product(kLongSums, element, GemmOutput::f32));
    std::get<Gemm>(rows.back()).inputs = GemmInputs::octal_digits;
    if (!on_gpu) continue;
    add_scaled(rows, element, kCuda[1]);
    add_planted(rows, element, kCuda[1]);
    add_normal(rows, element, kNormalCuda);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.fp8",
    .claim = "products of e4m3 and of e5m2 are exact in integers, rounded once where C is of 16 "
             "bits, and otherwise within the bound of sums that are promoted to fp32 every 128 k",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .e4m3 and .e5m2 products with .f32 accumulators; OCP "
             "8-bit Floating Point Specification 1.0, 5: E4M3 and E5M2",
    .seconds = 4,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
