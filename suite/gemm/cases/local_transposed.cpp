// One GPU multiplies small integers whose matrices are kept either way round: rows of k, or rows of
// m and n.
#include <cstddef>

#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// A whole swizzle span each way, one more and one less, tails in m, n and k, more k than a ring.
constexpr GemmShape kSmall[] = {
    {64, 64, 64}, {65, 130, 72}, {1, 40, 9}, {129, 67, 71}, {72, 24, 264}};
constexpr GemmShape kCuda[] = {
    {128, 256, 64}, {300, 520, 136}, {257, 511, 1031}, {1000, 1016, 200}, {2047, 520, 72}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;
  const auto add = [&](const GemmShape& shape, Major a, Major b, GemmElement element) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = kOutputs[turn % std::size(kOutputs)];
    gemm.element = element;
    gemm.a_major = a;
    gemm.b_major = b;
    gemm.beta = turn % 4 == 0 ? 1.0F : 0.0F;
    if (turn % 5 == 3) {  // parts of wider matrices, too
      gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 16;
      gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 8;
      gemm.ldc = c_row_pitch(gemm) / c_element_bytes(gemm.output) + 8;
    }
    if (turn % 5 == 4) {  // of which no row but the first starts on 16 bytes
      gemm.lda = layout_of(gemm, GemmOperand::a).elements | 1;
      gemm.ldb = layout_of(gemm, GemmOperand::b).elements | 1;
      gemm.ldc = gemm.cols.count | 1;
    }
    if (turn % 7 == 3) gemm.sm_budget = 3;  // on a few SMs: two, where blocks come in pairs
    rows.emplace_back(gemm);
    ++turn;
  };
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn}) {
        for (const GemmShape& shape : kSmall) add(shape, a, b, element);
        if (context.device != DeviceKind::cuda) continue;
        for (const GemmShape& shape : kCuda) add(shape, a, b, element);
      }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.transposed",
    .claim = "a product of small integers is exact whichever index of A and of B is contiguous",
    .cites = "PTX ISA 9.0, wgmma.mma_async: imm-trans-a and imm-trans-b for .f16 and .bf16",
    .seconds = 4,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
