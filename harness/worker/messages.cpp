// The JSON of orders and records. Numbers that JSON cannot hold (NaN) travel as null.
#include "harness/worker/messages.hpp"

#include <fmt/format.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/error.hpp"

namespace tidemark::harness {
namespace {

using Json = nlohmann::json;

std::string line_of(const Json& json) {
  // A reason may quote bytes of any kind; "replace" keeps dump() from throwing on broken UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <typename Bytes>
std::string hex_of(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    text += kDigits[static_cast<unsigned>(byte) >> 4U];
    text += kDigits[static_cast<unsigned>(byte) & 15U];
  }
  return text;
}

unsigned digit_in(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a') + 10U;
  throw Error("bytes that are not hexadecimal");
}

std::vector<std::uint8_t> bytes_in(const std::string& hex) {
  if (hex.size() % 2 != 0) throw Error("bytes with half a byte");
  std::vector<std::uint8_t> bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(digit_in(hex[2 * i]) << 4U | digit_in(hex[2 * i + 1]));
  return bytes;
}

NcclId nccl_id_in(const std::string& hex) {
  NcclId id{};
  if (hex.size() != 2 * id.size()) throw Error("an NCCL id of the wrong length");
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<std::byte>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

std::vector<double> doubles_in(const Json& json) {
  std::vector<double> values;
  for (const Json& value : json) {
    values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : value.get<double>());
  }
  return values;
}

Json json_of(const Miscompare& wrong) {
  return {{"row", wrong.row},
          {"parameters", wrong.parameters},
          {"what", wrong.what},
          {"coordinate", wrong.coordinate},
          {"first_offset", wrong.first_offset},
          {"wrong_bytes", wrong.wrong_bytes},
          {"expected", wrong.expected},
          {"actual", wrong.actual},
          {"text", wrong.text}};
}

Miscompare miscompare_in(const Json& json) {
  return {.row = json.at("row"),
          .parameters = json.at("parameters"),
          .what = json.at("what"),
          .coordinate = json.at("coordinate"),
          .first_offset = json.at("first_offset"),
          .wrong_bytes = json.at("wrong_bytes"),
          .expected = json.at("expected"),
          .actual = json.at("actual"),
          .text = json.at("text")};
}

Json json_of(const Metric& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"higher_is_better", metric.higher_is_better},
          {"values", metric.values},
          {"at", metric.at_unix_s},
          {"seconds", metric.seconds}};
}

Metric metric_in(const Json& json) {
  return {.name = json.at("name"),
          .unit = json.at("unit"),
          .higher_is_better = json.at("higher_is_better"),
          .values = doubles_in(json.at("values")),
          .at_unix_s = doubles_in(json.at("at")),
          .seconds = doubles_in(json.at("seconds"))};
}

Json json_of(const Outcome& outcome) {
  Json miscompares = Json::array();
  for (const Miscompare& wrong : outcome.miscompares) miscompares.push_back(json_of(wrong));
  Json metrics = Json::array();
  for (const Metric& metric : outcome.metrics) metrics.push_back(json_of(metric));
  return {{"judgement", static_cast<int>(outcome.judgement)},
          {"reason", outcome.reason},
          {"cuda_error", outcome.cuda_error},
          {"device_spent", outcome.device_spent},
          {"suspects", outcome.suspects},
          {"rows_planned", outcome.rows_planned},
          {"rows_run", outcome.rows_run},
          {"rows_failed", outcome.rows_failed},
          {"rows_left", outcome.rows_left},
          {"sm_rows_run", outcome.sm_rows_run},
          {"sm_rows_failed", outcome.sm_rows_failed},
          {"miscompares", miscompares},
          {"metrics", metrics},
          {"notes", outcome.notes},
          {"descriptors", outcome.descriptors}};
}

/// A pass of rows that did not run is none, whatever the worker takes it for.
void doubt(Outcome& outcome) {
  const std::uint64_t known = std::uint64_t{outcome.rows_run} + outcome.rows_left;
  if (outcome.judgement != Judgement::pass ||
      (outcome.rows_run > 0 && known >= outcome.rows_planned))
    return;
  outcome.judgement = Judgement::tool_error;
  outcome.reason = fmt::format("the worker said pass and has run {} of {} rows", outcome.rows_run,
                               outcome.rows_planned);
}

Outcome outcome_in(const Json& json) {
  const int judgement = json.at("judgement");
  if (judgement < 0 || judgement > static_cast<int>(Judgement::skip)) {
    throw Error("a judgement that is none");
  }
  Outcome outcome{.judgement = static_cast<Judgement>(judgement),
                  .reason = json.at("reason"),
                  .cuda_error = json.at("cuda_error"),
                  .device_spent = json.at("device_spent"),
                  .suspects = json.at("suspects"),
                  .rows_planned = json.at("rows_planned"),
                  .rows_run = json.at("rows_run"),
                  .rows_failed = json.at("rows_failed"),
                  .rows_left = json.at("rows_left"),
                  .sm_rows_run = json.at("sm_rows_run"),
                  .sm_rows_failed = json.at("sm_rows_failed"),
                  .miscompares = {},
                  .metrics = {},
                  .notes = json.at("notes"),
                  .descriptors = json.at("descriptors")};
  for (const Json& wrong : json.at("miscompares")) {
    outcome.miscompares.push_back(miscompare_in(wrong));
  }
  for (const Json& metric : json.at("metrics")) outcome.metrics.push_back(metric_in(metric));
  doubt(outcome);
  return outcome;
}

Json json_of(const GemmShape& product) { return {product.m, product.n, product.k}; }

GemmShape product_in(const Json& json) {
  return {.m = json.at(0), .n = json.at(1), .k = json.at(2)};
}

Json json_of(const ProductOptions& product) {
  return {{"shape", json_of(product.shape)}, {"grid", {product.grid.rows, product.grid.cols}}};
}

ProductOptions product_options_in(const Json& json) {
  const Json& grid = json.at("grid");
  return {.shape = product_in(json.at("shape")), .grid = {.rows = grid.at(0), .cols = grid.at(1)}};
}

Json json_of(const SetupOrder& order) {
  return {{"order", "setup"},
          {"device", order.device == DeviceKind::cuda ? "cuda" : "virtual"},
          {"fault", order.fault},
          {"seed", order.seed},
          {"level", static_cast<int>(order.level)},
          {"row", order.row},
          {"slot", order.slot},
          {"slots", order.slots},
          {"slow", order.slow},
          {"gemm_table", order.gemm_table},
          {"gemm_table_hash", order.gemm_table_hash},
          {"product", json_of(order.product)}};
}

Json json_of(const NcclIdOrder&) { return {{"order", "nccl_id"}}; }

Json json_of(const TransportOrder& order) {
  return {{"order", "transport"},
          {"kind", order.kind == TransportKind::nccl ? "nccl" : "relay"},
          {"nccl_id", hex_of(order.nccl_id)},
          {"seconds", order.seconds},
          {"route", order.route ? Json(name_of(*order.route)) : Json()}};
}

/// None of null.
std::optional<PanelRoute> route_in(const Json& json) {
  if (json.is_null()) return std::nullopt;
  for (const PanelRoute route : kPanelRoutes)
    if (json == name_of(route)) return route;
  throw Error("a route that is none");
}

Json json_of(const RunOrder& order) {
  return {{"order", "run"},       {"case", order.case_name}, {"attempt", order.attempt},
          {"alone", order.alone}, {"row", order.row},        {"first_row", order.first_row}};
}

Json json_of(const TuneOrder& order) {
  return {{"order", "tune"}, {"product", json_of(order.product)}, {"seconds", order.seconds}};
}

Json json_of(const std::vector<PairTimes>& pairs) {
  Json made = Json::array();
  for (const PairTimes& pair : pairs)
    made.push_back({pair.before_ns, pair.ours_ns, pair.behind_ns});
  return made;
}

std::vector<PairTimes> pairs_in(const Json& json) {
  std::vector<PairTimes> made;
  for (const Json& pair : json) {
    const std::vector<double> times = doubles_in(pair);
    made.push_back({.before_ns = times.at(0), .ours_ns = times.at(1), .behind_ns = times.at(2)});
  }
  return made;
}

Json json_of(const TriedConfiguration& one) {
  return {{"name", one.name},
          {"standing", static_cast<int>(one.standing)},
          {"trouble", one.trouble},
          {"at_work", json_of(one.at_work)},
          {"rested", json_of(one.rested)}};
}

TriedConfiguration tried_in(const Json& json) {
  const int standing = json.at("standing");
  if (standing < 0 || standing > static_cast<int>(TriedConfiguration::Standing::refused))
    throw Error("a standing that is none");
  return {.name = json.at("name"),
          .standing = static_cast<TriedConfiguration::Standing>(standing),
          .trouble = json.at("trouble"),
          .at_work = pairs_in(json.at("at_work")),
          .rested = pairs_in(json.at("rested"))};
}

Json json_of(const SaidTuned& said) {
  Json all = Json::array();
  for (const TriedConfiguration& one : said.tried.all) all.push_back(json_of(one));
  return {{"said", "tuned"},
          {"product", json_of(said.tried.product)},
          {"present", said.tried.present},
          {"all", all},
          {"fault", said.tried.fault},
          {"cut_short", said.tried.cut_short}};
}

SaidTuned tuned_in(const Json& json) {
  SaidTuned said{.tried = {.product = product_in(json.at("product")),
                           .present = json.at("present"),
                           .fault = json.at("fault"),
                           .cut_short = json.at("cut_short")}};
  for (const Json& one : json.at("all")) said.tried.all.push_back(tried_in(one));
  return said;
}

Json json_of(const ProgramOrder&) { return {{"order", "program"}}; }

Json json_of(const SaidProgram& said) {
  const RunResult& result = said.result;
  return {{"said", "program"},
          {"fault", static_cast<int>(result.fault)},
          {"code", result.code},
          {"note", result.note},
          {"bytes", hex_of(result.bytes)},
          {"surroundings", hex_of(result.surroundings)},
          {"trace", result.trace},
          {"sms", result.sms}};
}

SaidProgram program_in(const Json& json) {
  const int fault = json.at("fault");
  if (fault < 0 || fault > static_cast<int>(DeviceFault::unsupported))
    throw Error("a device fault that is none");
  RunResult result;
  result.fault = static_cast<DeviceFault>(fault);
  result.code = json.at("code");
  result.note = json.at("note");
  result.bytes = bytes_in(json.at("bytes"));
  result.surroundings = bytes_in(json.at("surroundings"));
  result.trace = json.at("trace").get<std::vector<std::uint64_t>>();
  result.sms = json.at("sms").get<std::vector<std::uint16_t>>();
  return {.result = std::move(result)};
}

Json json_of(const SaidReady&) { return {{"said", "ready"}}; }

Json json_of(const SaidStarted& said) {
  return {{"said", "started"}, {"case", said.case_name}, {"patience_s", said.patience_s}};
}

Json json_of(const SaidProgress& said) {
  return {{"said", "progress"}, {"done", said.done}, {"rows", said.rows}};
}

Json json_of(const SaidOutcome& said) {
  return {{"said", "outcome"}, {"case", said.case_name}, {"outcome", json_of(said.outcome)}};
}

Json json_of(const SaidNcclId& said) { return {{"said", "nccl_id"}, {"id", hex_of(said.id)}}; }

Json json_of(const SaidTrouble& said) { return {{"said", "trouble"}, {"text", said.text}}; }

Order order_in(const Json& json) {
  const std::string kind = json.at("order");
  if (kind == "setup") {
    const int level = json.at("level");
    if (level < 0 || level > static_cast<int>(Level::soak)) throw Error("a level that is none");
    return SetupOrder{
        .device = json.at("device") == "cuda" ? DeviceKind::cuda : DeviceKind::virtual_device,
        .fault = json.at("fault"),
        .seed = json.at("seed"),
        .level = static_cast<Level>(level),
        .row = json.at("row"),
        .slot = json.at("slot"),
        .slots = json.at("slots"),
        .slow = json.at("slow"),
        .gemm_table = json.at("gemm_table"),
        .gemm_table_hash = json.at("gemm_table_hash"),
        .product = product_options_in(json.at("product"))};
  }
  if (kind == "nccl_id") return NcclIdOrder{};
  if (kind == "transport") {
    return TransportOrder{
        .kind = json.at("kind") == "nccl" ? TransportKind::nccl : TransportKind::relay,
        .nccl_id = nccl_id_in(json.at("nccl_id")),
        .seconds = json.at("seconds"),
        .route = route_in(json.at("route"))};
  }
  if (kind == "run")
    return RunOrder{.case_name = json.at("case"),
                    .attempt = json.at("attempt"),
                    .alone = json.at("alone"),
                    .row = json.at("row"),
                    .first_row = json.at("first_row")};
  if (kind == "tune")
    return TuneOrder{.product = product_in(json.at("product")), .seconds = json.at("seconds")};
  if (kind == "program") return ProgramOrder{};
  throw Error("the order '" + kind + "' is not known");
}

Said said_in(const Json& json) {
  const std::string kind = json.at("said");
  if (kind == "ready") return SaidReady{};
  if (kind == "started") {
    return SaidStarted{.case_name = json.at("case"), .patience_s = json.at("patience_s")};
  }
  if (kind == "progress") return SaidProgress{.done = json.at("done"), .rows = json.at("rows")};
  if (kind == "outcome") {
    return SaidOutcome{.case_name = json.at("case"), .outcome = outcome_in(json.at("outcome"))};
  }
  if (kind == "nccl_id") return SaidNcclId{.id = nccl_id_in(json.at("id"))};
  if (kind == "trouble") return SaidTrouble{.text = json.at("text")};
  if (kind == "tuned") return tuned_in(json);
  if (kind == "program") return program_in(json);
  throw Error("the record '" + kind + "' is not known");
}

/// What nlohmann throws is turned into the one exception that callers know.
template <typename Read>
auto read_line(const std::string& line, Read read) {
  try {
    return read(Json::parse(line));
  } catch (const std::exception& broken) {
    throw Error("'" + line.substr(0, 80) + "' is not a message: " + broken.what());
  }
}

}  // namespace

std::string order_line(const Order& order) {
  return std::visit([](const auto& any) { return line_of(json_of(any)); }, order);
}

std::string said_line(const Said& said) {
  return std::visit([](const auto& any) { return line_of(json_of(any)); }, said);
}

Order order_in(const std::string& line) {
  return read_line(line, [](const Json& json) { return order_in(json); });
}

Said said_in(const std::string& line) {
  return read_line(line, [](const Json& json) { return said_in(json); });
}

}  // namespace tidemark::harness
