// The chunks of a store, and what a reduction makes of them.
#include "kernels/virtual/copies/store_engine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/virtual/copies/map_faults.hpp"
#include "kernels/virtual/copies/tile_chunks.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/copies/tile_store_faults.hpp"

namespace tidemark {

// Geometry and bounds of a tile store, with the faults that change them.

namespace {

// Loads and stores take the same steps from a box to addresses, so that a fault of these steps is
// the fault of the load that changes the same one.
constexpr auto kGeometryFaults = std::to_array<std::pair<Fault, Fault>>({
    {kFaultStoreStridesExchanged, kFaultStridesExchanged},
    {kFaultStoreStridesPacked, kFaultStridesPacked},
    {kFaultStoreStride32Bits, kFaultStride32Bits},
    {kFaultStoreStride36Bits, kFaultStride36Bits},
    {kFaultStoreBaseOffsetIgnored, kFaultBaseOffsetIgnored},
    {kFaultStoreStartExchanged, kFaultStartExchanged},
    {kFaultStoreStartTruncated, kFaultStartTruncated},
    {kFaultStoreBf16AsFourBytes, kFaultBf16AsFourBytes},
    {kFaultStoreTf32AsTwoBytes, kFaultTf32AsTwoBytes},
    {kFaultStoreUpperOuterLong, kFaultUpperOuterLong},
    {kFaultStoreUpperOuterShort, kFaultUpperOuterShort},
    {kFaultStoreSwizzleIgnored, kFaultSwizzleIgnored},
    {kFaultStoreSwizzleNarrower, kFaultSwizzleNarrower},
    {kFaultStoreSwizzleWider, kFaultSwizzleWider},
    {kFaultStoreSwizzleRelative, kFaultSwizzleRelative},
    {kFaultStoreSwizzleRowShifted, kFaultSwizzleRowShifted},
    {kFaultStoreSwizzlePlaneAnew, kFaultSwizzlePlaneAnew},
    {kFaultStoreSwizzle32Upper, kFaultSwizzle32Upper},
    {kFaultStoreElementStrideIgnored, kFaultElementStrideIgnored},
    {kFaultStoreElementStrideRoundsDown, kFaultElementStrideRoundsDown},
    {kFaultStoreAsyncShifted, kFaultAsyncShifted},
    {kFaultIm2colStoreCarryEarly, kFaultIm2colCarryEarly},
    {kFaultIm2colStoreCarryLate, kFaultIm2colCarryLate},
    {kFaultIm2colStoreLowerIgnored, kFaultIm2colLowerIgnored},
    {kFaultIm2colStoreUpperIgnored, kFaultIm2colUpperIgnored},
    {kFaultIm2colStoreBatchStays, kFaultIm2colBatchStays},
    {kFaultInterleaveStoreAsElements, kFaultInterleaveAsElements},
    {kFaultInterleaveStoreSlicesTraversed, kFaultInterleaveSlicesTraversed},
    {kFaultInterleaveStoreRowsPadded, kFaultInterleaveRowsPadded},
    {kFaultInterleaveStoreSliceStride, kFaultInterleaveSliceStride},
    {kFaultInterleaveStoreSliceByChannel, kFaultInterleaveSliceByChannel},
    {kFaultInterleaveStoreHalvesExchanged, kFaultInterleaveHalvesExchanged},
});

Fault geometry_fault(Fault fault) {
  const auto* const found = std::find_if(kGeometryFaults.begin(), kGeometryFaults.end(),
                                         [&](const auto& pair) { return pair.first == fault; });
  return found == kGeometryFaults.end() ? kNoFault : found->second;
}

std::int64_t rounded_up(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

// Bytes of a row of the tensor that stores reach. Whole chunks: a chunk that begins inside the
// tensor is written whole.
std::int64_t row_bytes(const TileGeometry& tile, Fault fault) {
  const std::int64_t exact = tile.extent[0] * tile.unit;
  const std::int64_t bytes = rounded_up(exact, kChunkBytes);
  if (fault == kFaultStoreUpperInnerExact) return exact;
  if (fault == kFaultStoreUpperInnerLong) return bytes + kChunkBytes;
  if (fault == kFaultStoreUpperInnerShort) return bytes - kChunkBytes;
  if (fault == kFaultStoreUpperInnerTo32) return rounded_up(exact, 2 * std::int64_t{kChunkBytes});
  if (fault == kFaultStoreUpperInnerIgnored) return std::numeric_limits<std::int64_t>::max() / 2;
  return bytes;
}

bool row_dropped(const TileGeometry& tile, Fault fault) {
  if (fault == kFaultStoreInnerOverhangDropped) return tile.first[0] + tile.box[0] > tile.extent[0];
  if (fault != kFaultStoreOuterOverhangDropped) return false;
  for (std::uint32_t i = 1; i < tile.rank; ++i)
    if (tile.first[i] + tile.box[i] > tile.extent[i]) return true;
  return false;
}

// Where in the destination allocation the chunk comes to that belongs at `offset`.
std::int64_t written_to(const TileGeometry& tile, std::int64_t offset, Fault fault) {
  constexpr std::int64_t kPage = 4096;
  if (fault == kFaultStoreMappedRepeats && tile.source == MemorySource::mapped && offset >= 0)
    return offset % kPage;
  if (fault == kFaultStoreOffset32Bits)
    offset = tile.base + ((offset - tile.base) & std::int64_t{0xffffffff});
  if (tile.islands.empty()) return offset;
  const std::uint64_t held = held_byte(tile.islands, static_cast<std::uint64_t>(offset));
  return held == kNowhere ? -std::int64_t{kChunkBytes} : static_cast<std::int64_t>(held);
}

// Where in shared memory the chunk is.
std::int64_t read_from(const TileGeometry& tile, std::uint32_t index, Fault fault) {
  const std::int64_t address = swizzled_address(tile, index);
  if (fault == kFaultStoreShared16Bits) return with_low_bits(address, 16);
  if (fault == kFaultStoreShared17Bits) return with_low_bits(address, 17);
  return address;
}

StoreChunk chunk_of(const TileGeometry& tile, std::uint32_t index, Fault fault) {
  const auto x = position_of(tile, index);
  bool inside = !row_dropped(tile, fault);
  std::int64_t row = tile.base;
  for (std::uint32_t i = 1; i < tile.rank; ++i) {
    const std::int64_t at = tile.pixels.empty() ? tile.first[i] + x[i] * tile.step[i]
                                                : tile.pixels[static_cast<std::size_t>(x[1])][i];
    inside = inside && at >= 0 && at < tile.extent[i];
    row += at * tile.pitch[i];
  }
  const std::int64_t at = tile.first[0] + x[0] * tile.step[0];
  const std::uint32_t byte = byte_in_unit(tile, index);
  inside = inside && at >= 0;
  const std::int64_t left = row_bytes(tile, fault) - at * tile.unit - byte;  // of the row from here
  const std::uint32_t kept =
      inside ? static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 0, kChunkBytes)) : 0;
  return {.source = read_from(tile, index, fault),
          .destination = written_to(tile, row + at * tile.pitch[0] + byte, fault),
          .written = static_cast<std::uint16_t>((1U << kept) - 1)};
}

// The chunks that reach the tensor come first to last; what a delivery fault does, it does to
// these.
void break_delivery(std::vector<StoreChunk>& chunks, Fault fault) {
  const std::size_t count = chunks.size();
  if (count == 0) return;
  if (fault == kFaultStoreChunkDropped) chunks.back().written = 0;
  if (fault == kFaultStoreChunkDuplicated && count >= 2)
    chunks[count - 2].source = chunks[count - 1].source;
  if (fault == kFaultStoreChunksExchanged && count >= 2)
    std::swap(chunks[count / 2 - 1].destination, chunks[count / 2].destination);
  const StoreChunk first = chunks.front();
  const StoreChunk last = chunks.back();
  if (fault == kFaultStoreWritesBefore)
    chunks.insert(chunks.begin(), {.source = first.source,
                                   .destination = first.destination - kChunkBytes,
                                   .written = first.written});
  if (fault == kFaultStoreWritesBehind)
    chunks.insert(chunks.begin(), {.source = last.source,
                                   .destination = last.destination + kChunkBytes,
                                   .written = last.written});
}

}  // namespace

std::vector<StoreChunk> store_chunks(const StoreBox& box, Fault fault) {
  const TileLoad load{.map = box.map, .at = box.at, .source = box.memory, .payload = {}};
  const bool to_128 = fault == kFaultStoreBulkFrom128 && box.map.bulk;
  const std::int64_t source = box.source - (to_128 ? box.source % 128 : 0);
  TileGeometry tile = tile_geometry(load, source, geometry_fault(fault));
  tile.islands = box.islands;
  std::uint32_t count = chunk_count(tile);
  if (fault == kFaultStoreLastRowMissing) count -= tile.count[0] * tile.unit / kChunkBytes;
  if (fault == kFaultStoreBulkOddPieceLost && box.map.bulk) count -= count % 2;
  std::vector<StoreChunk> chunks;
  for (std::uint32_t index = 0; index < count; ++index) {
    const StoreChunk chunk = chunk_of(tile, index, fault);
    if (chunk.written != 0) chunks.push_back(chunk);
  }
  break_delivery(chunks, fault);
  return chunks;
}

// Integer elements as numbers of 64 bits: signed ones biased, so that one comparison serves all.
// Floating-point ones are added as floats, whose 24 bits are enough for the sums of two f16 or bf16
// to be rounded right from them.

namespace {

using Bytes = std::array<std::uint8_t, kChunkBytes>;

std::uint64_t element_at(const Bytes& bytes, std::uint32_t at, std::uint32_t size) {
  std::uint64_t value = 0;
  for (std::uint32_t i = size; i > 0; --i) value = value << 8 | bytes[at + i - 1];
  return value;
}

void put(Bytes& bytes, std::uint32_t at, std::uint32_t size, std::uint64_t value) {
  for (std::uint32_t i = 0; i < size; ++i)
    bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

bool is_signed(DataType type, Fault fault) {
  if (fault == kFaultReduceSignedAsUnsigned) return false;
  if (fault == kFaultReduceUnsignedAsSigned) return true;
  return type == DataType::s32 || type == DataType::s64;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b, std::uint32_t size, Fault fault) {
  constexpr std::uint64_t kLow = 0xffffffffU;
  if (fault == kFaultReduceCarryLost && size == 8)
    return (((a & kLow) + (b & kLow)) & kLow) | ((a >> 32) + (b >> 32)) << 32;
  return a + b;
}

float float_of(DataType type, std::uint64_t bits, Fault fault) {
  if (type == DataType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == DataType::bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  const std::uint64_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(1024 + static_cast<float>(fraction),
                                           static_cast<int>(exponent) - 25);
  if (exponent == 0 && fault == kFaultReduceSubnormalFlushed) value = 0;
  if (exponent == 0x1f) value = fraction == 0 ? HUGE_VALF : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

// Drops the lowest `bits` bits, to the nearest, ties to even.
std::uint32_t without_bits(std::uint32_t value, int bits, Fault fault) {
  const std::uint32_t half = 1U << (bits - 1), odd = value >> bits & 1U;
  return (value + (fault == kFaultReduceSumTruncated ? 0 : half - 1 + odd)) >> bits;
}

std::uint64_t bits_of(DataType type, float value, Fault fault) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DataType::f32) return std::isnan(value) ? 0x7fffffff : bits;
  if (std::isnan(value)) return 0x7fff;
  if (type == DataType::bf16) return without_bits(bits, 16, fault);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  constexpr std::uint32_t kLeastNormal = 113U << 23;  // 2^-14
  constexpr std::uint32_t kBeyond = 143U << 23;       // 2^16
  if (bits >= kBeyond) return sign | 0x7c00;
  if (bits < kLeastNormal)  // whole numbers of 2^-24, of which sums of two f16 are
    return sign | static_cast<std::uint32_t>(std::ldexp(std::abs(value), 24));
  return sign | without_bits(bits - (112U << 23), 13, fault);
}

std::uint64_t reduced_number(Reduction reduction, DataType type, std::uint64_t memory,
                             std::uint64_t comes, Fault fault) {
  if (type == DataType::f16 && fault == kFaultReduceHalfAsBfloat) type = DataType::bf16;
  const float a = float_of(type, memory, fault), b = float_of(type, comes, fault);
  if (reduction == Reduction::add) {
    if (std::isnan(a) && fault == kFaultReduceNanKept) return memory;
    return bits_of(type, a + b, fault);
  }
  const bool nan_wins = fault == kFaultReduceNanWins;
  if (std::isnan(a) && std::isnan(b)) return bits_of(type, a, fault);
  if (std::isnan(a)) return nan_wins ? bits_of(type, a, fault) : comes;
  if (std::isnan(b)) return nan_wins ? bits_of(type, b, fault) : memory;
  const bool less = a < b || (a == b && std::signbit(a));
  const bool takes_less = reduction == Reduction::min && fault != kFaultReduceMinAsMax;
  return less == takes_less ? memory : comes;
}

std::uint64_t reduced_element(Reduction reduction, DataType type, std::uint64_t memory,
                              std::uint64_t comes, Fault fault) {
  if (is_floating(type)) return reduced_number(reduction, type, memory, comes, fault);
  const std::uint32_t size = element_bytes(type);
  const std::uint64_t bias = is_signed(type, fault) ? std::uint64_t{1} << (8 * size - 1) : 0;
  const bool less = (memory ^ bias) < (comes ^ bias);
  switch (reduction) {
    case Reduction::none:
      return comes;
    case Reduction::add:
      return sum(memory, comes, size, fault);
    case Reduction::min:
      return less != (fault == kFaultReduceMinAsMax) ? memory : comes;
    case Reduction::max:
      return less ? comes : memory;
    case Reduction::inc:
      if (fault == kFaultReduceIncUnbounded) return memory + 1;
      return less ? memory + 1 : 0;
    case Reduction::dec:
      if (fault == kFaultReduceDecUnbounded) return memory - 1;
      return memory == 0 || memory > comes ? comes : memory - 1;
    case Reduction::bit_and:
      return memory & comes;
    case Reduction::bit_or:
      return memory | comes;
    case Reduction::bit_xor:
      return fault == kFaultReduceXorAsOr ? memory | comes : memory ^ comes;
  }
  return comes;
}

}  // namespace

Bytes reduced(Reduction reduction, DataType type, const Bytes& memory, const Bytes& comes,
              Fault fault) {
  if (reduction == Reduction::none || fault == kFaultReduceStores) return comes;
  Bytes made{};
  const std::uint32_t size = element_bytes(type);
  for (std::uint32_t at = 0; at < kChunkBytes; at += size)
    put(made, at, size,
        reduced_element(reduction, type, element_at(memory, at, size), element_at(comes, at, size),
                        fault));
  return made;
}

}  // namespace tidemark
