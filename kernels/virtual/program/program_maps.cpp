// Replaces the fields that differ, one by one, so that each can be left out.
#include "kernels/virtual/program/program_maps.hpp"

#include <fmt/format.h>

#include "kernels/ops/tensor_map_rules.hpp"
#include "kernels/virtual/copies/faults/program_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark::kernels {
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
  if (place == kEncoded) return turn.run.program.maps[turn.step().map];
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

}  // namespace tidemark::kernels
