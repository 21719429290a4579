// Boxes at full rate on all SMs, every byte compared: faults that need load, or come once in a
// million boxes.
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/stress.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kHbmBytes = std::uint64_t{2} << 30;

// Where nothing has a rate, the sizes have only to differ; what is written has a part for each SM.
constexpr std::uint64_t virtual_bytes(const Stress& op) {
  if (is_write(op.copy)) return 32 << 20;
  return op.memory_bytes > kStressL2Bytes ? 2 << 20 : 1 << 20;
}

std::vector<Op> rows(const RunContext& context, std::initializer_list<Stress> all) {
  constexpr double kSeconds[] = {0.4, 4, 30};  // by level
  std::vector<Op> rows;
  for (Stress row : all) {
    row.seconds = kSeconds[static_cast<std::size_t>(context.level)];
    if (context.device != DeviceKind::cuda) row.memory_bytes = virtual_bytes(row);
    rows.emplace_back(row);
  }
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

// "swizzled_hbm", "multicast_2_mixed_l2", "loaded_swizzled_hbm".
std::string rate_name(const Stress& op) {
  std::string name = op.products ? "loaded_" : "";
  if (op.copy != StressCopy::load) name += fmt::format("{}_", name_of(op.copy));
  if (op.cluster > 1) name += fmt::format("{}_", op.cluster);
  return name +
         fmt::format("{}_{}", name_of(op.boxes), op.memory_bytes > kStressL2Bytes ? "hbm" : "l2");
}

// None of the virtual device, which times nothing. Bulk copies stand beside what threads read of
// the same memory, and beside the latency of one load alone.
std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  if (measurement.samples.front().total_ns == 0) return {};
  const auto& stress = std::get<Stress>(op);
  std::vector<Metric> metrics{
      metric_of(measurement, rate_name(stress), "GB/s",
                [](const TimedSample& sample) { return sample.bytes / sample.total_ns; })};
  if (stress.boxes != StressBoxes::bulk) return metrics;
  const bool is_hbm = stress.memory_bytes > kStressL2Bytes;
  metrics.push_back(
      metric_of(measurement, is_hbm ? "plain_read_hbm" : "plain_read_l2", "GB/s",
                [](const TimedSample& sample) { return sample.plain_bytes_per_s * 1e-9; }));
  if (is_hbm) return metrics;
  metrics.push_back(metric_of(measurement, "latency", "cycles",
                              [](const TimedSample& sample) { return sample.cycles; }));
  metrics.back().higher_is_better = false;
  return metrics;
}

std::vector<Op> bulk_rows(const RunContext& context) {
  return rows(context, {{.boxes = StressBoxes::bulk, .memory_bytes = kHbmBytes},
                        {.boxes = StressBoxes::bulk, .memory_bytes = kStressL2Bytes}});
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
  return rows(context, {{.boxes = StressBoxes::swizzled, .memory_bytes = kHbmBytes},
                        {.boxes = StressBoxes::swizzled, .memory_bytes = kStressL2Bytes},
                        {.boxes = StressBoxes::mixed, .memory_bytes = kHbmBytes}});
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

std::vector<Op> loaded_rows(const RunContext& context) {
  return rows(context,
              {{.boxes = StressBoxes::swizzled, .products = true, .memory_bytes = kHbmBytes}});
}

const Register kLoaded{{
    .name = "stress.load_loaded",
    .claim = "tile loads from HBM bring every byte on every SM, and tensor cores multiply right on "
             "each, while both work as fast as they can: at the power limit",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 9.7.15.5.2 wgmma.mma_async",
    .unit = "GB/s",
    .seconds = 2,
    .rows = loaded_rows,
    .metrics = metrics,
}};

std::vector<Op> mixed_loaded_rows(const RunContext& context) {
  return rows(context,
              {{.boxes = StressBoxes::mixed, .products = true, .memory_bytes = kStressL2Bytes}});
}

const Register kMixedLoaded{{
    .name = "stress.mixed_loaded",
    .claim = "loads of all shapes from L2 bring every byte on every SM beside busy tensor cores, "
             "which multiply right on each",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 9.7.15.5.2 wgmma.mma_async",
    .unit = "GB/s",
    .seconds = 2,
    .rows = mixed_loaded_rows,
    .metrics = metrics,
}};

Stress multicast(StressBoxes boxes, std::uint32_t cluster) {
  return {.boxes = boxes,
          .copy = StressCopy::multicast,
          .cluster = cluster,
          .memory_bytes = kStressL2Bytes};
}

std::vector<Op> multicast_rows(const RunContext& context) {
  return rows(context, {multicast(StressBoxes::swizzled, 2), multicast(StressBoxes::mixed, 3),
                        multicast(StressBoxes::mixed, 8)});
}

const Register kMulticast{{
    .name = "stress.multicast",
    .claim = "multicast loads and bulk copies bring every byte to every CTA of clusters of 2, 3 "
             "and 8 while all SMs load as fast as they can",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster",
    .unit = "GB/s",
    .seconds = 2,
    .rows = multicast_rows,
    .metrics = metrics,
}};

// Not all GPUs have room for one.
std::vector<Op> cluster16_rows(const RunContext& context) {
  return rows(context, {multicast(StressBoxes::mixed, 16)});
}

const Register kMulticast16{{
    .name = "stress.multicast_cluster16",
    .claim = "multicast loads bring every byte to every CTA of clusters of 16 while all SMs load "
             "as fast as they can",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster",
    .unit = "GB/s",
    .seconds = 1,
    .rows = cluster16_rows,
    .metrics = metrics,
}};

std::vector<Op> store_rows(const RunContext& context) {
  return rows(
      context,
      {{.boxes = StressBoxes::swizzled, .copy = StressCopy::store, .memory_bytes = kHbmBytes},
       {.boxes = StressBoxes::mixed, .copy = StressCopy::store, .memory_bytes = kHbmBytes}});
}

const Register kStore{{
    .name = "stress.store",
    .claim = "tile stores and bulk stores of all SMs at once write every byte and no other, as "
             "loads and threads read it back",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 9.7.9.25.4.1 cp.async.bulk",
    .unit = "GB/s",
    .seconds = 3,
    .rows = store_rows,
    .metrics = metrics,
}};

std::vector<Op> reduce_rows(const RunContext& context) {
  return rows(
      context,
      {{.boxes = StressBoxes::mixed, .copy = StressCopy::reduce, .memory_bytes = kHbmBytes}});
}

const Register kReduce{{
    .name = "stress.reduce",
    .claim =
        "integer sums of all SMs in the same words, and of each in words of its own, are exact "
        "while all add as fast as they can",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 9.7.9.25.4.2 "
             "cp.reduce.async.bulk",
    .unit = "GB/s",
    .seconds = 2,
    .rows = reduce_rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark
