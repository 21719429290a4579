// One GPU multiplies small integers by alpha and adds beta times what C held: quarters and
// integers, so that every element has one right answer. Where beta is 0, C holds NaN.
#include <cstddef>

#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

struct Scalars {
  float alpha, beta;
};

// Nothing to sum, one element, less and more than a tile, rows that end off 16 bytes.
constexpr GemmShape kSmall[] = {{20, 24, 0}, {1, 1, 1}, {65, 67, 72}, {33, 130, 71}, {129, 8, 264}};
constexpr GemmShape kCuda[] = {{300, 520, 136}, {257, 511, 1032}, {1000, 1016, 200}};
constexpr Scalars kScalars[] = {{1, 0}, {2, 0},  {1, 1},     {-1, 2}, {0.5F, -3}, {0, 0},
                                {0, 1}, {0, -2}, {3, 0.25F}, {-4, 4}, {1, -1},    {0.25F, 1}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

void add(std::vector<Op>& rows, const GemmShape& shape, const Scalars& scalars, GemmOutput output) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.output = output;
  gemm.alpha = scalars.alpha;
  gemm.beta = scalars.beta;
  rows.emplace_back(gemm);
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;  // every pair of scalars with every output, shapes in turn
  for (const Scalars& scalars : kScalars)
    for (const GemmOutput output : kOutputs) {
      add(rows, kSmall[turn % std::size(kSmall)], scalars, output);
      if (context.device == DeviceKind::cuda)
        add(rows, kCuda[turn % std::size(kCuda)], scalars, output);
      ++turn;
    }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.blend",
    .claim = "alpha A B + beta C is exact in integers and quarters; with beta 0 the C that was "
             "there, all NaN, does not matter, with alpha or k 0 nothing is added",
    .cites =
        "Reference BLAS, xGEMM: when BETA is supplied as zero then C need not be set on input; "
        "IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 4,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
