// Writes the artifacts of the OCP Test & Validation output specification.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/export/export.hpp"
#include "reports/history/chronicle.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMajor = 2, kMinor = 0;

/// ISO 8601 in UTC with microseconds; of a time that is none, the beginning of 1970.
std::string timestamp_of(double unix_s) {
  constexpr double kYear10000 = 253402300800.0, kMicro = 1e6;
  constexpr std::int64_t kPerSecond = 1000000;
  if (!(unix_s >= 0 && unix_s < kYear10000 - 1)) unix_s = 0;
  const auto micros = static_cast<std::int64_t>(std::llround(unix_s * kMicro));
  const std::int64_t seconds = micros / kPerSecond;
  std::string made = utc_text(static_cast<double>(seconds));
  made.pop_back();
  return made + fmt::format(".{:06}Z", micros % kPerSecond);
}

/// Artifacts one after the other.
class Lines {
 public:
  explicit Lines(double launch_unix_s) : launch_unix_s_(launch_unix_s) {}

  /// `unix_s`: when it happened; 0 or NaN: with the launch.
  void add(const char* kind, Json artifact, double unix_s = 0) {
    const bool known = std::isfinite(unix_s) && unix_s > 0;
    const Json line = {{kind, std::move(artifact)},
                       {"sequenceNumber", number_++},
                       {"timestamp", timestamp_of(known ? unix_s : launch_unix_s_)}};
    text_ += line.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  }
  void run(Json artifact, double unix_s = 0) {
    add("testRunArtifact", std::move(artifact), unix_s);
  }
  void step(std::uint32_t of_case, const char* kind, Json artifact, double unix_s = 0) {
    add("testStepArtifact",
        {{kind, std::move(artifact)}, {"testStepId", fmt::format("{}", of_case)}}, unix_s);
  }

  std::string text() const { return text_; }

 private:
  double launch_unix_s_;
  std::uint32_t number_ = 0;
  std::string text_;
};

std::string text_at(const Report& report, std::uint32_t index) {
  return printable(report.text(index));
}

Json software_of(const Report& report) {
  Json made = Json::array();
  const auto add = [&](std::string_view name, std::string_view version, std::string_view revision,
                       const char* type) {
    if (version.empty()) return;
    Json one = {{"softwareInfoId", fmt::format("software-{}", made.size())},
                {"name", name},
                {"version", printable(version)},
                {"softwareType", type}};
    if (!revision.empty()) one["revision"] = printable(revision);
    made.push_back(std::move(one));
  };
  add("tidemark", report.launch.tool_version, provenance_of(report, "git_hash"), "APPLICATION");
  // All GPUs of a launch have their own line where they differ.
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const auto each = [&](const char* name, std::uint32_t text, const char* type) {
    const std::string_view version = report.text(text);
    if (seen.emplace(name, version).second) add(name, version, "", type);
  };
  for (const GpuRow& gpu : report.gpus) {
    each("NVIDIA driver", gpu.driver, "SYSTEM");
    each("VBIOS", gpu.vbios, "FIRMWARE");
    each("NCCL", gpu.nccl, "APPLICATION");
  }
  for (const NodeRow& node : report.nodes) each("kernel", node.kernel, "SYSTEM");
  return made;
}

std::string hardware_id(std::uint32_t gpu) { return fmt::format("gpu-{}", gpu); }

Json hardware_of(const Report& report) {
  Json made = Json::array();
  for (std::uint32_t i = 0; i < report.gpus.size(); ++i) {
    const GpuRow& gpu = report.gpus[i];
    Json one = {{"hardwareInfoId", hardware_id(i)},
                {"name", report.launch.is_virtual ? "virtual device" : text_at(report, gpu.name)},
                {"partType", "GPU"}};
    const auto add = [&one](const char* key, const std::string& value) {
      if (!value.empty()) one[key] = value;
    };
    if (gpu.node_id != kNoRow) {
      add("computerSystem", text_at(report, report.nodes[gpu.node_id].hostname));
    }
    add("location", text_at(report, gpu.pci));
    add("serialNumber", text_at(report, gpu.serial));
    add("partNumber", text_at(report, gpu.board_part));
    made.push_back(std::move(one));
  }
  return made;
}

std::string command_of(const Report& report) {
  std::string made;
  for (const ProvenanceRow& row : report.provenance) {
    if (!report.text(row.key).starts_with("argument.")) continue;
    if (!made.empty()) made += ' ';
    made += text_at(report, row.value);
  }
  return made;
}

/// An object without objects in it; UUIDs have no field of their own.
Json metadata_of(const Report& report) {
  const LaunchRow& launch = report.launch;
  Json made = {{"run_id", printable(launch.run_id)},
               {"kernels_tree", printable(provenance_of(report, "kernels_tree"))},
               {"suite_tree", printable(provenance_of(report, "suite_tree"))},
               {"anonymised", launch.anonymised}};
  for (std::uint32_t i = 0; i < report.gpus.size(); ++i) {
    made[hardware_id(i) + ".uuid"] = printable(report.gpus[i].uuid.view());
  }
  return made;
}

Json start_of(const Report& report) {
  const LaunchRow& launch = report.launch;
  const std::string name = report.nodes.size() == 1 ? text_at(report, report.nodes.front().hostname)
                                                    : plural(report.nodes.size(), "node");
  return {{"testRunStart",
           {{"name", "tidemark"},
            {"version", printable(launch.tool_version)},
            {"commandLine", command_of(report)},
            {"parameters",
             {{"level", printable(launch.level)},
              {"device", printable(launch.device)},
              {"virtual", launch.is_virtual},
              {"seed", fmt::format("{:#x}", launch.seed)}}},
            {"dutInfo",
             {{"dutInfoId", "0"},
              {"name", name},
              {"softwareInfos", software_of(report)},
              {"hardwareInfos", hardware_of(report)},
              {"metadata", metadata_of(report)}}}}}};
}

const char* type_of(const Report& report, Verdict verdict) {
  if (report.launch.is_virtual) return "UNKNOWN";
  if (verdict == Verdict::pass) return "PASS";
  return is_bad(verdict) ? "FAIL" : "UNKNOWN";
}

void add_measurements(Lines& made, const Report& report, const ResultRow& result,
                      const std::vector<std::uint32_t>& metrics, const std::string& slowed,
                      double at) {
  for (const std::uint32_t row : metrics) {
    const MetricRow& metric = report.metrics[row];
    if (!std::isfinite(metric.median)) continue;
    Json metadata = {{"statistic", "median"},
                     {"samples", metric.n},
                     {"higher_is_better", metric.higher_is_better != 0}};
    if (!slowed.empty()) metadata["slowed_on_purpose"] = slowed;
    for (const auto& [name, value] :
         {std::pair{"mad", metric.mad}, {"min", metric.min}, {"max", metric.max}}) {
      if (std::isfinite(value)) metadata[name] = value;
    }
    made.step(result.case_id, "measurement",
              {{"name", text_at(report, metric.name)},
               {"value", metric.median},
               {"unit", text_at(report, metric.unit)},
               {"hardwareInfoId", hardware_id(result.gpu_id)},
               {"metadata", metadata}},
              at);
  }
}

/// `slowed`: by how much the case was slowed on purpose; empty where it was not.
void add_result(Lines& made, const Report& report, const ResultRow& result,
                const std::vector<std::uint32_t>& metrics, const std::string& slowed) {
  const double at = result.start_unix_s + result.seconds;
  if (result.verdict == Verdict::pass) add_measurements(made, report, result, metrics, slowed, at);
  std::string message = text_at(report, result.reason);
  if (report.launch.is_virtual) message = "VIRTUAL device; " + message;
  if (!slowed.empty()) {
    message =
        fmt::format("SLOWED ON PURPOSE by {}{}{}", slowed, message.empty() ? "" : "; ", message);
  }
  const std::string replay = replay_command(report, result);
  if (!replay.empty() && result.verdict != Verdict::pass) {
    message += (message.empty() ? "" : "; ") + ("replay: " + replay);
  }
  if (is_lacking(result.verdict)) {
    made.step(result.case_id, "error",
              {{"symptom", fmt::format("tidemark-{}", name_of(result.verdict))},
               {"message", fmt::format("GPU {}: {}", result.gpu_id, message)}},
              at);
  }
  Json diagnosis = {
      {"verdict", fmt::format("{}-{}", printable(report.cases[result.case_id].name.view()),
                              name_of(result.verdict))},
      {"type", type_of(report, result.verdict)},
      {"hardwareInfoId", hardware_id(result.gpu_id)}};
  if (!message.empty()) diagnosis["message"] = message;
  made.step(result.case_id, "diagnosis", std::move(diagnosis), at);
}

struct Outcome {
  bool bad = false, lacking = false, passed = false;

  void take(Verdict verdict) {
    bad = bad || is_bad(verdict);
    lacking = lacking || is_lacking(verdict);
    passed = passed || verdict == Verdict::pass;
  }
};

void add_steps(Lines& made, const Report& report) {
  std::vector<std::vector<std::uint32_t>> results(report.cases.size());
  std::vector<std::vector<std::uint32_t>> metrics(report.results.size());
  for (std::uint32_t i = 0; i < report.results.size(); ++i) {
    results[report.results[i].case_id].push_back(i);
  }
  for (std::uint32_t i = 0; i < report.metrics.size(); ++i) {
    metrics[report.metrics[i].result_id].push_back(i);
  }
  for (std::uint32_t of_case = 0; of_case < results.size(); ++of_case) {
    Outcome outcome;
    const std::string name(report.cases[of_case].name.view());
    const std::string slowed = printable(provenance_of(report, "slow." + name));
    double first = 0, last = 0;
    for (const std::uint32_t row : results[of_case]) {
      const ResultRow& result = report.results[row];
      const double start = result.start_unix_s;
      if (start > 0) first = first > 0 ? std::min(first, start) : start;
      last = std::fmax(last, start + result.seconds);
      outcome.take(result.verdict);
    }
    made.step(of_case, "testStepStart", {{"name", printable(name)}}, first);
    for (const std::uint32_t row : results[of_case]) {
      add_result(made, report, report.results[row], metrics[row], slowed);
    }
    const bool ran = (outcome.bad || outcome.passed) && !report.launch.is_virtual;
    made.step(of_case, "testStepEnd",
              {{"status", outcome.lacking ? "ERROR"
                          : ran           ? "COMPLETE"
                                          : "SKIP"}},
              last);
  }
}

/// A failure is not hidden by what is lacking beside it, as in the exit code of a run.
void add_end(Lines& made, const Report& report) {
  Outcome outcome;
  double last = report.launch.created_unix_s;
  for (const ResultRow& result : report.results) {
    outcome.take(result.verdict);
    last = std::fmax(last, result.start_unix_s + result.seconds);
  }
  const char *status = "COMPLETE", *result = "PASS";
  const bool lacking = outcome.lacking || !report.launch.complete;
  const bool tested = outcome.bad || lacking || outcome.passed;
  if (report.launch.is_virtual || !tested) {
    status = "SKIP";
    result = "NOT_APPLICABLE";
  } else if (outcome.bad) {
    result = "FAIL";
  } else if (lacking) {
    status = "ERROR";
    result = "NOT_APPLICABLE";
  }
  made.run({{"testRunEnd", {{"status", status}, {"result", result}}}}, last);
}

}  // namespace

std::string ocp_of(const Report& report) {
  Lines made(report.launch.created_unix_s);
  made.add("schemaVersion", {{"major", kMajor}, {"minor", kMinor}});
  made.run(start_of(report));
  if (const std::string slowed = slowed_text(report); !slowed.empty()) {
    made.run({{"log",
               {{"severity", "WARNING"},
                {"message", "SLOWED ON PURPOSE: " + printable(slowed) +
                                "; these numbers say nothing about the GPUs"}}}});
  }
  add_steps(made, report);
  for (const EventRow& event : report.events) {
    const std::string text =
        fmt::format("{} {} on {}: {}", text_at(report, event.source), event.code,
                    event.gpu_id == kNoRow ? "no GPU" : fmt::format("GPU {}", event.gpu_id),
                    text_at(report, event.text));
    made.run({{"log", {{"severity", "WARNING"}, {"message", text}}}}, event.at_unix_s);
  }
  if (!report.launch.complete) {
    made.run({{"error",
               {{"symptom", "tidemark-incomplete"},
                {"message", printable(report.launch.incomplete_reason)}}}});
  }
  add_end(made, report);
  return made.text();
}

}  // namespace tidemark
