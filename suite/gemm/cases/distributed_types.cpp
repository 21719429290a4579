// All GPUs multiply fp16 and fp8 together, into every type of C, with alpha and beta: panels of one
// byte an element, and kernels that the plain product does not use.
#include <cstddef>

#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

struct Scalars {
  float alpha, beta;
};

constexpr GemmShape kSmall[] = {{130, 97, 264}, {72, 70, 521}, {5, 200, 31}};
constexpr GemmShape kCuda[] = {{2048, 1032, 2040}, {1021, 1031, 1033}, {4096, 512, 4096}};
constexpr GemmElement kElements[] = {GemmElement::f16, GemmElement::e4m3, GemmElement::e5m2,
                                     GemmElement::bf16};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};
constexpr Scalars kScalars[] = {{1, 0}, {2, 0}, {1, 1}, {-0.5F, 3}, {0, -2}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;  // every element with every output and pair of scalars, shapes in turn
  for (const GemmElement element : kElements)
    for (const GemmOutput output : kOutputs)
      for (const Scalars& scalars : kScalars) {
        const auto add = [&](const GemmShape& shape) {
          rows.emplace_back(distributed_gemm({.m = shape.m,
                                              .n = shape.n,
                                              .k = shape.k,
                                              .inputs = GemmInputs::small_integers,
                                              .output = output,
                                              .element = element,
                                              .alpha = scalars.alpha,
                                              .beta = scalars.beta},
                                             context));
        };
        add(kSmall[turn % std::size(kSmall)]);
        if (context.device == DeviceKind::cuda) add(kCuda[turn % std::size(kCuda)]);
        ++turn;
      }
  return rows;
}

const Register kCase{{
    .name = "gemm.distributed.types",
    .claim = "alpha A B + beta C over all GPUs is exact in integers and quarters, with A and B of "
             "fp16, e4m3, e5m2 and bf16, and every type of C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: products of fp16, e4m3 and e5m2; IEEE 754-2019, 4.3: "
             "exact results are not rounded",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .product = ProductUse::route,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
