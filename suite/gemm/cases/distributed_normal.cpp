// All GPUs multiply normal numbers together: unlike small integers they use every bit of the
// multipliers, draw as much power as real work, and are right only within a bound.
#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall[] = {{192, 160, 264}, {130, 97, 263}, {70, 65, 1030}};
constexpr GemmShape kCuda[] = {{512, 512, 512}, {2048, 2040, 2056}, {4096, 4096, 4096}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    const auto add = [&](const GemmShape& shape) {
      rows.emplace_back(distributed_gemm({.m = shape.m,
                                          .n = shape.n,
                                          .k = shape.k,
                                          .inputs = GemmInputs::normal,
                                          .output = output},
                                         context));
    };
    for (const GemmShape& shape : kSmall) add(shape);
    if (context.device == DeviceKind::cuda)
      for (const GemmShape& shape : kCuda) add(shape);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.distributed.normal",
    .claim = "a product of normal numbers over all GPUs differs from the exact one by no more than "
             "fp32 sums and one rounding of the output explain",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; cvt.rn.bf16.f32",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .product = ProductUse::route,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
