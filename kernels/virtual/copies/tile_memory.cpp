// The memory of a tile, and copies that would end the process.
#include "kernels/virtual/copies/tile_memory.hpp"

#include <fmt/format.h>
#include <cstring>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_store_faults.hpp"

namespace tidemark {

// The faults of illegal copies, as changes of the rules.

IllegalCopyRules load_rules(Fault fault) {
  IllegalCopyRules rules;
  if (fault == kFaultMisalignedRoundedDown) rules.shared_rounded_down = true;
  if (fault == kFaultMisalignedTo16) rules.shared_alignment = 16;
  if (fault == kFaultMisalignedAs719) rules.misaligned = kLaunchFailure;
  if (fault == kFaultInnerRoundedDown) rules.inner_rounded_down = true;
  if (fault == kFaultInnerAtElement) rules.inner_alignment = 1;
  if (fault == kFaultIllegalAs700) rules.illegal = kIllegalAddress;
  if (fault == kFaultLongExtentTaken) rules.longest_extent *= 2;
  if (fault == kFaultErrorLost) rules.error_lost = true;
  return rules;
}

IllegalCopyRules store_rules(Fault fault) {
  IllegalCopyRules rules;
  if (fault == kFaultStoreMisalignedRoundedDown) rules.shared_rounded_down = true;
  if (fault == kFaultStoreMisalignedTo16) rules.shared_alignment = 16;
  if (fault == kFaultStoreMisalignedAs719) rules.misaligned = kLaunchFailure;
  if (fault == kFaultStoreInnerRoundedDown) rules.inner_rounded_down = true;
  if (fault == kFaultStoreInnerAtElement) rules.inner_alignment = 1;
  if (fault == kFaultStoreIllegalAs700) rules.illegal = kIllegalAddress;
  if (fault == kFaultStoreNegativeClipped) rules.negative_clipped = true;
  if (fault == kFaultStoreLongExtentTaken) rules.longest_extent *= 2;
  if (fault == kFaultReducePairTaken) rules.any_reduction = true;
  if (fault == kFaultStoreErrorLost) rules.error_lost = true;
  return rules;
}

void round_start(const IllegalCopyRules& rules, DataType type,
                 std::array<std::int32_t, kMaxRank>& at, std::uint32_t& shared_offset) {
  if (rules.shared_rounded_down) shared_offset -= shared_offset % 128;
  if (!rules.inner_rounded_down) return;
  const auto step = static_cast<std::int32_t>(16 / element_bytes(type));
  at[0] -= (at[0] % step + step) % step;  // down, below zero as well
}

RunResult sticky_error(std::int32_t code, const std::string& why) {
  RunResult result;
  result.fault = DeviceFault::sticky;
  result.code = code;
  result.note = fmt::format("{}: {}", sticky_error_name(code), why);
  return result;
}

// Source, shared window and legality of a tile load, as every operation that starts from one finds
// them.

namespace {

RunResult encode_refused(const std::string& why) {
  RunResult result;
  result.fault = DeviceFault::encode_refused;
  result.code = kEncodeRefusedCode;
  result.note = "tensor map refused: " + why;
  return result;
}

}  // namespace

RunResult legality(const TensorMapSpec& map, const std::array<std::int32_t, kMaxRank>& at,
                   std::uint32_t shared_offset, const IllegalCopyRules& rules) {
  if (const std::string why = refusal_of(map); !why.empty()) return encode_refused(why);
  if (static_cast<std::int64_t>(at[0]) * unit_bytes(map) % rules.inner_alignment != 0)
    return sticky_error(rules.illegal, fmt::format("inner coordinate {} of {} is off 16 bytes",
                                                   at[0], name_of(map.type)));
  if (shared_offset % rules.shared_alignment != 0)
    return sticky_error(rules.misaligned,
                        fmt::format("shared offset {} is no multiple of 128", shared_offset));
  for (std::uint32_t i = 0; i < map.rank; ++i)
    if (map.extent[i] > rules.longest_extent)
      return sticky_error(rules.illegal,
                          fmt::format("extent {} of dimension {} is above 2^31", map.extent[i], i));
  return {};
}

}  // namespace tidemark
