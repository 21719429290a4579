// Journals of one launch become a report.

#include <fmt/ranges.h>
#include <algorithm>
#include <map>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/store/assemble/assembly.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

// Makes a report of the journals of a launch: who ran it, where, and what was planned.

namespace {

void add_launch(Assembly& made, const HeardLaunch& all, const AssembleOptions& options) {
  constexpr std::size_t kMostProblems = 20;
  constexpr std::size_t kLongestReason = 4000;  // an attribute holds less than 64 KiB
  const LaunchRecord& from = all.launch;
  LaunchRow& row = made.report.launch;
  row.run_id = from.run_id;
  row.series_id = from.series_id.empty() ? from.run_id : from.series_id;
  row.launch = from.launch;
  row.launches = from.launches;
  row.created_unix_s = from.created_unix_s;
  row.created_utc = utc_text(from.created_unix_s);
  row.tool_version = from.tool_version;
  row.level = from.level;
  row.device = from.device;
  row.seed = from.seed;
  row.is_virtual = from.device == "virtual";
  row.ranks_expected = from.ranks;
  row.ranks_reported = static_cast<std::uint32_t>(std::ranges::count(all.reported, true));
  row.gpus = from.gpus;
  row.damaged_lines = all.lost_lines;
  std::vector<std::string> problems = all.problems;
  if (const std::size_t found = problems.size(); found > kMostProblems) {
    problems.resize(kMostProblems);
    problems.push_back(fmt::format("and {} more", found - kMostProblems));
  }
  if (!options.incomplete_reason.empty()) problems.push_back(options.incomplete_reason);
  std::string reason = fmt::format("{}", fmt::join(problems, "; "));
  row.complete = reason.empty();
  if (reason.size() > kLongestReason) {
    reason.resize(kLongestReason);
    reason += "...";
  }
  row.incomplete_reason = reason;
}

/// One row a machine: ranks that say the same of themselves share it. Returns the row of each rank.
std::map<std::uint32_t, std::uint32_t> add_nodes(Assembly& made,
                                                 const std::vector<NodeRecord>& nodes) {
  std::map<std::string, std::uint32_t> machines;  // by the bytes of what they say
  std::map<std::uint32_t, std::uint32_t> row_of_rank;
  for (const NodeRecord& node : nodes) {
    auto& rows = made.report.nodes;
    NodeRow row;
    made.fill(row, node);
    // Without a name two ranks cannot be told to be on one machine.
    row.first_rank = node.hostname.empty() ? node.first_rank : kNoRow;
    const auto id = static_cast<std::uint32_t>(rows.size());
    const auto [at, is_new] = machines.try_emplace(blank_of(row, table_of<NodeRow>().columns), id);
    if (is_new) {
      row.node_id = id;
      rows.push_back(row);
    }
    NodeRow& shared = rows[at->second];
    if (row_of_rank.try_emplace(node.first_rank, at->second).second) ++shared.ranks;
    shared.first_rank = std::min(shared.first_rank, node.first_rank);
  }
  return row_of_rank;
}

void add_gpus(Assembly& made, const HeardLaunch& all) {
  const auto row_of_rank = add_nodes(made, all.nodes);
  made.report.gpus.resize(all.launch.gpus);
  for (std::uint32_t gpu = 0; gpu < all.launch.gpus; ++gpu) {
    GpuRow& row = made.report.gpus[gpu];
    row.gpu_id = gpu;
    row.power_limit_w = row.default_power_limit_w = kNoNumber;
  }
  for (const GpuRecord& gpu : all.gpus) {
    GpuRow& row = made.report.gpus[gpu.gpu_id];
    made.fill(row, gpu);
    row.reported = 1;
    if (const auto node = row_of_rank.find(gpu.rank); node != row_of_rank.end())
      row.node_id = node->second;
  }
}

void add_cases(Assembly& made, const std::vector<PlannedCase>& cases) {
  for (const PlannedCase& planned : cases) {
    CaseRow& row = made.report.cases.emplace_back();
    row.case_id = static_cast<std::uint32_t>(made.report.cases.size() - 1);
    made.fill(row, planned);
  }
}

void add_provenance(Assembly& made, const LaunchRecord& launch, bool strict) {
  const auto add = [&made](const std::string& key, const std::string& value) {
    const std::uint32_t index = made.index_of(value);
    made.report.provenance.push_back({.key = made.index_of(key), .value = index});
  };
  add("tool_version", launch.tool_version);
  add("git_hash", launch.git_hash);
  add("kernels_tree", launch.kernels_tree);
  add("suite_tree", launch.suite_tree);
  add("nvcc", launch.nvcc);
  add("compiler", launch.compiler);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    add(fmt::format("argument.{}", i), launch.arguments[i]);
  }
  for (const auto& [variable, value] : launch.environment) add("environment." + variable, value);
  for (const auto& [of_case, share] : launch.slowed) add("slow." + of_case, share);
  if (!launch.gemm_table_hash.empty()) {
    add("gemm_table.name", launch.gemm_table);
    add("gemm_table.hash", launch.gemm_table_hash);
  }
  if (strict) add("policy.strict", "1");
}

void add_events(Assembly& made, const std::vector<HeardEvent>& events) {
  for (const auto& [event, rank] : events) {
    // A reader refuses a GPU that is not there; the event is kept all the same.
    const bool known = event.gpu >= -1 && event.gpu < std::int64_t{made.report.launch.gpus};
    const bool of_gpu = known && event.gpu >= 0;
    const std::string text = known ? event.text : fmt::format("GPU {}: {}", event.gpu, event.text);
    made.report.events.push_back({.at_unix_s = event.at_unix_s,
                                  .rank = rank,
                                  .gpu_id = of_gpu ? static_cast<std::uint32_t>(event.gpu) : kNoRow,
                                  .source = made.index_of(event.source),
                                  .code = event.code,
                                  .text = made.index_of(text)});
  }
  std::ranges::stable_sort(made.report.events, {}, &EventRow::at_unix_s);
}

}  // namespace

std::uint32_t Assembly::index_of(const std::string& text) {
  const auto [at, is_new] =
      indices.try_emplace(text, static_cast<std::uint32_t>(report.strings.size()));
  if (is_new) report.strings.push_back(text);
  return at->second;
}

Report assemble(const Journals& journals, const AssembleOptions& options) {
  HeardResults heard;
  const HeardLaunch all = gather(journals, [&heard](const HeardLaunch& of, HeardCases cases) {
    heard.take(of.launch, std::move(cases));
  });
  Assembly made;
  made.index_of("");  // index 0
  add_launch(made, all, options);
  add_gpus(made, all);
  add_cases(made, all.launch.cases);
  add_results(made, all, heard, options.incomplete_reason);
  add_events(made, all.events);
  add_provenance(made, all.launch, all.policy.strict);
  apply_waivers(made, all);
  return options.anonymize ? anonymized(std::move(made.report)) : std::move(made.report);
}

std::vector<std::pair<std::string, std::string>> slowed_cases(const Report& report) {
  constexpr std::string_view kPrefix = "slow.";
  std::vector<std::pair<std::string, std::string>> made;
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key);
    if (key.starts_with(kPrefix)) {
      made.emplace_back(key.substr(kPrefix.size()), report.text(row.value));
    }
  }
  return made;
}

std::string slowed_text(const Report& report) {
  std::string made;
  for (const auto& [of_case, share] : slowed_cases(report)) {
    made += fmt::format("{}{} by {}", made.empty() ? "" : ", ", of_case, share);
  }
  return made;
}

std::string_view provenance_of(const Report& report, std::string_view key) {
  for (const ProvenanceRow& row : report.provenance) {
    if (report.text(row.key) == key) return report.text(row.value);
  }
  return {};
}

// Compares events and outcomes by time.

std::vector<EventRecord> spoiling_events(const HeardLaunch& all) {
  std::vector<EventRecord> spoiling;
  for (const auto& [event, rank] : all.events)
    if (spoils_results(event.source, event.code, event.text)) spoiling.push_back(event);
  return spoiling;
}

const EventRecord* spoiled_by(const std::vector<EventRecord>& spoiling, std::uint32_t gpu,
                              double start_unix_s, double seconds) {
  constexpr double kLate = 1;  // seconds: the driver reports it, and telemetry polls, afterwards
  const double end = start_unix_s + seconds + kLate;
  for (const EventRecord& event : spoiling) {
    const bool meanwhile = event.at_unix_s >= start_unix_s && event.at_unix_s <= end;
    if (event.gpu == std::int64_t{gpu} && meanwhile) return &event;
  }
  return nullptr;
}

}  // namespace tidemark
