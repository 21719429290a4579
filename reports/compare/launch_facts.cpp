// From the rows of a report to columns.
#include "reports/compare/launch_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include "reports/compare/noise.hpp"
#include "reports/policy/waiver.hpp"

namespace tidemark::reports {
namespace {

std::string known(std::uint64_t value) { return value == 0 ? "" : fmt::format("{}", value); }

std::string on_off(std::int32_t state) { return state < 0 ? "" : state == 0 ? "off" : "on"; }

std::string watts(double value) {
  return std::isnan(value) || value == 0 ? "" : fmt::format("{:g} W", value);
}

std::string megahertz(std::uint32_t value) {
  return value == 0 ? "" : fmt::format("{} MHz", value);
}

std::vector<std::string> values_of(const Report& report, const GpuRow& gpu) {
  const auto text = [&](std::uint32_t index) { return std::string(report.text(index)); };
  const NodeRow none;
  const bool has_node = gpu.node_id != kNoRow;
  const NodeRow& node = has_node ? report.nodes[gpu.node_id] : none;
  // Without NVML these columns hold what was never read.
  const bool read = gpu.nvml != 0;
  return {text(gpu.driver),
          known(gpu.cuda_driver),
          text(gpu.name),
          text(gpu.vbios),
          text(gpu.board_part),
          known(gpu.sm_count),
          known(gpu.memory_bytes),
          read ? on_off(gpu.ecc_enabled) : "",
          read ? on_off(gpu.mig_enabled) : "",
          read ? on_off(gpu.persistence) : "",
          read ? watts(gpu.power_limit_w) : "",
          read ? megahertz(gpu.app_sm_mhz) : "",
          read ? megahertz(gpu.app_memory_mhz) : "",
          read ? megahertz(gpu.max_sm_mhz) : "",
          read ? fmt::format("{}", gpu.nvlinks_up) : "",
          read ? fmt::format("{}", gpu.remapped_rows_pending) : "",
          text(gpu.nccl),
          known(gpu.cuda_runtime),
          has_node ? text(node.hostname) : "",
          has_node ? text(node.kernel) : "",
          has_node ? text(node.os) : "",
          has_node ? text(node.cpu) : "",
          has_node ? text(node.mpi) : ""};
}

/// The arguments without the program, and without those that say only where the report goes, how it
/// is shown, or what stands in the report already.
std::string arguments_of(const Report& report) {
  static const std::set<std::string_view> with_value = {
      "--out", "--seed", "--level", "--device", "--policy", "--launches", "--slow", "--gemm-table"};
  static const std::set<std::string_view> alone = {"--json", "--anonymise", "--strict",
                                                   "--calibrate"};
  std::string made;
  bool skip_value = false;
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key), value = report.text(row.value);
    if (!key.starts_with("argument.") || key == "argument.0") continue;
    const std::string_view name = value.substr(0, value.find('='));
    const bool valued = with_value.contains(name);
    if (!skip_value && !valued && !alone.contains(name)) {
      made += fmt::format("{}{}", made.empty() ? "" : " ", value);
    }
    skip_value = !skip_value && valued && name.size() == value.size();
  }
  return made;
}

std::vector<Factor> factors_of(const Report& report) {
  std::vector<Factor> made = {{"level", report.launch.level},
                              {"seed", fmt::format("{:#x}", report.launch.seed)},
                              {"tool_version", report.launch.tool_version}};
  for (const char* key : {"git_hash", "kernels_tree", "suite_tree", "nvcc", "compiler"}) {
    made.push_back({key, std::string(provenance_of(report, key))});
  }
  made.push_back({"arguments", arguments_of(report)});
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key);
    // It says which GPUs there are, and those are compared themselves.
    if (!key.starts_with("environment.") || key == "environment.CUDA_VISIBLE_DEVICES") continue;
    made.push_back({std::string(key), std::string(report.text(row.value))});
  }
  // Its name says nothing that the hash of what it decides does not.
  if (const std::string_view table = provenance_of(report, "gemm_table.hash"); !table.empty()) {
    made.push_back({"gemm_table", std::string(table)});
  }
  for (const auto& [of_case, share] : slowed_cases(report)) {
    made.push_back({"slow." + of_case, share});
  }
  return made;
}

void add_gpus(LaunchFacts& made, const Report& report) {
  std::set<std::string> seen;
  for (const GpuRow& gpu : report.gpus) {
    FactsOfGpu facts{.uuid = gpu.reported != 0 ? std::string(gpu.uuid.view()) : "",
                     .node = {},
                     .boot = {},
                     .serial = std::string(report.text(gpu.serial)),
                     .number = gpu.gpu_id,
                     .values = values_of(report, gpu)};
    if (gpu.node_id != kNoRow) {
      facts.node = report.text(report.nodes[gpu.node_id].hostname);
      facts.boot = report.text(report.nodes[gpu.node_id].boot_id);
    }
    if (!facts.uuid.empty() && !seen.insert(facts.uuid).second) {
      throw ReportError(
          fmt::format("{}: lists {} twice; leave this report out", made.path, facts.uuid));
    }
    made.gpus.push_back(std::move(facts));
  }
}

/// Notes without what was noted of waivers: that is no behaviour of a GPU.
std::string observed_in(std::string_view notes) {
  std::string made;
  while (!notes.empty()) {
    const std::size_t end = std::min(notes.find('\n'), notes.size());
    const std::string_view line = notes.substr(0, end);
    if (!line.starts_with(kStaleWaiver)) made.append(made.empty() ? "" : "\n").append(line);
    notes.remove_prefix(std::min(end + 1, notes.size()));
  }
  return made;
}

void add_results(LaunchFacts& made, const Report& report) {
  const std::size_t gpus = report.gpus.size();
  made.verdicts.assign(made.cases.size() * gpus, Verdict::not_run);
  made.descriptors.assign(made.verdicts.size(), 0);
  made.rows.assign(made.verdicts.size(), 0);
  std::vector<std::size_t> kept(made.cases.size());
  for (const ResultRow& result : report.results) {
    const std::size_t cell = result.case_id * gpus + result.gpu_id;
    made.verdicts[cell] = result.verdict;
    made.rows[cell] = result.verdict == Verdict::pass ? result.rows_run : result.rows_planned;
    if (result.verdict == Verdict::waived) {
      made.waived_by_launch[cell] = verdict_before_waiver(report.text(result.reason));
    }
    if (result.rows_run == result.rows_planned) made.descriptors[cell] = result.descriptor_digest;
    if (made.cases[result.case_id].starts_with("behaviour.") && result.verdict == Verdict::pass) {
      made.behaviours[{result.case_id, result.gpu_id}] = observed_in(report.text(result.notes));
    }
    if (result.verdict != Verdict::pass && result.reason != 0 &&
        kept[result.case_id]++ < kEvidenceOfCase) {
      made.evidence.try_emplace({result.case_id, result.gpu_id},
                                Evidence{std::string(report.text(result.reason)),
                                         std::string(report.text(result.replay))});
    }
  }
}

void add_series(LaunchFacts& made, const Report& report) {
  std::map<std::tuple<std::uint32_t, std::uint32_t>, std::size_t> places;  // case, metric's name
  for (const MetricRow& metric : report.metrics) {
    const ResultRow& result = report.results[metric.result_id];
    const auto [at, is_new] = places.try_emplace({result.case_id, metric.name}, made.series.size());
    if (is_new) {
      made.series.push_back({.of_case = result.case_id,
                             .name = std::string(report.text(metric.name)),
                             .unit = std::string(report.text(metric.unit)),
                             .higher_is_better = metric.higher_is_better != 0,
                             .medians = std::vector<double>(
                                 made.gpus.size(), std::numeric_limits<double>::quiet_NaN()),
                             .sm_mhz = std::vector<float>(
                                 made.gpus.size(), std::numeric_limits<float>::quiet_NaN())});
    }
    // A number stands only beside a pass, and its logarithm needs one above 0 that is finite.
    const bool usable = std::isfinite(metric.median) && metric.median > 0;
    if (result.verdict != Verdict::pass) continue;
    if (!usable) {
      made.series[at->second].unusable[result.gpu_id] = metric.median;
      continue;
    }
    made.series[at->second].medians[result.gpu_id] = metric.median;
    made.series[at->second].sm_mhz[result.gpu_id] = result.sm_mhz;
  }
}

}  // namespace

const std::vector<std::string>& gpu_factor_names() {
  static const std::vector<std::string> names = {"driver",
                                                 "cuda_driver",
                                                 "product",
                                                 "vbios",
                                                 "board_part",
                                                 "sm_count",
                                                 "memory",
                                                 "ecc",
                                                 "mig",
                                                 "persistence",
                                                 "power_cap",
                                                 "app_sm_clock",
                                                 "app_memory_clock",
                                                 "max_sm_clock",
                                                 "nvlinks_up",
                                                 "remapped_rows",
                                                 "nccl",
                                                 "cuda_runtime",
                                                 "node",
                                                 "kernel",
                                                 "os",
                                                 "cpu",
                                                 "mpi"};
  return names;
}

void forget_waivers(LaunchFacts& facts) {
  for (const auto& [cell, was] : facts.waived_by_launch) facts.verdicts[cell] = was;
  std::replace(facts.verdicts.begin(), facts.verdicts.end(), Verdict::unexpected_pass,
               Verdict::pass);
}

LaunchFacts facts_of(const Report& report, const std::string& path) {
  LaunchFacts made;
  made.path = path;
  made.launch = report.launch;
  made.factors = factors_of(report);
  add_gpus(made, report);
  std::set<std::string_view> seen;
  for (const CaseRow& row : report.cases) {
    if (!seen.insert(row.name.view()).second) {
      throw ReportError(
          fmt::format("{}: lists case {} twice; leave this report out", path, row.name.view()));
    }
    made.cases.emplace_back(row.name.view());
    made.over_all_gpus.push_back(report.text(row.scope) == "all_gpus");
  }
  add_results(made, report);
  add_series(made, report);
  made.noise = stored_noise(report);
  for (const auto& [of_case, share] : slowed_cases(report)) made.slowed[of_case] = share;
  return made;
}

}  // namespace tidemark::reports
