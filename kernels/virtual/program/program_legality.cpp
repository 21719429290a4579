// Legality of the copies of a program: loads and stores have rules of their own.
#include "kernels/virtual/program/program_legality.hpp"

#include <fmt/format.h>

#include "kernels/ops/reduction.hpp"
#include "kernels/virtual/copies/faults/program_faults.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark::kernels {
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

}  // namespace tidemark::kernels
