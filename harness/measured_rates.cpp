// Finds rates of products and links among the metrics of a report.
#include "harness/measured_rates.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reports/document/report/document.hpp"
#include "suite/gemm/gemm_metrics.hpp"
#include "suite/gemm/grid.hpp"
#include "suite/gemm/predict_time.hpp"
#include "suite/gemm/product.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kMostRanks = 1 << 12;  // a report may say anything, and each costs time

constexpr std::string_view kDistributed = "gemm.distributed.speed", kLocal = "gemm.local.speed";

/// A median, as a number of flop/s or seconds, or as a share.
struct Median {
  double value = 0;
  std::uint32_t rank = kNoRow;
  const MetricRow* row = nullptr;
};

/// One metric of a case, by the edge that its name ends with.
using Sizes = std::map<std::uint64_t, std::vector<Median>>;

double factor_of(std::string_view unit) {
  return unit == "TFLOP/s" ? 1e12 : unit == "ms" ? 1e-3 : unit == "%" ? 1e-2 : 1;
}

/// "rate_16384" is of `metric` "rate" and edge 16384, "rate" of the usual edge. 0: of another one.
std::uint64_t edge_in(std::string_view name, std::string_view metric, std::uint64_t usual) {
  if (!name.starts_with(metric)) return 0;
  const std::string_view rest = name.substr(metric.size());
  if (rest.empty()) return usual;
  std::uint64_t edge = 0;
  const char* const end = rest.data() + rest.size();
  if (rest.front() != '_' || std::from_chars(rest.data() + 1, end, edge).ptr != end) return 0;
  return edge <= kMostProductSize ? edge : 0;
}

Sizes sizes_of(const Report& report, std::string_view of_case, std::string_view metric) {
  const std::uint64_t usual =
      usual_edge(report.launch.is_virtual ? DeviceKind::virtual_device : DeviceKind::cuda);
  Sizes sizes;
  for (const MetricRow& row : report.metrics) {
    const ResultRow& result = report.results[row.result_id];
    const std::uint64_t edge = edge_in(report.text(row.name), metric, usual);
    if (edge == 0 || result.verdict != Verdict::pass || !(row.median > 0) ||
        !std::isfinite(row.median) || report.cases[result.case_id].name.view() != of_case)
      continue;
    sizes[edge].push_back({.value = row.median * factor_of(report.text(row.unit)),
                           .rank = result.gpu_id,
                           .row = &row});
  }
  return sizes;
}

double lowest_of(const std::vector<Median>& medians) {
  return std::min_element(
             medians.begin(), medians.end(),
             [](const Median& one, const Median& two) { return one.value < two.value; })
      ->value;
}

/// Of sizes that are there, by their ratio.
Sizes::const_iterator nearest_to(const Sizes& sizes, double edge) {
  return std::min_element(sizes.begin(), sizes.end(), [edge](const auto& one, const auto& two) {
    return std::abs(std::log(static_cast<double>(one.first) / edge)) <
           std::abs(std::log(static_cast<double>(two.first) / edge));
  });
}

/// What a GEMM waits for is the slowest rank of each sample, which need not be one and the same.
double lowest_together(const Report& report, const std::vector<Median>& medians) {
  Measured measured;
  for (const Median& median : medians) measured.rows.push_back(median.row);
  const double together = slowest_of(report, measured).median;
  const double factor = medians.front().value / medians.front().row->median;
  return together > 0 ? together * factor : lowest_of(medians);  // 0: no samples
}

/// A distributed GEMM of a report whose GPUs are `ranks`.
struct Distributed {
  std::uint64_t edge = 0;
  double flops = 0;  // of all GPUs
  double efficiency = 0;
  std::uint32_t ranks = 0;

  double product() const { return flops / ranks / efficiency; }
};

std::optional<Distributed> distributed_gemm_of(const Report& report, double edge) {
  Sizes rates = sizes_of(report, kDistributed, "rate");
  const Sizes efficiencies = sizes_of(report, kDistributed, "efficiency");
  const bool alone = report.launch.gpus == 1;  // nothing to wait for, and no efficiency
  if (!alone)
    std::erase_if(rates, [&](const auto& one) { return !efficiencies.contains(one.first); });
  if (rates.empty() || report.launch.gpus == 0) return {};
  const auto& [size, medians] = *nearest_to(rates, edge);
  return Distributed{.edge = size,
                     .flops = lowest_together(report, medians),
                     .efficiency = alone ? 1 : lowest_of(efficiencies.at(size)),
                     .ranks = report.launch.gpus};
}

/// What is left of the time of a GEMM when it has multiplied and waited for rows.
std::optional<MeasuredRate> fixed_of(const Distributed& measured, double link) {
  const auto edge = static_cast<double>(measured.edge);
  const PredictedTime ideal =
      predict_time({.m = measured.edge, .n = measured.edge, .k = measured.edge}, measured.ranks,
                   {.product = measured.product(), .link = link, .gpus_per_node = measured.ranks});
  return MeasuredRate{
      .value = std::max(0.0, 2 * edge * edge * edge / measured.flops - ideal.seconds),
      .from = fmt::format("time at {} of {}", measured.edge, kDistributed)};
}

std::optional<MeasuredRate> local_product(const Report& report, double edge) {
  const Sizes rates = sizes_of(report, kLocal, "rate");
  if (rates.empty()) return {};
  const auto& [size, medians] = *nearest_to(rates, edge);
  return MeasuredRate{.value = lowest_of(medians),
                      .from = fmt::format("rate at {} of {}", size, kLocal)};
}

double bytes_received_by(std::uint32_t rank, std::uint32_t ranks, std::uint64_t edge) {
  const Gemm gemm = distributed_gemm({.m = edge, .n = edge, .k = edge}, rank, ranks, nullptr);
  std::uint64_t rows = 0;
  for (const std::vector<Shard>* shards : {&gemm.a_shards, &gemm.b_shards})
    for (const Shard& shard : *shards) rows += shard.owner == rank ? 0 : shard.rows;
  return static_cast<double>(rows * layout_of(gemm, GemmOperand::a).pitch *
                             element_bytes(gemm.element));
}

/// What brought the panels of the distributed GEMM, as its notes say; empty where none does.
std::string_view route_of(const Report& report) {
  constexpr std::string_view kBy = "panels by ";  // of suite/runner.cpp
  for (const ResultRow& result : report.results) {
    if (report.cases[result.case_id].name.view() != kDistributed) continue;
    const std::string_view notes = report.text(result.notes);
    const std::size_t at = notes.find(kBy);
    if (at == std::string_view::npos) continue;
    const std::string_view route = notes.substr(at + kBy.size());
    return route.substr(0, route.find(':'));
  }
  return {};
}

/// Whether the user chose how ranks share products: what each receives is then another number.
bool has_given_grid(const Report& report) {
  return std::any_of(report.provenance.begin(), report.provenance.end(),
                     [&](const ProvenanceRow& row) {
                       return report.text(row.key).starts_with("argument.") &&
                              report.text(row.value).starts_with("--grid");
                     });
}

/// Why its exchange says nothing of the link that predict_time() reckons with; empty where it does.
std::string why_no_link(const Report& report) {
  if (report.nodes.size() != 1) return fmt::format("it is of {} nodes", report.nodes.size());
  if (has_given_grid(report)) return "its launch had --grid";
  const std::string_view route = route_of(report);
  return route.empty() || route == name_of(PanelRoute::copy_engine)
             ? std::string()
             : fmt::format("its panels came by {}, not by {}", route,
                           name_of(PanelRoute::copy_engine));
}

std::optional<MeasuredRate> link_of(const Report& report, double edge) {
  const Sizes exchanges = sizes_of(report, kDistributed, "exchange");
  const std::uint32_t ranks = report.launch.gpus;
  if (exchanges.empty() || ranks < 2 || ranks > kMostRanks) return {};
  const auto& [size, medians] = *nearest_to(exchanges, edge);
  std::vector<Median> rates;
  for (const Median& median : medians)
    if (median.rank < ranks)
      rates.push_back({.value = bytes_received_by(median.rank, ranks, size) / median.value});
  if (rates.empty() || !(lowest_of(rates) > 0)) return {};
  return MeasuredRate{.value = lowest_of(rates),
                      .from = fmt::format("exchange at {} of {}", size, kDistributed)};
}

}  // namespace

MeasuredRates measured_rates(const Report& report, double edge) {
  MeasuredRates rates{.product = {}, .link = {}, .no_link = why_no_link(report), .fixed = {}};
  if (rates.no_link.empty()) rates.link = link_of(report, edge);
  const std::optional<Distributed> distributed = distributed_gemm_of(report, edge);
  if (!distributed) {
    rates.product = local_product(report, edge);
    return rates;
  }
  rates.product = {
      .value = distributed->product(),
      .from = fmt::format("rate{} at {} of {}", distributed->ranks == 1 ? "" : " and efficiency",
                          distributed->edge, kDistributed)};
  if (rates.link) rates.fixed = fixed_of(*distributed, rates.link->value);
  return rates;
}

}  // namespace tidemark
