// What the threads of a program do themselves, at once and asynchronously.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/store_engine.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/copies/tile_store_faults.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// Adds to the elements of tiles and copies boxes element by element, and the faults of both.

namespace {

// Where byte `linear` of a tile at byte `offset` of the window stands in the window, which starts
// on 1024. PTX ISA 9.0, 5.5.7: address bits 4 to 6 are exclusive-ored with bits 7 to 9.
std::uint32_t place_of(Swizzle swizzle, std::uint32_t offset, std::uint32_t linear,
                       bool from_tile = false) {
  const std::uint32_t plain = offset + linear;
  if (swizzle == Swizzle::none) return plain;
  const std::uint32_t mask = swizzle_bytes(swizzle) / kChunkBytes - 1;
  const std::uint32_t row = (from_tile ? linear : plain) >> 7;
  return plain ^ ((row & mask) << 4);
}

template <typename Number>
void add_to(std::uint8_t* element, std::uint32_t amount) {
  Number number;
  std::memcpy(&number, element, sizeof number);
  number += static_cast<Number>(amount);
  std::memcpy(element, &number, sizeof number);
}

// What a store finds that is not ordered behind the accesses of the threads.
void keep_window(const Turn& turn) {
  if (turn.run.fault == kFaultStoreBeforeFence) turn.own().before = turn.own().window;
}

}  // namespace

void take_add(const Turn& turn) {
  keep_window(turn);
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const TensorMapSpec& map = turn.run.program.maps[step.map].spec;
  std::vector<std::uint8_t>& window = turn.own().window.bytes;
  const std::uint32_t elements = tile_bytes(map) / 4;
  const std::uint32_t reached = elements + (fault == kFaultAddReachesGuard ? 4 : 0);
  const Swizzle swizzle = fault == kFaultAddSkipsSwizzle ? Swizzle::none : map.swizzle;
  const bool floats = map.type == DataType::f32 && fault != kFaultAddFloatAsWhole;
  for (std::uint32_t i = 0; i < reached; ++i) {
    const std::uint32_t at = place_of(swizzle, step.offset, 4 * i);
    if (at + 4 > window.size()) continue;
    const std::uint32_t amount = step.count + i * step.stride;
    if (floats)
      add_to<float>(&window[at], amount);
    else
      add_to<std::uint32_t>(&window[at], amount);
  }
}

void take_copy(const Turn& turn) {
  keep_window(turn);
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const Map& from = turn.run.program.maps[step.map];
  const TensorMapSpec& map = from.spec;
  const std::uint32_t size = element_bytes(map.type);
  for (std::uint32_t linear = 0; linear < tile_bytes(map); linear += size) {
    std::uint32_t rest = linear / size;
    std::int64_t offset = kGuardBytes + map.base_offset;
    bool inside = true;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      const std::uint32_t x = rest % tile_extent(map, i);
      rest /= tile_extent(map, i);
      const std::int64_t at = step.at[i] + std::int64_t{x} * (i == 0 ? 1 : map.element_stride[i]);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.extent[i]);
      offset += at * (i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]));
    }
    std::uint8_t* const to = &turn.own().window.bytes[place_of(map.swizzle, step.offset, linear,
                                                               fault == kFaultCopySwizzleRelative)];
    if (inside)
      std::memcpy(
          to,
          &turn.run.regions[from.region][held_byte(turn.run.program.regions[from.region].islands,
                                                   static_cast<std::uint64_t>(offset))],
          size);
    else if (fault != kFaultCopyPaddingKept)
      std::memset(to, 0, size);
  }
}

// Writes and reductions into another CTA's window. A reduction reads what is there when it lands.

namespace {

// The arithmetic is that of reductions into memory, and has its faults.
Fault fault_of_arithmetic(Fault fault) {
  constexpr std::pair<Fault, Fault> kSame[] = {
      {kFaultAsyncReduceStores, kFaultReduceStores},
      {kFaultAsyncMinAsMax, kFaultReduceMinAsMax},
      {kFaultAsyncSignedAsUnsigned, kFaultReduceSignedAsUnsigned},
      {kFaultAsyncCarryLost, kFaultReduceCarryLost},
      {kFaultAsyncIncUnbounded, kFaultReduceIncUnbounded},
      {kFaultAsyncDecUnbounded, kFaultReduceDecUnbounded},
  };
  for (const auto& [here, there] : kSame)
    if (fault == here) return there;
  return kNoFault;
}

std::array<std::uint8_t, kChunkBytes> bytes_at(const SharedWindow& window, std::int64_t address) {
  std::array<std::uint8_t, kChunkBytes> bytes{};
  const std::int64_t first = address - window.address;
  if (first >= 0 && first + kChunkBytes <= static_cast<std::int64_t>(window.bytes.size()))
    std::memcpy(bytes.data(), &window.bytes[static_cast<std::size_t>(first)], kChunkBytes);
  return bytes;
}

std::uint32_t credit_of(std::uint32_t bytes, Fault fault) {
  if (fault == kFaultAsyncCreditTwice) return 2 * bytes;
  return fault == kFaultAsyncCreditHalf ? bytes / 2 : bytes;
}

// The 16 bytes of the window that the step writes a part of.
Chunk chunk_of(const Turn& turn) {
  const Step& step = turn.step();
  const auto place = static_cast<std::uint32_t>(step.at[0]);
  const std::uint32_t bytes = async_bytes(step), size = element_bytes(step.type);
  const std::uint32_t begin = place % kChunkBytes;
  Chunk chunk{.address = kWindowAddress + place - begin,
              .written = 0,
              .inside = bytes,
              .credit = credit_of(bytes, turn.run.fault)};
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint32_t word = async_word(turn.run.program.payload, step, i / 4);
    chunk.bytes[begin + i] = static_cast<std::uint8_t>(word >> (8 * (i % 4)));
    const bool lost = turn.run.fault == kFaultAsyncSecondLost && i / size == 1;
    if (!lost) chunk.written |= static_cast<std::uint16_t>(1U << (begin + i));
  }
  return chunk;
}

}  // namespace

std::function<Chunk(std::uint32_t)> reducing(const Turn& turn, const SharedWindow& window,
                                             std::function<Chunk(std::uint32_t)> copy) {
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const SharedWindow before = fault == kFaultAsyncNotAtomic ? window : SharedWindow{};
  return [&window, &step, fault, before, copy = std::move(copy)](std::uint32_t index) {
    Chunk chunk = copy(index);
    const SharedWindow& memory = before.bytes.empty() ? window : before;
    chunk.bytes = reduced(step.reduction, step.type, bytes_at(memory, chunk.address), chunk.bytes,
                          fault_of_arithmetic(fault));
    return chunk;
  };
}

void take_async(const Turn& turn) {
  ProgramRun& run = turn.run;
  const Step& step = turn.step();
  const std::uint32_t to = step.of == kOwnCta ? turn.cta : step.of;
  const Chunk chunk = chunk_of(turn);
  SharedWindow& window = run.ctas[run.fault == kFaultAsyncLandsAtHome ? turn.cta : to].window;
  std::function<Chunk(std::uint32_t)> copy = [chunk](std::uint32_t) { return chunk; };
  if (step.verb == Verb::red_async) copy = reducing(turn, window, std::move(copy));
  const BulkCopy one{
      .chunks = 1,
      .chunk = std::move(copy),
      .destination = chunk.address,
      .shared = &window,
      .barrier = &live_barrier(turn, run.fault == kFaultAsyncCreditStays ? turn.cta : to)};
  const std::uint32_t threads = step.verb == Verb::red_async ? step.count : 1;
  for (std::uint32_t i = 0; i < threads; ++i) {
    BulkCopy of_thread = one;
    if (i > 0 && run.fault == kFaultAsyncThreadLost)
      of_thread.chunk = [chunk](std::uint32_t) {
        Chunk lost = chunk;
        lost.written = 0;
        return lost;
      };
    run.engine.issue(std::move(of_thread));
  }
}

// Chunks of tiles that threads move, and the faults of a warp's read.

namespace {

using Lane = std::array<std::uint8_t, kReadBytes>;

std::uint32_t offset_of_lane(const Turn& turn, std::uint32_t lane) {
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const TensorMapSpec& map = turn.run.program.maps[step.map].spec;
  if (fault == kFaultReadNeighbourRow && lane == 9) lane = 8;
  const auto first = static_cast<std::uint32_t>(step.at[1]);
  LaneChunk chunk = chunk_of_lane(map, first, lane);
  const std::uint32_t columns = group_row_bytes(map) / kReadBytes;
  if (fault == kFaultReadNextColumn && lane >= 24)
    chunk.column = (chunk.column + 1) % columns_of(map);
  if (fault == kFaultReadFirstGroupOnly) chunk.column -= first - first % columns;
  return swizzled(step.offset + chunk_offset(map, step.stride, chunk),
                  fault == kFaultReadSwizzleIgnored ? Swizzle::none : map.swizzle);
}

void break_lanes(std::array<Lane, kWarpLanes>& lanes, const Turn& turn) {
  const Fault fault = turn.run.fault;
  if (fault == kFaultReadLaneStale) lanes[5] = {};
  if (fault == kFaultReadWordsRotated)
    std::rotate(lanes[31].begin(), lanes[31].begin() + 4, lanes[31].end());
  if (fault == kFaultReadLastLaneRepeats) lanes[31] = lanes[30];
  if (fault == kFaultReadBitFlipped) lanes[16][7] ^= 0x01;
  for (std::uint32_t lane = 16; fault == kFaultReadTooEarly && lane < kWarpLanes; ++lane)
    for (std::uint32_t i = 0; i < kReadBytes; ++i)
      lanes[lane][i] =
          cta_poison_byte(turn.run.program.payload, turn.cta, offset_of_lane(turn, lane) + i);
}

}  // namespace

void take_place_rows(const Turn& turn) {
  const Step& step = turn.step();
  const TensorMapSpec& map = turn.run.program.maps[step.map].spec;
  std::vector<std::uint8_t>& window = turn.own().window.bytes;
  const std::uint32_t columns = columns_of(map);
  for (std::uint32_t i = 0; i < map.box[1] * columns; ++i) {
    const LaneChunk chunk{.row = i / columns, .column = i % columns};
    const std::uint32_t from = step.offset + chunk_offset(map, 0, chunk);
    const std::uint32_t to =
        static_cast<std::uint32_t>(step.at[0]) + chunk_offset(map, columns * kReadBytes, chunk);
    std::copy_n(&window[swizzled(from, map.swizzle)], kReadBytes,
                &window[swizzled(to, map.swizzle)]);
  }
}

void take_read_columns(const Turn& turn) {
  std::vector<std::uint8_t>& window = turn.own().window.bytes;
  std::array<Lane, kWarpLanes> lanes{};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane)
    std::copy_n(&window[offset_of_lane(turn, lane)], kReadBytes, lanes[lane].begin());
  break_lanes(lanes, turn);
  std::uint8_t* to = &window[static_cast<std::size_t>(turn.step().at[0])];
  for (const Lane& lane : lanes) to = std::copy(lane.begin(), lane.end(), to);
}

namespace {

constexpr FaultInfo read_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_read, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    read_fault(kFaultReadLaneStale, "read_lane_stale", "data: lane 5 gets zeros"),
    read_fault(kFaultReadNeighbourRow, "read_neighbour_row",
               "address: lane 9 reads the row of lane 8"),
    read_fault(kFaultReadNextColumn, "read_next_column",
               "address: lanes 24 and up read one column of their row too far"),
    read_fault(kFaultReadSwizzleIgnored, "read_swizzle_ignored",
               "address: read where the chunk would lie without a swizzle"),
    read_fault(kFaultReadWordsRotated, "read_words_rotated",
               "data: the four words of lane 31 come rotated by one"),
    read_fault(kFaultReadLastLaneRepeats, "read_last_lane_repeats",
               "data: lane 31 gets what lane 30 got"),
    read_fault(kFaultReadFirstGroupOnly, "read_first_group_only",
               "address: columns past the first group wrap into it"),
    read_fault(kFaultReadBitFlipped, "read_bit_flipped", "data: bit 0 of byte 7 of lane 16 flips"),
    read_fault(kFaultReadTooEarly, "read_too_early",
               "order: lanes 16 and up read before the copy is complete"),
});

}  // namespace

std::span<const FaultInfo> tile_read_faults() { return kFaults; }

}  // namespace tidemark
