// Tiles that are loaded and read by lanes, and their faults.
#include "kernels/virtual/consume/tile_read.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "kernels/slowdown.hpp"
#include "kernels/tile_read_shape.hpp"
#include "kernels/virtual/copies/tile_chunks.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"

namespace tidemark::kernels {

// Loads a tile, places it anew where asked, and lets 32 lanes read their chunks.

namespace {

constexpr std::uint32_t kWaitTries = 20000;  // a try delivers a chunk, and 227 KiB are 14528

using Lane = std::array<std::uint8_t, kReadBytes>;

// Chunk by chunk from where the load put it to its place in rows of all groups.
std::vector<std::uint8_t> unsplit_area(const TileRead& read, const SharedWindow& shared) {
  const TensorMapSpec& map = read.load.map;
  std::vector<std::uint8_t> area(tile_bytes(map));
  const std::uint32_t columns = group_row_bytes(read) / kReadBytes * map.box[2];
  for (std::uint32_t row = 0; row < map.box[1]; ++row)
    for (std::uint32_t column = 0; column < columns; ++column) {
      const LaneChunk chunk{.row = row, .column = column};
      const std::uint32_t from = swizzled(
          read.load.destination_offset + linear_offset(read, TilePlacement::as_loaded, chunk),
          map.swizzle);
      const std::uint32_t to =
          swizzled(linear_offset(read, TilePlacement::unsplit, chunk), map.swizzle);
      std::copy_n(&shared.bytes[kGuardBytes + from], kReadBytes, &area[to]);
    }
  return area;
}

std::uint32_t offset_of_lane(const TileRead& read, std::uint32_t lane, Fault fault) {
  TileRead meant = read;
  if (fault == kFaultReadNeighbourRow && lane == 9) lane = 8;
  if (fault == kFaultReadSwizzleIgnored) meant.load.map.swizzle = Swizzle::none;
  const std::uint32_t columns = group_row_bytes(read) / kReadBytes;
  if (fault == kFaultReadNextColumn && lane >= 24)
    meant.first_column = (read.first_column + 1) % columns;
  if (fault == kFaultReadFirstGroupOnly) meant.first_column = read.first_column % columns;
  return read_offset(meant, lane);
}

void break_lanes(std::array<Lane, kWarpLanes>& lanes, Fault fault) {
  if (fault == kFaultReadLaneStale) lanes[5] = {};
  if (fault == kFaultReadWordsRotated)
    std::rotate(lanes[31].begin(), lanes[31].begin() + 4, lanes[31].end());
  if (fault == kFaultReadLastLaneRepeats) lanes[31] = lanes[30];
  if (fault == kFaultReadBitFlipped) lanes[16][7] ^= 0x01;
}

std::vector<std::uint8_t> read_by_lanes(const TileRead& read, const SharedWindow& shared,
                                        Fault fault) {
  std::array<Lane, kWarpLanes> lanes{};
  const std::vector<std::uint8_t> area = read.placement == TilePlacement::unsplit
                                             ? unsplit_area(read, shared)
                                             : std::vector<std::uint8_t>{};
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const std::uint32_t offset = offset_of_lane(read, lane, fault);
    const std::uint8_t* const from =
        area.empty() ? &shared.bytes[kGuardBytes + offset] : &area[offset];
    std::copy_n(from, kReadBytes, lanes[lane].begin());
  }
  break_lanes(lanes, fault);
  std::vector<std::uint8_t> bytes;
  for (const Lane& lane : lanes) bytes.insert(bytes.end(), lane.begin(), lane.end());
  return bytes;
}

}  // namespace

RunResult run_virtual_tile_read(const TileRead& read, Fault fault) {
  const TileLoad& load = read.load;
  RunResult result = preflight(load);
  if (result.fault != DeviceFault::none) return result;
  require_readable(read);

  SharedWindow shared = make_window(load);
  const std::vector<std::uint8_t> source = make_source(load);
  const TileGeometry tile =
      tile_geometry(load, shared.address + kGuardBytes + load.destination_offset, fault);
  BulkEngine engine(load.payload.seed, fault);
  Mbarrier barrier = init_mbarrier(1, fault);
  arrive_expect_tx(barrier, tile_bytes(load.map));
  engine.issue({.chunks = chunk_count(tile),
                .chunk = [&](std::uint32_t index) { return tile_chunk(tile, source, index); },
                .destination = tile.destination,
                .shared = &shared,
                .barrier = &barrier});
  if (fault == kFaultReadTooEarly) result.bytes = read_by_lanes(read, shared, fault);
  result.ledger.complete = wait_bounded(engine, barrier, 0, kWaitTries);
  if (fault != kFaultReadTooEarly) result.bytes = read_by_lanes(read, shared, fault);
  engine.deliver_all();
  result.surroundings = source;
  if (!result.ledger.complete) {
    result.fault = DeviceFault::timeout;
    result.note = "the wait for phase 0 ended by its bound";
  }
  return result;
}

Measurement measure_virtual_tile_read(const TileRead& read, const Timing& timing, Fault fault) {
  Measurement measurement;
  measurement.last = run_virtual_tile_read(read, fault);
  measurement.fault = measurement.last.fault;
  measurement.code = measurement.last.code;
  measurement.note = measurement.last.note;
  if (measurement.fault != DeviceFault::none) return measurement;
  const double wavefronts = predicted_wavefronts(read) * slowed_factor(kReadsPerWarp, timing.slow);
  for (std::uint32_t i = 0; i < timing.samples; ++i) {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    measurement.samples.push_back(
        {.at_unix_s = now.count(), .total_ns = wavefronts, .cycles = wavefronts});
  }
  measurement.note = "the virtual device counts wavefronts and times nothing" +
                     slowed_note(kReadsPerWarp, timing.slow, "reads");
  return measurement;
}

// What each fault of a warp's read is called and does.

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
               "order: the lanes read before the copy is complete"),
});

}  // namespace

std::span<const FaultInfo> tile_read_faults() { return kFaults; }

}  // namespace tidemark::kernels
