// A call and a comment for each step, from the texts of its verb.

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "suite/reproducer/reproducer_parts.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kColumns = 120;
// Of the types in tensormap.replace, in the order of DataType.
constexpr std::uint32_t kTypeNumbers[kDataTypes] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};
// In the order of Scope.
constexpr std::string_view kScopes[] = {"cta", "cluster", "gpu", "sys"};
constexpr std::size_t kCodeColumns = 68;  // of a step, before the comment beside it

std::string time_in_words(std::uint32_t ns) {
  if (ns != 0 && ns % 1'000'000 == 0) return fmt::format("{} ms", ns / 1'000'000);
  if (ns != 0 && ns % 1'000 == 0) return fmt::format("{} us", ns / 1'000);
  return fmt::format("{} ns", ns);
}

std::string phase_in_words(std::uint8_t parity) {
  if (parity == kCurrentPhase) return "this phase";
  if (parity == kLastPhase) return "last phase";
  return fmt::format("parity {}", parity);
}

std::string parity_in_code(const Step& step) {
  if (step.parity == kCurrentPhase) return fmt::format("phase[bar{}]", step.barrier);
  if (step.parity == kLastPhase) return fmt::format("phase[bar{}] ^ 1", step.barrier);
  return fmt::format("{}", step.parity);
}

std::string policy_in_code(CacheHint hint) {
  const std::string_view policy = kPolicies[static_cast<std::size_t>(hint)];
  return fmt::format("{}{}", policy.empty() ? "" : "_", policy);
}

// The end of the name of the function that copies.
std::string copy_form(const TensorMapSpec& spec, Reduction reduction) {
  if (!spec.bulk) return fmt::format("{}{}d", spec.im2col ? "im2col_" : "", rank_of(spec));
  return reduction == Reduction::none ? "bulk" : fmt::format("bulk_{}", name_of(spec.type));
}

// The end of the name of the function that writes to another window.
std::string kind_of(const Step& step) {
  const std::uint32_t size = element_bytes(step.type);
  if (step.verb == Verb::st_async && step.bytes > size)
    return fmt::format("_v{}_b{}", step.bytes / size, 8 * size);
  if (step.verb == Verb::st_async) return fmt::format("_b{}", 8 * size);
  if (step.reduction == Reduction::none) return "";
  return fmt::format("_{}_{}", operation_of(step.reduction), ptx_type(step.reduction, step.type));
}

// What it is given, element by element.
std::string words_in_code(const Program& program, const Step& step) {
  const bool wide = element_bytes(step.type) == 8;
  std::vector<std::string> words;
  for (std::uint32_t i = 0; i < async_bytes(step) / 4; i += wide ? 2 : 1) {
    const std::uint64_t high = wide ? async_word(program.payload, step, i + 1) : 0;
    words.push_back(fmt::format("{:#x}", high << 32 | async_word(program.payload, step, i)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

bool is_remote(const Step& step) {
  return step.of != kOwnCta && !text_of(step.verb).remote_call.empty();
}

bool is_empty(const Step& step) {
  return step.bytes == 0 && !text_of(step.verb).empty_call.empty();
}

/// A step, and where it stands in its program.
struct Place {
  const Program& program;
  const Step& step;
  std::size_t number = 0;
  std::size_t snapshot = 0;  // snapshots in front of it
  bool alone = false;        // of the CTA one thread is left
};

// Keeps what a step reads of a region.
std::string keep_word(const Place& place) {
  const Step& step = place.step;
  if (!reads_region(step)) return "";
  const std::string word = fmt::format("(u64*)(region{} + {})", step.region, step.word);
  return fmt::format("trace[{}][cta] = {{'{}', {}}}", place.number, text_of(step.verb).mark,
                     step.verb == Verb::look ? "__ldcv(" + word + ")" : "*" + word);
}

std::string read_in_words(const Step& step) {
  if (!reads_region(step)) return "read nothing";
  return fmt::format("read region {} at {}", step.region, step.word);
}

std::string_view source_of(const Place& place) {
  const Step& step = place.step;
  const VerbInfo& verb = info_of(step.verb);
  return verb.map && verb.range ? source_in_code(place.program.maps[step.map].spec.type) : "";
}

// The im2col offsets of a copy, with a comma in front of each; none of other maps.
std::string offsets_in_code(const TensorMapSpec& spec, const Step& step) {
  std::string text;
  for (std::uint32_t i = 0; spec.im2col && i < spatial_of(spec); ++i)
    text += fmt::format(", {}", step.im2col_offsets[i]);
  return text;
}

// What threads need to know of a tensor to copy a box of it.
std::string tensor_in_code(const Program& program, const Step& step) {
  const Map& map = program.maps[step.map];
  const TensorMapSpec& spec = map.spec;
  std::vector<std::uint64_t> pitch{element_bytes(spec.type)};
  std::vector<std::uint32_t> count, steps{1};
  for (std::uint32_t i = 0; i < rank_of(spec); ++i) count.push_back(tile_extent(spec, i));
  for (std::uint32_t i = 1; i < rank_of(spec); ++i) {
    pitch.push_back(spec.stride[i - 1]);
    steps.push_back(spec.element_stride[i]);
  }
  const auto first = [&](const auto& list) {
    return fmt::format("{{{}}}", fmt::join(list.begin(), list.begin() + rank_of(spec), ", "));
  };
  return fmt::format("{{region{} + {}, {}, {}, {}, {}, {}, {}, {}}}", map.region,
                     kGuardBytes + spec.base_offset, element_bytes(spec.type), rank_of(spec),
                     first(spec.extent), first(pitch), first(count), first(steps), first(step.at));
}

// A tile as a matrix of chunks: rows, bytes of a row of a group, groups, and pieces of the swizzle.
std::string matrix_in_code(const TensorMapSpec& map) {
  return fmt::format("{}, {}, {}, {}", map.box[1], group_row_bytes(map), map.box[2],
                     std::max(swizzle_bytes(map.swizzle) / 16, 1U));
}

std::string from_in_words(const Map& map) {
  return map.from == kZeroed ? "zeros" : fmt::format("map {}", map.from);
}

std::string formatted(std::string_view text, const Place& place) {
  const Step& step = place.step;
  const VerbInfo& verb = info_of(step.verb);
  const bool works = step.verb == Verb::add || step.verb == Verb::copy;
  const bool copies = verb.box || verb.tile;
  const TensorMapSpec spec = copies ? place.program.maps[step.map].spec : TensorMapSpec{};
  const std::uint32_t rank = copies ? rank_of(spec) : 1;
  const auto* const at = step.at.data();
  const bool moves = step.verb == Verb::place_rows || step.verb == Verb::read_columns;
  return fmt::format(
      fmt::runtime(text), fmt::arg("step", place.number), fmt::arg("snapshot", place.snapshot),
      fmt::arg("barrier", step.barrier), fmt::arg("of", step.of),
      fmt::arg("of_cta", is_remote(step) ? fmt::format(", CTA {}", step.of) : ""),
      fmt::arg("count", step.count), fmt::arg("pending", step.pending),
      fmt::arg("arrivals", step.count > 1 ? fmt::format(", {} threads", step.count) : ""),
      fmt::arg("reset",
               keeps_phases(place.program) ? fmt::format(", phase[bar{}] = 0", step.barrier) : ""),
      fmt::arg("parity", parity_in_code(step)), fmt::arg("phase", phase_in_words(step.parity)),
      fmt::arg("stops", step.stops ? ", true" : ""),
      fmt::arg("or_stop", step.stops ? " or stop" : ""), fmt::arg("ns", step.ns),
      fmt::arg("time", time_in_words(step.ns)), fmt::arg("offset", step.offset),
      fmt::arg("bytes", step.bytes), fmt::arg("end", step.offset + step.bytes),
      fmt::arg("stride", step.stride), fmt::arg("most", step.most), fmt::arg("map", step.map),
      fmt::arg("product", step.product), fmt::arg("to", step.at[0]), fmt::arg("first", step.at[1]),
      fmt::arg("matrix", moves ? matrix_in_code(place.program.maps[step.map].spec) : ""),
      fmt::arg("map_at", verb.map ? map_in_code(place.program, step.map) : ""),
      fmt::arg("where", step.in_place ? "in_place" : "in_shared"),
      fmt::arg("from", verb.map ? from_in_words(place.program.maps[step.map]) : ""),
      fmt::arg("scope", kScopes[static_cast<std::size_t>(step.scope)]),
      fmt::arg("rank", spec.bulk ? 0 : rank),
      fmt::arg("whom",
               step.of == kOwnCta ? "the window" : fmt::format("the window of CTA {}", step.of)),
      fmt::arg("kind", kind_of(step)), fmt::arg("words", words_in_code(place.program, step)),
      fmt::arg("form", copies ? copy_form(spec, step.reduction) : ""),
      fmt::arg("box", fmt::format("{}", fmt::join(at, at + rank, ", "))),
      fmt::arg("offsets", offsets_in_code(spec, step)),
      fmt::arg("im2col", spec.im2col ? "_im2col" : ""),
      fmt::arg("load", step.mask == 0 ? "load" : "multicast"),
      fmt::arg("mask", step.mask == 0 ? "" : fmt::format(", {:#x}", step.mask)),
      fmt::arg("to_ctas", step.mask == 0 ? "" : fmt::format(" to CTAs {:#x}", step.mask)),
      fmt::arg("store", kStoreNames[static_cast<std::size_t>(step.reduction)]),
      fmt::arg("policy", policy_in_code(step.hint)), fmt::arg("word", step.word),
      fmt::arg("thread", step.thread), fmt::arg("source", source_of(place)),
      fmt::arg("keep_word", keep_word(place)), fmt::arg("read_word", read_in_words(step)),
      fmt::arg("then", reads_region(step) ? ", " : ""),
      fmt::arg("and_read_word", reads_region(step) ? ", " + read_in_words(step) : ""),
      fmt::arg("tile_bytes", works ? tile_bytes(spec) : 0),
      fmt::arg("pieces", std::max(swizzle_bytes(spec.swizzle) / 16, 1U)),
      fmt::arg("number", spec.type == DataType::f32 ? "float" : "u32"),
      fmt::arg("tensor", works ? tensor_in_code(place.program, step) : ""),
      fmt::arg("all_but", step.pending == 0 ? "all" : fmt::format("all but {}", step.pending)),
      fmt::arg("overwrite", step.bytes == 0 ? "" : ", overwrite the source"));
}

// The condition that holds for the threads that take a step; empty where it is all of them.
std::string takers_of(const Program& program, const Step& step) {
  std::vector<std::string> all_of;
  if (step.ctas != all_ctas(program))
    all_of.push_back(std::has_single_bit(step.ctas)
                         ? fmt::format("cta == {}", std::countr_zero(step.ctas))
                         : fmt::format("({:#x} >> cta & 1)", step.ctas));
  const Takers takers = is_empty(step) ? Takers::one : info_of(step.verb).takers;
  if (takers == Takers::warp) all_of.push_back(fmt::format("t / 32 == {}", step.thread / 32));
  if (takers == Takers::warpgroup)
    all_of.push_back(fmt::format("t / {0} == {1}", kWgmmaThreads, step.thread / kWgmmaThreads));
  const std::uint32_t threads = takers == Takers::count ? step.count : 1;
  const std::uint32_t end = step.thread + threads;
  if (takers == Takers::one || takers == Takers::count) {
    if (threads == 1) all_of.push_back(fmt::format("t == {}", step.thread));
    if (threads > 1 && step.thread > 0) all_of.push_back(fmt::format("t >= {}", step.thread));
    if (threads > 1 && end < kProgramThreads) all_of.push_back(fmt::format("t < {}", end));
  }
  return fmt::format("{}", fmt::join(all_of, " && "));
}

std::string_view call_of(const Step& step) {
  const VerbText& text = text_of(step.verb);
  if (is_empty(step)) return text.empty_call;
  return is_remote(step) ? text.remote_call : text.call;
}

std::string code_of(const Place& place) {
  const Verb verb = place.step.verb;
  const std::string takers = takers_of(place.program, place.step);
  const std::string call = formatted(call_of(place.step), place);
  if (place.alone) return "  " + call;
  if (verb == Verb::leave) return fmt::format("  if (!next({})) {}", takers, call);  // the others
  if (!is_taken_when_stopped(verb)) return fmt::format("  if (next({})) {}", takers, call);
  return takers.empty() ? "  " + call : fmt::format("  if ({}) {}", takers, call);
}

// The comment stands beside the code where there is room, else above it.
std::string step_text(const Place& place) {
  const std::string code = code_of(place);
  const std::string comment = fmt::format("// step {}: {}", place.number,
                                          formatted(text_of(place.step.verb).comment, place));
  const std::string line = fmt::format("{:<{}}  {}", code, kCodeColumns - 2, comment);
  return line.size() <= kColumns ? line + "\n" : fmt::format("  {}\n{}\n", comment, code);
}

std::string steps_text(const Program& program) {
  std::string text;
  std::size_t snapshot = 0;
  bool alone = false;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    text += step_text(
        {.program = program, .step = step, .number = i, .snapshot = snapshot, .alone = alone});
    if (step.verb == Verb::snapshot) ++snapshot;
    if (step.verb == Verb::leave) alone = true;
  }
  return text;
}

// A macro that replaces in a map what differs from the one that it is made of.
std::string replacement_text(const Program& program, std::uint8_t number) {
  const Map& to = program.maps[number];
  const bool made = to.from == kZeroed;
  const Map from = made ? Map{} : program.maps[to.from];
  const TensorMapSpec &old = from.spec, &spec = to.spec;
  const bool moved = made || from.region != to.region || old.base_offset != spec.base_offset;
  std::string text = fmt::format("\n#define MAP{}(space, to) asm volatile( \\\n", number);
  const auto field = [&](std::string_view name, std::string_view type, auto... operands) {
    text += fmt::format("    \"tensormap.replace.tile.{}.\" space \".b1024.{} [%0]", name, type);
    ((text += fmt::format(", {}", operands)), ...);
    text += ";\" \\\n";
  };
  if (moved) field("global_address", "b64", "%1");
  if (made || old.rank != spec.rank) field("rank", "b32", spec.rank - 1);
  for (std::uint32_t i = 0; i < rank_of(spec); ++i) {
    const bool all = made || i >= old.rank;
    if (all || old.extent[i] != spec.extent[i]) field("global_dim", "b32", i, spec.extent[i]);
    if (all || old.box[i] != spec.box[i]) field("box_dim", "b32", i, spec.box[i]);
    if (all || old.element_stride[i] != spec.element_stride[i])
      field("element_stride", "b32", i, spec.element_stride[i]);
    if (i > 0 && (all || old.stride[i - 1] != spec.stride[i - 1]))
      field("global_stride", "b64", i - 1, spec.stride[i - 1]);
  }
  if (made) field("interleave_layout", "b32", 0);
  if (made || old.type != spec.type)
    field("elemtype", "b32", kTypeNumbers[static_cast<std::size_t>(spec.type)]);
  if (made || old.swizzle != spec.swizzle)
    field("swizzle_mode", "b32", static_cast<std::uint32_t>(spec.swizzle));
  if (made || old.fill != spec.fill)
    field("fill_mode", "b32", static_cast<std::uint32_t>(spec.fill));
  const std::string operands =
      moved ? fmt::format(", \"l\"(region{} + {})", to.region, kGuardBytes + spec.base_offset) : "";
  return text + fmt::format("    ::to{} : \"memory\")\n", operands);
}

}  // namespace

std::string map_in_code(const Program& program, std::uint8_t map) {
  const std::uint8_t place = place_of_map(program, map);
  return place == kEncoded ? fmt::format("&map{}", map) : fmt::format("at_map{}", place);
}

std::uint32_t rank_of(const TensorMapSpec& spec) { return std::clamp(spec.rank, 1U, kMaxRank); }

std::vector<std::size_t> regions_read(const Program& program) {
  std::vector<std::size_t> regions;
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    if (std::ranges::any_of(program.steps, [&](const Step& step) {
          return (reads_region(step) && step.region == i) ||
                 ((step.verb == Verb::copy || step.verb == Verb::replace) &&
                  program.maps[step.map].region == i);
        }))
      regions.push_back(i);
  return regions;
}

std::string kernel_text(const Program& program) {
  const std::string steps = steps_text(program);
  std::vector<std::string> parameters;
  const auto maps = static_cast<std::uint8_t>(program.maps.size());
  for (std::uint8_t i = 0; i < maps; ++i) {
    const std::uint8_t place = place_of_map(program, i);
    if (place == kEncoded)
      parameters.push_back(fmt::format("const __grid_constant__ {} map{}",
                                       program.maps[i].spec.bulk ? "Range" : "CUtensorMap", i));
    if (place == i) parameters.push_back(fmt::format("CUtensorMap* at_map{}", i));
  }
  for (const std::size_t region : regions_read(program))
    parameters.push_back(fmt::format("u8* region{}", region));
  std::string text;
  for (const Step& step : program.steps)
    if (step.verb == Verb::replace) text += replacement_text(program, step.map);
  text += fmt::format("\n__global__ void __launch_bounds__(kThreads) reproduce({}) {{\n",
                      fmt::join(parameters, ",\n    "));
  std::vector<std::string_view> numbers;
  if (mentions(steps, "cta")) numbers.push_back("cta = blockIdx.x");
  if (mentions(steps, "t")) numbers.push_back("t = threadIdx.x");
  if (!numbers.empty()) text += fmt::format("  const u32 {};\n", fmt::join(numbers, ", "));
  text += steps;
  if (ctas_of(program) > 1)
    text += "  cluster_sync();  // up to here CTAs may use each other's barriers\n";
  return text + "}\n";
}

bool reads_region(const Step& step) { return info_of(step.verb).word && step.region != kNoRegion; }

std::string_view source_in_code(DataType element) {
  if (element < DataType::f32_ftz) return "source_word(i)";
  return element == DataType::f32_ftz ? "normal(source_word(i), 0x7fffff)"
                                      : "normal(source_word(i), 0x7fe000)";
}

}  // namespace tidemark
