// What a launch writes down while it runs: one record a line, each with its own CRC, in one journal
// a rank. The journals are the truth; the HDF5 report is made from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/schema/tables.hpp"
#include "reports/schema/waiver.hpp"

namespace tidemark {

/// First record of each journal; equal on all ranks but for `rank`. Every planned case is planned
/// once for each GPU of the launch.
struct LaunchRecord {
  std::uint32_t rank = 0;
  std::string run_id;                      // UUIDv4
  std::string series_id;                   // run_id of the first launch of the same command
  std::uint32_t launch = 1, launches = 1;  // which of that command's, from 1
  double created_unix_s = 0;
  std::string tool_version, git_hash, kernels_tree, suite_tree, nvcc, compiler;
  std::string level, device;  // device: "cuda" or "virtual"
  std::uint64_t seed = 0;
  std::uint32_t ranks = 1;  // supervisors
  std::uint32_t gpus = 1;   // over all ranks
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // allow-listed variables only
  std::vector<std::pair<std::string, std::string>> slowed = {};  // case, by how much: "3%"
  // Of older launches with a GEMM table of their own: its file, its hash. Empty: that of the build.
  std::string gemm_table = {}, gemm_table_hash = {};
  std::vector<std::string> hosts =
      {};  // by rank; rank 0 alone writes them, for ranks never heard of
  std::vector<PlannedCase> cases;
};

/// Written before a case starts, so that a report can name what was running when all ended.
struct StartRecord {
  std::uint32_t gpu = 0;
  std::string case_name = {};
  std::uint32_t attempt = 1;
  double at_unix_s = 0;
};

/// The clocks and sensors of one GPU at one moment; NaN where not read.
struct TelemetryPoint {
  double at_unix_s = 0;
  float sm_mhz = 0, memory_mhz = 0, power_w = 0, temperature_c = 0, utilisation = 0;
  std::uint64_t throttle_reasons = 0;  // NVML's bits, or kThrottlingUnknown
};

/// One timed sample of a metric, with the reading nearest to it.
struct SampleRecord {
  double value = 0, seconds = 0;
  TelemetryPoint telemetry;
};

struct MetricRecord {
  std::string name, unit;
  bool higher_is_better = true;
  std::vector<SampleRecord> samples;
};

/// What came of one case on one GPU.
struct OutcomeRecord {
  std::uint32_t gpu = 0;
  std::string case_name;
  std::uint32_t attempt = 1;
  Verdict verdict = Verdict::not_run;
  std::string reason;  // one line; empty for a pass
  double start_unix_s = 0, seconds = 0;
  std::uint32_t rows_planned = 0, rows_run = 0, rows_failed = 0;
  /// By SM: rows that visited it, and those of them that failed; empty where that is not known.
  std::vector<std::uint32_t> sm_rows_run, sm_rows_failed;
  /// By SM, 0 where not known: cycles of a load alone; GB/s of copies from L2 by all SMs at once.
  std::vector<double> sm_latency, sm_rate;
  std::int32_t cuda_error = 0, signal = 0, exit_code = 0;
  std::uint64_t seed = 0, descriptors = 0;
  std::string replay;  // a command line that runs it again
  std::vector<std::string> notes;
  std::vector<MiscompareRecord> miscompares;
  std::vector<MetricRecord> metrics;
  std::vector<AnswerRecord> answers;
};

/// The source of an event that says which GPU or rank the launch did without, and why.
inline constexpr std::string_view kLeftOut = "left_out";

/// Something that happened beside the cases: an Xid, a lost rank, a signal.
struct EventRecord {
  double at_unix_s = 0;
  std::int32_t gpu = -1;    // -1: not of one GPU
  std::string source = {};  // "nvml", "supervisor", "reporter", "signal", kLeftOut
  std::int32_t code = 0;    // Xid, signal number
  std::string text = {};
};

/// What the launch was told of known failures; on every rank the same.
struct PolicyRecord {
  bool strict = false;  // a pass that a waiver names is an unexpected pass
  std::vector<Waiver> waivers = {};
};

/// Last record of a rank that got to its end.
struct EndRecord {
  std::uint32_t rank = 0;
  double at_unix_s = 0;
  bool complete = true;
  std::string reason = {};  // why not complete
};

using Record = std::variant<LaunchRecord, NodeRecord, GpuRecord, StartRecord, OutcomeRecord,
                            EventRecord, PolicyRecord, EndRecord>;

/// Whose line a line is: of which run and rank, and which of that rank's lines, counted from 0.
struct LineOrigin {
  std::string run_id = {};
  std::uint32_t rank = 0;
  std::uint64_t number = 0;

  bool operator==(const LineOrigin&) const = default;
};

/// One line, newline included: {"type":...,"from":[run id,rank,number],...,"crc":"89abcdef"}; the
/// CRC-32 (zlib) is over all before it. Only lines of journals have an origin.
std::string to_line(const Record& record, const std::optional<LineOrigin>& origin = std::nullopt);

/// The records of a journal. Left out and counted in `damaged` are lines with a wrong CRC or of an
/// unknown type, but not a torn last one; in `foreign`, lines that are not of the run and rank of
/// the launch record. A line that stands there twice is read once. Gaps in the numbers of the lines
/// count as `missing`. Where lines have no origin (journals before they had one) nothing is foreign
/// or missing.
struct JournalText {
  std::vector<Record> records;
  std::uint32_t damaged = 0, foreign = 0, missing = 0;
  std::optional<std::string> run_id;  // of its launch record, else of its first line
};
JournalText parse_journal(const std::string& text);

/// What a journal is of: its launch record, and its run. Of a sound journal only the first line is
/// looked at.
struct JournalHead {
  std::optional<std::string> run_id;  // as of JournalText
  std::optional<LaunchRecord> launch;
};
JournalHead head_of_journal(const std::string& text);

}  // namespace tidemark
