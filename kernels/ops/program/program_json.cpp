// One list of members for each struct of a program, Fields, both writes and reads it. A new operand
// is a line of Fields<Step>; verbs are those of kVerbTable.
#include "kernels/ops/program/program_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "kernels/guarded_json.hpp"

namespace tidemark {
namespace {

constexpr const char* kFormat = "tidemark-program";
constexpr std::uint32_t kSchema = 2;

constexpr std::string_view kGiveProgram = "give a program as tidemark writes it";

/// A value of the file and where it stands there.
struct At {
  const std::string& file;
  std::string pointer;
  const Json& value;

  [[noreturn]] void refuse(const std::string& what) const { refuse_at(file, pointer, what); }
  At operator[](const char* key) const {
    return {file, fmt::format("{}/{}", pointer, key), value.at(key)};
  }
  At operator[](std::size_t i) const {
    return {file, fmt::format("{}/{}", pointer, i), value.at(i)};
  }
};

/// What a value needs to know of its surroundings to be written.
struct Context {
  const Program& program;
  std::uint32_t rank = 0;  // of the tensor map that a list of coordinates belongs to
};

/// How values of a type stand in JSON. put(value, usual, context) writes one; get(at, value) reads
/// one into `value`, which has its default before.
template <typename T>
struct Form;

template <typename T>
T whole_number(const At& at, T least, T most) {
  const auto fits = [&](auto number) {
    return std::cmp_less_equal(least, number) && std::cmp_less_equal(number, most);
  };
  const Json& value = at.value;
  const bool good = value.is_number_unsigned()
                        ? fits(value.get<std::uint64_t>())
                        : value.is_number_integer() && fits(value.get<std::int64_t>());
  if (!good)
    at.refuse(fmt::format("is {}; give a whole number, {} to {}", shown(value), least, most));
  return value.get<T>();
}

template <std::integral T>
struct Form<T> {
  static Json put(T value, T, const Context&) { return value; }
  static void get(const At& at, T& value) {
    value = whole_number(at, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  }
};

template <>
struct Form<bool> {
  static Json put(bool value, bool, const Context&) { return value; }
  static void get(const At& at, bool& value) {
    if (!at.value.is_boolean())
      at.refuse(fmt::format("is {}; give true or false", shown(at.value)));
    value = at.value.get<bool>();
  }
};

/// Value i is written as words[i].
template <typename T>
Json word_of(const Json& words, T value) {
  const auto i = static_cast<std::size_t>(value);
  return i < words.size() ? words[i] : Json(i);
}

template <typename T>
T value_of(const Json& words, const At& at) {
  // Without it 1.0 is taken, which equals 1.
  const auto found =
      at.value.is_number_float() ? words.end() : std::find(words.begin(), words.end(), at.value);
  if (found == words.end()) {
    std::string all;
    for (const Json& word : words) all += (all.empty() ? "" : ", ") + word.dump();
    at.refuse(fmt::format("is {}; give one of {}", shown(at.value), all));
  }
  return static_cast<T>(found - words.begin());
}

/// The words of an enum, in the order of its values.
template <typename Enum>
constexpr int kWords = 0;
template <>
constexpr auto kWords<Verb> = [] {
  std::array<std::string_view, kVerbs> names;
  for (std::uint32_t i = 0; i < kVerbs; ++i) names[i] = kVerbTable[i].name;
  return names;
}();
template <>
constexpr auto kWords<DataType> = [] {
  std::array<std::string_view, kDataTypes> names;
  for (std::uint32_t i = 0; i < kDataTypes; ++i) names[i] = name_of(static_cast<DataType>(i));
  return names;
}();
template <>
constexpr std::array kWords<CacheHint> = {"none", "evict_normal", "evict_first", "evict_last"};
template <>
constexpr std::array kWords<Reduction> = {"none", "add", "min", "max", "inc",
                                          "dec",  "and", "or",  "xor"};
static_assert(kWords<Reduction>.size() == kReductions);
template <>
constexpr std::array kWords<Scope> = {"cta", "cluster", "gpu", "sys"};
template <>
constexpr std::array kWords<Numbers> = {
    "hash",          "small",         "counting",      "integers_f16", "integers_bf16",
    "integers_tf32", "integers_e4m3", "integers_e5m2", "integers_s8",  "integers_u8"};
static_assert(kWords<Numbers>.size() == static_cast<std::size_t>(Numbers::integers_u8) + 1);
template <>
constexpr std::array kWords<MmaType> = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"};
static_assert(kWords<MmaType>.size() == kMmaTypes);
template <>
constexpr std::array kWords<Major> = {"k", "mn"};
template <>
constexpr std::array kWords<MemorySource> = {"device", "async", "pinned", "mapped", "edge", "peer"};
template <>
constexpr std::array kWords<Interleave> = {0, 16, 32};  // bytes
template <>
constexpr std::array kWords<Swizzle> = {0, 32, 64, 128};  // bytes
template <>
constexpr std::array kWords<L2Promotion> = {"none", "64B", "128B", "256B"};
template <>
constexpr std::array kWords<Fill> = {"zero", "nan"};
template <>
constexpr std::array kWords<HeldTo> = {"documents", "measurement", "record"};

template <typename T>
requires std::is_enum_v<T>
struct Form<T> {
  static const Json& words() {
    static const Json list(kWords<T>);
    return list;
  }
  static Json put(T value, T, const Context&) { return word_of(words(), value); }
  static void get(const At& at, T& value) { value = value_of<T>(words(), at); }
};

template <>
struct Form<std::string> {
  static constexpr std::size_t kMost = 200;

  static Json put(const std::string& value, const std::string&, const Context&) { return value; }
  static void get(const At& at, std::string& value) {
    const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
    if (at.value.is_string()) value = at.value.get<std::string>();
    if (!at.value.is_string() || value.size() > kMost ||
        !std::all_of(value.begin(), value.end(), plain))
      at.refuse(
          fmt::format("is {}; give a text of at most {} ASCII characters", shown(at.value), kMost));
  }
};

struct Parity {
  static const Json& words() {
    static const Json list = Json::array({0, 1, "current", "last"});
    return list;
  }
  static Json put(std::uint8_t value, std::uint8_t, const Context&) {
    return word_of(words(), value);
  }
  static void get(const At& at, std::uint8_t& value) {
    value = value_of<std::uint8_t>(words(), at);
  }
};
static_assert(kCurrentPhase == 2 && kLastPhase == 3, "Parity::words() has them there");

void require_list(const At& at, std::size_t most) {
  if (!at.value.is_array()) at.refuse(fmt::format("is {}; give a list", shown(at.value)));
  if (at.value.size() > most)
    at.refuse(fmt::format("has {} entries; give at most {}", at.value.size(), most));
}

/// A mask as the list of the ctas in it.
struct BlockMask {
  static constexpr std::uint32_t kBits = std::numeric_limits<std::uint16_t>::digits;

  static Json put(std::uint16_t value, std::uint16_t, const Context&) {
    Json list = Json::array();
    for (std::uint32_t i = 0; i < kBits; ++i)
      if ((value >> i & 1U) != 0) list.push_back(i);
    return list;
  }
  static void get(const At& at, std::uint16_t& value) {
    require_list(at, kBits);
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < at.value.size(); ++i) {
      const std::uint32_t bit = 1U << whole_number(at[i], 0U, kBits - 1);
      if ((mask & bit) != 0) at[i].refuse(fmt::format("is {} again; keep one", shown(at[i].value)));
      mask |= bit;
    }
    value = static_cast<std::uint16_t>(mask);
  }
};

/// Entries of a list of a tensor map: one for each dimension but `without`. Nothing where no map
/// has such a rank.
std::optional<std::size_t> entries_of(std::uint32_t rank, std::uint32_t without) {
  if (rank < 1 || rank > kMaxRank) return std::nullopt;
  return rank - std::min(rank, without);
}

/// A number for each dimension of a tensor map; strides have none for the last, what belongs to the
/// images of im2col none for C and N.
template <typename T, std::size_t N>
struct Form<std::array<T, N>> {
  using List = std::array<T, N>;
  static constexpr std::size_t kWithout = kMaxRank - N;

  static Json put(const List& value, const List& usual, const Context& context) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < N; ++i)
      if (value[i] != usual[i]) all = i + 1;
    const std::size_t entries = entries_of(context.rank, kWithout).value_or(all);
    Json list = Json::array();
    for (std::size_t i = 0; i < entries; ++i) list.push_back(value[i]);
    return list;
  }
  static void get(const At& at, List& value) {
    require_list(at, N);
    for (std::size_t i = 0; i < at.value.size(); ++i) Form<T>::get(at[i], value[i]);
  }
};

/// Three numbers, whatever they are.
struct ClusterShape {
  using List = std::array<std::uint32_t, 3>;
  static Json put(const List& value, const List&, const Context&) { return value; }
  static void get(const At& at, List& value) {
    Form<List>::get(at, value);
    if (at.value.size() != value.size())
      at.refuse(fmt::format("has {} entries; give {}", at.value.size(), value.size()));
  }
};

/// Islands as pairs: address, bytes.
struct IslandPairs {
  using List = std::vector<Island>;

  static Json put(const List& value, const List&, const Context&) {
    Json list = Json::array();
    for (const Island& island : value) list.push_back({island.at, island.bytes});
    return list;
  }
  static void get(const At& at, List& value) {
    require_list(at, std::numeric_limits<std::size_t>::max());
    for (std::size_t i = 0; i < at.value.size(); ++i) {
      require_list(at[i], 2);
      if (at.value[i].size() != 2)
        at[i].refuse(fmt::format("is {}; give address and bytes", shown(at.value[i])));
      Island& island = value.emplace_back();
      Form<std::uint64_t>::get(at[i][std::size_t{0}], island.at);
      Form<std::uint64_t>::get(at[i][std::size_t{1}], island.bytes);
    }
  }
};

/// One member of an object. A required one is always written and has to be there; another one is
/// left out where it has its default value.
template <typename Struct>
struct Field {
  const char* name;
  bool (*is_default)(const Struct&);  // nullptr: required
  Json (*put)(const Struct&, const Context&);
  void (*get)(const At&, Struct&);
};

template <typename Struct, typename Member>
Struct struct_of(Member Struct::*);

/// The member that a path of member pointers leads to, in the form `As`; its own one for void.
template <typename As, auto kFirst, auto... kRest>
constexpr auto required_as(const char* name) {
  using Struct = decltype(struct_of(kFirst));
  using Member = std::remove_cvref_t<decltype(((Struct{}.*kFirst).*....*kRest))>;
  using Used = std::conditional_t<std::is_void_v<As>, Form<Member>, As>;
  const auto put = [](const Struct& from, const Context& context) {
    return Used::put(((from.*kFirst).*....*kRest), ((Struct{}.*kFirst).*....*kRest), context);
  };
  const auto get = [](const At& at, Struct& to) { Used::get(at, ((to.*kFirst).*....*kRest)); };
  return Field<Struct>{name, nullptr, put, get};
}
template <auto... kPath>
constexpr auto required(const char* name) {
  return required_as<void, kPath...>(name);
}
template <auto kFirst, auto kSecond>
constexpr auto optional_within(const char* name) {
  auto field = required<kFirst, kSecond>(name);
  using Struct = decltype(struct_of(kFirst));
  field.is_default = [](const Struct& from) {
    return from.*kFirst.*kSecond == Struct{}.*kFirst.*kSecond;
  };
  return field;
}
template <auto kMember, typename As = void>
constexpr auto optional(const char* name) {
  auto field = required_as<As, kMember>(name);
  using Struct = decltype(struct_of(kMember));
  field.is_default = [](const Struct& from) { return from.*kMember == Struct{}.*kMember; };
  return field;
}

/// How many members an aggregate has: as many as it can be initialized from.
struct Anything {
  template <typename T>
  operator T() const;  // NOLINT: implicit, that is its use
};
template <typename Struct, typename... Found>
constexpr std::size_t member_count() {
  if constexpr (requires { Struct{Found{}..., Anything{}}; })
    return member_count<Struct, Found..., Anything>();
  else
    return sizeof...(Found);
}

/// All members of a struct.
template <typename Struct>
struct Fields;
template <typename Struct>
Json object_of(const Struct& from, const Context& context);
template <typename Struct>
Struct struct_from(const At& at);

template <typename Struct>
requires std::same_as<Struct, Payload> || std::same_as<Struct, WgmmaOperand>
struct Form<Struct> {
  static Json put(const Struct& value, const Struct&, const Context& context) {
    return object_of(value, context);
  }
  static void get(const At& at, Struct& value) { value = struct_from<Struct>(at); }
};

template <>
struct Fields<Payload> {
  static constexpr std::array kAll = {required<&Payload::seed>("seed"),
                                      required<&Payload::inverted>("inverted")};
};
static_assert(Fields<Payload>::kAll.size() == member_count<Payload>());

template <>
struct Fields<Region> {
  static constexpr std::array kAll = {required<&Region::bytes>("bytes"),
                                      required<&Region::source>("source"),
                                      required<&Region::element>("element"),
                                      optional<&Region::numbers>("numbers"),
                                      optional<&Region::poison>("poison"),
                                      optional<&Region::cold>("cold"),
                                      optional<&Region::islands, IslandPairs>("islands")};
};
static_assert(Fields<Region>::kAll.size() == member_count<Region>());

template <>
struct Fields<Map> {
  using Spec = TensorMapSpec;
  static constexpr std::array kAll = {
      required<&Map::region>("region"),
      required<&Map::spec, &Spec::type>("type"),
      required<&Map::spec, &Spec::rank>("rank"),
      required<&Map::spec, &Spec::extent>("extent"),
      required<&Map::spec, &Spec::stride>("stride"),
      required<&Map::spec, &Spec::box>("box"),
      required<&Map::spec, &Spec::element_stride>("element_stride"),
      optional_within<&Map::spec, &Spec::interleave>("interleave"),
      required<&Map::spec, &Spec::swizzle>("swizzle"),
      required<&Map::spec, &Spec::l2_promotion>("l2_promotion"),
      required<&Map::spec, &Spec::fill>("fill"),
      required<&Map::spec, &Spec::base_offset>("base_offset"),
      optional_within<&Map::spec, &Spec::bulk>("bulk"),
      optional_within<&Map::spec, &Spec::im2col>("im2col"),
      optional_within<&Map::spec, &Spec::lower_corner>("lower_corner"),
      optional_within<&Map::spec, &Spec::upper_corner>("upper_corner"),
      optional<&Map::from>("from")};
};
static_assert(Fields<Map>::kAll.size() == member_count<TensorMapSpec>() + member_count<Map>() - 1);

template <>
struct Fields<WgmmaOperand> {
  static constexpr std::array kAll = {required<&WgmmaOperand::major>("major"),
                                      required<&WgmmaOperand::swizzle>("swizzle"),
                                      required<&WgmmaOperand::read_as>("read_as"),
                                      required<&WgmmaOperand::base_offset>("base_offset"),
                                      required<&WgmmaOperand::offset>("offset")};
};
static_assert(Fields<WgmmaOperand>::kAll.size() == member_count<WgmmaOperand>());

template <>
struct Fields<Wgmma> {
  static constexpr std::array kAll = {required<&Wgmma::type>("type"), required<&Wgmma::n>("n"),
                                      required<&Wgmma::k>("k"), required<&Wgmma::a>("a"),
                                      required<&Wgmma::b>("b")};
};
static_assert(Fields<Wgmma>::kAll.size() == member_count<Wgmma>());

template <>
struct Fields<Step> {
  static constexpr std::array kAll = {required<&Step::verb>("do"),
                                      optional<&Step::ctas, BlockMask>("ctas"),
                                      optional<&Step::thread>("thread"),
                                      optional<&Step::barrier>("barrier"),
                                      optional<&Step::of>("of"),
                                      optional<&Step::map>("map"),
                                      optional<&Step::region>("region"),
                                      optional<&Step::product>("product"),
                                      optional<&Step::at>("at"),
                                      optional<&Step::im2col_offsets>("im2col_offsets"),
                                      optional<&Step::hint>("hint"),
                                      optional<&Step::reduction>("reduction"),
                                      optional<&Step::scope>("scope"),
                                      optional<&Step::in_place>("in_place"),
                                      optional<&Step::type>("type"),
                                      optional<&Step::mask, BlockMask>("mask"),
                                      optional<&Step::parity, Parity>("parity"),
                                      optional<&Step::stops>("stops"),
                                      optional<&Step::count>("count"),
                                      optional<&Step::pending>("pending"),
                                      optional<&Step::offset>("offset"),
                                      optional<&Step::bytes>("bytes"),
                                      optional<&Step::stride>("stride"),
                                      optional<&Step::most>("most"),
                                      optional<&Step::ns>("ns"),
                                      optional<&Step::word>("word")};
};
static_assert(Fields<Step>::kAll.size() == member_count<Step>());

template <typename Struct>
Json object_of(const Struct& from, const Context& context) {
  Json object = Json::object();
  for (const Field<Struct>& field : Fields<Struct>::kAll)
    if (field.is_default == nullptr || !field.is_default(from))
      object[field.name] = field.put(from, context);
  return object;
}

template <typename Struct>
std::string names_of() {
  std::string names;
  for (const Field<Struct>& field : Fields<Struct>::kAll)
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  return names;
}

template <typename Struct>
Struct struct_from(const At& at) {
  if (!at.value.is_object()) at.refuse(fmt::format("is {}; give an object", shown(at.value)));
  Struct to;
  for (const Field<Struct>& field : Fields<Struct>::kAll) {
    if (at.value.contains(field.name))
      field.get(at[field.name], to);
    else if (field.is_default == nullptr)
      at.refuse(fmt::format("has no \"{}\"; {}", field.name, kGiveProgram));
  }
  for (const auto& member : at.value.items()) {
    const bool found =
        std::any_of(Fields<Struct>::kAll.begin(), Fields<Struct>::kAll.end(),
                    [&](const Field<Struct>& field) { return member.key() == field.name; });
    if (!found)
      at.refuse(fmt::format("has the unknown member {}; give only {}", shown(member.key()),
                            names_of<Struct>()));
  }
  return to;
}

Context context_of(const Region&, const Program& program) { return {program}; }
Context context_of(const Wgmma&, const Program& program) { return {program}; }
Context context_of(const Map& map, const Program& program) { return {program, map.spec.rank}; }
Context context_of(const Step& step, const Program& program) {
  return {program, step.map < program.maps.size() ? program.maps[step.map].spec.rank : 0};
}

template <typename Struct>
struct Form<std::vector<Struct>> {
  using List = std::vector<Struct>;

  static Json put(const List& value, const List&, const Context& context) {
    Json list = Json::array();
    for (const Struct& from : value)
      list.push_back(object_of(from, context_of(from, context.program)));
    return list;
  }
  static void get(const At& at, List& value) {
    require_list(at, std::numeric_limits<std::size_t>::max());
    for (std::size_t i = 0; i < at.value.size(); ++i) value.push_back(struct_from<Struct>(at[i]));
  }
};

constexpr Field<Program> kFormatField = {
    "format", nullptr, [](const Program&, const Context&) -> Json { return kFormat; },
    [](const At& at, Program&) {
      if (at.value != kFormat)
        at.refuse(fmt::format("is {}, not \"{}\"; {}", shown(at.value), kFormat, kGiveProgram));
    }};
constexpr Field<Program> kSchemaField = {
    "schema", nullptr, [](const Program&, const Context&) -> Json { return kSchema; },
    [](const At& at, Program&) {
      // Not a comparison of JSON: 1.0 equals 1.
      if (whole_number(at, 0U, std::numeric_limits<std::uint32_t>::max()) != kSchema)
        at.refuse(fmt::format("is {}; this build reads {}: use the build that wrote the file",
                              shown(at.value), kSchema));
    }};

template <>
struct Fields<Program> {
  static constexpr std::array kAll = {kFormatField,
                                      kSchemaField,
                                      required_as<ClusterShape, &Program::cluster>("cluster"),
                                      required<&Program::window>("window"),
                                      required<&Program::barriers>("barriers"),
                                      required<&Program::held_to>("held_to"),
                                      required<&Program::payload>("payload"),
                                      optional<&Program::what>("what"),
                                      required<&Program::regions>("regions"),
                                      required<&Program::maps>("maps"),
                                      optional<&Program::products>("products"),
                                      required<&Program::steps>("steps")};
};
static_assert(Fields<Program>::kAll.size() == member_count<Program>() + 2);

void require_entries(const At& at, std::uint32_t rank) {
  constexpr std::pair<const char*, std::uint32_t> kWithout[] = {
      {"extent", 0},       {"stride", 1},       {"box", 0}, {"element_stride", 0},
      {"lower_corner", 2}, {"upper_corner", 2}, {"at", 0},  {"im2col_offsets", 2}};
  for (const auto& [name, without] : kWithout) {
    const auto list = at.value.find(name);
    const auto entries = entries_of(rank, without);
    if (list != at.value.end() && list->is_array() && entries && list->size() != *entries)
      at[name].refuse(fmt::format("has {} entries; its map has rank {}: give {}", list->size(),
                                  rank, *entries));
  }
}

/// One line; a list of objects has a line for each.
std::string lines_of(const Json& value) {
  if (!value.is_array() || value.empty() || !value.front().is_object()) return value.dump();
  std::string text = "[";
  std::string_view separator = "\n";
  for (const Json& entry : value) {
    text += separator;
    text += entry.dump();
    separator = ",\n";
  }
  return text + "\n]";
}

}  // namespace

std::string program_json(const Program& program) {
  std::string text = "{";
  std::string_view separator = "\n";
  const Json object = object_of(program, {program});
  for (const auto& member : object.items()) {
    text += fmt::format("{}\"{}\":{}", separator, member.key(), lines_of(member.value()));
    separator = ",\n";
  }
  return text + "\n}\n";
}

Program program_from_json(std::string_view text, const std::string& name) {
  const Json document = parse_guarded(text, name, kGiveProgram);
  const At whole{name, "", document};
  auto program = struct_from<Program>(whole);
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    require_entries(whole["maps"][i], context_of(program.maps[i], program).rank);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (info_of(program.steps[i].verb).box)  // else `at` is a byte of the window
      require_entries(whole["steps"][i], context_of(program.steps[i], program).rank);
  return program;
}

}  // namespace tidemark
