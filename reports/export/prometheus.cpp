// Writes families of gauges.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "reports/export/export.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// Inside quotes; what is not printable is '?' already, so no newline is left.
std::string in_quotes(std::string_view text) {
  std::string made = "\"";
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') made += '\\';
    made += c;
  }
  return made + '"';
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

Labels gpu_labels(const Report& report, std::uint32_t gpu) {
  return {{"gpu", fmt::format("{}", gpu)},
          {"node", std::string(host_of(report, gpu))},
          {"uuid", std::string(report.gpus[gpu].uuid.view())}};
}

/// One family after the other; a sample that is there already would cost the reader all of them.
class Families {
 public:
  /// Of files in one folder a reader keeps one sample of a name, so each names its report by what
  /// stays from one launch to the next.
  explicit Families(const Report& report)
      : common_({{"level", report.launch.level},
                 {"first_node", std::string(host_of(report, 0))},
                 {"launch", fmt::format("{}", report.launch.launch)}}) {
    if (report.launch.is_virtual) common_.emplace_back("virtual", "1");
  }

  void begin(std::string_view name, std::string_view help) {
    name_ = name;
    seen_.clear();
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  }

  void add(Labels labels, double value) {
    labels.insert(labels.end(), common_.begin(), common_.end());
    std::string inside;
    for (const auto& [label, text] : labels) {
      inside += fmt::format("{}{}={}", inside.empty() ? "" : ",", label, in_quotes(text));
    }
    if (!seen_.insert(inside).second) {
      throw ReportError(
          fmt::format("the report holds {}{{{}}} twice; leave it out", name_, inside));
    }
    text_ += fmt::format("{}{{{}}} {}\n", name_, inside, number_text(value));
  }

  std::string text() const { return text_; }

 private:
  Labels common_;
  std::string name_, text_;
  std::set<std::string> seen_;
};

void add_report(Families& made, const Report& report) {
  const LaunchRow& launch = report.launch;
  const auto known = [&](std::string_view key) { return std::string(provenance_of(report, key)); };
  made.begin("tidemark_report_info", "What the report is of; always 1.");
  made.add({{"run_id", launch.run_id},
            {"device", launch.device},
            {"tool_version", launch.tool_version},
            {"git_hash", known("git_hash")},
            {"kernels_tree", known("kernels_tree")},
            {"suite_tree", known("suite_tree")},
            {"nvcc", known("nvcc")},
            {"seed", fmt::format("{:#x}", launch.seed)}},
           1);
  const auto one = [&](std::string_view name, std::string_view help, double value) {
    made.begin(name, help);
    made.add({}, value);
  };
  one("tidemark_report_created_timestamp_seconds", "When the launch began, Unix time.",
      launch.created_unix_s);
  one("tidemark_report_complete", "1 where every rank ended as it should and none is silent.",
      launch.complete ? 1 : 0);
  one("tidemark_report_ranks_expected", "Ranks that the launch was to have.",
      launch.ranks_expected);
  one("tidemark_report_ranks_reported", "Ranks that reported.", launch.ranks_reported);
  one("tidemark_report_damaged_lines", "Lines of journals that were lost.", launch.damaged_lines);
  one("tidemark_report_gpus", "GPUs of the launch.", launch.gpus);
}

/// They have no number, so they are in no other family.
void add_left_out(Families& made, const Report& report) {
  made.begin("tidemark_left_out", "A GPU or rank that the launch did without, and why; always 1.");
  std::set<std::string> told;  // what looks the same once it is printable is one sample
  for (const std::string_view text : left_out_of(report))
    if (const std::string reason = printable(text); told.insert(reason).second)
      made.add({{"reason", reason}}, 1);
}

/// A sample of each GPU that has the number.
void each_gpu(Families& made, const Report& report, std::string_view name, std::string_view help,
              const std::function<double(std::uint32_t)>& value_of) {
  made.begin(name, help);
  for (std::uint32_t i = 0; i < report.gpus.size(); ++i) {
    const double value = value_of(i);
    if (!std::isnan(value)) made.add(gpu_labels(report, i), value);
  }
}

void add_gpus(Families& made, const Report& report) {
  made.begin("tidemark_gpu_info", "What a GPU is and what drives it; always 1.");
  for (std::uint32_t i = 0; i < report.gpus.size(); ++i) {
    const GpuRow& gpu = report.gpus[i];
    Labels labels = gpu_labels(report, i);
    labels.insert(labels.end(), {{"name", std::string(report.text(gpu.name))},
                                 {"pci", std::string(report.text(gpu.pci))},
                                 {"driver", std::string(report.text(gpu.driver))},
                                 {"vbios", std::string(report.text(gpu.vbios))},
                                 {"nccl", std::string(report.text(gpu.nccl))}});
    made.add(labels, 1);
  }
  const auto each = [&](std::string_view name, std::string_view help,
                        double (*read)(const GpuRow&)) {
    each_gpu(made, report, name, help, [&](std::uint32_t i) {
      // Without NVML the columns hold what was never read; what it refused is NaN.
      return report.gpus[i].nvml != 0 ? read(report.gpus[i]) : std::nan("");
    });
  };
  each_gpu(made, report, "tidemark_gpu_reported", "1 where the GPU's rank reported.",
           [&](std::uint32_t i) { return report.gpus[i].reported != 0 ? 1.0 : 0.0; });
  each("tidemark_gpu_power_limit_watts", "Power cap.",
       [](const GpuRow& gpu) { return gpu.power_limit_w; });
  each("tidemark_gpu_nvlinks_up", "NVLinks that are up.",
       [](const GpuRow& gpu) { return number_of(gpu.nvlinks_up); });
  each("tidemark_gpu_ecc_uncorrected", "Uncorrected ECC errors.",
       [](const GpuRow& gpu) { return number_of(gpu.ecc_uncorrected); });
  each("tidemark_gpu_remapped_rows_pending", "Rows of memory that wait for a reset.",
       [](const GpuRow& gpu) { return number_of(gpu.remapped_rows_pending); });
}

Labels result_labels(const Report& report, const ResultRow& result) {
  Labels labels = {{"case", std::string(report.cases[result.case_id].name.view())}};
  const Labels gpu = gpu_labels(report, result.gpu_id);
  labels.insert(labels.end(), gpu.begin(), gpu.end());
  return labels;
}

bool is_failed(Verdict verdict) { return is_bad(verdict) || is_lacking(verdict); }

/// What the GPU did, over all cases.
void add_sums(Families& made, const Report& report) {
  std::vector<double> passed(report.gpus.size()), failed = passed, run = passed, wrong = passed;
  for (const ResultRow& result : report.results) {
    passed[result.gpu_id] += result.verdict == Verdict::pass ? 1 : 0;
    failed[result.gpu_id] += is_failed(result.verdict) ? 1 : 0;
    run[result.gpu_id] += result.rows_run;
    wrong[result.gpu_id] += result.rows_failed;
  }
  const auto each = [&](std::string_view name, std::string_view help,
                        const std::vector<double>& sums) {
    each_gpu(made, report, name, help, [&](std::uint32_t i) { return sums[i]; });
  };
  each("tidemark_gpu_cases_passed", "Cases that the GPU passed.", passed);
  each("tidemark_gpu_cases_failed", "Cases that neither passed nor were waived or skipped.",
       failed);
  each("tidemark_gpu_rows_run", "Parameter sets that were run.", run);
  each("tidemark_gpu_rows_failed", "Parameter sets that failed.", wrong);
}

void add_results(Families& made, const Report& report, bool all) {
  std::array<std::size_t, kVerdicts> counts{};
  for (const ResultRow& result : report.results) {
    ++counts[static_cast<std::size_t>(result.verdict)];
  }
  made.begin("tidemark_results", "Results, case by GPU, of each verdict.");
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    made.add({{"verdict", std::string(kVerdictNames[i])}}, static_cast<double>(counts[i]));
  }
  std::string names;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    names += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, kVerdictNames[i]);
  }
  const auto each = [&](std::string_view name, const std::string& help,
                        const std::function<double(const ResultRow&)>& value) {
    made.begin(name, help);
    for (const ResultRow& result : report.results) {
      if (all || is_failed(result.verdict)) made.add(result_labels(report, result), value(result));
    }
  };
  each("tidemark_case_verdict", fmt::format("What came of a case on a GPU: {}.", names),
       [](const ResultRow& result) { return static_cast<double>(result.verdict); });
  each("tidemark_case_failed", "1 where that is neither pass nor waived nor skip.",
       [](const ResultRow& result) { return is_failed(result.verdict) ? 1.0 : 0.0; });
  each("tidemark_case_rows_run", "Parameter sets of the case that were run.",
       [](const ResultRow& result) { return result.rows_run; });
  each("tidemark_case_rows_failed", "Parameter sets of the case that failed.",
       [](const ResultRow& result) { return result.rows_failed; });
}

/// Beside every number of such a case, too: a dashboard shows numbers and not what stands
/// elsewhere.
void add_slowed(Families& made, const Report& report) {
  made.begin("tidemark_case_slowed", "Cases whose numbers were slowed on purpose; always 1.");
  for (const auto& [of_case, share] : slowed_cases(report)) {
    made.add({{"case", of_case}, {"share", share}}, 1);
  }
}

void add_metrics(Families& made, const Report& report, bool all) {
  std::map<std::string, std::string> slowed;
  for (const auto& [of_case, share] : slowed_cases(report)) slowed[of_case] = share;
  const auto each = [&](std::string_view name, std::string_view help,
                        const std::function<double(const MetricRow&)>& value) {
    made.begin(name, help);
    for (const MetricRow& metric : report.metrics) {
      const ResultRow& result = report.results[metric.result_id];
      if (result.verdict != Verdict::pass) continue;
      Labels labels = result_labels(report, result);
      labels.insert(labels.begin() + 1, {{"metric", std::string(report.text(metric.name))},
                                         {"unit", std::string(report.text(metric.unit))}});
      const auto at = slowed.find(labels.front().second);
      if (at != slowed.end()) labels.emplace_back("slowed", at->second);
      made.add(labels, value(metric));
    }
  };
  each("tidemark_metric_median", "Median of the samples, in the unit that the label says.",
       [](const MetricRow& metric) { return metric.median; });
  if (!all) return;
  each("tidemark_metric_mad", "Median distance of the samples from their median.",
       [](const MetricRow& metric) { return metric.mad; });
  each("tidemark_metric_samples", "How many samples there are.",
       [](const MetricRow& metric) { return metric.n; });
}

std::string text_of(const Report& report, bool all) {
  Families made(report);
  add_report(made, report);
  add_left_out(made, report);
  add_gpus(made, report);
  add_sums(made, report);
  add_results(made, report, all);
  add_slowed(made, report);
  add_metrics(made, report, all);
  return made.text();
}

}  // namespace

std::string prometheus_of(const Report& report) { return text_of(report, false); }

std::string all_prometheus_of(const Report& report) { return text_of(report, true); }

}  // namespace tidemark
