// Records as lines of JSON and back. One list of fields for each record serves both ways.
#include "reports/journal/record.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>

#include "reports/journal/record_fields.hpp"

namespace tidemark {
namespace {

using Json = FieldJson;

/// `,"crc":"89abcdef"}`: what stands behind the text that the CRC is over.
constexpr std::string_view kCrcKey = ",\"crc\":\"";
constexpr std::uint64_t kMostMissing = 1'000'000'000;  // whatever the numbers claim
constexpr std::size_t kCrcTail = kCrcKey.size() + 8 + 2;

struct Journal {
  static FieldJson written(Verdict verdict) { return std::string(name_of(verdict)); }
  template <class>
  static Verdict read(const FieldJson& from) {
    return verdict_named(from.get_ref<const std::string&>()).value();
  }
};
using Writer = FieldWriter<Journal>;
using Reader = FieldReader<Journal>;

// The fields of each record, in the order they are written.

template <class Io>
void fields(Io& io, Is<LaunchRecord> auto& r) {
  io("rank", r.rank), io("run_id", r.run_id), io("series_id", r.series_id);
  io("launch", r.launch), io("launches", r.launches), io("created_unix_s", r.created_unix_s);
  io("tool_version", r.tool_version), io("git_hash", r.git_hash);
  io("kernels_tree", r.kernels_tree), io("suite_tree", r.suite_tree), io("nvcc", r.nvcc);
  io("compiler", r.compiler), io("level", r.level), io("device", r.device), io("seed", r.seed);
  io("ranks", r.ranks), io("gpus", r.gpus), io("arguments", r.arguments);
  io("environment", r.environment), io("slowed", r.slowed), io("cases", r.cases);
  io.later("gemm_table", r.gemm_table), io.later("gemm_table_hash", r.gemm_table_hash);
  io.later("hosts", r.hosts);
}

template <class Io>
void fields(Io& io, Is<StartRecord> auto& r) {
  io("gpu", r.gpu), io("case", r.case_name), io("attempt", r.attempt), io("at", r.at_unix_s);
}

template <class Io>
void fields(Io& io, Is<TelemetryPoint> auto& r) {
  io("at", r.at_unix_s), io("sm_mhz", r.sm_mhz), io("memory_mhz", r.memory_mhz);
  io("power_w", r.power_w), io("temperature_c", r.temperature_c);
  io("utilisation", r.utilisation), io("throttle_reasons", r.throttle_reasons);
}

template <class Io>
void fields(Io& io, Is<SampleRecord> auto& r) {
  io("value", r.value), io("seconds", r.seconds), io("telemetry", r.telemetry);
}

template <class Io>
void fields(Io& io, Is<MetricRecord> auto& r) {
  io("name", r.name), io("unit", r.unit), io("higher_is_better", r.higher_is_better);
  io("samples", r.samples);
}

template <class Io>
void fields(Io& io, Is<EventRecord> auto& r) {
  io("at", r.at_unix_s), io("gpu", r.gpu), io("source", r.source), io("code", r.code);
  io("text", r.text);
}

template <class Io>
void fields(Io& io, Is<Waiver> auto& r) {
  io("case", r.cases), io("gpu", r.gpu), io("owner", r.owner), io("link", r.link);
  io("reason", r.reason), io("lowest_driver", r.lowest_driver);
  io("highest_driver", r.highest_driver), io("expires", r.expires), io("waives", r.waives);
}

template <class Io>
void fields(Io& io, Is<PolicyRecord> auto& r) {
  io("strict", r.strict), io("waivers", r.waivers);
}

template <class Io>
void fields(Io& io, Is<EndRecord> auto& r) {
  io("rank", r.rank), io("at", r.at_unix_s), io("complete", r.complete), io("reason", r.reason);
}

template <class R>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<R, LaunchRecord>) return "launch";
  if constexpr (std::is_same_v<R, NodeRecord>) return "node";
  if constexpr (std::is_same_v<R, GpuRecord>) return "gpu";
  if constexpr (std::is_same_v<R, StartRecord>) return "start";
  if constexpr (std::is_same_v<R, OutcomeRecord>) return "outcome";
  if constexpr (std::is_same_v<R, EventRecord>) return "event";
  if constexpr (std::is_same_v<R, PolicyRecord>) return "policy";
  if constexpr (std::is_same_v<R, EndRecord>) return "end";
}

std::string crc_of(std::string_view text) {
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return fmt::format("{:08x}", crc32_z(0, bytes, text.size()));
}

template <class R>
bool read_as(const Json& json, std::string_view type, std::optional<Record>& record) {
  if (type != type_name<R>()) return false;
  R made;
  Reader::read(json, made);
  record = std::move(made);
  return true;
}

template <class... R>
std::optional<Record> read_any(const Json& json, const std::variant<R...>*) {
  const std::string_view type = json.at("type").get_ref<const std::string&>();
  std::optional<Record> record;
  (read_as<R>(json, type, record) || ...);
  return record;
}

struct Line {
  Record record;
  std::optional<LineOrigin> origin;
};

std::optional<LineOrigin> origin_in(const Json& json) {
  const auto from = json.find("from");
  if (from == json.end()) return std::nullopt;
  LineOrigin origin;
  Reader::read(from->at(0), origin.run_id);
  Reader::read(from->at(1), origin.rank);
  Reader::read(from->at(2), origin.number);
  return origin;
}

std::optional<Line> parsed(std::string_view line) {
  if (line.size() < kCrcTail) return std::nullopt;
  const std::string_view covered = line.substr(0, line.size() - kCrcTail);
  const std::string tail = fmt::format("{}{}\"}}", kCrcKey, crc_of(covered));
  if (line.substr(covered.size()) != tail) return std::nullopt;
  try {
    const Json json = Json::parse(line);
    std::optional<Record> record = read_any(json, static_cast<const Record*>(nullptr));
    if (!record) return std::nullopt;
    return Line{.record = std::move(*record), .origin = origin_in(json)};
  } catch (const std::exception&) {  // a line of the right CRC that some other program wrote
    return std::nullopt;
  }
}

/// The line that says whose journal it is: the launch record, which stands first unless it was
/// lost.
const Line& telling_line(const std::vector<Line>& lines) {
  const auto launch = std::ranges::find_if(
      lines, [](const Line& line) { return std::holds_alternative<LaunchRecord>(line.record); });
  return launch == lines.end() ? lines.front() : *launch;
}

}  // namespace

std::string to_line(const Record& record, const std::optional<LineOrigin>& origin) {
  Json json = Json::object();
  std::visit(
      [&](const auto& one) {
        json["type"] = type_name<std::remove_cvref_t<decltype(one)>>();
        if (origin) json["from"] = {origin->run_id, origin->rank, origin->number};
        json.update(Writer::written(one));
      },
      record);
  // `replace` makes any bytes valid UTF-8; dump would throw on them otherwise.
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  line.pop_back();  // the closing brace
  return fmt::format("{}{}{}\"}}\n", line, kCrcKey, crc_of(line));
}

JournalHead head_of_journal(const std::string& text) {
  JournalHead head;
  bool first = true;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::optional<Line> line = parsed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (!line) continue;
    if (auto* launch = std::get_if<LaunchRecord>(&line->record)) {
      head.run_id = launch->run_id;
      head.launch = std::move(*launch);
      return head;
    }
    if (first && line->origin) head.run_id = line->origin->run_id;
    first = false;
  }
  return head;
}

JournalText parse_journal(const std::string& text) {
  JournalText journal;
  std::vector<Line> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const bool torn = end == std::string_view::npos;
    const std::string_view line = rest.substr(0, end);
    rest = torn ? std::string_view{} : rest.substr(end + 1);
    if (std::optional<Line> one = parsed(line)) {
      lines.push_back(std::move(*one));
    } else if (!torn) {
      ++journal.damaged;
    }
  }
  if (lines.empty()) return journal;
  const std::optional<LineOrigin> whose = telling_line(lines).origin;
  if (whose) journal.run_id = whose->run_id;
  if (const auto* launch = std::get_if<LaunchRecord>(&telling_line(lines).record)) {
    journal.run_id = launch->run_id;
  }
  std::set<std::uint64_t> numbers;
  for (Line& line : lines) {
    const std::optional<LineOrigin>& origin = line.origin;
    if (whose && (!origin || origin->run_id != whose->run_id || origin->rank != whose->rank)) {
      ++journal.foreign;
    } else if (!whose || numbers.insert(origin->number).second) {
      journal.records.push_back(std::move(line.record));
    }
  }
  if (whose) {
    // Each damaged line is one of the gaps.
    const std::uint64_t gaps = *numbers.rbegin() + 1 - numbers.size();
    journal.missing = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        gaps - std::min<std::uint64_t>(gaps, journal.damaged), kMostMissing));
  }
  return journal;
}

}  // namespace tidemark
