// Tiles that are loaded and multiplied, and their faults.
#include "kernels/virtual/consume/tile_consume.hpp"

#include <fmt/format.h>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/virtual/consume/wgmma.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_chunks.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark::kernels {

// Runs one consumed tile as a single warpgroup would, step by step.

namespace {

constexpr std::uint32_t kWaitTries = 20000;  // a try delivers a chunk, and 227 KiB are 14528
constexpr std::array<GemmOperand, 2> kOperands{GemmOperand::a, GemmOperand::b};

// Everything of the thread block that the steps share.
struct ConsumingBlock {
  const TileConsume& op;
  SharedWindow shared;
  std::vector<std::uint8_t> source;
  BulkEngine engine;
  Fault fault;
};

std::vector<std::uint8_t> poisoned(const Payload& payload, std::size_t bytes) {
  std::vector<std::uint8_t> poison(bytes);
  for (std::size_t i = 0; i < bytes; ++i) poison[i] = poison_byte(payload, i);
  return poison;
}

SharedWindow poisoned_window(const TileConsume& op) {
  return {.address = kWindowAddress, .bytes = poisoned(op.payload, window_bytes(op))};
}

std::vector<std::uint8_t> filled_source(const TileConsume& op) {
  std::vector<std::uint8_t> source(source_allocation_bytes(op));
  for (std::uint64_t i = 0; i < source.size() / 4; ++i) {
    const std::uint32_t word = source_element_word(op, i);
    std::memcpy(&source[4 * i], &word, 4);
  }
  return source;
}

RunResult preflight_boxes(const TileConsume& op) {
  for (const GemmOperand which : kOperands)
    for (std::uint32_t box = 0; box < box_count(op, which); ++box)
      if (RunResult refused = preflight(box_load(op, which, box));
          refused.fault != DeviceFault::none)
        return refused;
  return {};
}

void issue(ConsumingBlock& block, const TileLoad& load, Mbarrier& barrier) {
  const std::int64_t destination = kWindowAddress + kGuardBytes + load.destination_offset;
  const TileGeometry tile = tile_geometry(load, destination, block.fault);
  const auto chunk = [&block, tile](std::uint32_t index) {
    Chunk fetched = tile_chunk(tile, block.source, index);
    if (block.fault == kFaultSourceOverwritten && index == 0)
      std::memcpy(&block.source[kGuardBytes - kChunkBytes], fetched.bytes.data(), kChunkBytes);
    return fetched;
  };
  block.engine.issue({.chunks = chunk_count(tile),
                      .chunk = chunk,
                      .destination = destination,
                      .shared = &block.shared,
                      .barrier = &barrier});
}

std::vector<double> product(const ConsumingBlock& block) {
  const TileConsume& op = block.op;
  std::vector<double> d(std::size_t{kConsumeM} * op.n);
  if (block.fault == kFaultConsumeNotCleared)
    d.assign(d.size(), is_integer(op.type) ? double{kStaleAccumulator} : 1.0);
  std::uint32_t steps = step_count(op);
  if (block.fault == kFaultConsumeLastStepDropped) --steps;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const auto read = [&](GemmOperand which) {
      return read_operand(block.shared, op, which, step, kWindowAddress + tile_offset(op, which),
                          block.fault);
    };
    multiply(read(GemmOperand::a), read(GemmOperand::b), op.n, d);
  }
  if (block.fault == kFaultConsumeZeroOnMismatch && !reads_as_written(op)) d.assign(d.size(), 0);
  return d;
}

// Which accumulator is stored at row i, column j.
std::size_t accumulator_for(std::uint32_t i, std::uint32_t j, std::uint32_t n, Fault fault) {
  if (fault == kFaultConsumeLowerRowsStale && i % 16 >= 8) i -= 8;
  if (fault == kFaultConsumeColumnsExchanged) j ^= 1U;
  return std::size_t{i} * n + j;
}

void store_product(const ConsumingBlock& block, std::vector<std::uint8_t>& result) {
  const TileConsume& op = block.op;
  const std::vector<double> d = product(block);
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < kConsumeM; ++i)
    for (std::uint32_t j = 0; j < op.n; ++j) {
      bits = accumulator_bits(op.type, d[accumulator_for(i, j, op.n, block.fault)], block.fault);
      std::memcpy(&result[kGuardBytes + 4 * (std::size_t{i} * op.n + j)], &bits, 4);
    }
  if (block.fault == kFaultConsumeWritesBehind)
    std::memcpy(&result[kGuardBytes + product_bytes(op)], &bits, 4);
}

}  // namespace

RunResult run_virtual_tile_consume(const TileConsume& op, Fault fault) {
  if (const std::string_view why = shape_refusal(op); !why.empty())
    throw Error(fmt::format("tile consume: {}", why));
  RunResult result = preflight_boxes(op);
  if (result.fault != DeviceFault::none) return result;

  ConsumingBlock block{.op = op,
                       .shared = poisoned_window(op),
                       .source = filled_source(op),
                       .engine = BulkEngine(op.payload.seed, fault),
                       .fault = fault};
  result.bytes = poisoned(op.payload, result_bytes(op));
  Mbarrier barrier = init_mbarrier(1, fault);
  BarrierLedger& ledger = result.ledger;
  ledger.announced = operand_bytes(op, GemmOperand::a) + operand_bytes(op, GemmOperand::b);
  ledger.complete_before_issue = test_wait(barrier, 0);
  arrive_expect_tx(barrier, static_cast<std::uint32_t>(ledger.announced));
  for (const GemmOperand which : kOperands)
    for (std::uint32_t box = 0; box < box_count(op, which); ++box)
      issue(block, box_load(op, which, box), barrier);
  ledger.complete = wait_bounded(block.engine, barrier, 0, kWaitTries);
  if (ledger.complete) {
    ledger.next_complete_early = test_wait(barrier, 1);
    store_product(block, result.bytes);
  }
  block.engine.deliver_all();  // reading back takes longer than any copy
  result.surroundings = std::move(block.source);
  if (!ledger.complete) {
    result.fault = DeviceFault::timeout;
    result.note = "the wait for both tiles ended by its bound";
  }
  return result;
}

// What each fault of a consumed tile is called and does.

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
