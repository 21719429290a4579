// How fast all GPUs together multiply matrices of normal numbers, bf16 in and out, from a common
// barrier until C is done.
#include <optional>
#include <utility>
#include <vector>

#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const GemmShape& shape : timed_products(context))
    rows.emplace_back(distributed_gemm({.m = shape.m,
                                        .n = shape.n,
                                        .k = shape.k,
                                        .inputs = GemmInputs::normal,
                                        .output = GemmOutput::bf16},
                                       context));
  return rows;
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  const Gemm& gemm = std::get<Gemm>(op);
  std::vector<Metric> metrics = {gemm_rate(gemm, measurement), gemm_exchange(gemm, measurement)};
  if (std::optional<Metric> efficiency = gemm_efficiency(gemm, measurement))
    metrics.push_back(std::move(*efficiency));
  return metrics;
}

const Register kCase{{
    .name = "gemm.distributed.speed",
    .claim = "2 m n k / time of a square product over all GPUs, exchange included",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .scope = CaseScope::all_gpus,
    .correct_by = "gemm.distributed.integer",
    .unit = "TFLOP/s",
    .seconds = 8,
    .product = ProductUse::sizes,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark::suite
