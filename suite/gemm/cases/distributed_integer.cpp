// All GPUs multiply small integers together: the panels that arrive from other ranks must be the
// ones that belong there, complete, before the product reads them.
#include "suite/benchmark/timed_products.hpp"
#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

struct Shape {
  std::uint64_t m, n, k;
  GemmOutput output;
};

constexpr Shape kSmall[] = {{256, 192, 320, GemmOutput::f32},
                            {130, 97, 263, GemmOutput::f32},
                            {64, 64, 64, GemmOutput::bf16},
                            {72, 70, 4099, GemmOutput::bf16}};
constexpr Shape kCuda[] = {{2048, 2056, 2040, GemmOutput::f32},
                           {1024, 1000, 4096, GemmOutput::bf16},
                           {8192, 8200, 8184, GemmOutput::f32}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const Shape& shape) {
    rows.emplace_back(distributed_gemm({.m = shape.m,
                                        .n = shape.n,
                                        .k = shape.k,
                                        .inputs = GemmInputs::small_integers,
                                        .output = shape.output},
                                       context));
  };
  for (const Shape& shape : kSmall) add(shape);
  if (context.device == DeviceKind::cuda)
    for (const Shape& shape : kCuda) add(shape);
  // By the kernels that gemm.distributed.speed times.
  for (const GemmShape& shape : timed_products(context))
    if (context.device == DeviceKind::cuda || context.product.has_shape())
      add({shape.m, shape.n, shape.k, GemmOutput::bf16});
  return rows;
}

const Register kCase{{
    .name = "gemm.distributed.integer",
    .claim = "a product of integers from -3 to 3 over all GPUs is exact in every element",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .scope = CaseScope::all_gpus,
    .seconds = 5,
    .product = ProductUse::sizes,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
