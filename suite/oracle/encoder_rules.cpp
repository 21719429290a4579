// Which tensor maps there can be, as the oracle knows it: apart from the rules of the devices.
#include "suite/oracle/encoder_rules.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Spec = const TensorMapSpec&;
using Number = std::int64_t;

enum class Of : std::uint8_t { map, all, first, outer, image };  // dimensions

/// Who says so: cuda.h; the driver, where cuda.h is silent or takes more; or copies by the map.
enum class By : std::uint8_t { document, driver, copies };

struct Rule {
  std::string_view parameter;  // of cuda.h
  std::string_view value;
  std::string_view takes;
  Of of;
  Number (*read)(Spec, std::uint32_t);
  bool (*allows)(Spec, Number);
  By by = By::document;
};

bool of_32(Spec map) { return map.interleave == Interleave::b32; }

Number bounded(std::uint64_t value) {
  return static_cast<Number>(std::min(value, std::uint64_t{1} << 62));
}
Number rank(Spec map, std::uint32_t) { return map.rank; }
Number base(Spec map, std::uint32_t) { return map.base_offset; }
Number extent(Spec map, std::uint32_t i) { return bounded(map.extent[i]); }
Number stride(Spec map, std::uint32_t i) { return bounded(map.stride[i - 1]); }
Number box(Spec map, std::uint32_t i) { return map.box[i]; }
Number pixels(Spec map, std::uint32_t) { return map.box[1]; }
Number inner(Spec map, std::uint32_t) { return Number{map.box[0]} * element_bytes(map.type); }
Number step(Spec map, std::uint32_t i) { return map.element_stride[i]; }
Number swizzle(Spec map, std::uint32_t) { return swizzle_bytes(map.swizzle); }
Number type(Spec map, std::uint32_t) { return static_cast<Number>(map.type); }
Number lower(Spec map, std::uint32_t i) { return map.lower_corner[i - 1]; }
Number upper(Spec map, std::uint32_t i) { return map.upper_corner[i - 1]; }
Number across(Spec map, std::uint32_t i) { return extent(map, i) + upper(map, i) - lower(map, i); }

template <Number kMost>
bool up_to(Spec, Number value) {
  return value >= 1 && value <= kMost;
}
bool legal_rank(Spec map, Number value) {
  return value >= (map.im2col || map.interleave != Interleave::none ? 3 : 1) && value <= kMaxRank;
}
bool on_16(Spec, Number value) { return value % 16 == 0; }
bool on_32(Spec map, Number value) { return !of_32(map) || value % 32 == 0; }
bool legal_stride(Spec, Number value) { return value % 16 == 0 && value < Number{1} << 40; }
bool legal_box(Spec map, Number value) { return map.im2col || up_to<256>(map, value); }
bool legal_channels(Spec map, Number value) { return !map.im2col || value <= 256; }
bool legal_pixels(Spec map, Number value) { return !map.im2col || value <= 1024; }
bool some_of_im2col(Spec map, Number value) { return !map.im2col || value >= 1; }
bool counts_steps(Spec map) { return map.interleave != Interleave::none; }
bool legal_first_step(Spec map, Number value) { return !counts_steps(map) || up_to<8>(map, value); }
bool on_16_of_elements(Spec map, Number value) {
  return map.im2col || map.interleave != Interleave::none || value % 16 == 0;
}
bool in_swizzle(Spec map, Number value) {
  const bool swizzled = map.interleave == Interleave::none && map.swizzle != Swizzle::none;
  return !swizzled || value <= swizzle(map, 0);
}
bool swizzle_of_32(Spec map, Number value) { return !of_32(map) || value == 32; }
bool can_be_nan(Spec map, Number) { return map.fill != Fill::nan || is_floating(map.type); }
bool legal_corner(Spec map, Number value) {
  const Number end = map.rank == 3 ? 32768 : map.rank == 4 ? 128 : 16;
  return !map.im2col || (value >= -end && value < end);
}
bool has_pixel(Spec map, Number value) { return !map.im2col || value >= 1; }

constexpr std::string_view kExtents =
    "1 to 2^32, of which H200s end the process above 2^31; take up to that";
constexpr std::string_view kOn16 = "multiples of 16";

constexpr Rule kRules[] = {
    {"tensorRank", "rank", "1 to 5, from 3 on with interleave or im2col", Of::map, rank,
     legal_rank},
    {"globalAddress", "base_offset", "multiples of 16", Of::map, base, on_16},
    {"globalAddress", "base_offset", "multiples of 32 for units of 32", Of::map, base, on_32},
    {"globalDim", "extent", kExtents, Of::all, extent, up_to<Number{1} << 31>, By::copies},
    {"globalDim", "extent", "1 to 2^32", Of::all, extent, up_to<Number{1} << 32>},
    {"globalStrides", "stride", "multiples of 16 below 2^40", Of::outer, stride, legal_stride},
    {"globalStrides", "stride", "multiples of 32 for units of 32", Of::outer, stride, on_32},
    {"boxDim", "box", "1 to 256", Of::all, box, legal_box},
    {"boxDim", "inner box bytes", kOn16, Of::map, inner, on_16_of_elements},
    {"boxDim", "inner box bytes", kOn16, Of::map, inner, on_16, By::driver},
    {"channelsPerPixel", "channels", "1 to 256", Of::map, box, legal_channels},
    {"pixelsPerColumn", "pixels", "1 to 1024", Of::map, pixels, legal_pixels},
    {"channelsPerPixel", "channels", "1 to 256", Of::map, box, some_of_im2col, By::driver},
    {"pixelsPerColumn", "pixels", "1 to 1024", Of::map, pixels, some_of_im2col, By::driver},
    {"elementStrides", "element stride", "1 to 8", Of::first, step, legal_first_step},
    {"elementStrides", "element stride", "1 to 8", Of::outer, step, up_to<8>},
    {"elementStrides", "element stride", "1 to 8", Of::first, step, up_to<8>, By::driver},
    {"interleave", "inner box bytes", "those of the swizzle at most", Of::map, inner, in_swizzle},
    {"swizzle", "swizzle of", "that of 32 for units of 32", Of::map, swizzle, swizzle_of_32,
     By::driver},
    {"oobFill", "NaN fill of data type", "that of floating ones", Of::map, type, can_be_nan},
    {"pixelBoxLowerCorner", "lower corner", "what its bits hold", Of::image, lower, legal_corner},
    {"pixelBoxUpperCorner", "upper corner", "what its bits hold", Of::image, upper, legal_corner},
    {"pixelBoxUpperCorner", "bounding box pixels", "1 and up", Of::image, across, has_pixel},
};

/// Calls `broken` with the rule, a dimension and its value where the map breaks one, and looks no
/// further: what follows may read what that one forbids.
template <class Broken>
void first_broken(Spec map, By by, const Broken& broken) {
  for (const Rule& rule : kRules) {
    if (rule.by > by) continue;
    const bool once = rule.of == Of::map || rule.of == Of::first;
    const std::uint32_t behind = once ? 1 : map.rank - (rule.of == Of::image ? 1 : 0);
    for (std::uint32_t i = rule.of <= Of::first ? 0 : 1; i < behind; ++i)
      if (const Number value = rule.read(map, i); !rule.allows(map, value))
        return broken(rule, i, value);
  }
}

bool breaks_rules(Spec map, By by) {
  bool breaks = false;
  first_broken(map, by, [&](const Rule&, std::uint32_t, Number) { breaks = true; });
  return breaks;
}

/// Neither forbidden by cuda.h nor said to work; or forbidden, and taken by the driver all the same
/// (H200, driver 580.159.04): a map that is not on 64 bytes; units of 32 bytes in another swizzle,
/// or moved to an address that is not on 32.
bool is_left_open(const Encode& op) {
  Spec map = op.map;
  if (breaks_rules(map, By::driver)) return true;
  if (of_32(map) && op.replacement % 32 != 0) return true;
  if (op.no_strides || op.map_offset % 64 != 0 || op.address != kEncodeAddress) return true;
  if (map.im2col && map.interleave != Interleave::none) return true;
  std::uint64_t inside = std::uint64_t{unit_bytes(map)} * map.extent[0];
  for (std::uint32_t i = 1; i < map.rank; ++i) {  // cuda.h asserts that strides ascend
    if (map.stride[i - 1] < inside) return true;
    inside = map.stride[i - 1] * std::min(map.extent[i], std::uint64_t{1} << 23);  // below 2^63
  }
  if (map.im2col) return false;
  for (std::uint32_t i = 0; i < map.rank; ++i)
    if (map.box[i] > map.extent[i]) return true;
  return tile_span(map) > 227 << 10;
}

}  // namespace

void refuse_illegal_map(const TensorMapSpec& map, std::string_view place) {
  if (map.bulk) return;
  first_broken(map, By::copies, [&](const Rule& rule, std::uint32_t i, Number value) {
    const bool whole = rule.of == Of::map;
    throw Error(fmt::format("{}{} {}{}; cuda.h, {}, takes {}", place, rule.value, value,
                            whole ? "" : fmt::format(" of dimension {}", i), rule.parameter,
                            rule.takes));
  });
}

DocumentedAnswer documented_answer(const Encode& op) {
  Spec map = op.map;
  const auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  if (number(map.type) >= kEncodeDataTypes || map.interleave > Interleave::b32 ||
      number(map.swizzle) >= kEncodeSwizzles || map.l2_promotion > L2Promotion::b256 ||
      map.fill > Fill::nan)
    return DocumentedAnswer::refused;
  if (map.type >= DataType{kDataTypes} || map.swizzle > Swizzle::b128)
    return DocumentedAnswer::open;
  if (breaks_rules(map, By::document) || op.replacement % 16 != 0) return DocumentedAnswer::refused;
  return is_left_open(op) ? DocumentedAnswer::open : DocumentedAnswer::accepted;
}

std::vector<Miscompare> compare(const Encode& op, const RunResult& result, std::uint32_t row) {
  const auto wrong = [&](const char* what, std::string text) {
    Miscompare found;
    found.row = row;
    found.what = what;
    found.text = std::move(text);
    found.actual = static_cast<std::uint64_t>(result.code);
    return std::vector<Miscompare>{std::move(found)};
  };
  const DocumentedAnswer documented = documented_answer(op);
  if (documented == DocumentedAnswer::accepted && result.code != 0)
    return wrong("encoder: answer",
                 fmt::format("{}: refused with error {}; cuda.h takes it", op.change, result.code));
  if (documented == DocumentedAnswer::refused && result.code != 1)
    return wrong("encoder: answer", fmt::format("{}: {}; cuda.h says CUDA_ERROR_INVALID_VALUE (1)",
                                                op.change, answer_words(result)));
  if (documented == DocumentedAnswer::accepted && op.replacement != 0 &&
      result.bytes.size() != 2 * sizeof(result.maps[0]))
    return wrong("encoder: map", fmt::format("{}: no map is left", op.change));
  const auto half = static_cast<std::ptrdiff_t>(result.bytes.size() / 2);
  const auto differs =
      std::mismatch(result.bytes.begin(), result.bytes.begin() + half, result.bytes.begin() + half);
  if (differs.first == result.bytes.begin() + half) return {};
  return wrong("encoder: map",
               fmt::format("{}: byte {} of the map is {:#04x} once its address is replaced, and "
                           "{:#04x} where it is encoded with that address",
                           op.change, differs.first - result.bytes.begin(), *differs.first,
                           *differs.second));
}

namespace {

/// An answer that is documented, by the least and the most that it may be.
struct DocumentedFact {
  DriverSubject subject;
  std::string question;
  std::int64_t least, most;
};

std::vector<DocumentedFact> documented_facts() {
  using enum DriverSubject;
  const auto attribute = [](int number, std::int64_t value) {
    return DocumentedFact{attributes, std::to_string(number), value, value};
  };
  std::vector<DocumentedFact> made = {
      {kernel, kRegisters, 1, 255},
      {kernel, kMostThreads, 1, 1024},
      {kernel, kArchitecture, 90, 90},
      attribute(1, 1024),     // MAX_THREADS_PER_BLOCK
      attribute(10, 32),      // WARP_SIZE
      attribute(12, 65536),   // MAX_REGISTERS_PER_BLOCK
      attribute(39, 2048),    // MAX_THREADS_PER_MULTIPROCESSOR
      attribute(75, 9),       // COMPUTE_CAPABILITY_MAJOR
      attribute(76, 0),       // COMPUTE_CAPABILITY_MINOR
      attribute(81, 233472),  // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
      attribute(82, 65536),   // MAX_REGISTERS_PER_MULTIPROCESSOR
      attribute(97, 232448),  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
      attribute(106, 32),     // MAX_BLOCKS_PER_MULTIPROCESSOR
      attribute(120, 1),      // CLUSTER_LAUNCH
      attribute(127, 1),      // TENSOR_MAP_ACCESS_SUPPORTED
      {entry_points, "cuTensorMapEncodeTiled", 1, 1},
      {entry_points, "cuTensorMapEncodeIm2col", 1, 1},
  };
  for (std::uint32_t ctas = 1; ctas <= 8; ++ctas)  // the portable sizes, PTX ISA
    made.push_back({clusters, cluster_question(ctas, 0), 1, 1 << 16});
  return made;
}

}  // namespace

std::vector<Miscompare> compare(const DriverFacts& op, const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  for (const DocumentedFact& fact : documented_facts()) {
    if (fact.subject != op.subject) continue;
    const auto answer = std::ranges::find(result.answers, fact.question, &DriverAnswer::question);
    const bool known = answer != result.answers.end();
    if (known && answer->answer >= fact.least && answer->answer <= fact.most) continue;
    Miscompare& wrong = found.emplace_back();
    wrong.row = row;
    wrong.what = "driver: fact";
    wrong.expected = static_cast<std::uint64_t>(fact.least);
    wrong.actual = known ? static_cast<std::uint64_t>(answer->answer) : 0;
    wrong.text = fmt::format("{} {}: {}; documented is {}{}",
                             result.answers.empty() ? "" : result.answers[0].subject, fact.question,
                             known ? std::to_string(answer->answer) : "no answer", fact.least,
                             fact.most == fact.least ? "" : fmt::format(" to {}", fact.most));
  }
  return found;
}

std::vector<DriverAnswer> answers_of(const Op& op, const RunResult& result) {
  const auto* call = std::get_if<Encode>(&op);
  if (call == nullptr) return result.answers;
  DriverAnswer made{
      .subject = call->sound, .question = call->change, .unit = "CUresult", .answer = result.code};
  if (result.code == 0 && !result.maps.empty())
    std::memcpy(made.map.data(), result.maps[0].data(), sizeof(made.map));
  return {made};
}

std::string answer_words(const RunResult& result) {
  if (result.code == 0) return "accepted";
  return fmt::format("error {}{}", result.code, result.trace.empty() ? "" : ", map written");
}

}  // namespace tidemark
