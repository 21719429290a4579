// Says what the regions of a program got wrong: what was stored there, and what was not to be
// touched.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "suite/oracle/compare.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kChunk = 16;

// A byte of all regions, one behind the other.
struct RegionByte {
  std::uint8_t region = 0;
  std::uint64_t offset = 0;   // in its memory
  std::uint64_t address = 0;  // in its addresses
};

RegionByte region_byte(const Program& program, std::size_t offset) {
  RegionByte byte{.region = 0, .offset = offset, .address = offset};
  while (byte.offset >= program.regions[byte.region].bytes)
    byte.offset -= program.regions[byte.region++].bytes;
  byte.address = address_of(program.regions[byte.region].islands, byte.offset);
  return byte;
}

// The box that was stored to a byte last; where none was, the last of its region.
struct Cover {
  const StoredBox* stored = nullptr;  // none was stored there
  StorePlace place;
};

Cover cover_of(const ProgramExpectation& expected, std::size_t offset, const RegionByte& byte) {
  Cover cover;
  for (const StoredBox& stored : expected.stores)
    if (stored.region == byte.region) cover.stored = &stored;
  const std::uint32_t owner = expected.owners[offset / kChunk];
  if (owner != 0) cover.stored = &expected.stores[owner - 1];
  if (cover.stored != nullptr) cover.place = store_place(cover.stored->box, byte.address);
  return cover;
}

std::string element_text(const TensorMapSpec& map, const StorePlace& place) {
  std::string text = "(";
  for (std::uint32_t i = 0; i < map.rank; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", place.element[i]);
  return text + ")";
}

bool overwrites(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const Step& step) {
    return step.verb == Verb::wait_group_read && step.bytes > 0;
  });
}

// Bytes of a filled window are a hash of their address, so the chunk that was found names its
// origin.
std::string origin_text(const Program& program, const ProgramExpectation& expected,
                        const Bytes& actual, std::size_t offset, const RegionByte& byte) {
  const std::size_t chunk = offset / kChunk * kChunk;
  const std::uint64_t in_region = byte.offset / kChunk * kChunk;
  bool untouched = program.regions[byte.region].poison;
  for (std::size_t i = 0; i < kChunk; ++i)
    untouched = untouched && actual[chunk + i] == poison_byte(program.payload, in_region + i);
  if (untouched) return "; the 16 bytes there are still poison";
  const std::string_view found(reinterpret_cast<const char*>(&actual[chunk]), kChunk);
  std::string flipped(found);
  for (char& one : flipped) one = static_cast<char>(~one);
  const bool overwritten = overwrites(program);  // the window ends with other bytes
  for (const ExpectedSnapshot& snapshot : expected.snapshots) {
    const Bytes& window = snapshot.window.bytes;
    const std::string_view bytes(reinterpret_cast<const char*>(window.data()), window.size());
    const std::size_t at = bytes.find(overwritten ? std::string_view(flipped) : found);
    if (at != std::string_view::npos)
      return fmt::format("; the 16 bytes there stood {} bytes into the shared window", at);
    if (overwritten && bytes.find(found) != std::string_view::npos)
      return "; the 16 bytes there were written to shared memory after wait_group.read";
  }
  return "";
}

void say(const Program& program, const ProgramExpectation& expected, const Bytes& actual,
         const Difference& difference, std::uint32_t row, std::vector<Miscompare>& found) {
  const RegionByte byte = region_byte(program, difference.first);
  const Cover cover = cover_of(expected, difference.first, byte);
  const bool covered = cover.stored != nullptr && cover.place.stored;
  Miscompare miscompare = wrong_byte(covered                   ? "byte"
                                     : cover.stored != nullptr ? "guard"
                                                               : "source",
                                     difference, expected.regions, actual, row);
  miscompare.coordinate = cover.place.element;
  const std::string where =
      cover.stored == nullptr
          ? std::string("to which nothing was stored")
          : fmt::format("{} element {}, {}", name_of(cover.stored->box.map.type),
                        element_text(cover.stored->box.map, cover.place),
                        covered ? "which a box covers" : "which is not to be written");
  miscompare.text = fmt::format(
      "byte {} of region {}, {}: expected 0x{:02x}, got 0x{:02x}{}; {} such bytes are wrong",
      byte.address, byte.region, where, miscompare.expected, miscompare.actual,
      origin_text(program, expected, actual, difference.first, byte), difference.wrong);
  found.push_back(miscompare);
}

}  // namespace

void compare_regions(const Program& program, const ProgramExpectation& expected,
                     const RunResult& result, std::uint32_t row, std::vector<Miscompare>& found) {
  if (expected.stores.empty() || result.surroundings.size() != expected.regions.size()) {
    Expectation sources;
    sources.surroundings = expected.regions;
    return compare_source(sources, result, row, found);
  }
  if (result.surroundings == expected.regions) return;
  std::optional<Difference> stored, spared;
  for (std::size_t chunk = 0; chunk < expected.regions.size(); chunk += kChunk) {
    if (!expected.region_compare.empty() && expected.region_compare[chunk] == Compare::recorded)
      continue;
    const auto here =
        exact_difference(expected.regions, result.surroundings, chunk, chunk + kChunk);
    if (!here) continue;
    auto& sum = expected.owners[chunk / kChunk] != 0 ? stored : spared;
    if (!sum) sum = Difference{.first = here->first, .wrong = 0};
    sum->wrong += here->wrong;
  }
  if (stored) say(program, expected, result.surroundings, *stored, row, found);
  if (spared) say(program, expected, result.surroundings, *spared, row, found);
}

}  // namespace tidemark
