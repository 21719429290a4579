// The faults of illegal copies, as changes of the rules.
#include "kernels/virtual/copies/illegal_copy.hpp"

#include <fmt/format.h>

#include "kernels/virtual/copies/faults/tile_load_faults.hpp"
#include "kernels/virtual/copies/faults/tile_store_faults.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
