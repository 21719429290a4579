// Draws each number from a hash of the seed and its place, so that none depends on the order.
#include "reports/testing/synthetic_fleet.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <numbers>
#include <thread>
#include <vector>

namespace tidemark {
namespace {

constexpr std::uint32_t kSamples = 20;
// Of a median of normal samples against their standard deviation: sqrt(pi / 2 / n).
const double kMedianSpread = std::sqrt(std::numbers::pi / 2 / kSamples);

/// What a number is drawn for; each kind has a stream of its own.
enum class Draw : std::uint64_t {
  gpu = 1,
  case_spread,
  odd,
  shared,
  launch,
  samples,
  heavy,
  heat,
  drift,
  clocks,
  noisy,
  measured
};

struct Place {
  std::uint64_t side = 0, launch = 0, which_case = 0, gpu = 0;
};

std::uint64_t bits(std::uint64_t seed, Draw what, const Place& at) {
  std::uint64_t made = mixed(seed);
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(what), at.side, at.launch, at.which_case, at.gpu}) {
    made = mixed(made ^ part);
  }
  return made;
}

/// In (0, 1).
double uniform(std::uint64_t from) { return (static_cast<double>(from >> 11) + 0.5) * 0x1p-53; }

double normal(std::uint64_t seed, Draw what, const Place& at) {
  return normal_of(bits(seed, what, at));
}

std::uint32_t text(Report& report, const std::string& value) {
  report.strings.push_back(value);
  return static_cast<std::uint32_t>(report.strings.size() - 1);
}

void add_machines(Report& report, const SyntheticFleet& fleet, bool fresh, bool other_vbios) {
  const std::uint32_t driver = text(report, fresh ? "590.44.01" : "580.105.08");
  const std::uint32_t vbios = text(report, fresh && other_vbios ? "96.00.B0" : "96.00.A5");
  const std::uint32_t product = text(report, "NVIDIA H200");
  const std::uint32_t kernel = text(report, "Linux 6.1.0");
  for (std::uint32_t gpu = 0; gpu < fleet.gpus; ++gpu) {
    if (gpu % kGpusOfNode == 0) {
      NodeRow node{.node_id = gpu / kGpusOfNode, .first_rank = gpu, .ranks = kGpusOfNode};
      node.hostname = text(report, fmt::format("n{:03}", node.node_id));
      node.boot_id = text(report, fmt::format("boot-{}-{}", node.node_id, fresh ? 1 : 0));
      node.kernel = kernel;
      report.nodes.push_back(node);
    }
    GpuRow row;
    row.gpu_id = row.rank = gpu;
    row.node_id = gpu / kGpusOfNode;
    row.local_index = gpu % kGpusOfNode;
    row.reported = row.nvml = 1;
    row.uuid = FixedText<48>::of(fmt::format("GPU-{:08x}-synthetic", gpu));
    row.name = product;
    row.vbios = vbios;
    row.driver = driver;
    row.cuda_driver = fresh ? 13010 : 13000;
    row.cuda_runtime = 13000;
    row.ecc_enabled = row.persistence = 1;
    row.mig_enabled = 0;
    row.power_limit_w = row.default_power_limit_w = 700;
    report.gpus.push_back(row);
  }
}

void add_cases(Report& report, const SyntheticFleet& fleet) {
  const std::uint32_t kind = text(report, "benchmark"), scope = text(report, "one_gpu");
  const std::uint32_t unit = text(report, "TFLOP/s");
  for (std::uint32_t i = 0; i < fleet.cases; ++i) {
    report.cases.push_back({.case_id = i,
                            .name = FixedText<128>::of(fmt::format("synthetic.case_{:04}", i)),
                            .kind = kind,
                            .scope = scope,
                            .claim = 0,
                            .unit = unit});
  }
}

bool counts_cycles(const SyntheticFleet& fleet, std::uint64_t which_case) {
  return static_cast<double>(which_case) >=
         static_cast<double>(fleet.cases) * (1 - fleet.noise.counts);
}

/// Launches of both sides as they ran.
std::uint64_t in_order(const SyntheticFleet& fleet, const Place& at) {
  constexpr std::uint64_t kOfASide = 5;
  return fleet.noise.in_sequence ? at.side * kOfASide + at.launch : 2 * at.launch + at.side;
}

double heat_of(const SyntheticFleet& fleet, const Place& at) {
  constexpr double kKept = 0.9;
  double made = 0;
  for (std::uint64_t i = 0; i <= in_order(fleet, at); ++i) {
    const double step = normal(fleet.seed, Draw::heat, {.launch = i});
    made = i == 0 ? step : kKept * made + std::sqrt(1 - kKept * kKept) * step;
  }
  return fleet.noise.heat * made;
}

/// What the launch noise of a case is in units of its standard deviation.
double launch_noise(const SyntheticFleet& fleet, const Place& of_case) {
  const double own = normal(fleet.seed, Draw::launch, of_case);
  if (fleet.noise.tails) {
    constexpr double kQuartile = 0.6745;
    return kQuartile * std::tan(std::numbers::pi * (std::erfc(own / std::sqrt(2.0)) / 2 - 0.5));
  }
  return own;
}

/// Logarithm of the median that one GPU measures.
double drawn(const SyntheticFleet& fleet, const Place& at, const FleetChange& change) {
  const FleetNoise& noise = fleet.noise;
  const auto one = [&](Draw what, const Place& place) { return normal(fleet.seed, what, place); };
  const Place launch{.side = at.side, .launch = at.launch};
  const bool odd = uniform(bits(fleet.seed, Draw::odd, launch)) < noise.odd_launches;
  const double times = odd ? noise.odd_factor : 1;
  Place of_case = at;
  if (!noise.apart) of_case.gpu = 0;
  const double spread =
      noise.launch *
      std::exp(noise.between_cases * one(Draw::case_spread, {.which_case = at.which_case}));
  if (counts_cycles(fleet, at.which_case)) {
    constexpr double kNoise = 6e-5, kStep = 4e-5;  // as bank conflicts have on H200s
    return kStep * std::round(kNoise * one(Draw::launch, at) / kStep);
  }
  double made = noise.gpu * one(Draw::gpu, {.which_case = at.which_case, .gpu = at.gpu});
  made += times * noise.shared * one(Draw::shared, launch);
  made += times * spread * launch_noise(fleet, of_case);
  made += kMedianSpread * noise.iteration * one(Draw::samples, at);
  if (noise.heavy > 0 && uniform(bits(fleet.seed, Draw::heavy, of_case)) < noise.heavy) {
    made -= 0.05;
  }
  if (noise.heat > 0) made += heat_of(fleet, at);
  made += noise.drift * one(Draw::drift, {.which_case = at.which_case}) *
          static_cast<double>(in_order(fleet, at));
  const double follows = uniform(bits(fleet.seed, Draw::clocks, {.which_case = at.which_case}));
  const bool slow_clock = uniform(bits(fleet.seed, Draw::clocks, launch)) < 0.5;
  made -= follows * ((slow_clock ? noise.clocks : 0) + (at.launch == 0 ? noise.warm_up : 0));
  if (at.gpu == 0) made += noise.noisy_gpu * one(Draw::noisy, at);
  if (noise.step > 0) made = noise.step * std::round(made / noise.step);
  if (at.side == 0) return made;
  if (at.which_case == 0 && at.launch == 2) made += change.one_launch;
  return made + change.all_cases + (at.which_case == 0 ? change.first_case : 0) +
         (at.gpu < kGpusOfNode ? change.first_node : 0) + (at.gpu == 0 ? change.first_gpu : 0) +
         (at.gpu == 1 ? change.second_gpu : 0) +
         (at.gpu == 0 && at.which_case == 0 ? change.one_result : 0) +
         (at.gpu < kGpusOfNode && at.which_case < 3 ? change.few_cases : 0);
}

}  // namespace

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double normal_of(std::uint64_t bits) {
  return std::sqrt(-2 * std::log(uniform(bits))) *
         std::cos(2 * std::numbers::pi * uniform(mixed(bits)));
}

void for_each_trial(std::uint32_t trials, std::uint32_t threads,
                    const std::function<void(std::uint32_t)>& work) {
  std::atomic<std::uint32_t> next{0};
  std::vector<std::jthread> all;
  for (std::uint32_t i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (std::uint32_t number = next++; number < trials; number = next++) work(number);
    });
  }
}

Report synthetic_launch(const SyntheticFleet& fleet, std::uint32_t launch, bool fresh,
                        const FleetChange& change) {
  Report made;
  made.strings = {""};
  made.launch.run_id =
      fmt::format("synthetic-{}-{}-{}", fleet.seed, fresh ? "new" : "base", launch);
  made.launch.series_id = made.launch.run_id;
  made.launch.created_utc = "2026-01-01T00:00:00Z";
  made.launch.created_unix_s = static_cast<double>(
      1767225600 + 300 * in_order(fleet, {.side = fresh ? 1U : 0U, .launch = launch}));
  made.launch.tool_version = "synthetic";
  made.launch.level = "nightly";
  made.launch.device = "cuda";
  made.launch.complete = true;
  made.launch.gpus = fleet.gpus;
  made.launch.ranks_expected = made.launch.ranks_reported = fleet.gpus;
  add_machines(made, fleet, fresh, change.vbios);
  add_cases(made, fleet);
  const std::uint32_t name = text(made, "rate"), unit = text(made, "TFLOP/s");
  const std::uint32_t cycles = text(made, "cycles");
  constexpr double kTypical = 600;
  for (std::uint32_t i = 0; i < fleet.cases; ++i) {
    for (std::uint32_t gpu = 0; gpu < fleet.gpus; ++gpu) {
      ResultRow result{.result_id = i * fleet.gpus + gpu, .case_id = i, .gpu_id = gpu};
      result.attempt = result.attempts = result.rows_planned = result.rows_run = 1;
      result.verdict = Verdict::pass;
      result.sm_mhz = 1980;
      made.results.push_back(result);
      const bool counts = counts_cycles(fleet, i);
      MetricRow metric{.result_id = result.result_id, .name = name, .unit = counts ? cycles : unit};
      metric.higher_is_better = counts ? 0 : 1;
      const double value = drawn(
          fleet, {.side = fresh ? 1U : 0U, .launch = launch, .which_case = i, .gpu = gpu}, change);
      metric.median = metric.mean = metric.min = metric.max = kTypical * std::exp(value);
      made.metrics.push_back(metric);
    }
  }
  return made;
}

void add_measured(Report& report) {
  const std::uint64_t seed = std::hash<std::string>{}(report.launch.run_id);
  for (MetricRow& metric : report.metrics) {
    ResultRow& result = report.results[metric.result_id];
    std::uint64_t place = 0;
    const auto next = [&] {
      const Place at{.launch = place++, .which_case = result.case_id, .gpu = result.gpu_id};
      return bits(seed, Draw::measured, at);
    };
    const auto between = [&](double low, double high) {
      return low + (high - low) * uniform(next());
    };
    result.seed = next();
    result.start_unix_s = report.launch.created_unix_s + between(0, 300);
    result.seconds = between(0.01, 0.5);
    result.sm_mhz = static_cast<float>(between(1965, 1980));
    result.memory_mhz = static_cast<float>(between(3200, 3201));
    result.power_w = static_cast<float>(between(400, 450));
    result.temperature_c = static_cast<float>(between(50, 52));
    result.utilisation = static_cast<float>(between(95, 99));
    metric.mad = metric.median * between(0.001, 0.003);
    metric.mean = metric.median * between(0.999, 1.001);
    metric.min = metric.median * between(0.98, 0.99);
    metric.max = metric.median * between(1.01, 1.02);
  }
}

}  // namespace tidemark
