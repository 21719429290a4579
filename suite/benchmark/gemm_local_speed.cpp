// How fast one GPU multiplies square matrices of normal numbers, bf16 in and out.
#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  const std::uint64_t edge = usual_edge(context.device);
  Gemm gemm = whole_product({edge, edge, edge}, GemmInputs::normal);
  gemm.output = GemmOutput::bf16;
  return {gemm};
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  return {gemm_rate(std::get<Gemm>(op), measurement)};
}

const Register kCase{{
    .name = "gemm.local.speed",
    .claim = "2 m n k / time of a square product on one GPU",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .correct_by = "gemm.local.integer",
    .unit = "TFLOP/s",
    .seconds = 5,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark::suite
