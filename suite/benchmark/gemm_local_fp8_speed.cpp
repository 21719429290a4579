// How fast one GPU multiplies square matrices of normal numbers rounded to e4m3, bf16 out, with
// sums that are promoted to fp32.
#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  const std::uint64_t edge = usual_edge(context.device);
  Gemm gemm = whole_product({edge, edge, edge}, GemmInputs::normal);
  gemm.output = GemmOutput::bf16;
  gemm.element = GemmElement::e4m3;
  return {gemm};
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  return {gemm_rate(std::get<Gemm>(op), measurement)};
}

const Register kCase{{
    .name = "gemm.local.fp8_speed",
    .claim = "2 m n k / time of a square product of e4m3 on one GPU",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .level = Level::nightly,
    .correct_by = "gemm.local.fp8_sums",
    .unit = "TFLOP/s",
    .seconds = 5,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark::suite
