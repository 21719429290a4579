// Tensor maps of a program on the virtual device, and what is illegal.
#include "kernels/virtual/program/program_run.hpp"

#include <fmt/format.h>

#include "kernels/ops/reduction.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark {

// Replaces the fields that differ, one by one, so that each can be left out.

namespace {

// What 128 bytes of zeros are taken for. Nothing can be copied by it.
Map zeroed_map() { return {.spec = {.rank = 1, .box = {}, .element_stride = {}}, .from = kZeroed}; }

Map memory_at(const ProgramRun& run, std::uint8_t place) {
  const auto replaced = run.maps.find(place);
  if (replaced != run.maps.end()) return replaced->second;
  const Map& first = run.program.maps[place];
  return first.from == kZeroed ? zeroed_map() : first;
}

// PTX ISA 9.0, 9.7.9.26, Table 36 has numbers of its own for these three.
DataType decoded_by_device(DataType driver) {
  if (driver == DataType::f64) return DataType::f32_ftz;
  if (driver == DataType::bf16) return DataType::f64;
  if (driver == DataType::f32_ftz) return DataType::bf16;
  return driver;
}

// Replaces in `map` what of each dimension is not the same in `from` and `to`.
template <std::size_t kSize, class Number>
void replace_each(std::array<Number, kSize>& map, const std::array<Number, kSize>& from,
                  const std::array<Number, kSize>& to, std::uint32_t known, std::uint32_t rank,
                  Fault fault) {
  for (std::uint32_t i = 0; i < rank; ++i) {
    const std::uint32_t at = i + (fault == kFaultReplaceNextDimension ? 1 : 0);
    if ((i >= known || from[i] != to[i]) && at < kSize) map[at] = to[i];
  }
}

std::array<std::uint64_t, kMaxRank - 1> strides_of(const TensorMapSpec& map, Fault fault) {
  auto strides = map.stride;
  for (std::uint64_t& stride : strides)
    if (fault == kFaultReplaceStrideInSixteens) stride = stride / 16 / 16 * 16;
  return strides;
}

// `map` with all fields replaced in which `from` and `to` differ.
Map replaced(Map map, const Map& from, const Map& to, Fault fault) {
  const TensorMapSpec &old = from.spec, &spec = to.spec;
  const std::uint32_t known = to.from == kZeroed ? 0 : old.rank;
  TensorMapSpec& made = map.spec;
  const bool moved = known == 0 || from.region != to.region || old.base_offset != spec.base_offset;
  if (moved && fault != kFaultReplaceAddressKept) {
    map.region = to.region;
    made.base_offset = spec.base_offset;
  }
  if (fault != kFaultReplaceRankKept) made.rank = spec.rank;
  if (fault != kFaultReplaceExtentKept)
    replace_each(made.extent, old.extent, spec.extent, known, spec.rank, fault);
  if (fault != kFaultReplaceStrideKept && spec.rank > 1)
    replace_each(made.stride, old.stride, strides_of(spec, fault), known > 0 ? known - 1 : 0,
                 spec.rank - 1, fault);
  if (fault != kFaultReplaceBoxKept)
    replace_each(made.box, old.box, spec.box, known, spec.rank, fault);
  if (fault != kFaultReplaceElementStrideKept)
    replace_each(made.element_stride, old.element_stride, spec.element_stride, known, spec.rank,
                 fault);
  if (fault != kFaultReplaceTypeKept && (known == 0 || old.type != spec.type))
    made.type = fault == kFaultReplaceTypeAsDriver ? decoded_by_device(spec.type) : spec.type;
  if (fault != kFaultReplaceSwizzleKept) made.swizzle = spec.swizzle;
  if (fault != kFaultReplaceFillKept) made.fill = spec.fill;
  return map;
}

}  // namespace

Map map_of(const Turn& turn) {
  const std::uint8_t place = place_of_map(turn.run.program, turn.step().map);
  const bool aliased = turn.run.fault == kFaultMapAliased && turn.step().map == 31;
  if (place == kEncoded) return turn.run.program.maps[turn.step().map - (aliased ? 1U : 0U)];
  return turn.own().maps.try_emplace(place, memory_at(turn.run, place)).first->second;
}

bool is_lost(const Turn& turn, const Map& map) {
  if (place_of_map(turn.run.program, turn.step().map) == kEncoded) return false;
  std::string why = refusal_of(map.spec);
  const std::uint32_t rank = turn.run.program.maps[turn.step().map].spec.rank;
  if (why.empty() && map.spec.rank != rank)
    why = fmt::format("a copy of rank {} by a map of rank {}", rank, map.spec.rank);
  if (!why.empty()) turn.run.lost = sticky_error(kIllegalInstruction, why);
  return !why.empty();
}

void take_replace(const Turn& turn) {
  ProgramRun& run = turn.run;
  const Map& to = run.program.maps[turn.step().map];
  const std::uint8_t place = place_of_map(run.program, turn.step().map);
  const Map from = to.from == kZeroed ? zeroed_map() : run.program.maps[to.from];
  const Map made = replaced(memory_at(run, place), from, to, run.fault);
  if (run.fault == kFaultPublishLost) return;
  if (run.fault != kFaultPublishStays) run.maps.insert_or_assign(place, made);
  if (run.fault == kFaultPublishStays) turn.own().maps.insert_or_assign(place, made);
}

void take_acquire(const Turn& turn) {
  const Fault fault = turn.run.fault;
  if (fault == kFaultAcquireIgnored || fault == kFaultPublishStays) return;
  turn.own().maps.erase(place_of_map(turn.run.program, turn.step().map));
}

// Legality of the copies of a program: loads and stores have rules of their own.

namespace {

IllegalCopyRules rules_of(const Step& copy, Fault fault) {
  return copy.verb == Verb::store ? store_rules(fault) : load_rules(fault);
}

RunResult legality_of_start(const TensorMapSpec& map, const CopyStart& start, bool is_store,
                            const IllegalCopyRules& rules) {
  RunResult result = legality(map, start.at, start.offset, rules);
  if (result.fault != DeviceFault::none || !is_store || rules.negative_clipped) return result;
  for (std::uint32_t i = 0; i < map.rank; ++i)
    if (start.at[i] < 0)
      return sticky_error(rules.illegal,
                          fmt::format("coordinate {} of dimension {} is negative", start.at[i], i));
  return result;
}

// What an H200 does beyond the documents: bitwise reductions of s32, and sums of all other
// floating-point types.
bool is_carried_out(Reduction reduction, DataType type) {
  if (reduction == Reduction::none || reduces(reduction, type)) return true;
  if (reduction == Reduction::add) return is_floating(type);
  return type == DataType::s32 && reduction >= Reduction::bit_and;
}

// Whether a load from memory that ends with the last mapped byte hangs over its end.
bool overruns_edge(const Program& program, const Step& copy) {
  const Map& map = program.maps[copy.map];
  if (copy.verb != Verb::load || program.regions[map.region].source != MemorySource::edge)
    return false;
  const std::uint32_t last = map.spec.rank - 1;
  return std::int64_t{copy.at[last]} + map.spec.box[last] >
         static_cast<std::int64_t>(map.spec.extent[last]);
}

// Whether the box is not wholly in the tensor.
bool is_outside(const TensorMapSpec& map, const Step& copy) {
  if (map.im2col) return false;  // whose pixels are no box
  for (std::uint32_t i = 0; i < map.rank; ++i)
    if (copy.at[i] < 0 ||
        std::int64_t{copy.at[i]} + spanned(map, i) > static_cast<std::int64_t>(map.extent[i]))
      return true;
  return false;
}

}  // namespace

CopyStart start_of(const Program& program, const Step& copy, Fault fault) {
  CopyStart start{.at = copy.at, .offset = copy.offset};
  if (program.maps[copy.map].spec.bulk) return start;
  const TensorMapSpec& map = program.maps[copy.map].spec;
  IllegalCopyRules rules = rules_of(copy, fault);
  if (is_interleaved(map)) rules.inner_rounded_down = false;  // units are never off 16 bytes
  round_start(rules, map.type, start.at, start.offset);
  return start;
}

RunResult legality_of(const Program& program, const Step& copy, Fault fault) {
  const TensorMapSpec& map = program.maps[copy.map].spec;
  if (map.bulk) return {};  // all that is sound
  const IllegalCopyRules rules = rules_of(copy, fault);
  RunResult result =
      legality_of_start(map, start_of(program, copy, fault), copy.verb == Verb::store, rules);
  if (result.fault != DeviceFault::none || copy.verb != Verb::store || rules.any_reduction ||
      is_carried_out(copy.reduction, map.type))
    return result;
  return sticky_error(rules.illegal, fmt::format("{} has no such reduction", name_of(map.type)));
}

RunResult preflight(const Program& program, Fault fault) {
  // Whether the driver refuses it: copies have more rules.
  for (const Map& map : program.maps) {
    if (map.spec.bulk) continue;
    if (RunResult refused = legality(map.spec, {}, 0, {});
        refused.fault == DeviceFault::encode_refused)
      return refused;
  }
  for (Step step : program.steps) {
    if (step.verb == Verb::prefetch) step.offset = 0;
    if (step.verb == Verb::prefetch && fault == kFaultPrefetchOutsideFails &&
        is_outside(program.maps[step.map].spec, step))
      return sticky_error(kIllegalAddress, "a prefetch outside of its tensor");
    if (step.verb != Verb::load && step.verb != Verb::store && step.verb != Verb::prefetch)
      continue;
    if (rules_of(step, fault).error_lost) continue;
    if (RunResult illegal = legality_of(program, step, fault); illegal.fault != DeviceFault::none)
      return illegal;
    if (fault == kFaultEdgeOverrun && overruns_edge(program, step))
      return sticky_error(kIllegalAddress, "a fetch behind the last mapped byte");
  }
  return {};
}

}  // namespace tidemark
