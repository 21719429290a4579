// One GPU multiplies matrices that are parts of wider ones: what lies between their rows is NaN, is
// not read, and stays as it is in C.
#include <cstddef>

#include "suite/case.hpp"

namespace tidemark {
namespace {

struct Shape {
  std::uint64_t m, n, k;
};

constexpr Shape kSmall[] = {{3, 5, 7}, {64, 64, 64}, {65, 66, 72}, {34, 130, 71}, {24, 9, 0}};
constexpr Shape kCuda[] = {{257, 511, 1031}, {1000, 520, 200}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;
  const auto add = [&](const Shape& shape, Major major) {
    Gemm gemm{.m = shape.m,
              .n = shape.n,
              .k = shape.k,
              .rows = {0, shape.m},
              .cols = {0, shape.n},
              .inputs = GemmInputs::small_integers,
              .output = kOutputs[turn % std::size(kOutputs)],
              .element = turn % 2 == 0 ? GemmElement::bf16 : GemmElement::f16,
              .a_major = major,
              .b_major = turn % 3 == 0 ? major : Major::k,
              .alpha = turn % 5 == 0 ? 0.5F : 1.0F,
              .beta = turn % 4 == 0 ? 2.0F : 0.0F};
    gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 8;
    gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 40;
    gemm.ldc = c_row_pitch(gemm) / c_element_bytes(gemm.output) + 24;
    rows.emplace_back(gemm);
    ++turn;
  };
  for (const Major major : {Major::k, Major::mn}) {
    for (const Shape& shape : kSmall) add(shape, major);
    for (const Shape& shape : kSmall) add(shape, major);  // with the next types and scalars
    if (context.device != DeviceKind::cuda) continue;
    for (const Shape& shape : kCuda) add(shape, major);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.pitch",
    .claim = "rows of A, B and C may lie apart: what is between them is neither read nor written",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled: globalStrides; Reference BLAS, "
             "xGEMM: LDA, LDB, LDC",
    .seconds = 3,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark
