// The loads and stores of a program's steps.

#include <array>
#include <cstring>

#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/store_engine.hpp"
#include "kernels/virtual/copies/tile_chunks.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/copies/tile_store_faults.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// Issue of the loads of a program, and the faults of a copy that knows its barrier.

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

// Counts the loads that the current phase of a barrier waits for.
bool is_thirty_third(BarrierMemory& memory) {
  if (memory.loads_of != memory.barrier.phase) memory.loads = 0;
  memory.loads_of = memory.barrier.phase;
  return ++memory.loads == 33;
}

void issue_leg(const Turn& turn, const TileLoad& load, std::uint8_t region, const Leg& leg) {
  ProgramRun& run = turn.run;
  if (is_thirty_third(run.ctas[leg.to].barriers[turn.step().barrier]) &&
      run.fault == kFaultLoadThirtyThirdLost)
    return;
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
      .forgives = (run.fault == kFaultExpectBulkForgives && load.map.bulk) ||
                  (run.fault == kFaultExpectMulticastForgives && step.mask != 0),
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

// Stores by their threads' engines; waits, and what is filled and read around them.

namespace {

// The engine of the thread that takes the step, made when it is first needed.
StoreEngine& own_engine(const Turn& turn) {
  const std::uint16_t thread = turn.step().thread;
  const std::uint64_t seed = turn.run.program.payload.seed + turn.cta * kProgramThreads + thread;
  return turn.own().stores.try_emplace(thread, seed, turn.run.fault).first->second;
}

// The 8 bytes that the step reads.
std::uint64_t read_region(const Turn& turn) {
  std::uint64_t word = 0;
  if (turn.step().region != kNoRegion)
    std::memcpy(&word, &turn.run.regions[turn.step().region][turn.step().word], sizeof word);
  return word;
}

// Fills the step's part of the window with source words, each XORed with `twist`.
void fill_window(const Turn& turn, std::uint32_t twist) {
  const Step& step = turn.step();
  const Program& program = turn.run.program;
  const DataType type = program.maps[step.map].spec.type;
  for (std::uint32_t at = step.offset; at < step.offset + step.bytes; at += 4) {
    const std::uint32_t word = source_element_word(program.payload, type, at / 4) ^ twist;
    std::memcpy(&turn.own().window.bytes[at], &word, sizeof word);
  }
}

// Every second chunk comes from the window as it was before the threads worked on it.
void issue_before_fence(const Turn& turn, const StorePath& path,
                        const std::vector<StoreChunk>& chunks) {
  StorePath old = path;
  old.shared = &turn.own().before;
  std::vector<StoreChunk> parts[2];
  for (std::size_t i = 0; i < chunks.size(); ++i) parts[i % 2].push_back(chunks[i]);
  own_engine(turn).issue(path, std::move(parts[0]));
  own_engine(turn).issue(old, std::move(parts[1]));
}

}  // namespace

void take_store(const Turn& turn) {
  ProgramRun& run = turn.run;
  const Step& step = turn.step();
  const Map map = map_of(turn);
  if (is_lost(turn, map)) return;
  if (legality_of(run.program, step, run.fault).fault != DeviceFault::none) return;  // error_lost
  const CopyStart start = start_of(run.program, step, run.fault);
  std::optional<std::uint32_t>& first = turn.own().first_stored;
  if (!first) first = start.offset;
  const std::uint32_t from = run.fault == kFaultStoreFirstTileAgain ? *first : start.offset;
  const bool stores =
      run.fault == kFaultReduceBulkStores && map.spec.bulk && element_bytes(map.spec.type) == 8;
  const Reduction reduction = stores ? Reduction::none : step.reduction;
  const StorePath path{.type = map.spec.type,
                       .shared = &turn.own().window,
                       .global = &run.regions[map.region],
                       .hint = step.hint,
                       .reduction = reduction,
                       .memory = run.program.regions[map.region].source};
  const StoreBox box{.map = map.spec,
                     .at = start.at,
                     .source = turn.own().window.address + from,
                     .memory = path.memory,
                     .islands = run.program.regions[map.region].islands};
  std::vector<StoreChunk> chunks = store_chunks(box, run.fault);
  if (!turn.own().before.bytes.empty()) return issue_before_fence(turn, path, chunks);
  own_engine(turn).issue(path, std::move(chunks));
}

void take_commit(const Turn& turn) { own_engine(turn).commit(); }

std::uint64_t take_wait_group(const Turn& turn) {
  StoreEngine& own = own_engine(turn);
  if (own.has_groups())
    own.wait_complete(turn.step().pending);
  else
    for (auto& [thread, engine] : turn.own().stores) engine.wait_of_other_thread();
  return read_region(turn);
}

void take_wait_group_read(const Turn& turn) {
  own_engine(turn).wait_read(turn.step().pending);
  fill_window(turn, 0xffffffffU);
}

void take_fill(const Turn& turn) { fill_window(turn, 0); }

std::uint64_t take_look(const Turn& turn) { return read_region(turn); }

void finish_stores(ProgramRun& run) {
  for (ProgramCta& cta : run.ctas)
    for (auto& [thread, engine] : cta.stores) engine.finish();
}

}  // namespace tidemark
