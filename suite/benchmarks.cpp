// How fast GPUs multiply matrices (one alone, all together, and the rungs of the ladder), and how
// long a warp takes to read a tile.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"
#include "suite/gemm/gemm_metrics.hpp"
#include "suite/gemm/grid.hpp"

namespace tidemark {
namespace {

// How fast all GPUs together multiply by each route that their panels can take.
std::vector<Op> distributed_route_speed_rows(const RunContext& context) {
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

std::vector<Metric> distributed_route_speed_metrics(const Op& op, const Measurement& measurement) {
  const Gemm& gemm = std::get<Gemm>(op);
  std::vector<Metric> metrics = {gemm_rate(gemm, measurement)};
  if (std::optional<Metric> efficiency = gemm_efficiency(gemm, measurement))
    metrics.push_back(std::move(*efficiency));
  for (Metric& metric : metrics) metric.name += "_" + std::string(name_of(gemm.route));
  return metrics;
}

const Register kDistributedRouteSpeed{{
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
    .rows = distributed_route_speed_rows,
    .metrics = distributed_route_speed_metrics,
}};

// How fast all GPUs together multiply matrices of normal numbers, bf16 in and out, from a common
// barrier until C is done.
std::vector<Op> distributed_speed_rows(const RunContext& context) {
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

std::vector<Metric> distributed_speed_metrics(const Op& op, const Measurement& measurement) {
  const Gemm& gemm = std::get<Gemm>(op);
  std::vector<Metric> metrics = {gemm_rate(gemm, measurement), gemm_exchange(gemm, measurement)};
  if (std::optional<Metric> efficiency = gemm_efficiency(gemm, measurement))
    metrics.push_back(std::move(*efficiency));
  return metrics;
}

const Register kDistributedSpeed{{
    .name = "gemm.distributed.speed",
    .claim = "2 m n k / time of a square product over all GPUs, exchange included",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .scope = CaseScope::all_gpus,
    .correct_by = "gemm.distributed.integer",
    .unit = "TFLOP/s",
    .seconds = 8,
    .product = ProductUse::sizes,
    .rows = distributed_speed_rows,
    .metrics = distributed_speed_metrics,
}};

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

// How fast each kernel of the GEMM ladder multiplies square matrices of normal numbers, bf16 in and
// out: where a fleet got slower, the first rung that did says by which feature of the chip.
std::vector<Op> ladder_rows(const RunContext& context) {
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

std::vector<Metric> ladder_metrics(const Op& op, const Measurement& measurement) {
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

const Register kLadder{{
    .name = "gemm.ladder",
    .claim = "2 m n k / time of a square product on one GPU by each kernel of the ladder",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .level = Level::nightly,
    .correct_by = "gemm.local.ladder",
    .unit = "TFLOP/s",
    .seconds = 60,
    .rows = ladder_rows,
    .metrics = ladder_metrics,
    .step = step,
}};

// How fast one GPU multiplies square matrices of normal numbers rounded to e4m3, bf16 out, with
// sums that are promoted to fp32.
std::vector<Op> local_fp8_speed_rows(const RunContext& context) {
  const std::uint64_t edge = usual_edge(context.device);
  Gemm gemm = whole_product({edge, edge, edge}, GemmInputs::normal);
  gemm.output = GemmOutput::bf16;
  gemm.element = GemmElement::e4m3;
  return {gemm};
}

std::vector<Metric> local_fp8_speed_metrics(const Op& op, const Measurement& measurement) {
  return {gemm_rate(std::get<Gemm>(op), measurement)};
}

const Register kLocalFp8Speed{{
    .name = "gemm.local.fp8_speed",
    .claim = "2 m n k / time of a square product of e4m3 on one GPU",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .level = Level::nightly,
    .correct_by = "gemm.local.fp8_sums",
    .unit = "TFLOP/s",
    .seconds = 5,
    .rows = local_fp8_speed_rows,
    .metrics = local_fp8_speed_metrics,
}};

// How fast one GPU multiplies square matrices whose rows do not start on lines of L2: off 16 bytes,
// where A and B are packed and C is stored row by row, and on 16 bytes.
std::vector<Op> local_pitch_speed_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const std::uint64_t more : kPitchesTimed)
    rows.emplace_back(pitched_square(usual_edge(context.device), more, GemmInputs::normal));
  return rows;
}

std::vector<Metric> local_pitch_speed_metrics(const Op& op, const Measurement& measurement) {
  return {pitch_rate(std::get<Gemm>(op), measurement)};
}

const Register kLocalPitchSpeed{{
    .name = "gemm.local.pitch_speed",
    .claim = "2 m n k / time of a square product on one GPU whose rows lie apart",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .level = Level::nightly,
    .correct_by = "gemm.local.pitch",
    .unit = "TFLOP/s",
    .seconds = 10,
    .rows = local_pitch_speed_rows,
    .metrics = local_pitch_speed_metrics,
}};

// How fast one GPU multiplies square matrices of normal numbers, bf16 in and out.
std::vector<Op> local_speed_rows(const RunContext& context) {
  const std::uint64_t edge = usual_edge(context.device);
  Gemm gemm = whole_product({edge, edge, edge}, GemmInputs::normal);
  gemm.output = GemmOutput::bf16;
  return {gemm};
}

std::vector<Metric> local_speed_metrics(const Op& op, const Measurement& measurement) {
  return {gemm_rate(std::get<Gemm>(op), measurement)};
}

const Register kLocalSpeed{{
    .name = "gemm.local.speed",
    .claim = "2 m n k / time of a square product on one GPU",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .correct_by = "gemm.local.integer",
    .unit = "TFLOP/s",
    .seconds = 5,
    .rows = local_speed_rows,
    .metrics = local_speed_metrics,
}};

// How long a warp takes to read a column of a tile: each swizzle at its own width, tiles without a
// swizzle, and the 16 x 16 chunks that conflict until they are split into 16 x 8 groups.

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128})
    rows.emplace_back(atom_read(DataType::bf16, swizzle, 0, 16, 2));
  for (const std::uint32_t row_bytes : {32U, 64U, 128U})
    rows.emplace_back(atom_read(DataType::bf16, Swizzle::none, row_bytes, 16, 2));
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128}) {
    TileRead whole = atom_read(DataType::bf16, swizzle, 128, 16, 2);
    whole.placement = TilePlacement::unsplit;
    rows.emplace_back(whole);
  }
  return rows;
}

std::string layout_of(const TileRead& read) {
  const std::uint32_t swizzle = swizzle_bytes(read.load.map.swizzle);
  const std::uint32_t pitch = group_row_bytes(read.load.map) *
                              (read.placement == TilePlacement::unsplit ? read.load.map.box[2] : 1);
  return fmt::format("pitch{}_swizzle{}_predicted{}", pitch, swizzle, predicted_wavefronts(read));
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  Metric metric;
  metric.name = layout_of(std::get<TileRead>(op));
  metric.unit = "cycles";
  metric.higher_is_better = false;
  for (const TimedSample& sample : measurement.samples) {
    metric.values.push_back(sample.cycles);
    metric.at_unix_s.push_back(sample.at_unix_s);
    metric.seconds.push_back(sample.total_ns * 1e-9);
  }
  return {metric};
}

const Register kCase{{
    .name = "load.atom3d.bank_conflicts",
    .claim = "cycles that shared memory needs for one warp to read a column of 16-byte chunks; "
             "'predicted' in a layout's name is how many it would need by its addresses alone",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .correct_by = "load.atom3d.unsplit",
    .unit = "cycles",
    .higher_is_better = false,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace

}  // namespace tidemark
