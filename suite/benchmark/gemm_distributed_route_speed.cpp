// How fast all GPUs together multiply by each route that their panels can take.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  RunContext by_one_route = context;
  const std::uint64_t edge = usual_edge(context.device);
  for (const PanelRoute route : context.routes) {
    by_one_route.routes = {route};
    rows.emplace_back(distributed_gemm(
        {.m = edge, .n = edge, .k = edge, .inputs = GemmInputs::normal, .output = GemmOutput::bf16},
        by_one_route));
  }
  return rows;
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  const Gemm& gemm = std::get<Gemm>(op);
  std::vector<Metric> metrics = {gemm_rate(gemm, measurement)};
  if (std::optional<Metric> efficiency = gemm_efficiency(gemm, measurement))
    metrics.push_back(std::move(*efficiency));
  for (Metric& metric : metrics) metric.name += "_" + std::string(name_of(gemm.route));
  return metrics;
}

const Register kCase{{
    .name = "gemm.distributed.route_speed",
    .claim = "2 m n k / time of a square product over all GPUs by each route, exchange included",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .scope = CaseScope::all_gpus,
    .level = Level::nightly,
    .correct_by = "gemm.distributed.routes",
    .unit = "TFLOP/s",
    .seconds = 5,
    .product = ProductUse::route,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark::suite
