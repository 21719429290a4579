// Says what tile stores got wrong: what was stored, what was not to be touched, the shared window,
// and what the issuing thread read.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "suite/oracle/compare.hpp"
#include "suite/oracle/difference.hpp"
#include "suite/oracle/store_place.hpp"

namespace tidemark::suite {
namespace {

constexpr std::size_t kChunk = 16;

std::string element_text(const TileStore& store, const StorePlace& place) {
  std::string text = "(";
  for (std::uint32_t i = 0; i < store.map.rank; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", place.element[i]);
  return text + ")";
}

// Bytes of the window are a hash of their address, so the chunk that was found names its origin.
std::string origin_text(const TileStore& store, const Expectation& expected, const Bytes& actual,
                        std::size_t offset) {
  const std::size_t chunk = offset / kChunk * kChunk;
  bool untouched = true;
  for (std::size_t i = chunk; i < chunk + kChunk; ++i)
    untouched = untouched && actual[i] == poison_byte(store.payload, i);
  if (untouched) return "; the 16 bytes there are still poison";
  const auto whole = [](const Bytes& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::string_view found = whole(actual).substr(chunk, kChunk);
  std::string flipped(found);
  for (char& byte : flipped) byte = static_cast<char>(~byte);
  const std::string_view window = whole(expected.surroundings);
  const bool overwritten = store.wait == StoreWait::read;  // the window ends with other bytes
  const std::size_t source = window.find(overwritten ? std::string_view(flipped) : found);
  if (source != std::string_view::npos)
    return fmt::format("; the 16 bytes there stood {} bytes into the shared window", source);
  if (overwritten && window.find(found) != std::string_view::npos)
    return "; the 16 bytes there were written to shared memory after wait_group.read";
  return "";
}

// What the bytes got wrong that are to be stored, and what the others.
struct DestinationDifference {
  std::optional<Difference> stored, spared;
};

DestinationDifference destination_difference(const TileStore& store, const Expectation& expected,
                                             const Bytes& actual) {
  DestinationDifference result;
  for (std::size_t chunk = 0; chunk < expected.bytes.size(); chunk += kChunk) {
    if (!expected.compare.empty() && expected.compare[chunk] == Compare::recorded) continue;
    const auto here = exact_difference(expected.bytes, actual, chunk, chunk + kChunk);
    if (!here) continue;
    auto& sum = store_place(store, chunk).stored ? result.stored : result.spared;
    if (!sum) sum = Difference{.first = here->first, .wrong = 0};
    sum->wrong += here->wrong;
  }
  return result;
}

void compare_destination(const TileStore& store, const Expectation& expected,
                         const RunResult& result, std::uint32_t row,
                         std::vector<Miscompare>& found) {
  const std::size_t size = expected.bytes.size();
  if (result.bytes.size() != size) {
    found.push_back(wrong_size("byte", "destination allocation", size, result.bytes.size(), row));
    return;
  }
  const auto [stored, spared] = destination_difference(store, expected, result.bytes);
  const auto say = [&](std::string_view what, const Difference& difference,
                       std::string_view words) {
    Miscompare miscompare = wrong_byte(what, difference, expected.bytes, result.bytes, row);
    const StorePlace place = store_place(store, difference.first);
    miscompare.coordinate = place.element;
    miscompare.text = fmt::format(
        "byte {} of the allocation, {} element {}, {}: expected 0x{:02x}, got 0x{:02x}{}; {} such "
        "bytes are wrong",
        difference.first, name_of(store.map.type), element_text(store, place), words,
        miscompare.expected, miscompare.actual,
        origin_text(store, expected, result.bytes, difference.first), difference.wrong);
    found.push_back(miscompare);
  };
  if (stored) say("byte", *stored, "which a box covers");
  if (spared) say("guard", *spared, "which is not to be written");
}

void compare_window(const Expectation& expected, const RunResult& result, std::uint32_t row,
                    std::vector<Miscompare>& found) {
  const std::size_t size = expected.surroundings.size();
  if (result.surroundings.size() != size) {
    found.push_back(wrong_size("source", "shared window", size, result.surroundings.size(), row));
    return;
  }
  const auto source = exact_difference(expected.surroundings, result.surroundings, 0, size);
  if (!source) return;
  Miscompare miscompare =
      wrong_byte("source", *source, expected.surroundings, result.surroundings, row);
  miscompare.text = fmt::format(
      "the store changed its source: byte {} of the shared window: expected 0x{:02x}, got "
      "0x{:02x}; {} bytes are wrong",
      source->first, miscompare.expected, miscompare.actual, source->wrong);
  found.push_back(miscompare);
}

void compare_read(const TileStore& store, std::uint32_t group, std::uint32_t probe,
                  const StoreLedger& expected, const StoreLedger& actual, std::uint32_t row,
                  std::vector<Miscompare>& found) {
  const auto& wanted = expected.read[group][probe];
  const auto& got = actual.read[group][probe];
  const auto [wrong, other] = std::mismatch(wanted.begin(), wanted.end(), got.begin());
  if (wrong == wanted.end()) return;
  const std::uint64_t offset = probe_offset(store, group, probe);
  Miscompare miscompare{.row = row,
                        .parameters = {},
                        .what = "group: read after the wait",
                        .coordinate = {},
                        .first_offset = offset,
                        .wrong_bytes = 0,
                        .expected = *wrong,
                        .actual = *other,
                        .text = {}};
  for (std::size_t i = 0; i < kChunk; ++i) miscompare.wrong_bytes += wanted[i] != got[i] ? 1U : 0U;
  bool poison = offset != kNowhere;
  for (std::size_t i = 0; i < kChunk; ++i)
    poison = poison && got[i] == poison_byte(store.payload, offset + i);
  miscompare.text = fmt::format(
      "group {} of {}: the thread that waited for it read the {} chunk of its box too early: byte "
      "{}: expected 0x{:02x}, got 0x{:02x}{}",
      group, store.stores, probe == 0 ? "first" : "last", wrong - wanted.begin(),
      miscompare.expected, miscompare.actual, poison ? "; it was still poison" : "");
  found.push_back(miscompare);
}

}  // namespace

std::vector<Miscompare> compare(const TileStore& store, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  compare_destination(store, expected, result, row, found);
  compare_window(expected, result, row, found);
  if (store.held_to == HeldTo::record) return found;
  for (std::uint32_t group = 0; group < kMaxStores; ++group)
    for (std::uint32_t probe = 0; probe < kProbes; ++probe)
      compare_read(store, group, probe, expected.stored, result.stored, row, found);
  return found;
}

}  // namespace tidemark::suite
