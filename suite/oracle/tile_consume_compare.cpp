// Holds a consumed tile's result against its prediction, element by element.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "suite/oracle/compare.hpp"

namespace tidemark::suite {
namespace {

constexpr std::size_t kC = kGuardBytes;  // where C starts in the result

// What bytes [begin, end) got wrong.
struct WrongBytes {
  std::size_t first = 0;
  std::uint64_t count = 0;
};

std::optional<WrongBytes> wrong_between(const Expectation& expected, const RunResult& result,
                                        std::size_t begin, std::size_t end) {
  WrongBytes wrong;
  for (std::size_t i = begin; i < end; ++i) {
    if (expected.bytes[i] == result.bytes[i]) continue;
    if (wrong.count++ == 0) wrong.first = i;
  }
  if (wrong.count == 0) return {};
  return wrong;
}

Miscompare miscompare_at(std::string_view what, const WrongBytes& wrong,
                         const Expectation& expected, const RunResult& result, std::uint32_t row) {
  return {.row = row,
          .parameters = {},
          .what = std::string(what),
          .coordinate = {},
          .first_offset = wrong.first,
          .wrong_bytes = wrong.count,
          .expected = expected.bytes[wrong.first],
          .actual = result.bytes[wrong.first],
          .text = {}};
}

std::string number_at(const TileConsume& op, const std::vector<std::uint8_t>& bytes,
                      std::size_t offset) {
  if (is_integer(op.type)) {
    std::int32_t value = 0;
    std::memcpy(&value, &bytes[offset], 4);
    return fmt::format("{}", value);
  }
  float value = 0;
  std::memcpy(&value, &bytes[offset], 4);
  return fmt::format("{}", value);
}

std::uint64_t wrong_elements(const Expectation& expected, const RunResult& result,
                             std::size_t end) {
  std::uint64_t count = 0;
  for (std::size_t at = kC; at < end; at += 4)
    if (std::memcmp(&expected.bytes[at], &result.bytes[at], 4) != 0) ++count;
  return count;
}

// Whether C is what it would be if the descriptors said what the tensor maps did.
bool is_product_as_written(const TileConsume& op, const RunResult& result) {
  TileConsume written = op;
  for (ConsumedOperand* operand : {&written.a, &written.b}) {
    operand->read_as = operand->swizzle;
    operand->base_offset = 0;
  }
  const Expectation expected = predict(written);
  return !wrong_between(expected, result, kC, kC + product_bytes(op));
}

Miscompare wrong_product(const TileConsume& op, const Expectation& expected,
                         const RunResult& result, const WrongBytes& wrong, std::uint32_t row) {
  Miscompare miscompare = miscompare_at("C", wrong, expected, result, row);
  const std::size_t element = (wrong.first - kC) / 4;
  miscompare.coordinate = {static_cast<std::int64_t>(element / op.n),
                           static_cast<std::int64_t>(element % op.n)};
  const std::size_t at = kC + 4 * element;
  miscompare.text =
      fmt::format("C[{}][{}] of the {} product: expected {}, got {}; {} of {} elements are wrong",
                  element / op.n, element % op.n, name_of(op.type),
                  number_at(op, expected.bytes, at), number_at(op, result.bytes, at),
                  wrong_elements(expected, result, kC + product_bytes(op)), product_bytes(op) / 4);
  if (!reads_as_written(op) && is_product_as_written(op, result))
    miscompare.text +=
        "; it is the product of what TMA wrote: the descriptor's swizzle or base offset has no "
        "effect";
  return miscompare;
}

Miscompare missing_bytes(const Expectation& expected, const RunResult& result, std::uint32_t row) {
  const std::size_t want = expected.bytes.size(), got = result.bytes.size();
  return {.row = row,
          .parameters = {},
          .what = "C",
          .coordinate = {},
          .first_offset = std::min(want, got),
          .wrong_bytes = want > got ? want - got : got - want,
          .expected = want,
          .actual = got,
          .text = fmt::format("result: expected {} bytes back from the device, got {}", want, got)};
}

void compare_result(const TileConsume& op, const Expectation& expected, const RunResult& result,
                    std::uint32_t row, std::vector<Miscompare>& found) {
  if (result.bytes.size() != expected.bytes.size()) {
    found.push_back(missing_bytes(expected, result, row));
    return;
  }
  const std::size_t end = kC + product_bytes(op);
  const auto product = wrong_between(expected, result, kC, end);
  if (product) found.push_back(wrong_product(op, expected, result, *product, row));
  for (const auto& [begin, stop] : {std::pair{std::size_t{0}, kC}, {end, expected.bytes.size()}})
    if (const auto guard = wrong_between(expected, result, begin, stop)) {
      Miscompare miscompare = miscompare_at("guard", *guard, expected, result, row);
      miscompare.text = fmt::format(
          "guard byte {} of the result ({} C): expected 0x{:02x}, got "
          "0x{:02x}; {} bytes of this guard are wrong",
          guard->first, begin == 0 ? "before" : "behind", miscompare.expected, miscompare.actual,
          guard->count);
      found.push_back(miscompare);
    }
}

}  // namespace

std::vector<Miscompare> compare(const TileConsume& op, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  compare_result(op, expected, result, row, found);
  compare_source(expected, result, row, found);
  compare_ledger(expected.ledger, result.ledger, row, found);
  return found;
}

}  // namespace tidemark::suite
