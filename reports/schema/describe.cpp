// Prints the description of the tables.
#include "reports/schema/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <variant>

namespace tidemark {
namespace {

std::string_view type_of(const LaunchAttribute& attribute) {
  return std::visit(
      [](auto member) -> std::string_view {
        using Value = std::remove_cvref_t<decltype(LaunchRow{}.*member)>;
        if (std::is_same_v<Value, std::string>) return "text";
        if (std::is_same_v<Value, bool>) return "u8";
        if (std::is_same_v<Value, double>) return "f64";
        return std::is_same_v<Value, std::uint64_t> ? "u64" : "u32";
      },
      attribute.member);
}

/// "i64[5]", "text[48]", "u32 -> nodes".
std::string type_of(const Column& column) {
  std::string type(name_of(column.type));
  if (column.count > 1) type += fmt::format("[{}]", column.count);
  if (!column.refers.empty()) type += fmt::format(" -> {}", column.refers);
  return type;
}

std::string text_of(const Table& table) {
  std::size_t widest_name = 0, widest_type = 0;
  for (const Column& column : table.columns) {
    widest_name = std::max(widest_name, column.name.size());
    widest_type = std::max(widest_type, type_of(column).size());
  }
  std::string text = fmt::format("\n{}: {}\n", table.name, table.meaning);
  for (const Column& column : table.columns) {
    const std::string unit = column.unit.empty() ? "" : fmt::format(" [{}]", column.unit);
    text += fmt::format("  {:<{}}  {:<{}}  {}{}\n", column.name, widest_name, type_of(column),
                        widest_type, column.meaning, unit);
  }
  return text;
}

nlohmann::ordered_json json_of(const Column& column) {
  return {{"name", column.name},        {"type", name_of(column.type)},
          {"count", column.count},      {"unit", column.unit},
          {"refers_to", column.refers}, {"none_allowed", column.none_allowed},
          {"meaning", column.meaning},  {"since", column.since}};
}

}  // namespace

std::string schema_text() {
  std::string text = fmt::format(
      "{} {}.{}\n\n"
      "A column 'u32 -> strings' holds a row of string_index, which tells where its text stands "
      "in\n"
      "the bytes of the dataset strings; '-> a table' holds a row of that table.\n"
      "NaN, all bits of a count by NVML, bit 63 of throttle_reasons: not measured or refused.\n"
      "Numbers are little-endian, rows are packed, text is UTF-8 padded with NUL.\n"
      "\nroot attributes: the launch\n",
      kReportFormat, kSchemaMajor, kSchemaMinor);
  std::size_t widest = 0;
  for (const LaunchAttribute& attribute : launch_attributes()) {
    widest = std::max(widest, attribute.name.size());
  }
  for (const LaunchAttribute& attribute : launch_attributes()) {
    text += fmt::format("  {:<{}}  {:<4}  {}\n", attribute.name, widest, type_of(attribute),
                        attribute.meaning);
  }
  for (const Table* table : tables()) text += text_of(*table);
  text += fmt::format("\n{}: u8, all text, one after the other\n\nverdict, an HDF5 enum of u8:",
                      kStringBytes);
  for (std::size_t i = 0; i < kVerdicts; ++i) text += fmt::format(" {}={}", kVerdictNames[i], i);
  return text + "\n";
}

std::string schema_json() {
  nlohmann::ordered_json json = {{"format", kReportFormat},
                                 {"major", kSchemaMajor},
                                 {"minor", kSchemaMinor},
                                 {"attributes", nlohmann::ordered_json::array()},
                                 {"tables", nlohmann::ordered_json::array()},
                                 {"text", kStringBytes},
                                 {"verdicts", kVerdictNames}};
  for (const LaunchAttribute& attribute : launch_attributes()) {
    json["attributes"].push_back(
        {{"name", attribute.name}, {"type", type_of(attribute)}, {"meaning", attribute.meaning}});
  }
  for (const Table* table : tables()) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::array();
    for (const Column& column : table->columns) columns.push_back(json_of(column));
    json["tables"].push_back({{"name", table->name},
                              {"meaning", table->meaning},
                              {"since", table->since},
                              {"columns", columns}});
  }
  return json.dump(2) + "\n";
}

}  // namespace tidemark
