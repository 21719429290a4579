// Issue of the loads of a program, and the faults of a copy that knows its barrier.
#include "kernels/virtual/program/program_loads.hpp"

#include <array>
#include <cstring>

#include "kernels/virtual/copies/faults/multicast_load_faults.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"
#include "kernels/virtual/copies/multicast_delivery.hpp"
#include "kernels/virtual/copies/tile_chunks.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/program/program_barriers.hpp"
#include "kernels/virtual/program/program_faults.hpp"
#include "kernels/virtual/program/program_legality.hpp"
#include "kernels/virtual/program/program_maps.hpp"

namespace tidemark::kernels {
namespace {

// Reads the chunks of a copy when they land. Outlives its step.
struct ChunkReader {
  ProgramRun& run;
  std::uint32_t cta;  // whose window it writes
  const Mbarrier& named;
  TileGeometry tile;
  std::vector<std::uint8_t>& region;
  const std::vector<std::uint8_t>& read;  // of the region
  bool loses_last;

  Chunk operator()(std::uint32_t index) const;
};

Chunk ChunkReader::operator()(std::uint32_t index) const {
  Chunk chunk = tile_chunk(tile, read, index);
  if (run.fault == kFaultShared16Bits) chunk.address = with_low_bits(chunk.address, 16);
  if (run.fault == kFaultShared17Bits) chunk.address = with_low_bits(chunk.address, 17);
  if (run.fault == kFaultSourceOverwritten && index == 0)
    std::memcpy(&region[kGuardBytes - kChunkBytes], chunk.bytes.data(), kChunkBytes);
  if (loses_last && index + 1 == chunk_count(tile)) chunk.written = 0;
  if (run.fault == kFaultExpectUnannouncedLost && named.tx <= 0) chunk.written = 0;
  if (run.fault == kFaultExpectPeerWritten && run.ctas.size() > 1)
    store(run.ctas[(cta + 1) % run.ctas.size()].window, chunk.address, chunk);
  return chunk;
}

// Whether each row of the tile is read as whole 32-byte sectors of memory. Such a copy credits in
// multiples of 32 bytes (H200, driver 580.159.04, 2026-11; behaviour.expect_tx.under), any other in
// multiples of 16.
bool is_of_whole_sectors(const TileGeometry& tile) {
  constexpr std::int64_t kSector = 32;
  if (!tile.pixels.empty() || tile.unit >= kChunkBytes) return false;  // not measured
  std::int64_t offset = tile.base;
  for (std::uint32_t i = 0; i < tile.rank; ++i) {
    const std::int64_t last = tile.first[i] + (tile.count[i] - 1) * tile.step[i];
    if (tile.first[i] < 0 || last >= tile.extent[i]) return false;
    if (i > 0 && tile.count[i] > 1 && tile.step[i] * tile.pitch[i] % kSector != 0) return false;
    offset += tile.first[i] * tile.pitch[i];
  }
  return offset % kSector == 0 && tile.count[0] * tile.element % kSector == 0;
}

// `copy` counts the copies of the run from 1 on.
bool loses_last(Fault fault, std::uint32_t copy, std::int64_t expected, std::int64_t comes) {
  return (fault == kFaultSecondCopyShort && copy == 2) ||
         (fault == kFaultLaterCopyShort && copy > 2) ||
         (fault == kFaultExpectOverLosesLast && expected > comes);
}

void issue_leg(const Turn& turn, const TileLoad& load, std::uint8_t region, const Leg& leg) {
  ProgramRun& run = turn.run;
  const Step& step = turn.step();
  const Mbarrier& named = live_barrier(turn, leg.to);
  TileGeometry tile = tile_geometry(load, kWindowAddress + leg.offset, leg.geometry);
  tile.islands = run.program.regions[region].islands;
  const std::uint32_t chunks = chunk_count(tile);
  const std::int64_t comes = std::int64_t{chunks} * kChunkBytes;
  const bool elsewhere = run.fault == kFaultExpectCreditOnOther;
  const std::size_t credited = (step.barrier + (elsewhere ? 1U : 0U)) % run.program.barriers;
  const BulkCopy copy{
      .chunks = chunks,
      .chunk = ChunkReader{.run = run,
                           .cta = leg.written,
                           .named = named,
                           .tile = tile,
                           .region = run.regions[region],
                           .read = run.before.empty() ? run.regions[region] : run.before[region],
                           .loses_last = loses_last(run.fault, run.copies, named.tx, comes)},
      .destination = tile.destination,
      .shared = &run.ctas[leg.written].window,
      .barrier = &run.ctas[leg.told].barriers[credited].barrier,
      .together = is_of_whole_sectors(tile) ? 2U : 1U,
      .fault = leg.delivery};
  if (run.fault == kFaultMulticastCreditSplit && step.mask != 0)
    issue_split(run, copy, leg);
  else
    run.engine.issue(copy);
}

}  // namespace

void take_load(const Turn& turn) {
  ProgramRun& run = turn.run;
  const Step& step = turn.step();
  const Map map = map_of(turn);
  if (is_lost(turn, map)) return;
  if (legality_of(run.program, step, run.fault).fault != DeviceFault::none) return;  // error_lost
  CopyStart start = start_of(run.program, step, run.fault);
  std::optional<Step>& first = turn.own().first_loaded;
  if (!first) first = step;
  if (run.fault == kFaultLoadFirstBoxAgain && first->map == step.map) start.at = first->at;
  if (run.fault == kFaultLoadFirstPlaceAgain) start.offset = first->offset;
  const TileLoad load{.map = map.spec,
                      .at = start.at,
                      .im2col_offsets = step.im2col_offsets,
                      .hint = step.hint,
                      .source = run.program.regions[map.region].source,
                      .cold = run.program.regions[map.region].cold,
                      .payload = run.program.payload};
  ++run.copies;
  for (const Leg& leg : legs_of(turn, start.offset)) issue_leg(turn, load, map.region, leg);
}

}  // namespace tidemark::kernels
