// What a timed product measures, and which products are timed.
#include "suite/gemm/gemm_metrics.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {

// Turns the timed samples of a matrix product into rates and milliseconds.

namespace {

constexpr std::uint64_t kCudaEdge = 8192;
constexpr std::uint64_t kVirtualEdge = 192;

Metric metric_of(const Gemm& gemm, const std::string& name, const std::string& unit) {
  const bool square = gemm.m == gemm.n && gemm.n == gemm.k;
  const bool usual = square && (gemm.m == kCudaEdge || gemm.m == kVirtualEdge);
  Metric metric;
  metric.name = usual    ? name
                : square ? fmt::format("{}_{}", name, gemm.m)
                         : fmt::format("{}_{}x{}x{}", name, gemm.m, gemm.n, gemm.k);
  metric.unit = unit;
  return metric;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_sample(Metric& metric, const TimedSample& sample, double value) {
  metric.values.push_back(value);
  metric.at_unix_s.push_back(sample.at_unix_s);
  metric.seconds.push_back(sample.total_ns * 1e-9);
}

}  // namespace

std::uint64_t usual_edge(DeviceKind device) {
  return device == DeviceKind::cuda ? kCudaEdge : kVirtualEdge;
}

Metric gemm_rate(const Gemm& gemm, const Measurement& measurement) {
  Metric metric = metric_of(gemm, "rate", "TFLOP/s");
  metric.higher_is_better = true;
  const double operations =
      2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  for (const TimedSample& sample : measurement.samples) {
    if (!(sample.total_ns > 0))
      throw Error(fmt::format("gemm: a sample took {} ns; the clock of the device does not run",
                              sample.total_ns));
    add_sample(metric, sample, operations / sample.total_ns * 1e-3);  // per ns: GFLOP/s
  }
  return metric;
}

Metric ladder_rate(const Gemm& gemm, const Measurement& measurement) {
  Metric metric = gemm_rate(gemm, measurement);
  metric.name = fmt::format("{}_{}", name_of(gemm.rung), gemm.m);
  return metric;
}

Gemm pitched_square(std::uint64_t edge, std::uint64_t more, GemmInputs inputs) {
  Gemm gemm = whole_product({edge, edge, edge}, inputs);
  gemm.output = GemmOutput::bf16;
  gemm.lda = edge + more;
  gemm.ldb = edge + more;
  gemm.ldc = edge + more;
  return gemm;
}

Metric pitch_rate(const Gemm& gemm, const Measurement& measurement) {
  Metric metric = gemm_rate(gemm, measurement);
  metric.name = fmt::format("ld_{}", gemm.lda);
  return metric;
}

Metric gemm_exchange(const Gemm& gemm, const Measurement& measurement) {
  Metric metric = metric_of(gemm, "exchange", "ms");
  metric.higher_is_better = false;
  for (const TimedSample& sample : measurement.samples)
    add_sample(metric, sample, sample.exchange_ns * 1e-6);
  return metric;
}

std::optional<Metric> gemm_efficiency(const Gemm& gemm, const Measurement& measurement) {
  Metric metric = metric_of(gemm, "efficiency", "ratio");
  metric.higher_is_better = true;
  for (const TimedSample& sample : measurement.samples) {
    if (!(sample.slowest_local_ns > 0 && sample.slowest_total_ns > 0)) return {};
    add_sample(metric, sample, sample.slowest_local_ns / sample.slowest_total_ns);
  }
  if (metric.values.empty()) return {};
  return metric;
}

std::string exchange_note(const Gemm& gemm, const Measurement& measurement) {
  std::vector<double> total, alone, waits, slower, behind;  // ns, sample by sample
  for (const TimedSample& sample : measurement.samples) {
    if (!(sample.slowest_local_ns > 0 && sample.slowest_total_ns > 0)) return {};
    total.push_back(sample.slowest_total_ns);
    alone.push_back(sample.slowest_local_ns);
    waits.push_back(sample.wait_ns);
    slower.push_back(sample.total_ns - sample.local_ns - sample.wait_ns);
    behind.push_back((sample.slowest_total_ns - sample.total_ns) -
                     (sample.slowest_local_ns - sample.local_ns));
  }
  if (total.empty()) return {};
  return fmt::format(
      "{} x {} x {} by {}: {:.1f} us, of which the product alone is {:.1f} us; here {:.1f} us wait "
      "for rows of others, {:.1f} us are lost beside or before the exchange, {:.1f} us to a slower "
      "rank (medians)",
      gemm.m, gemm.n, gemm.k, name_of(gemm.route), median_of(total) * 1e-3, median_of(alone) * 1e-3,
      median_of(waits) * 1e-3, median_of(slower) * 1e-3, median_of(behind) * 1e-3);
}

std::string digest_note(const Gemm& gemm, const RunResult& last) {
  if (last.digests.empty()) return {};
  return fmt::format("{} x {} x {} of seed 0x{:x}: digest of C 0x{:016x}", gemm.m, gemm.n, gemm.k,
                     gemm.seed,
                     std::accumulate(last.digests.begin(), last.digests.end(), std::uint64_t{0}));
}

// Given sizes, or squares.

std::vector<GemmShape> timed_products(const RunContext& context) {
  if (context.product.has_shape()) return {context.product.shape};
  const auto square = [](std::uint64_t edge) { return GemmShape{.m = edge, .n = edge, .k = edge}; };
  std::vector<GemmShape> products = {square(usual_edge(context.device))};
  if (context.device == DeviceKind::cuda && context.level != Level::quick)
    products.push_back(square(kNightlyEdge));
  return products;
}

}  // namespace tidemark
