// A report as JSON, made from the description of its tables.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "reports/document/report/document.hpp"
#include "reports/store/each_table.hpp"
#include "reports/store/replay_command.hpp"

namespace tidemark::reports {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Value value_at(const char* row, const Column& column, std::size_t element) {
  Value value{};
  std::memcpy(&value, row + column.offset + element * sizeof(Value), sizeof(Value));
  return value;
}

Json one_of(const Report& report, const char* row, const Column& column, std::size_t element) {
  switch (column.type) {
    case ColumnType::u8:
      return value_at<std::uint8_t>(row, column, element);
    case ColumnType::u32: {
      const auto value = value_at<std::uint32_t>(row, column, element);
      if (column.refers == kStringBytes) return std::string(report.text(value));
      return value == kNoRow ? Json(nullptr) : Json(value);
    }
    case ColumnType::i32:
      return value_at<std::int32_t>(row, column, element);
    case ColumnType::u64:
      return value_at<std::uint64_t>(row, column, element);
    case ColumnType::i64:
      return value_at<std::int64_t>(row, column, element);
    case ColumnType::f32:
      return value_at<float>(row, column, element);  // NaN is dumped as null
    case ColumnType::f64:
      return value_at<double>(row, column, element);
    case ColumnType::text: {
      const std::string_view all(row + column.offset, column.count);
      return std::string(all.substr(0, all.find('\0')));
    }
    case ColumnType::verdict:
      return std::string(name_of(value_at<Verdict>(row, column, element)));
  }
  return nullptr;
}

Json value_of(const Report& report, const char* row, const Column& column) {
  if (column.count == 1 || column.type == ColumnType::text) return one_of(report, row, column, 0);
  Json all = Json::array();
  for (std::size_t i = 0; i < column.count; ++i) all.push_back(one_of(report, row, column, i));
  return all;
}

}  // namespace

std::string json_of(const Report& report) {
  Json json = {
      {"format", kReportFormat}, {"schema_major", kSchemaMajor}, {"schema_minor", kSchemaMinor}};
  const Summary summary = summary_of(report);
  json["result"] = summary.word;
  json["planned"] = summary.planned;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    json["verdicts"][std::string(kVerdictNames[i])] = summary.verdicts[i];
  }
  for (const LaunchAttribute& attribute : launch_attributes()) {
    std::visit(
        [&](auto member) { json["launch"][std::string(attribute.name)] = report.launch.*member; },
        attribute.member);
  }
  for_each_table(report, [&](const Table& table, const auto& rows) {
    Json all = Json::array();
    for (const auto& row : rows) {
      Json one;
      for (const Column& column : table.columns) {
        one[std::string(column.name)] =
            value_of(report, reinterpret_cast<const char*>(&row), column);
      }
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row)>, ResultRow>)
        one["replay"] = replay_command(report, row);
      all.push_back(std::move(one));
    }
    json[std::string(table.name)] = std::move(all);
  });
  json["outliers"] = Json::array();
  for (const OutlierGroup& group : outliers_of(report).groups) {
    json["outliers"].push_back({{"place", group.place},
                                {"gpus", group.gpus},
                                {"metrics", group.metrics},
                                {"slower", group.slower},
                                {"median", group.median},
                                {"least", group.least},
                                {"most", group.most},
                                {"z", group.z}});
  }
  // Escaped to ASCII, so that JSON shown on a terminal cannot drive it either.
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::reports
