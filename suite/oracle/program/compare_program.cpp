// Compares the trace, the snapshots and the regions of a program with what was predicted.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kTracesTold = 4;

std::string_view yes_or_no(std::uint64_t bit) { return bit != 0 ? "complete" : "not complete"; }

// What the bits of a trace say, for a person.
std::string words_of(Verb verb, std::uint64_t trace) {
  switch (verb) {
    case Verb::test:
    case Verb::wait:
      return std::string(yes_or_no(trace & 1U));
    case Verb::meter:
      return fmt::format(
          "phase {} before it, {}, pending tx-count {}", yes_or_no(trace & kMeterComplete),
          (trace & kMeterSettled) != 0 ? "settled" : "not settled", residue_of(trace));
    default:
      return fmt::format("{:#018x}", trace);
  }
}

// Where a thread read memory behind a wait for its stores.
std::string reading_place(const Program& program, const Step& step, std::uint64_t got) {
  std::uint64_t poison = 0;
  for (std::uint32_t i = 0; i < 8; ++i)
    poison |= std::uint64_t{poison_byte(program.payload, step.word + i)} << (8 * i);
  return fmt::format("({}, {} groups pending, byte {} of region {}): the thread that waited read{}",
                     name_of(step.verb), step.pending, step.word, step.region,
                     got == poison ? " too early what still was poison" : "");
}

std::string place_of(const Program& program, std::size_t step, std::uint32_t cta) {
  const Step& taken = program.steps[step];
  std::string place =
      fmt::format("step {} ({} on barrier {}", step, name_of(taken.verb), taken.barrier);
  if (ctas_of(program) > 1) place += fmt::format(" of CTA {}", cta);
  if (taken.verb == Verb::test || taken.verb == Verb::wait) {
    if (taken.parity == kCurrentPhase) place += ", current phase";
    if (taken.parity == kLastPhase) place += ", last phase";
    if (taken.parity < kCurrentPhase) place += fmt::format(", parity {}", taken.parity);
  }
  return place + ")";
}

// What a meter says in numbers, for Miscompare: the pending tx-count where that is wrong.
std::uint64_t number_of(Verb verb, std::uint64_t wrong, std::uint64_t trace) {
  if (verb != Verb::meter) return trace;
  const bool residue = wrong >> 32 != 0;
  return residue ? static_cast<std::uint64_t>(std::int64_t{residue_of(trace)})
                 : trace & (kMeterComplete | kMeterSettled);
}

void compare_trace(const Program& program, const ProgramExpectation& expected,
                   const RunResult& result, std::uint32_t row, std::vector<Miscompare>& found) {
  std::size_t told = 0;
  for (std::size_t i = 0; i < expected.trace.size() && told < kTracesTold; ++i) {
    const ExpectedTrace& wanted = expected.trace[i];
    const std::uint64_t wrong = (wanted.value ^ result.trace[i]) & wanted.judged;
    if (wrong == 0) continue;
    ++told;
    const std::size_t step = i / ctas_of(program);
    const Verb verb = program.steps[step].verb;
    const std::uint64_t got = result.trace[i] & wanted.judged;
    const bool reads = info_of(verb).word;
    found.push_back(
        {.row = row,
         .parameters = {},
         .what = reads ? "group: read after the wait" : fmt::format("barrier: {}", name_of(verb)),
         .coordinate = {},
         .first_offset = i,
         .wrong_bytes = 0,
         .expected = number_of(verb, wrong, wanted.value),
         .actual = number_of(verb, wrong, got),
         .text = fmt::format(
             "{}: expected {}, got {}",
             reads
                 ? fmt::format("step {} {}", step, reading_place(program, program.steps[step], got))
                 : place_of(program, step, static_cast<std::uint32_t>(i % ctas_of(program))),
             words_of(verb, wanted.value), words_of(verb, got))});
  }
}

Bytes slice(const Bytes& bytes, std::size_t at, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// Nothing landed in this window: every byte is one that no copy may write.
void compare_untouched(const Bytes& expected, const Bytes& actual, bool filled, std::uint32_t row,
                       std::vector<Miscompare>& found) {
  const auto difference = exact_difference(expected, actual, 0, expected.size());
  if (!difference) return;
  Miscompare wrong = wrong_byte(filled ? "source" : "guard", *difference, expected, actual, row);
  wrong.text = fmt::format(
      "byte {} of a window that nothing was copied to{}: expected 0x{:02x}, got 0x{:02x}; {} bytes "
      "are wrong",
      wrong.first_offset, filled ? ", changed by a store from it" : "", wrong.expected,
      wrong.actual, wrong.wrong_bytes);
  found.push_back(wrong);
}

std::string number_in_words(MmaType type, const Bytes& bytes, std::size_t offset) {
  std::int32_t integer = 0;
  float number = 0;
  std::memcpy(&integer, &bytes[offset], 4);
  std::memcpy(&number, &bytes[offset], 4);
  return is_integer(type) ? fmt::format("{}", integer) : fmt::format("{}", number);
}

// Whether C is what it would be if the descriptors said what the tensor maps did.
bool is_product_as_written(Program program, const ExpectedSnapshot& snapshot,
                           const ExpectedProduct& product, const Bytes& actual) {
  Wgmma& written = program.products[product.number];
  if (reads_as_written(written)) return false;
  for (WgmmaOperand* operand : {&written.a, &written.b}) {
    operand->read_as = operand->swizzle;
    operand->base_offset = 0;
  }
  try {
    for (const ExpectedSnapshot& other : predict(program).snapshots)
      if (other.step == snapshot.step && other.cta == snapshot.cta)
        return !exact_difference(other.window.bytes, actual, product.part.begin, product.part.end);
  } catch (const Error&) {  // it reads what no copy wrote
  }
  return false;
}

// A result that threads left in the window. Sets right in `actual` what is said.
template <class Say>
void compare_result(Part part, std::string_view what, const Bytes& expected, Bytes& actual,
                    std::uint32_t row, std::vector<Miscompare>& found, const Say& say) {
  const auto difference = exact_difference(expected, actual, part.begin, part.end);
  if (!difference) return;
  Miscompare miscompare = wrong_byte(what, *difference, expected, actual, row);
  say(miscompare, difference->first - part.begin);
  found.push_back(std::move(miscompare));
  std::copy_n(&expected[part.begin], part.end - part.begin, &actual[part.begin]);
}

void compare_product(const Program& program, const ExpectedSnapshot& snapshot,
                     const ExpectedProduct& product, const Bytes& expected, Bytes& actual,
                     std::uint32_t row, std::vector<Miscompare>& found) {
  const Wgmma& what = program.products[product.number];
  const auto say = [&](Miscompare& miscompare, std::size_t byte) {
    const std::size_t i = byte / 4 / what.n, j = byte / 4 % what.n;
    const std::size_t at = product.part.begin + byte / 4 * 4;
    miscompare.coordinate = {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
    std::size_t wrong = 0;
    for (std::size_t word = product.part.begin; word < product.part.end; word += 4)
      if (std::memcmp(&expected[word], &actual[word], 4) != 0) ++wrong;
    miscompare.text = fmt::format(
        "C[{}][{}] of the {} product: expected {}, got {}; {} of {} elements are wrong{}", i, j,
        name_of(what.type), number_in_words(what.type, expected, at),
        number_in_words(what.type, actual, at), wrong, product_bytes(what) / 4,
        is_product_as_written(program, snapshot, product, actual)
            ? "; it is the product of what TMA wrote: the descriptor's swizzle or base offset has "
              "no effect"
            : "");
  };
  compare_result(product.part, "C", expected, actual, row, found, say);
}

void compare_lanes(const ExpectedLanes& lanes, const Bytes& expected, Bytes& actual,
                   std::uint32_t row, std::vector<Miscompare>& found) {
  const auto say = [&](Miscompare& miscompare, std::size_t byte) {
    const std::size_t lane = byte / 16, of_row = lane % lanes.rows;
    const std::size_t column = lanes.first_column + lane / lanes.rows;
    miscompare.coordinate = {static_cast<std::int64_t>(column), static_cast<std::int64_t>(of_row)};
    miscompare.text = fmt::format(
        "lane {} (row {}, column {}), byte {} of 16: expected 0x{:02x}, got 0x{:02x}; {} of {} "
        "bytes are wrong",
        lane, of_row, column, byte % 16, miscompare.expected, miscompare.actual,
        miscompare.wrong_bytes, lanes.part.end - lanes.part.begin);
  };
  compare_result(lanes.part, "byte", expected, actual, row, found, say);
}

void compare_snapshot(const Program& program, const ProgramExpectation& expected,
                      const ExpectedSnapshot& snapshot, Bytes actual, std::uint32_t row,
                      std::vector<Miscompare>& found) {
  const ExpectedWindow& window = snapshot.window;
  if (window.compare.empty() && window.bytes == actual) return;
  const std::size_t known = found.size();
  Expectation told{.bytes = window.bytes,
                   .compare = window.compare,
                   .surroundings = expected.regions,
                   .poison_twist = poison_twist(snapshot.cta)};
  for (std::size_t i = 0; i < window.other.size(); ++i)
    if (actual[i] == window.other[i]) told.bytes[i] = actual[i];
  for (std::size_t i = 0; i < window.compare.size(); ++i)
    if (window.compare[i] == Compare::recorded) told.bytes[i] = actual[i];
  for (const ExpectedProduct& product : window.products)
    compare_product(program, snapshot, product, told.bytes, actual, row, found);
  for (const ExpectedLanes& lanes : window.lanes)
    compare_lanes(lanes, told.bytes, actual, row, found);
  if (window.tiles.empty())
    compare_untouched(told.bytes, actual, window.filled, row, found);
  else
    compare_window(window.tiles, std::move(told), actual, row, found);
  const std::string place =
      ctas_of(program) > 1
          ? fmt::format("snapshot of step {}, CTA {}: ", snapshot.step, snapshot.cta)
          : fmt::format("snapshot of step {}: ", snapshot.step);
  for (std::size_t i = known; i < found.size(); ++i) found[i].text = place + found[i].text;
}

void compare_snapshots(const Program& program, const ProgramExpectation& expected,
                       const RunResult& result, std::uint32_t row, std::vector<Miscompare>& found) {
  const std::size_t bytes = expected.snapshots.size() * program.window;
  if (result.bytes.size() != bytes) {
    found.push_back(wrong_size("byte", "snapshots", bytes, result.bytes.size(), row));
    return;
  }
  for (std::size_t i = 0; i < expected.snapshots.size(); ++i) {
    const std::size_t known = found.size(), at = i * program.window;
    compare_snapshot(program, expected, expected.snapshots[i],
                     slice(result.bytes, at, program.window), row, found);
    for (std::size_t j = known; j < found.size(); ++j) found[j].first_offset += at;
  }
}

// A defect is easier to see on the SM that shows it.
void name_sm(const Program& program, const RunResult& result, std::vector<Miscompare>& found) {
  if (result.sms.size() != ctas_of(program)) return;
  std::string sms;
  for (const std::uint16_t sm : result.sms) sms += fmt::format("{}{}", sms.empty() ? "" : ", ", sm);
  for (Miscompare& miscompare : found) miscompare.text += fmt::format(" [SM {}]", sms);
}

}  // namespace

std::vector<Miscompare> compare(const Program& program, const ProgramExpectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  if (result.trace.size() != expected.trace.size()) {
    found.push_back(wrong_size("trace", "trace", expected.trace.size(), result.trace.size(), row));
    return found;
  }
  compare_snapshots(program, expected, result, row, found);
  compare_regions(program, expected, result, row, found);
  compare_trace(program, expected, result, row, found);
  name_sm(program, result, found);
  return found;
}

// Says what the regions of a program got wrong: what was stored there, and what was not to be
// touched.

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
