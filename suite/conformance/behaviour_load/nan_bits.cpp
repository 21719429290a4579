// The bits of the NaN that fills what lies outside the tensor. The documents promise a NaN and not
// which: the bits are held against a measurement.
#include <cstring>

#include <fmt/format.h>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

// NVIDIA H200, driver 580.159.04, 2026-11: the same 16 bits over and over in each of the seven
// floating types, in two runs in two processes.
constexpr std::uint16_t kMeasuredWord = 0x7ff7;
constexpr std::string_view kMeasuredOn = "H200, driver 580.159.04, 2026-11";

std::vector<Miscompare> unlike_measured(const Op& op, const RunResult& result) {
  const auto& load = std::get<TileLoad>(op);
  const Expectation expected = predict(load);
  Miscompare found;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i + 1 < expected.compare.size(); i += 2) {
    if (expected.compare[i] != Compare::nan_element) continue;
    std::uint16_t word = 0;
    std::memcpy(&word, &result.bytes[i], sizeof(word));
    if (word == kMeasuredWord) continue;
    if (wrong++ != 0) continue;
    found.first_offset = i;
    found.actual = word;
  }
  if (wrong == 0) return {};
  found.what = "behaviour";
  found.wrong_bytes = 2 * wrong;
  found.expected = kMeasuredWord;
  found.text = fmt::format(
      "NaN fill of {}: a 16-bit word is 0x{:04x} where 0x{:04x} was measured ({}); {} words differ",
      name_of(load.map.type), found.actual, kMeasuredWord, kMeasuredOn, wrong);
  return {found};
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kFloatingTypes) {
    TileLoad load = tile_of_rank(type, 3);
    load.map.fill = Fill::nan;
    for (std::uint32_t corner = 0; corner < 1U << 3; ++corner)
      rows.emplace_back(in_corner(load, corner, 1));
    load.at[2] = 1000;  // nothing but fill
    rows.emplace_back(load);
    load.map.swizzle = Swizzle::b64;
    rows.emplace_back(in_corner(load, 5, 1));
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.load.nan_bits",
    .claim = "the NaN of NaN fill is 0x7ff7 in every 16 bits of each floating type",
    .cites = "measured on an H200, driver 580.159.04, 2026-11; no document names the bits",
    .rows = rows,
    .unlike_measured = unlike_measured,
}};

}  // namespace
}  // namespace tidemark::suite
