// The host's half of a tile round trip: encode both maps, launch, read back, say what came of it.
#include "kernels/cuda/tile_round_trip.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/tile_round_trip_kernel.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::size_t kWindowStart = 1024;  // the largest swizzle period

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kWindowStart - 1) / kWindowStart * kWindowStart;
}

std::size_t windows_bytes(const TileRoundTrip& trip) {
  return trip_windows(trip) * rounded_up(trip_window_bytes(trip));
}

// Ledgers of all blocks, then their windows.
std::size_t answer_bytes(const TileRoundTrip& trip) {
  return trip.ctas * (kLedgerBytes + windows_bytes(trip));
}

// Where the destination stands behind the source in the tensors' memory.
std::size_t destination_start(const TileRoundTrip& trip) {
  return trip.in_place ? 0 : rounded_up(trip_allocation_bytes(trip.from));
}

std::size_t tensor_memory(const TileRoundTrip& trip) {
  return std::max<std::size_t>(trip_allocation_bytes(trip.from),
                               destination_start(trip) + trip_allocation_bytes(trip.to));
}

void require_sound(const TileRoundTrip& trip) {
  for (const TensorMapSpec& map : {trip.from, trip.to})
    if (map.rank < 1 || map.rank > kMaxRank)
      throw Error(fmt::format("tile round trip: rank {} is outside 1..{}", map.rank, kMaxRank));
  const std::uint32_t tiles = tiles_of(trip.load);
  if (tiles == 0 || tiles_of(trip.store) != tiles || tile_bytes(trip.from) != tile_bytes(trip.to))
    throw Error("tile round trip: loads and stores differ in number or in size");
  if (trip.ctas < 1 || trip.ctas > tiles || trip.stages < 1 || trip.stages > kTripStages ||
      trip.stores_per_group < 1 || trip.stores_per_group > trip.stages ||
      trip.issuer >= kTripThreads)
    throw Error(
        fmt::format("tile round trip: {} blocks, {} stages, {} stores a group, issuer {} are "
                    "outside the bounds",
                    trip.ctas, trip.stages, trip.stores_per_group, trip.issuer));
  static const std::uint32_t largest = prepare_tile_round_trip();
  if (windows_bytes(trip) > largest)
    throw Error(
        fmt::format("tile round trip: windows of {} bytes do not fit the {} bytes of shared memory "
                    "that a block has: choose a smaller box or fewer stages",
                    windows_bytes(trip), largest));
}

struct EncodedTrip {
  Encoded from, to;
};

// False where a map was refused, which the result then says.
template <class Result>
bool encode_both(RowWorkspace& workspace, const TileRoundTrip& trip, EncodedTrip& maps,
                 Result& result) {
  maps.from = encode_and_allocate(workspace, trip.from, [&] {
    return RowBytes{.answer = answer_bytes(trip), .tensor = tensor_memory(trip)};
  });
  if (maps.from.code == CUDA_SUCCESS)
    maps.to = encode(trip.to, workspace.tensor.data() + destination_start(trip) + kGuardBytes +
                                  trip.to.base_offset);
  const CUresult code = maps.from.code != CUDA_SUCCESS ? maps.from.code : maps.to.code;
  if (code == CUDA_SUCCESS) return true;
  result.fault = DeviceFault::encode_refused;
  result.code = static_cast<std::int32_t>(code);
  result.note = encode_refusal(code);
  return false;
}

TileRoundTripLaunch launch_of(RowWorkspace& workspace, const TileRoundTrip& trip) {
  auto* const memory = workspace.tensor.as<std::uint8_t>();
  auto* const answer = workspace.answer.as<std::uint8_t>();
  return {.launch = ++workspace.launches,
          .trip = trip,
          .source = memory,
          .destination = trip.in_place ? nullptr : memory + destination_start(trip),
          .ledgers = answer,
          .ledger_pitch = static_cast<std::uint32_t>(kLedgerBytes),
          .windows = answer + trip.ctas * kLedgerBytes,
          .window_pitch = static_cast<std::uint32_t>(rounded_up(trip_window_bytes(trip)))};
}

TileRoundTripLedger ledger_of(const RowWorkspace& workspace, std::uint32_t block,
                              std::uint32_t launch) {
  TileRoundTripLedger seen;
  std::memcpy(&seen, workspace.host.data() + block * kLedgerBytes, sizeof(seen));
  if (seen.launch != launch)
    throw Error(fmt::format("block {} of launch {} left no ledger (found that of {})", block,
                            launch, seen.launch));
  return seen;
}

std::uint32_t tiles_of_block(const TileRoundTrip& trip, std::uint32_t block) {
  return (tiles_of(trip.load) - block + trip.ctas - 1) / trip.ctas;
}

// What to say of the first block that did not get through its tiles; empty where all did.
std::string unfinished(const RowWorkspace& workspace, const TileRoundTripLaunch& row) {
  for (std::uint32_t block = 0; block < row.trip.ctas; ++block) {
    const TileRoundTripLedger seen = ledger_of(workspace, block, row.launch);
    const std::uint32_t tiles = tiles_of_block(row.trip, block);
    if (seen.completed != tiles)
      return fmt::format("the load of tile {} of {} of block {} did not complete inside its bound",
                         seen.completed, tiles, block);
  }
  return "";
}

void take_ledgers(const RowWorkspace& workspace, const TileRoundTripLaunch& row,
                  RunResult& result) {
  for (std::uint32_t block = 0; block < row.trip.ctas; ++block) {
    const TileRoundTripLedger seen = ledger_of(workspace, block, row.launch);
    result.ledger.complete_before_issue |= seen.early != 0;
    result.ledger.next_complete_early |= seen.late != 0;
    result.ledger.announced += seen.announced;
  }
  result.note = unfinished(workspace, row);
  result.ledger.complete = result.note.empty();
  if (!result.ledger.complete) result.fault = DeviceFault::timeout;
}

void take_bytes(const RowWorkspace& workspace, const TileRoundTripLaunch& row, RunResult& result) {
  const TileRoundTrip& trip = row.trip;
  const auto* const windows = workspace.host.as<std::uint8_t>() + trip.ctas * kLedgerBytes;
  const auto* const memory = workspace.host.as<std::uint8_t>() + answer_bytes(trip);
  const auto* const stored = memory + destination_start(trip);
  result.bytes.assign(stored, stored + trip_allocation_bytes(trip.to));
  for (std::uint32_t i = 0; i < trip.ctas * trip_windows(trip); ++i) {
    const auto* const window = windows + std::size_t{i} * row.window_pitch;
    result.bytes.insert(result.bytes.end(), window, window + trip_window_bytes(trip));
  }
  if (!trip.in_place) result.surroundings.assign(memory, memory + trip_allocation_bytes(trip.from));
}

void run_row(RowWorkspace& workspace, const TileRoundTrip& trip, RunResult& result) {
  require_sound(trip);
  EncodedTrip maps;
  if (!encode_both(workspace, trip, maps, result)) return;
  result.descriptor = descriptor_bytes(maps.from.map);
  const TileRoundTripLaunch row = launch_of(workspace, trip);
  launch_fill_round_trip(row, workspace.stream.get());
  launch_tile_round_trip(maps.from.map, maps.to.map, row, workspace.stream.get());
  read_back(workspace, answer_bytes(trip), tensor_memory(trip));
  if (!wait_for_launch(workspace)) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return;
  }
  take_ledgers(workspace, row, result);
  take_bytes(workspace, row, result);
}

}  // namespace

RunResult run_tile_round_trip(RowWorkspace& workspace, const TileRoundTrip& trip) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, trip, result); });
  return result;
}

}  // namespace tidemark::kernels
