// How fast each kernel of the GEMM ladder multiplies square matrices of normal numbers, bf16 in and
// out: where a fleet got slower, the first rung that did says by which feature of the chip.
#include <fmt/format.h>

#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kArticleEdge = 4096;  // of the published ladder that this one follows
constexpr std::uint64_t kVirtualEdge = 48;

void add(std::vector<Op>& rows, std::uint64_t edge) {
  for (const GemmRung rung : kGemmRungs)
    rows.emplace_back(Gemm{.m = edge,
                           .n = edge,
                           .k = edge,
                           .rows = {0, edge},
                           .cols = {0, edge},
                           .inputs = GemmInputs::normal,
                           .output = GemmOutput::bf16,
                           .rung = rung});
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  // The virtual device has no rungs: its rows show that the case works, not what anything costs.
  if (context.device == DeviceKind::virtual_device) {
    add(rows, kVirtualEdge);
    return rows;
  }
  add(rows, kArticleEdge);
  add(rows, usual_edge(context.device));
  return rows;
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  return {ladder_rate(std::get<Gemm>(op), measurement)};
}

const Register kCase{{
    .name = "gemm.ladder",
    .claim = "2 m n k / time of a square product on one GPU by each kernel of the ladder",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .level = Level::nightly,
    .correct_by = "gemm.local.ladder",
    .unit = "TFLOP/s",
    .seconds = 60,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark
