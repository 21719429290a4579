// What a verb found as records, for programs: JSON, lines of CSV, and tests. A format for programs
// is written from these, one for people from a Document.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/document/document.hpp"

namespace tidemark {

using OrderedJson = nlohmann::ordered_json;

/// An object of names and values in turn. NaN is dumped as null.
template <class... Fields>
OrderedJson object(Fields&&... names_and_values) {
  static_assert(sizeof...(Fields) % 2 == 0, "a name without a value");
  std::array<OrderedJson, sizeof...(Fields)> fields = {
      OrderedJson(std::forward<Fields>(names_and_values))...};
  OrderedJson made = OrderedJson::object();
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    made[fields[i].template get_ref<std::string&>()] = std::move(fields[i + 1]);
  }
  return made;
}

/// An array of what `of` makes of each, which is its last argument.
template <class Range, class Of, class... Context>
OrderedJson array(const Range& range, Of of, const Context&... context) {
  OrderedJson made = OrderedJson::array();
  for (const auto& each : range) made.push_back(of(context..., each));
  return made;
}

/// A number of a line of CSV; empty where it is none.
struct SheetNumber {
  std::string text;

  template <class Number>
  explicit SheetNumber(Number value, std::string_view format = "{}") {
    const bool finite = std::isfinite(static_cast<double>(value));
    if (finite) text = fmt::format(fmt::runtime(format), value);
  }
};

/// One table as CSV. A line has what was set of it, also for an earlier line; all else is empty.
class Sheet {
 public:
  /// `columns`: with commas between.
  explicit Sheet(std::string_view columns) : csv_(fmt::format("{}\n", columns)) {
    for (std::size_t at = 0; at <= columns.size(); at += columns_.back().size() + 1) {
      columns_.push_back(columns.substr(at, columns.find(',', at) - at));
    }
  }

  bool has(std::string_view column) const {
    return std::ranges::find(columns_, column) != columns_.end();
  }
  /// Columns and values in turn.
  template <class Value, class... More>
  void set(std::string_view column, const Value& value, const More&... columns_and_values) {
    if constexpr (std::is_arithmetic_v<Value>) {
      field(column) = SheetNumber(value).text;
    } else if constexpr (std::is_same_v<Value, SheetNumber>) {
      field(column) = value.text;
    } else {
      field(column) = for_csv(value);
    }
    if constexpr (sizeof...(More) > 0) set(columns_and_values...);
  }
  /// A line of nothing but these.
  template <class... Fields>
  void begin(const Fields&... columns_and_values) {
    line_.assign(columns_.size(), {});
    set(columns_and_values...);
  }
  /// The line, with these set as well.
  template <class... Fields>
  void add_line(const Fields&... columns_and_values) {
    if constexpr (sizeof...(Fields) > 0) set(columns_and_values...);
    csv_ += fmt::format("{}\n", fmt::join(line_, ","));
  }

  /// Its first line names the columns.
  const std::string& csv() const { return csv_; }

 private:
  std::string& field(std::string_view column) {
    for (std::size_t tried = 0; columns_[next_ % columns_.size()] != column; ++tried, ++next_) {
      if (tried == columns_.size()) throw std::logic_error(fmt::format("no column {}", column));
    }
    return line_[next_++ % columns_.size()];
  }

  std::vector<std::string_view> columns_;
  std::vector<std::string> line_;
  std::size_t next_ = 0;  // where the column that is set next stands, as a rule
  std::string csv_;
};

/// From the worst to the best.
enum class TestOutcome : std::uint8_t { failed, error, skipped, passed };

struct TestCase {
  std::string class_name = {}, name = {};
  double seconds = 0;  // NaN and less than 0 are written as 0: readers want a number
  TestOutcome outcome = TestOutcome::passed;
  std::string type = {};     // of what is not passed: "hang"
  std::string message = {};  // the same: one line
  std::string text = {};     // the same: lines, for failed and error
};

struct TestSuite {
  std::string name = {}, hostname = {}, timestamp = {};  // ISO 8601 without a zone
  std::vector<std::pair<std::string, std::string>> properties = {};
  std::vector<TestCase> cases = {};
};

/// Nothing of the virtual device is a pass of a GPU, and nothing of it fails.
inline void skip_virtual(TestCase& made) {
  const bool silent = made.outcome == TestOutcome::passed && made.message.empty();
  made.message = "VIRTUAL device, nothing was measured on a GPU; there: " +
                 (silent ? "as before" : made.message);
  made.outcome = TestOutcome::skipped;
}

/// The time of a test suite of "2026-09-01T00:00:00Z".
inline std::string without_zone(const std::string& utc) { return utc.substr(0, utc.find('Z')); }

/// What a verb found, in each shape that formats are written from. Each is made when a format asks
/// for it: of a fleet they take a while. Refers to what it is made of.
struct Views {
  std::string name;  // "tidemark compare"
  std::function<Document()> document;
  std::function<OrderedJson()> json;
  std::function<Sheet()> sheet;
  std::function<std::vector<TestSuite>()> tests;
  int json_indent = 2;
};

}  // namespace tidemark
