// Given sizes, or squares.
#include "suite/benchmark/timed_products.hpp"

#include "suite/benchmark/gemm_metrics.hpp"

namespace tidemark::suite {

std::vector<GemmShape> timed_products(const RunContext& context) {
  if (context.product.has_shape()) return {context.product.shape};
  const auto square = [](std::uint64_t edge) { return GemmShape{.m = edge, .n = edge, .k = edge}; };
  std::vector<GemmShape> products = {square(usual_edge(context.device))};
  if (context.device == DeviceKind::cuda && context.level != Level::quick)
    products.push_back(square(kNightlyEdge));
  return products;
}

}  // namespace tidemark::suite
