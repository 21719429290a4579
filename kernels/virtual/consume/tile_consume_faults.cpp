// What each fault of a consumed tile is called and does.
#include "kernels/virtual/consume/tile_consume_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo consume_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_consume, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    consume_fault(kFaultConsumeSwizzleIgnored, "consume_swizzle_ignored",
                  "address: no bits are exchanged, with rows as wide as before"),
    consume_fault(kFaultConsumeSwizzleNarrower, "consume_swizzle_narrower",
                  "address: the pattern of the next smaller width, with rows as wide as before"),
    consume_fault(kFaultConsumeSwizzleRelative, "consume_swizzle_relative",
                  "address: the offset from the start address is swizzled, not the address"),
    consume_fault(kFaultConsumeStrideNextGroup, "consume_stride_next_group",
                  "address: the stride offset is applied once too often from the second group on"),
    consume_fault(kFaultConsumeOffsetsExchanged, "consume_offsets_exchanged",
                  "address: leading and stride offset change places"),
    consume_fault(kFaultConsumeBaseOffsetIgnored, "consume_base_offset_ignored",
                  "address: the base offset counts as 0"),
    consume_fault(kFaultConsumeMnAsK, "consume_mn_as_k",
                  "address: an MN-major operand is read as a K-major one"),
    consume_fault(kFaultConsumeLeadingIgnored, "consume_leading_ignored",
                  "address: the leading offset counts as 0"),
    consume_fault(kFaultConsumeSwizzleWider, "consume_swizzle_wider",
                  "address: the pattern of the next larger width, with rows as wide as before"),
    consume_fault(kFaultConsumeBaseOffsetAdded, "consume_base_offset_added",
                  "address: the pattern starts the base offset before its boundary, not behind it"),
    consume_fault(kFaultConsumeReadAsWritten, "consume_read_as_written",
                  "address: swizzle and base offset are those that TMA wrote with"),
    consume_fault(kFaultConsumeAdvanceMissing, "consume_advance_missing",
                  "steps: each reads what the first does"),
    consume_fault(kFaultConsumeAdvanceHalved, "consume_advance_halved",
                  "steps: the start address moves half as far"),
    consume_fault(kFaultConsumeLastStepDropped, "consume_last_step_dropped",
                  "steps: the last is not added"),
    consume_fault(kFaultConsumeNotCleared, "consume_not_cleared",
                  "steps: the first adds to what the accumulators held"),
    consume_fault(kFaultConsumeChunkStale, "consume_chunk_stale",
                  "elements: the first 16 bytes of A are read as they were before the copy"),
    consume_fault(kFaultConsumeSignLost, "consume_sign_lost", "elements: s8 is taken as u8"),
    consume_fault(kFaultConsumeUnsignedAsSigned, "consume_unsigned_as_signed",
                  "elements: u8 is taken as s8"),
    consume_fault(kFaultConsumeBf16AsF16, "consume_bf16_as_f16", "elements: bf16 is taken as f16"),
    consume_fault(kFaultConsumeE5m2AsE4m3, "consume_e5m2_as_e4m3",
                  "elements: e5m2 is taken as e4m3"),
    consume_fault(kFaultConsumeRowDuplicated, "consume_row_duplicated",
                  "elements: the last row of A is the one before it"),
    consume_fault(kFaultConsumeHalvesExchanged, "consume_halves_exchanged",
                  "elements: the first and second half of a step along K of A change places"),
    consume_fault(kFaultConsumeSaturatesAt16, "consume_saturates_at_16",
                  "result: an s32 accumulator stays within 16 bits"),
    consume_fault(kFaultConsumeLowerRowsStale, "consume_lower_rows_stale",
                  "result: rows 8 to 15 of every 16 get those of rows 0 to 7"),
    consume_fault(kFaultConsumeColumnsExchanged, "consume_columns_exchanged",
                  "result: the two columns that a thread holds side by side change places"),
    consume_fault(kFaultConsumeWritesBehind, "consume_writes_behind",
                  "result: the last element is also stored behind C"),
    consume_fault(kFaultConsumeZeroOnMismatch, "consume_zero_on_mismatch",
                  "result: C is zero where a descriptor says something else than the tensor map"),
});

}  // namespace

std::span<const FaultInfo> tile_consume_faults() { return kFaults; }

}  // namespace tidemark::kernels
