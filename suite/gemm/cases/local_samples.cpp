// One GPU multiplies normal numbers of every type into every type. They use all bits of the
// multipliers, and are right within the rounding of their sums: small products are held against
// fp64 in every element, large ones in blocks drawn from the seed, by Freivalds' check and against
// the GPU's other engine.
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

// Less than a tile and more, tails of k, more k than a ring.
constexpr GemmShape kSmall[] = {{1, 1, 1}, {65, 130, 72}, {130, 66, 264}, {33, 20, 2047}};
constexpr GemmShape kCuda[] = {{1024, 1032, 4096}, {2047, 1025, 1031}};
constexpr GemmShape kNightly[] = {{2048, 2056, 4104}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const GemmOutput output : kOutputs) {
      const auto add = [&](const GemmShape& shape) {
        Gemm gemm = whole_product(shape, GemmInputs::normal);
        gemm.output = output;
        gemm.element = element;
        rows.emplace_back(gemm);
      };
      for (const GemmShape& shape : kSmall) add(shape);
      if (!on_gpu) continue;
      for (const GemmShape& shape : kCuda) add(shape);
      if (context.level == Level::quick) continue;
      for (const GemmShape& shape : kNightly) add(shape);
    }
  return rows;
}

const Register kCase{{
    .name = "gemm.local.samples",
    .claim =
        "sums of products of normal numbers are within the rounding of fp32 sums of their fp64 "
        "values, and rounded once where C is of 16 bits",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .f16 and .bf16 products are accumulated with at least "
             "single precision; cvt.rn.bf16.f32 and cvt.rn.f16.f32",
    .seconds = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
