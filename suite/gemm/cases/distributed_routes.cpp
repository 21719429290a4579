// All GPUs multiply normal numbers by every route that their panels can take: each product is bit
// for bit that of one GPU, and so all routes are alike.
#include <algorithm>
#include <cstddef>

#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall[] = {{130, 97, 263}, {260, 300, 72}};
constexpr GemmShape kCuda[] = {{2048, 2040, 2056}, {4096, 4096, 4096}};

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  RunContext by_one_route = context;
  // One GPU has no routes, and its product is what all are compared with.
  const std::size_t routes = std::max<std::size_t>(1, context.routes.size());
  for (std::size_t i = 0; i < routes; ++i) {
    if (!context.routes.empty()) by_one_route.routes = {context.routes[i]};
    const auto add = [&](const GemmShape& shape, GemmInputs inputs, GemmOutput output) {
      rows.emplace_back(distributed_gemm(
          {.m = shape.m, .n = shape.n, .k = shape.k, .inputs = inputs, .output = output},
          by_one_route));
    };
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
      for (const GemmShape& shape : kSmall) add(shape, GemmInputs::normal, output);
      if (context.device != DeviceKind::cuda) continue;
      for (const GemmShape& shape : kCuda) add(shape, GemmInputs::normal, output);
    }
    // By the kernels that gemm.distributed.route_speed times.
    const std::uint64_t edge = usual_edge(context.device);
    add({edge, edge, edge}, GemmInputs::small_integers, GemmOutput::bf16);
  }
  return rows;
}

const Register kCase{{
    .name = "gemm.distributed.routes",
    .claim = "a product over all GPUs has the same bits by every route that its panels can take, "
             "those of one GPU",
    .cites = "tidemark: K is never split, so each element is one sum in one order",
    .scope = CaseScope::all_gpus,
    .seconds = 4,
    .product = ProductUse::route,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
