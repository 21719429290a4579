// All GPUs share products that do not divide: fewer rows or columns than ranks, one k, primes. Some
// ranks own nothing and must neither wait for ever nor write.
#include <algorithm>

#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kShapes[] = {{1, 1, 1},       {1, 97, 264},  {89, 1, 72},    {2, 3, 1},
                                 {3, 5, 7},       {61, 59, 331}, {257, 129, 71}, {31, 300, 65},
                                 {127, 131, 137}, {16, 48, 2049}};
constexpr GemmShape kCuda[] = {{1021, 1031, 1033}, {1, 8191, 4096}, {4099, 2, 257}};

std::vector<Op> rows(const RunContext& context) {
  const std::uint64_t ranks = context.ranks;
  const std::uint64_t fewer = std::max<std::uint64_t>(1, ranks - 1);
  std::vector<Op> rows;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    const auto add = [&](const GemmShape& shape) {
      rows.emplace_back(distributed_gemm({.m = shape.m,
                                          .n = shape.n,
                                          .k = shape.k,
                                          .inputs = GemmInputs::small_integers,
                                          .output = output},
                                         context));
    };
    for (const GemmShape& shape : kShapes) add(shape);
    add({fewer, fewer, 8});
    add({16 * ranks + 1, 16 * ranks - 1, 9});
    if (context.device == DeviceKind::cuda)
      for (const GemmShape& shape : kCuda) add(shape);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.distributed.shapes",
    .claim = "a product over all GPUs is exact for every shape, also where ranks own nothing",
    .cites = "PTX ISA 9.0, 5.5: elements outside a tensor arrive as zero, so tails add nothing",
    .scope = CaseScope::all_gpus,
    .seconds = 3,
    .product = ProductUse::route,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
