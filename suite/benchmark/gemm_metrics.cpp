// Turns the timed samples of a matrix product into rates and milliseconds.
#include "suite/benchmark/gemm_metrics.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::suite {
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

std::optional<Metric> gemm_wait(const Gemm& gemm, const Measurement& measurement) {
  Metric metric = metric_of(gemm, "wait", "ms");
  metric.higher_is_better = false;
  bool waited = false;
  for (const TimedSample& sample : measurement.samples) {
    add_sample(metric, sample, sample.wait_ns * 1e-6);
    waited |= sample.wait_ns > 0;
  }
  if (!waited) return {};
  return metric;
}

}  // namespace tidemark::suite
