// Chunks of tiles that threads move, and the faults of a warp's read.
#include "kernels/virtual/program/program_columns.hpp"

#include <algorithm>
#include <array>

namespace tidemark {
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
