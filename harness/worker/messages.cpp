// The fields of orders and records. One list for each serves both ways; numbers that JSON cannot
// hold (NaN) travel as null, enumerators as their numbers.
#include "harness/worker/messages.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "reports/journal/fields.hpp"

namespace tidemark {
namespace {

using Json = FieldJson;

constexpr DeviceKind last(DeviceKind) { return DeviceKind::virtual_device; }
constexpr DeviceFault last(DeviceFault) { return DeviceFault::unsupported; }
constexpr Judgement last(Judgement) { return Judgement::skip; }
constexpr PanelRoute last(PanelRoute) { return PanelRoute::relay; }
constexpr TransportKind last(TransportKind) { return TransportKind::nccl; }

struct PipeDialect {
  template <class Enum>
  static Json written(Enum value) {
    return static_cast<int>(value);
  }
  template <class Enum>
  static Enum read(const Json& from) {
    int number = 0;
    FieldReader<PipeDialect>::read(from, number);
    if (number < 0 || number > static_cast<int>(last(Enum{})))
      throw Error(fmt::format("{} names nothing", number));
    return static_cast<Enum>(number);
  }
};

template <class Io>
void fields(Io& io, Is<Metric> auto& r) {
  io("name", r.name), io("unit", r.unit), io("higher_is_better", r.higher_is_better);
  io("values", r.values), io("at", r.at_unix_s), io("seconds", r.seconds);
}

template <class Io>
void fields(Io& io, Is<Outcome> auto& r) {
  io("judgement", r.judgement), io("reason", r.reason), io("cuda_error", r.cuda_error);
  io("device_spent", r.device_spent), io("suspects", r.suspects);
  io("rows_planned", r.rows_planned), io("rows_run", r.rows_run);
  io("rows_failed", r.rows_failed), io("rows_left", r.rows_left);
  io("sm_rows_run", r.sm_rows_run), io("sm_rows_failed", r.sm_rows_failed);
  io("sm_latency", r.sm_latency), io("sm_rate", r.sm_rate);
  io("miscompares", r.miscompares), io("metrics", r.metrics), io("notes", r.notes);
  io("descriptors", r.descriptors), io("answers", r.answers);
}

/// As text: the others stay here, since an order is shorter than PIPE_BUF.
template <class Io>
void fields(Io& io, Is<LaunchOptions> auto& r) {
  for (const LaunchField& field : launch_fields()) {
    if (field.reach != OptionReach::workers) continue;
    std::string text = field.text(r);
    io(field.name.c_str(), text);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(r)>>) read_text(field, r, text);
  }
}

// Orders.

template <class Io>
void fields(Io& io, Is<SetupOrder> auto& r) {
  io("device", r.device), io("seed", r.seed), io("slot", r.slot), io("slots", r.slots);
  io("options", r.options);
}

template <class Io>
void fields(Io&, Is<NcclIdOrder> auto&) {}

template <class Io>
void fields(Io& io, Is<TransportOrder> auto& r) {
  io("kind", r.kind), io("nccl_id", r.nccl_id), io("seconds", r.seconds), io("route", r.route);
}

template <class Io>
void fields(Io& io, Is<RunOrder> auto& r) {
  io("case", r.case_name), io("attempt", r.attempt), io("alone", r.alone), io("row", r.row);
  io("first_row", r.first_row), io("seed", r.seed);
}

template <class Io>
void fields(Io&, Is<ProgramOrder> auto&) {}

// What a worker says.

template <class Io>
void fields(Io&, Is<SaidReady> auto&) {}

template <class Io>
void fields(Io& io, Is<SaidStarted> auto& r) {
  io("case", r.case_name), io("patience_s", r.patience_s);
}

template <class Io>
void fields(Io& io, Is<SaidProgress> auto& r) {
  io("done", r.done), io("rows", r.rows);
}

template <class Io>
void fields(Io& io, Is<SaidOutcome> auto& r) {
  io("case", r.case_name), io("outcome", r.outcome);
}

template <class Io>
void fields(Io& io, Is<SaidNcclId> auto& r) {
  io("id", r.id);
}

template <class Io>
void fields(Io& io, Is<SaidTrouble> auto& r) {
  io("text", r.text);
}

template <class Io>
void fields(Io& io, Is<SaidProgram> auto& r) {
  io("fault", r.result.fault), io("code", r.result.code), io("note", r.result.note);
  io("bytes", r.result.bytes), io("surroundings", r.result.surroundings);
  io("trace", r.result.trace), io("sms", r.result.sms);
}

// By place in the variants.
constexpr std::array<const char*, std::variant_size_v<Order>> kOrders = {
    "setup", "nccl_id", "transport", "run", "program"};
constexpr std::array<const char*, std::variant_size_v<Said>> kSaid = {
    "ready", "started", "progress", "outcome", "nccl_id", "trouble", "program"};

template <class Message, std::size_t N>
std::string line_of(const char* key, const std::array<const char*, N>& names,
                    const Message& message) {
  Json json = {{key, names[message.index()]}};
  std::visit([&](const auto& any) { json.update(FieldWriter<PipeDialect>::written(any)); },
             message);
  // A reason may quote bytes of any kind; "replace" keeps dump() from throwing on broken UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class... Kinds, std::size_t N>
void read_any(const Json& json, const std::array<const char*, N>& names, std::string_view name,
              std::variant<Kinds...>& message) {
  std::size_t at = 0;
  const auto read_as = [&]<class Kind>(std::type_identity<Kind>) {
    if (name != names[at++]) return false;
    FieldReader<PipeDialect>::read(json, message.template emplace<Kind>());
    return true;
  };
  if (!(read_as(std::type_identity<Kinds>{}) || ...))
    throw Error(fmt::format("'{}' is not known", name));
}

/// What nlohmann throws is turned into the one exception that callers know.
template <class Message, std::size_t N>
Message message_in(const std::string& line, const char* key,
                   const std::array<const char*, N>& names) {
  try {
    const Json json = Json::parse(line);
    Message message;
    read_any(json, names, json.at(key).get_ref<const std::string&>(), message);
    return message;
  } catch (const std::exception& broken) {
    throw Error("'" + line.substr(0, 80) + "' is not a message: " + broken.what());
  }
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

}  // namespace

std::string order_line(const Order& order) { return line_of("order", kOrders, order); }

std::string said_line(const Said& said) { return line_of("said", kSaid, said); }

Order order_in(const std::string& line) { return message_in<Order>(line, "order", kOrders); }

Said said_in(const std::string& line) {
  auto said = message_in<Said>(line, "said", kSaid);
  if (auto* const outcome = std::get_if<SaidOutcome>(&said)) doubt(outcome->outcome);
  return said;
}

}  // namespace tidemark
