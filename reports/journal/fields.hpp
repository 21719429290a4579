// Records as JSON and back. A record has one list of its fields, `fields(io, record)`, which serves
// both ways: a FieldWriter writes each field it is called with, a FieldReader reads it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tidemark {

using FieldJson = nlohmann::ordered_json;

/// The record itself, const or not: a list serves writer and reader.
template <class T, class Plain>
concept Is = std::is_same_v<std::remove_const_t<T>, Plain>;

template <class T>
concept LikeMiscompare = requires(T& r) {
  r.parameters;
  r.first_offset;
  r.wrong_bytes;
};

/// Of the suite's miscompare, which travels through a worker's pipe, as of the journal's.
template <class Io>
void fields(Io& io, LikeMiscompare auto& r) {
  io("row", r.row), io("parameters", r.parameters), io("what", r.what), io("text", r.text);
  io("coordinate", r.coordinate), io("first_offset", r.first_offset);
  io("wrong_bytes", r.wrong_bytes), io("expected", r.expected), io("actual", r.actual);
}

/// The same of the suite's answers of a driver.
template <class T>
concept LikeAnswer = requires(T& r) {
  r.subject;
  r.question;
  r.answer;
};

template <class Io>
void fields(Io& io, LikeAnswer auto& r) {
  io("subject", r.subject), io("question", r.question), io("unit", r.unit);
  io("answer", r.answer), io.later("map", r.map);
}

/// `Dialect` says how enumerators are written and read; lists of fields are looked for in its
/// namespace, too.
template <class Dialect>
struct FieldWriter {
  FieldJson json = FieldJson::object();

  template <class T>
  void operator()(const char* key, const T& value) {
    json[key] = written(value);
  }
  /// A field that came later: not written where it is `unknown`, which a reader has without it.
  template <class T>
  void later(const char* key, const T& value, const T& unknown = {}) {
    if (value != unknown) json[key] = written(value);
  }

  template <class Number>
  requires std::is_arithmetic_v<Number>
  static FieldJson written(Number value) { return value; }  // NaN is dumped as null
  template <class Enum>
  requires std::is_enum_v<Enum>
  static FieldJson written(Enum value) { return Dialect::written(value); }
  static FieldJson written(const std::string& text) { return text; }
  static FieldJson written(const std::map<std::string, double>& numbers) { return numbers; }
  static FieldJson written(const std::pair<std::string, std::string>& pair) {
    return FieldJson::array({pair.first, pair.second});
  }
  static FieldJson written(const std::vector<std::uint8_t>& bytes) { return hex_of(bytes); }
  template <std::size_t N>
  static FieldJson written(const std::array<std::byte, N>& bytes) {
    return hex_of(bytes);
  }
  template <class T>
  static FieldJson written(const std::optional<T>& value) {
    return value ? written(*value) : FieldJson();
  }
  template <class T>
  static FieldJson written(const std::vector<T>& values) {
    return all_written(values);
  }
  template <class T, std::size_t N>
  static FieldJson written(const std::array<T, N>& values) {
    return all_written(values);
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  static FieldJson written(const Struct& record) {
    FieldWriter inner;
    fields(inner, record);
    return inner.json;
  }

 private:
  template <class Values>
  static FieldJson all_written(const Values& values) {
    FieldJson all = FieldJson::array();
    for (const auto& value : values) all.push_back(written(value));
    return all;
  }
  template <class Bytes>
  static std::string hex_of(const Bytes& bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const auto byte : bytes) {
      text += kDigits[static_cast<unsigned>(byte) >> 4U];
      text += kDigits[static_cast<unsigned>(byte) & 15U];
    }
    return text;
  }
};

/// Throws on anything that is not exactly what the record holds.
template <class Dialect>
struct FieldReader {
  const FieldJson& json;

  template <class T>
  void operator()(const char* key, T& value) {
    read(json.at(key), value);
  }
  /// Older writers do not have it.
  template <class T>
  void later(const char* key, T& value, const T& /*unknown*/ = {}) {
    if (json.contains(key)) read(json.at(key), value);
  }

  static void read(const FieldJson& from, bool& value) {
    value = from.get_ref<const FieldJson::boolean_t&>();
  }
  static void read(const FieldJson& from, std::string& text) {
    text = from.get_ref<const std::string&>();
  }
  static void read(const FieldJson& from, std::floating_point auto& value) {
    using Number = std::remove_reference_t<decltype(value)>;
    if (!from.is_null() && !from.is_number()) throw std::invalid_argument("not a number");
    value = from.is_null() ? std::numeric_limits<Number>::quiet_NaN() : from.get<Number>();
  }
  /// get<>() alone would wrap a number that does not fit.
  static void read(const FieldJson& from, std::integral auto& value) {
    using Number = std::remove_reference_t<decltype(value)>;
    if (!from.is_number_integer()) throw std::invalid_argument("not an integer");
    const bool fits = from.is_number_unsigned() ? std::in_range<Number>(from.get<std::uint64_t>())
                                                : std::in_range<Number>(from.get<std::int64_t>());
    if (!fits) throw std::invalid_argument("out of range");
    value = from.get<Number>();
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static void read(const FieldJson& from, Enum& value) {
    value = Dialect::template read<Enum>(from);
  }
  static void read(const FieldJson& from, std::map<std::string, double>& numbers) {
    numbers = from.get<std::map<std::string, double>>();
  }
  static void read(const FieldJson& from, std::pair<std::string, std::string>& pair) {
    read(from.at(0), pair.first), read(from.at(1), pair.second);
  }
  static void read(const FieldJson& from, std::vector<std::uint8_t>& bytes) {
    const auto& hex = from.get_ref<const std::string&>();
    bytes.resize(hex.size() / 2);
    read_hex(hex, bytes);
  }
  template <std::size_t N>
  static void read(const FieldJson& from, std::array<std::byte, N>& bytes) {
    read_hex(from.get_ref<const std::string&>(), bytes);
  }
  template <class T>
  static void read(const FieldJson& from, std::optional<T>& value) {
    value.reset();
    if (!from.is_null()) read(from, value.emplace());
  }
  template <class T>
  static void read(const FieldJson& from, std::vector<T>& values) {
    if (!from.is_array()) throw std::invalid_argument("not an array");
    for (const FieldJson& one : from) read(one, values.emplace_back());
  }
  template <class T, std::size_t N>
  static void read(const FieldJson& from, std::array<T, N>& values) {
    if (!from.is_array() || from.size() != N) throw std::invalid_argument("not so many elements");
    for (std::size_t i = 0; i < N; ++i) read(from[i], values[i]);
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  static void read(const FieldJson& from, Struct& record) {
    FieldReader inner{from};
    fields(inner, record);
  }

 private:
  static unsigned digit(char letter) {
    if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
    if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a') + 10U;
    throw std::invalid_argument("bytes that are not hexadecimal");
  }
  template <class Bytes>
  static void read_hex(const std::string& hex, Bytes& bytes) {
    using Byte = typename Bytes::value_type;
    if (hex.size() != 2 * bytes.size()) throw std::invalid_argument("bytes of the wrong length");
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<Byte>(digit(hex[2 * i]) << 4U | digit(hex[2 * i + 1]));
  }
};

}  // namespace tidemark
