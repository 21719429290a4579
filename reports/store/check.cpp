// Whether the rows of a report fit together, and whether two reports hold the same rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <map>
#include <tuple>

#include "reports/store/confined/confined_reader.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

template <class Value, class Row>
Value value_at(const Row& row, const Column& column) {
  Value value{};
  std::memcpy(&value, reinterpret_cast<const char*>(&row) + column.offset, sizeof(Value));
  return value;
}

/// Where the error is said to be.
struct Checker {
  const std::string& name;
  std::map<std::string_view, std::size_t> rows_of;

  [[noreturn]] void refuse(const std::string& what) const {
    throw ReportError(fmt::format("{}: {}; it was damaged or made by another program", name, what));
  }

  template <class Row>
  void check_column(const Table& table, const Column& column, const std::vector<Row>& rows,
                    std::size_t first, std::size_t end) const {
    const auto complain = [&](std::size_t row, std::string_view what) {
      refuse(
          fmt::format("row {} of table '{}': column '{}' {}", row, table.name, column.name, what));
    };
    const bool verdict = column.type == ColumnType::verdict;
    if (verdict || column.type == ColumnType::u8) {
      const std::size_t most = verdict ? kVerdicts - 1 : 1;
      for (std::size_t i = first; i < end; ++i) {
        if (value_at<std::uint8_t>(rows[i], column) <= most) continue;
        complain(i, verdict ? "is no verdict" : "is neither 0 nor 1");
      }
    }
    if (column.refers.empty()) return;
    const std::size_t there = rows_of.at(column.refers);
    for (std::size_t i = first; i < end; ++i) {
      const auto index = value_at<std::uint32_t>(rows[i], column);
      if (index < there || (column.none_allowed && index == kNoRow)) continue;
      complain(i, "refers to a row that is not there");
    }
  }

  /// Block by block, all columns of each: a table may be far larger than the processor's caches.
  template <class Row>
  void check_table(const Table& table, const std::vector<Row>& rows) const {
    constexpr std::size_t kBlockRows = 256;
    for (std::size_t first = 0; first < rows.size(); first += kBlockRows) {
      const std::size_t end = std::min(rows.size(), first + kBlockRows);
      for (const Column& column : table.columns) check_column(table, column, rows, first, end);
    }
  }

  template <class Row>
  void check_ids(const std::vector<Row>& rows, std::uint32_t Row::*id) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].*id != i) {
        refuse(fmt::format("row {} of table '{}' is not numbered so", i, table_of<Row>().name));
      }
    }
  }
};

void check_launch(const Checker& checker, const LaunchRow& launch) {
  const auto one_of = [](std::string_view text, std::initializer_list<std::string_view> known) {
    return std::ranges::find(known, text) != known.end();
  };
  if (!one_of(launch.level, {"quick", "nightly", "soak"})) {
    checker.refuse("attribute 'level' is not quick, nightly or soak");
  }
  if (!one_of(launch.device, {"cuda", "virtual"})) {
    checker.refuse("attribute 'device' is not cuda or virtual");
  }
}

/// Every planned pair of case and GPU has one result.
void check_plan(const Checker& checker, const Report& report) {
  if (report.gpus.size() != report.launch.gpus) {
    checker.refuse(
        fmt::format("tells of {} GPUs and lists {}", report.launch.gpus, report.gpus.size()));
  }
  const std::size_t planned = report.gpus.size() * report.cases.size();
  if (report.results.size() != planned) {
    checker.refuse(
        fmt::format("{} results were planned, {} are there", planned, report.results.size()));
  }
  std::vector<bool> seen(planned);
  for (const ResultRow& result : report.results) {
    const std::size_t pair = result.case_id * report.gpus.size() + result.gpu_id;
    if (seen[pair]) checker.refuse(fmt::format("result {} is there twice", result.result_id));
    seen[pair] = true;
  }
}

void check_sms(const Checker& checker, const Report& report) {
  const SmRow* before = nullptr;
  for (const SmRow& row : report.sms) {
    const auto refuse = [&checker, &row](std::string_view what) {
      checker.refuse(fmt::format("SM {} of GPU {} {}", row.sm, row.gpu_id, what));
    };
    if (row.sm >= kMostSms) refuse("is beyond any GPU's");
    if (row.rows_run == 0) refuse("is listed without a row that ran there");
    if (row.rows_failed > row.rows_run) refuse("has more rows that failed than rows that ran");
    if (!std::isfinite(row.latency) || !std::isfinite(row.rate))
      refuse("has figures that are none");
    if (before != nullptr && std::tie(before->gpu_id, before->sm) >= std::tie(row.gpu_id, row.sm)) {
      refuse("is listed twice or out of order");
    }
    before = &row;
  }
}

void check_samples(const Checker& checker, const Report& report) {
  for (const MetricRow& metric : report.metrics) {
    const std::size_t samples = report.samples.size();
    if (metric.first_sample > samples || metric.n > samples - metric.first_sample) {
      checker.refuse("a metric refers to samples that are not there");
    }
  }
}

template <class Row>
bool same(const Table& table, const std::vector<Row>& a, const std::vector<Row>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto* left = reinterpret_cast<const char*>(&a[i]);
    const auto* right = reinterpret_cast<const char*>(&b[i]);
    for (const Column& column : table.columns) {
      if (std::memcmp(left + column.offset, right + column.offset, bytes_of(column)) != 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

void check_references(const Report& report, const std::string& name) {
  Checker checker{.name = name, .rows_of = {{kStringBytes, report.strings.size()}}};
  for_each_table(report, [&checker](const Table& table, const auto& rows) {
    checker.rows_of[table.name] = rows.size();
  });
  for_each_table(report, [&checker](const Table& table, const auto& rows) {
    checker.check_table(table, rows);
  });
  if (report.strings.empty() || !report.strings[0].empty()) {
    checker.refuse("string 0 is not the empty one");
  }
  checker.check_ids(report.nodes, &NodeRow::node_id);
  checker.check_ids(report.gpus, &GpuRow::gpu_id);
  checker.check_ids(report.cases, &CaseRow::case_id);
  checker.check_ids(report.results, &ResultRow::result_id);
  check_launch(checker, report.launch);
  check_plan(checker, report);
  check_sms(checker, report);
  check_samples(checker, report);
}

bool same_rows(const Report& a, const Report& b) {
  if (packed(a.launch) != packed(b.launch) || a.strings != b.strings) return false;
  return same(table_of<NodeRow>(), a.nodes, b.nodes) && same(table_of<GpuRow>(), a.gpus, b.gpus) &&
         same(table_of<CaseRow>(), a.cases, b.cases) &&
         same(table_of<ResultRow>(), a.results, b.results) &&
         same(table_of<MiscompareRow>(), a.miscompares, b.miscompares) &&
         same(table_of<SmRow>(), a.sms, b.sms) &&
         same(table_of<MetricRow>(), a.metrics, b.metrics) &&
         same(table_of<SampleRow>(), a.samples, b.samples) &&
         same(table_of<AnswerRow>(), a.answers, b.answers) &&
         same(table_of<EventRow>(), a.events, b.events) &&
         same(table_of<ProvenanceRow>(), a.provenance, b.provenance);
}

}  // namespace tidemark
