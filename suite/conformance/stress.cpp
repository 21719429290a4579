// Boxes at full rate on all SMs, every byte compared: faults that need load, or come once in a
// million boxes.
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/stress.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint64_t kHbmBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kL2Bytes = 24 << 20;  // half of what the L2 of an H100 holds

// Where nothing has a rate, the sizes have only to differ.
constexpr std::uint64_t virtual_bytes(std::uint64_t bytes) {
  return bytes > kL2Bytes ? 2 << 20 : 1 << 20;
}

using Boxes = std::pair<StressBoxes, std::uint64_t>;

std::vector<Op> rows(const RunContext& context, std::initializer_list<Boxes> all) {
  constexpr double kSeconds[] = {0.8, 10, 30};  // by level
  std::vector<Op> rows;
  for (const auto& [boxes, bytes] : all)
    rows.emplace_back(
        Stress{.boxes = boxes,
               .memory_bytes = context.device == DeviceKind::cuda ? bytes : virtual_bytes(bytes),
               .seconds = kSeconds[static_cast<std::size_t>(context.level)]});
  return rows;
}

Metric metric_of(const Measurement& measurement, std::string name, std::string unit,
                 double (*value)(const TimedSample&)) {
  Metric metric;
  metric.name = std::move(name);
  metric.unit = std::move(unit);
  for (const TimedSample& sample : measurement.samples) {
    metric.values.push_back(value(sample));
    metric.at_unix_s.push_back(sample.at_unix_s);
    metric.seconds.push_back(sample.total_ns * 1e-9);
  }
  return metric;
}

// None of the virtual device, which times nothing. Bulk copies stand beside what threads read of
// the same memory, and beside the latency of one load alone.
std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  if (measurement.samples.front().total_ns == 0) return {};
  const auto& stress = std::get<Stress>(op);
  const std::string memory = stress.memory_bytes > kL2Bytes ? "hbm" : "l2";
  std::vector<Metric> metrics{
      metric_of(measurement, fmt::format("{}_{}", name_of(stress.boxes), memory), "GB/s",
                [](const TimedSample& sample) { return sample.bytes / sample.total_ns; })};
  if (stress.boxes != StressBoxes::bulk) return metrics;
  metrics.push_back(
      metric_of(measurement, "plain_read_" + memory, "GB/s",
                [](const TimedSample& sample) { return sample.plain_bytes_per_s * 1e-9; }));
  if (memory == "hbm") return metrics;
  metrics.push_back(metric_of(measurement, "latency", "cycles",
                              [](const TimedSample& sample) { return sample.cycles; }));
  metrics.back().higher_is_better = false;
  return metrics;
}

std::vector<Op> bulk_rows(const RunContext& context) {
  return rows(context, {{StressBoxes::bulk, kHbmBytes}, {StressBoxes::bulk, kL2Bytes}});
}

const Register kBulk{{
    .name = "stress.bulk",
    .claim = "bulk copies of 16 KiB from anywhere in memory bring every byte on every SM while all "
             "SMs copy as fast as they can",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .unit = "GB/s",
    .seconds = 3,
    .rows = bulk_rows,
    .metrics = metrics,
}};

std::vector<Op> load_rows(const RunContext& context) {
  return rows(context, {{StressBoxes::swizzled, kHbmBytes},
                        {StressBoxes::swizzled, kL2Bytes},
                        {StressBoxes::mixed, kHbmBytes}});
}

const Register kLoad{{
    .name = "stress.load",
    .claim = "tile loads of all ranks, element sizes and swizzles, in and across the edges of "
             "their tensors, bring every byte on every SM while all SMs load as fast as they can",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode; 5.5.7 swizzling",
    .unit = "GB/s",
    .seconds = 4,
    .rows = load_rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark::suite
