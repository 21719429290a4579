// Stores by their threads' engines; waits, and what is filled and read around them.
#include "kernels/virtual/program/program_stores.hpp"

#include <cstring>

#include "kernels/virtual/copies/faults/tile_store_faults.hpp"
#include "kernels/virtual/copies/store_chunks.hpp"
#include "kernels/virtual/program/program_faults.hpp"
#include "kernels/virtual/program/program_legality.hpp"
#include "kernels/virtual/program/program_maps.hpp"

namespace tidemark::kernels {
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

}  // namespace tidemark::kernels
