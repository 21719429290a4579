// How fast each kernel of the GEMM ladder multiplies square matrices of normal numbers, bf16 in and
// out: where a fleet got slower, the first rung that did says by which feature of the chip.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint64_t kArticleEdge = 4096;  // of the published ladder that this one follows
constexpr std::uint64_t kVirtualEdge = 48;

void add(std::vector<Op>& rows, std::uint64_t edge) {
  for (const GemmRung rung : kGemmRungs) {
    Gemm gemm = whole_product({edge, edge, edge}, GemmInputs::normal);
    gemm.output = GemmOutput::bf16;
    gemm.rung = rung;
    rows.emplace_back(gemm);
  }
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

constexpr std::string_view kArticle =
    "bf16 on an H100, with pauses between kernels: "
    "cudaforfun.substack.com/p/outperforming-cublas-on-h100-a-worklog";

/// TFLOP/s at kArticleEdge where the published ladder has the same step. Its persistent kernel is
/// the one with barriers in PTX, which ours have on every rung.
double published(GemmRung rung) {
  switch (rung) {
    case GemmRung::thread_copy:
      return 32;
    case GemmRung::tma_wgmma:
      return 317;
    case GemmRung::ring:
      return 498;
    case GemmRung::wide_tile:
      return 610;
    case GemmRung::persistent:
      return 704;
    case GemmRung::multicast:
      return 734;
    case GemmRung::tma_store:
      return 764;
    case GemmRung::cp_async:
    case GemmRung::none:
      return 0;
  }
  return 0;
}

/// Of a metric of ladder_rate(): the rung below it at the same size.
MetricStep step(std::string_view metric) {
  const std::size_t edge = metric.rfind('_') + 1;
  const auto* const rung = std::find_if(
      std::begin(kGemmRungs), std::end(kGemmRungs),
      [&](GemmRung any) { return edge > 0 && name_of(any) == metric.substr(0, edge - 1); });
  if (rung == std::end(kGemmRungs)) return {};
  MetricStep made;
  if (rung != std::begin(kGemmRungs))
    made.over = fmt::format("{}_{}", name_of(rung[-1]), metric.substr(edge));
  if (metric.substr(edge) == fmt::to_string(kArticleEdge)) made.published = published(*rung);
  if (made.published != 0) made.published_by = kArticle;
  return made;
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
    .step = step,
}};

}  // namespace
}  // namespace tidemark::suite
