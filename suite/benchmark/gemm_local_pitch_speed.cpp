// How fast one GPU multiplies square matrices whose rows do not start on lines of L2: off 16 bytes,
// where A and B are packed and C is stored row by row, and on 16 bytes.
#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const std::uint64_t more : kPitchesTimed)
    rows.emplace_back(pitched_square(usual_edge(context.device), more, GemmInputs::normal));
  return rows;
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  return {pitch_rate(std::get<Gemm>(op), measurement)};
}

const Register kCase{{
    .name = "gemm.local.pitch_speed",
    .claim = "2 m n k / time of a square product on one GPU whose rows lie apart",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .level = Level::nightly,
    .correct_by = "gemm.local.pitch",
    .unit = "TFLOP/s",
    .seconds = 10,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark::suite
