// wgmma of a program: elements found in shared memory by a matrix descriptor, read in their format,
// multiplied and summed exactly; and the faults that change a step of that.
#include "kernels/virtual/program/program_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark {
namespace {

constexpr std::int64_t kCoreRow = 16;   // bytes of a row of a core matrix
constexpr std::int64_t kGroupRows = 8;  // rows of a core matrix, and of a swizzle pattern

// Offsets as the reader takes them.
struct Strides {
  std::int64_t leading = 0, stride = 0;
};

Strides strides_of(const MatrixDescriptor& descriptor, Fault fault) {
  Strides strides{.leading = descriptor.leading, .stride = descriptor.stride};
  if (fault == kFaultConsumeOffsetsExchanged) std::swap(strides.leading, strides.stride);
  if (fault == kFaultConsumeLeadingIgnored) strides.leading = 0;
  return strides;
}

std::int64_t along(std::int64_t index, std::int64_t stride, Fault fault) {
  if (fault == kFaultConsumeStrideNextGroup && index > 0) ++index;
  return index * stride;
}

// Offset from the start address before the swizzle. `inner` counts bytes along the contiguous
// dimension, `outer` rows of it.
std::int64_t linear_offset(const MatrixDescriptor& descriptor, Major major, std::int64_t inner,
                           std::int64_t outer, Fault fault) {
  const Strides strides = strides_of(descriptor, fault);
  const std::int64_t group = outer / kGroupRows, row = outer % kGroupRows;
  if (descriptor.swizzle == Swizzle::none) {
    const std::int64_t column = inner / kCoreRow, byte = inner % kCoreRow;
    const std::int64_t in_core = row * kCoreRow + byte;
    if (major == Major::k)
      return in_core + along(group, strides.stride, fault) + column * strides.leading;
    return in_core + along(column, strides.stride, fault) + group * strides.leading;
  }
  const std::int64_t width = swizzle_bytes(descriptor.swizzle);
  const std::int64_t in_group = row * width + along(group, strides.stride, fault);
  if (major == Major::k) return in_group + inner;  // a step is never wider than the swizzle
  return in_group + inner % width + inner / width * strides.leading;
}

std::int64_t pattern_mask(Swizzle swizzle, Fault fault) {
  if (swizzle == Swizzle::none || fault == kFaultConsumeSwizzleIgnored) return 0;
  const std::int64_t mask = swizzle_bytes(swizzle) / kCoreRow - 1;
  if (fault == kFaultConsumeSwizzleNarrower) return mask >> 1;
  if (fault == kFaultConsumeSwizzleWider) return std::min<std::int64_t>(2 * mask + 1, 7);
  return mask;
}

std::uint32_t bytes_at(const SharedWindow& shared, std::int64_t address, std::uint32_t size) {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::int64_t offset = address - shared.address + i;
    const bool inside = offset >= 0 && offset < static_cast<std::int64_t>(shared.bytes.size());
    const std::uint32_t byte = inside ? shared.bytes[static_cast<std::size_t>(offset)] : 0xeeU;
    bits |= byte << (8 * i);
  }
  return bits;
}

// What stood at `address` before any copy.
std::uint32_t poison_at(const Turn& turn, std::int64_t address, std::uint32_t size) {
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto offset = static_cast<std::uint64_t>(address - kWindowAddress + i);
    bits |= std::uint32_t{cta_poison_byte(turn.run.program.payload, turn.cta, offset)} << (8 * i);
  }
  return bits;
}

MmaType taken_as(MmaType type, Fault fault) {
  if (fault == kFaultConsumeSignLost && type == MmaType::s8) return MmaType::u8;
  if (fault == kFaultConsumeUnsignedAsSigned && type == MmaType::u8) return MmaType::s8;
  if (fault == kFaultConsumeBf16AsF16 && type == MmaType::bf16) return MmaType::f16;
  if (fault == kFaultConsumeE5m2AsE4m3 && type == MmaType::e5m2) return MmaType::e4m3;
  return type;
}

double float_value(MmaType type, std::uint32_t bits) {
  const FloatFormat format = float_format(type);
  const std::uint32_t exponents = (1U << format.exponent) - 1;
  const std::uint32_t exponent = bits >> format.mantissa & exponents;
  const std::uint32_t mantissa = bits & ((1U << format.mantissa) - 1);
  const bool negative = (bits >> (format.exponent + format.mantissa) & 1U) != 0;
  const std::int32_t bias = static_cast<std::int32_t>(exponents >> 1);
  const std::int32_t scale = -bias - static_cast<std::int32_t>(format.mantissa);
  double magnitude = 0;
  if (type == MmaType::e4m3 && exponent == exponents && mantissa == 7)  // its only NaN
    magnitude = std::numeric_limits<double>::quiet_NaN();
  else if (type != MmaType::e4m3 && exponent == exponents)
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 + scale);
  else
    magnitude =
        std::ldexp(mantissa + (1U << format.mantissa), static_cast<std::int32_t>(exponent) + scale);
  return negative ? -magnitude : magnitude;
}

MatrixDescriptor descriptor_taken(const Wgmma& op, GemmOperand which, std::uint32_t step,
                                  std::int64_t tile, Fault fault) {
  const auto at = static_cast<std::uint32_t>(tile);
  if (fault == kFaultConsumeAdvanceMissing) step = 0;
  MatrixDescriptor taken = descriptor(op, which, step, at);
  if (fault == kFaultConsumeAdvanceHalved)
    taken.start = at + (taken.start - at) / 32 * 16;  // whole units of 16 bytes
  if (fault == kFaultConsumeReadAsWritten) {
    taken.swizzle = operand_of(op, which).swizzle;
    taken.base_offset = 0;
  }
  return taken;
}

// How many rows behind its boundary the pattern starts.
std::int64_t pattern_start(const MatrixDescriptor& descriptor, Fault fault) {
  if (fault == kFaultConsumeBaseOffsetIgnored) return 0;
  const std::int64_t rows = descriptor.base_offset;
  return fault == kFaultConsumeBaseOffsetAdded ? -rows : rows;
}

}  // namespace

std::int64_t element_address(const MatrixDescriptor& descriptor, Major major, std::uint32_t size,
                             std::uint32_t mn, std::uint32_t k, Fault fault) {
  if (fault == kFaultConsumeMnAsK) major = Major::k;
  const std::int64_t offset = major == Major::k
                                  ? linear_offset(descriptor, major, k * size, mn, fault)
                                  : linear_offset(descriptor, major, mn * size, k, fault);
  const std::int64_t mask = pattern_mask(descriptor.swizzle, fault);
  if (fault == kFaultConsumeSwizzleRelative)
    return descriptor.start + (offset ^ ((offset >> 7 & mask) << 4));
  const std::int64_t address = descriptor.start + offset;
  const std::int64_t row = (address >> 7) - pattern_start(descriptor, fault);
  return address ^ ((row & mask) << 4);
}

double value_of(MmaType type, std::uint32_t bits, Fault fault) {
  const MmaType taken = taken_as(type, fault);
  if (taken == MmaType::s8) return static_cast<std::int8_t>(bits & 0xffU);
  if (taken == MmaType::u8) return bits & 0xffU;
  return float_value(taken, bits);
}

namespace {

// One operand of one step, packed by rows of step_elements().
std::vector<double> read_operand(const Turn& turn, const Wgmma& op, GemmOperand which,
                                 std::uint32_t step) {
  const Fault fault = turn.run.fault;
  const SharedWindow& shared = turn.own().window;
  const std::int64_t tile = kWindowAddress + operand_of(op, which).offset;
  const MatrixDescriptor taken = descriptor_taken(op, which, step, tile, fault);
  const Major major = operand_of(op, which).major;
  const std::uint32_t size = element_bytes(op.type), depth = step_elements(op.type);
  const std::uint32_t rows = mn_of(op, which);
  const bool is_a = which == GemmOperand::a;
  std::vector<double> values(std::size_t{rows} * depth);
  for (std::uint32_t mn = 0; mn < rows; ++mn)
    for (std::uint32_t k = 0; k < depth; ++k) {
      std::uint32_t from_mn = mn, from_k = k;
      if (fault == kFaultConsumeRowDuplicated && is_a && mn + 1 == rows) --from_mn;
      if (fault == kFaultConsumeHalvesExchanged && is_a) from_k = (k + depth / 2) % depth;
      const std::int64_t at = element_address(taken, major, size, from_mn, from_k, fault);
      const bool stale = fault == kFaultConsumeChunkStale && is_a && at - tile < kCoreRow;
      const std::uint32_t bits = stale ? poison_at(turn, at, size) : bytes_at(shared, at, size);
      values[std::size_t{mn} * depth + k] = value_of(op.type, bits, fault);
    }
  return values;
}

// d += A B for one step: d is 64 x n, row by row.
void multiply(const std::vector<double>& a, const std::vector<double>& b, std::uint32_t n,
              std::vector<double>& d) {
  const std::size_t depth = b.size() / n;
  std::vector<double> column(n);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::uint32_t j = 0; j < n; ++j) column[j] = b[j * depth + k];
    for (std::size_t i = 0; i < kWgmmaM; ++i) {
      const double left = a[i * depth + k];
      for (std::uint32_t j = 0; j < n; ++j) d[i * n + j] += left * column[j];
    }
  }
}

// The 32 bits in which an accumulator leaves: an f32, or the low 32 bits of the sum.
std::uint32_t accumulator_bits(MmaType type, double sum, Fault fault) {
  if (!is_integer(type)) return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
  if (fault == kFaultConsumeSaturatesAt16) sum = std::clamp(sum, -32768.0, 32767.0);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
}

std::vector<double> product(const Turn& turn, const Wgmma& op) {
  const Fault fault = turn.run.fault;
  std::vector<double> d(std::size_t{kWgmmaM} * op.n);
  if (fault == kFaultConsumeNotCleared)
    d.assign(d.size(), is_integer(op.type) ? double{kStaleAccumulator} : 1.0);
  const std::uint32_t steps = step_count(op) - (fault == kFaultConsumeLastStepDropped ? 1 : 0);
  for (std::uint32_t step = 0; step < steps; ++step)
    multiply(read_operand(turn, op, GemmOperand::a, step),
             read_operand(turn, op, GemmOperand::b, step), op.n, d);
  if (fault == kFaultConsumeZeroOnMismatch && !reads_as_written(op)) d.assign(d.size(), 0);
  return d;
}

// Which accumulator is stored at row i, column j.
std::size_t accumulator_for(std::uint32_t i, std::uint32_t j, std::uint32_t n, Fault fault) {
  if (fault == kFaultConsumeLowerRowsStale && i % 16 >= 8) i -= 8;
  if (fault == kFaultConsumeColumnsExchanged) j ^= 1U;
  return std::size_t{i} * n + j;
}

}  // namespace

void take_wgmma(const Turn& turn) {
  const Fault fault = turn.run.fault;
  const Wgmma& op = turn.run.program.products[turn.step().product];
  const std::vector<double> d = product(turn, op);
  std::vector<std::uint8_t>& window = turn.own().window.bytes;
  std::size_t to = turn.step().offset;
  std::uint32_t bits = 0;
  for (std::uint32_t i = 0; i < kWgmmaM; ++i)
    for (std::uint32_t j = 0; j < op.n; ++j, to += 4) {
      bits = accumulator_bits(op.type, d[accumulator_for(i, j, op.n, fault)], fault);
      std::memcpy(&window[to], &bits, 4);
    }
  if (fault == kFaultConsumeWritesBehind && to + 4 <= window.size())
    std::memcpy(&window[to], &bits, 4);
}

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

}  // namespace tidemark
