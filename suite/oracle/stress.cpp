// What a stress found, by SM. The device compared; here is made again which box it was.
#include "suite/oracle/stress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tidemark {
namespace {

/// The box that an SM drew.
struct Drawn {
  TensorMapSpec map;
  StressBox box;
};

Drawn drawn(const Stress& op, std::uint64_t seed, std::uint32_t cta, std::uint64_t iteration) {
  const std::vector<TensorMapSpec> maps = stress_maps(op);
  const std::vector<StressShape> shapes = stress_shapes(maps);
  const StressBox box =
      stress_draw(shapes.data(), static_cast<std::uint32_t>(shapes.size()), op.memory_bytes,
                  stress_part(op.copy, cta, iteration), stress_key(seed, cta, iteration));
  return {.map = maps[box.map], .box = box};
}

std::string words_of(const Stress& op, const Drawn& drawn) {
  const TensorMapSpec& map = drawn.map;
  if (map.bulk)
    return fmt::format("bulk {} of {} bytes at {}", name_of(op.copy), map.box[0],
                       drawn.box.address);
  const auto end = static_cast<std::ptrdiff_t>(map.rank);
  return fmt::format("{} of box {} of {}, swizzle {}, at ({})", name_of(op.copy),
                     fmt::join(map.box.begin(), map.box.begin() + end, "x"), name_of(map.type),
                     swizzle_bytes(map.swizzle),
                     fmt::join(drawn.box.at.begin(), drawn.box.at.begin() + end, ", "));
}

std::string place_of(std::uint32_t offset) {
  if ((offset & kGuardWord) == 0) return fmt::format("byte {} of the box", offset);
  const bool behind = (offset & kGuardBehind) != 0;
  return fmt::format("byte {} of the guard {} its slot", offset & ~(kGuardWord | kGuardBehind),
                     behind ? "behind" : "before");
}

Miscompare miscompare(std::uint32_t row, const char* what, std::string text) {
  Miscompare wrong;
  wrong.row = row;
  wrong.what = what;
  wrong.text = std::move(text);
  return wrong;
}

Miscompare lost_box(const Stress& op, const StressSm& sm, std::uint32_t row) {
  const bool alone = sm.lost_iteration == kLoneLoad;
  const std::string box =
      alone ? "a load of 16 bytes, alone on its SM,"
            : words_of(op, drawn(op, sm.lost_seed, sm.lost_cta, sm.lost_iteration)) + ",";
  return miscompare(row, "stress: lost box",
                    fmt::format("SM {}: {} never came; {} boxes did", sm.sm, box, sm.boxes));
}

std::string boxes_wrong(const StressSm& sm) {
  std::string words = fmt::format("SM {}: {} of {} boxes wrong, {} words", sm.sm, sm.wrong_boxes,
                                  sm.boxes, sm.wrong_words);
  if (sm.ns > 0)  // the virtual device has no clock
    words += fmt::format(" at {} MHz", 1000 * sm.cycles / sm.ns);
  return words;
}

/// A word that is wrong in memory when all copies are done.
Miscompare wrong_memory(const std::string& whose, const WrongWord& word, std::uint32_t row) {
  const std::uint64_t address = 4 * (word.iteration & ~kOfMemory);
  Miscompare wrong = miscompare(
      row, "stress: memory",
      fmt::format("{}; in memory at the end, byte {}: {:#010x}, which no right copy leaves", whose,
                  address, word.actual));
  wrong.first_offset = address;
  wrong.expected = word.expected;
  wrong.actual = word.actual;
  return wrong;
}

/// The first wrong word stands for all of its SM.
Miscompare wrong_words(const Stress& op, const StressSm& sm, const WrongWord& word,
                       std::uint32_t row) {
  if ((word.iteration & kOfMemory) != 0)
    return wrong_memory(fmt::format("SM {}: {} wrong words, its own or of an SM that wrote astray, "
                                    "where it alone writes",
                                    sm.sm, sm.wrong_words),
                        word, row);
  const Drawn box = drawn(op, word.seed, word.cta, word.iteration);
  const bool guard = (word.offset & kGuardWord) != 0;
  const bool of_memory = word.in_memory == word.actual;
  Miscompare wrong =
      miscompare(row, guard ? "stress: guard" : "stress: box",
                 fmt::format("{}; first {}, {}: expected {:#010x}, got {:#010x}{}", boxes_wrong(sm),
                             words_of(op, box), place_of(word.offset), word.expected, word.actual,
                             of_memory ? ", which is what the memory itself holds" : ""));
  std::copy(box.box.at.begin(), box.box.at.end(), wrong.coordinate.begin());
  wrong.first_offset = word.offset & ~(kGuardWord | kGuardBehind);
  wrong.wrong_bytes = 4 * sm.wrong_words;
  wrong.expected = word.expected;
  wrong.actual = word.actual;
  return wrong;
}

}  // namespace

std::vector<Miscompare> compare(const Stress& op, const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  for (const StressSm& sm : result.stress) {
    const auto first = std::find_if(result.wrong_words.begin(), result.wrong_words.end(),
                                    [&](const WrongWord& word) { return word.sm == sm.sm; });
    if (first != result.wrong_words.end())
      found.push_back(wrong_words(op, sm, *first, row));
    else if (sm.wrong_words > 0)
      found.push_back(miscompare(row, "stress: box", boxes_wrong(sm)));
    if (sm.lost > 0) found.push_back(lost_box(op, sm, row));
    if (sm.wrong_products > 0)
      found.push_back(miscompare(row, "stress: product",
                                 fmt::format("SM {}: {} of {} products of tensor cores wrong",
                                             sm.sm, sm.wrong_products, sm.products)));
  }
  const auto of_no_sm = std::ranges::find(result.wrong_words, kNoSm, &WrongWord::sm);
  if (of_no_sm != result.wrong_words.end())
    found.push_back(wrong_memory("words that no SM or that all SMs write", *of_no_sm, row));
  if (sum_of(result.stress).boxes == 0)
    found.push_back(miscompare(row, "stress: box", "no SM checked a box"));
  return found;
}

}  // namespace tidemark
