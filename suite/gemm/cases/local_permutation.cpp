// One GPU multiplies by a matrix that has one 1 in each column: each element of C is one of A, and
// a wrong one says from where it came.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// One tile, less, more, tails each way; columns whose 1 would lie behind K are all zeros.
constexpr GemmShape kSmall[] = {{1, 1, 1},      {3, 61, 64},   {64, 64, 64},
                                {65, 130, 135}, {129, 71, 72}, {40, 200, 264}};
constexpr GemmShape kCuda[] = {
    {1024, 1024, 1024}, {1000, 2056, 4104}, {2047, 1031, 1033}, {257, 511, 512}};
constexpr GemmShape kNightly[] = {{4096, 4096, 4096}, {8192, 8184, 8200}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmElement element, Major a, Major b) {
    Gemm gemm = whole_product(shape, GemmInputs::permutation);
    gemm.output = element == GemmElement::bf16 ? GemmOutput::bf16 : GemmOutput::f16;
    gemm.element = element;
    gemm.a_major = a;
    gemm.b_major = b;
    rows.emplace_back(gemm);
  };
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn}) {
        for (const GemmShape& shape : kSmall) add(shape, element, a, b);
        if (context.device != DeviceKind::cuda) continue;
        for (const GemmShape& shape : kCuda) add(shape, element, a, b);
        if (context.level == Level::quick) continue;
        for (const GemmShape& shape : kNightly) add(shape, element, a, b);
      }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.permutation",
    .claim = "a product with a permutation puts each element of A in its place, bit for bit, "
             "whichever index of A and of B is contiguous",
    .cites = "PTX ISA 9.0, wgmma.mma_async: imm-trans-a and imm-trans-b for .f16 and .bf16; IEEE "
             "754-2019, 4.3: exact results are not rounded",
    .seconds = 6,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
