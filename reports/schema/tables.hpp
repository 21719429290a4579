// The tables of a report: one struct a table, for rows and for records of them, and one description
// of every table from which journal, writer, reader, JSON and documentation are made.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "reports/base/error.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {

inline constexpr std::string_view kReportFormat = "tidemark-report";
/// A reader takes every minor of its own major and ignores what it does not know of it. Nothing
/// that reports/golden/schema-1.0.json names may change within major 1: what comes is added.
inline constexpr std::uint32_t kSchemaMajor = 1, kSchemaMinor = 4;

/// No GPU numbers an SM as high: a number from there on is none.
inline constexpr std::uint32_t kMostSms = 1024;

/// In a column that refers to a row of a table: no such row is known.
inline constexpr std::uint32_t kNoRow = 0xffffffff;

/// Throws ReportError when the text does not fit: a cut name could equal another one.
inline void copy_name(std::string_view text, std::span<char> to) {
  if (text.size() > to.size()) {
    throw ReportError("'" + std::string(text) + "' is longer than the " +
                      std::to_string(to.size()) + " bytes its column holds; shorten it");
  }
  std::ranges::copy(text, to.begin());
}

/// Short text inside a row, padded with NUL; not terminated when it fills the array.
template <std::size_t N>
struct FixedText {
  std::array<char, N> bytes{};

  static FixedText of(std::string_view text) {
    FixedText fixed;
    copy_name(text, fixed.bytes);
    return fixed;
  }
  std::string_view view() const {
    const std::string_view all(bytes.data(), N);
    return all.substr(0, all.find('\0'));
  }
};

/// What members are in a record, which processes send each other and journals keep lines of.
struct InRecord {
  using Flag = bool;
  using Text = std::string;
  template <std::size_t N>
  using Name = std::string;
};

/// And in rows of a report: a text is an index into the strings. No bool: a file may hold any byte.
struct InRow {
  using Flag = std::uint8_t;
  using Text = std::uint32_t;
  template <std::size_t N>
  using Name = FixedText<N>;
};

/// The root attributes: one launch.
struct LaunchRow {
  std::string run_id, series_id;
  std::uint32_t launch = 1, launches = 1;
  std::string created_utc;
  double created_unix_s = 0;
  std::string tool_version, level, device;
  std::uint64_t seed = 0;
  bool is_virtual = false, anonymised = false, complete = false;
  std::string incomplete_reason;
  std::uint32_t ranks_expected = 0, ranks_reported = 0, gpus = 0, damaged_lines = 0;
};

/// A machine; of a rank that describes it, `first_rank`. Unknown text is empty.
template <class In>
struct NodeFacts {
  std::uint32_t node_id = 0, first_rank = 0, ranks = 0;
  typename In::Text hostname{}, kernel{}, os{}, cpu{}, boot_id{}, mpi{}, hdf5{};
  std::uint32_t logical_cpus = 0, memory_gib = 0;
};
using NodeRecord = NodeFacts<InRecord>;
using NodeRow = NodeFacts<InRow>;

/// One GPU (or virtual device) of the launch. `gpu_id` counts over all ranks. What NVML did not say
/// is empty, NaN, -1, a clock of 0 MHz or kUnknownCount; without `nvml` no number was read.
template <class In>
struct GpuFacts {
  std::uint32_t gpu_id = 0, node_id = kNoRow, rank = kNoRow, local_index = 0;
  typename In::Flag reported = false, nvml = false;
  typename In::template Name<48> uuid{};
  typename In::Text serial{}, pci{}, name{}, vbios{}, board_part{}, driver{}, nccl{};
  std::uint32_t cuda_driver = 0, cuda_runtime = 0, compute_capability = 0, sm_count = 0;
  std::uint64_t memory_bytes = 0;
  std::int32_t ecc_enabled = -1, mig_enabled = -1, persistence = -1;
  double power_limit_w = 0, default_power_limit_w = 0;
  std::uint32_t app_sm_mhz = 0, app_memory_mhz = 0, max_sm_mhz = 0, nvlinks_up = 0;
  std::uint32_t nvlinks_up_mask = 0;
  std::uint64_t ecc_corrected = 0, ecc_uncorrected = 0;
  std::uint32_t remapped_rows_pending = 0;
};
using GpuRecord = GpuFacts<InRecord>;
using GpuRow = GpuFacts<InRow>;

/// One planned case.
template <class In>
struct CaseFacts {
  std::uint32_t case_id = 0;
  typename In::template Name<128> name{};
  typename In::Text kind{}, scope{}, claim{}, unit{};
  typename In::Flag higher_is_better = true;
};
using PlannedCase = CaseFacts<InRecord>;
using CaseRow = CaseFacts<InRow>;

struct ResultRow {
  std::uint32_t result_id = 0, case_id = 0, gpu_id = 0, attempt = 0, attempts = 0;
  Verdict verdict = Verdict::not_run;
  std::uint32_t rows_planned = 0, rows_run = 0, rows_failed = 0;
  double start_unix_s = 0, seconds = 0;
  std::int32_t cuda_error = 0, signal = 0, exit_code = 0;
  std::uint64_t seed = 0, descriptor_digest = 0;
  std::uint32_t reason = 0, replay = 0, notes = 0;
  float sm_mhz = 0, memory_mhz = 0, power_w = 0, temperature_c = 0, utilisation = 0;
  std::uint64_t throttle_reasons = 0;
};

template <class In>
struct MiscompareFacts {
  std::uint32_t result_id = 0, attempt = 0, row = 0;
  typename In::Text parameters{}, what{}, text{};
  std::uint32_t dimensions = 0;
  std::array<std::int64_t, 5> coordinate{};
  std::uint64_t first_offset = 0, wrong_bytes = 0, expected = 0, actual = 0;
};
using MiscompareRecord = MiscompareFacts<InRecord>;
using MiscompareRow = MiscompareFacts<InRow>;

/// What rows came to on one SM, over all cases.
struct SmRow {
  std::uint32_t gpu_id = 0, sm = 0, rows_run = 0, rows_failed = 0;
  double latency = 0, rate = 0;
  std::uint64_t families = 0;
};

/// What a driver answered to one question.
template <class In>
struct AnswerFacts {
  std::uint32_t result_id = 0;
  typename In::Text subject{}, question{}, unit{};
  std::int64_t answer = 0;
  std::array<std::int64_t, 16> map{};

  bool operator==(const AnswerFacts&) const = default;
};
using AnswerRecord = AnswerFacts<InRecord>;
using AnswerRow = AnswerFacts<InRow>;

/// The family of a case: "load" of "load.tile.2d".
constexpr std::string_view family_of(std::string_view case_name) {
  return case_name.substr(0, case_name.find('.'));
}

struct MetricRow {
  std::uint32_t result_id = 0, name = 0, unit = 0;
  std::uint8_t higher_is_better = 1;
  std::uint32_t n = 0;
  double median = 0, mad = 0, min = 0, max = 0, mean = 0;
  std::uint64_t first_sample = 0;
};

struct SampleRow {
  std::uint32_t metric_id = 0;
  double value = 0, seconds = 0, at_unix_s = 0;
  float sm_mhz = 0, memory_mhz = 0, power_w = 0, temperature_c = 0, utilisation = 0;
  std::uint64_t throttle_reasons = 0;
};

struct EventRow {
  double at_unix_s = 0;
  std::uint32_t rank = kNoRow, gpu_id = kNoRow;
  std::uint32_t source = 0;
  std::int32_t code = 0;
  std::uint32_t text = 0;
};

struct ProvenanceRow {
  std::uint32_t key = 0, value = 0;
};

/// Where one string stands in the bytes of the dataset `strings`.
struct StringIndexRow {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};

enum class ColumnType : std::uint8_t { u8, u32, i32, u64, i64, f32, f64, text, verdict };

/// "u32", "f64", ...: as in the documentation.
std::string_view name_of(ColumnType type);

/// What a fact about a GPU or its machine can be to a change of the results.
enum class FactRole : std::uint8_t {
  none,      // no fact: a key, or what was measured
  subject,   // the driver, which compare is asked about
  setup,     // may be the cause instead: a confounder where it differs
  identity,  // says which GPU it is and where; named where it differs, but no cause
};

/// What becomes of a text in an anonymized report (anonymize.cpp). Numbers stay.
enum class Disclosure : std::uint8_t {
  dropped,    // it may hold anything: the words of other programs, names of people
  kept,       // versions and models, and what tidemark's own templates make of numbers
  hashed,     // a name: equal ones stay equal
  rewritten,  // made anew of what the report holds otherwise
};

/// The dataset of all text, bytes one after the other.
inline constexpr std::string_view kStringBytes = "strings";

/// One column of a table: one member of its row struct.
struct Column {
  std::string_view name;
  ColumnType type = ColumnType::u8;
  std::size_t count = 1;         // elements of an array, bytes of a text
  std::size_t offset = 0;        // bytes, in the row struct
  std::string_view unit;         // "s", "MHz", ...; empty where the number has none
  std::string_view refers = {};  // "strings" or a table: the number is an index into it
  bool none_allowed = false;     // kNoRow is a value
  std::string_view meaning;
  std::string_view in_journal = {};  // its name there; empty: the writer of the report adds it
  /// The minor version that has it first. Rows of an older report have the default of its member,
  /// as records of older journals do.
  std::uint32_t since = 0;
  FactRole role = FactRole::none;  // of `gpus` and `nodes`
  std::string_view fact = {};      // what compare and --allow-confounders call it; empty: no fact
  bool default_is_known = false;   // the value of a blank row is a value, not "unknown"
  bool by_nvml = false;            // never read where `gpus.nvml` is 0
  Disclosure disclosure = Disclosure::dropped;
  std::string_view hash_prefix = {};  // of what is hashed
};

/// Calls visit with an element of the type that those of the column have; of a text it is a char.
template <class Visit>
auto visit_type(const Column& column, Visit visit) {
  switch (column.type) {
    case ColumnType::u8:
      return visit(std::uint8_t{});
    case ColumnType::u32:
      return visit(std::uint32_t{});
    case ColumnType::i32:
      return visit(std::int32_t{});
    case ColumnType::u64:
      return visit(std::uint64_t{});
    case ColumnType::i64:
      return visit(std::int64_t{});
    case ColumnType::f32:
      return visit(float{});
    case ColumnType::f64:
      return visit(double{});
    case ColumnType::verdict:
      return visit(Verdict{});
    case ColumnType::text:
      break;
  }
  return visit(char{});
}

/// Bytes of the column in one row, in memory as in the file.
std::size_t bytes_of(const Column& column);

/// The number in a row of its table, or of its elements the first; 0 of text.
double number_in(const Column& column, const std::byte* row);
/// The index that a reference holds, or the u32 that any other column does.
std::uint32_t index_in(const Column& column, const std::byte* row);

/// One dataset of rows.
struct Table {
  std::string_view name, meaning;
  std::size_t row_bytes = 0;  // sizeof the row struct
  std::vector<Column> columns;
  std::string blank = {};   // the bytes of a row of defaults; nought between its columns
  std::uint32_t since = 0;  // the minor version that has it first; empty in an older report
};

/// The bytes of the row's columns where the struct has them, and nought between them.
template <class Row>
std::string blank_of(const Row& row, std::span<const Column> columns) {
  std::string made(sizeof(Row), '\0');
  const auto* const bytes = reinterpret_cast<const char*>(&row);
  for (const Column& each : columns) {
    std::copy_n(bytes + each.offset, bytes_of(each), made.data() + each.offset);
  }
  return made;
}

/// One root attribute: its name in the file and the member that holds it.
struct LaunchAttribute {
  using Member = std::variant<std::string LaunchRow::*, double LaunchRow::*, bool LaunchRow::*,
                              std::uint32_t LaunchRow::*, std::uint64_t LaunchRow::*>;
  std::string_view name;
  Member member;
  std::string_view meaning;
  Disclosure disclosure = Disclosure::dropped;  // of a text
};

/// The description of the table that holds rows of this type, or of a record of such a row; made
/// for the structs above.
template <class Row>
const Table& table_of();

/// Every table, in the order of the schema; `string_index` last.
std::span<const Table* const> tables();

/// Every root attribute but `format`, `schema_major` and `schema_minor`.
std::span<const LaunchAttribute> launch_attributes();

/// Every root attribute, table and column with type, unit and meaning, as text.
std::string schema_text();

/// The same as JSON: "format", "major", "minor", "attributes", "tables" with "columns", "verdicts".
std::string schema_json();

}  // namespace tidemark
