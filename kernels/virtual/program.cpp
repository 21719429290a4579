// Takes the steps of a program as the CTAs of one cluster would, one step at a time.
#include "kernels/virtual/program.hpp"

#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/program_barriers.hpp"
#include "kernels/virtual/program_faults.hpp"
#include "kernels/virtual/program_legality.hpp"
#include "kernels/virtual/program_loads.hpp"
#include "kernels/virtual/program_run.hpp"
#include "kernels/virtual/program_stores.hpp"
#include "kernels/virtual/program_threads.hpp"
#include "kernels/virtual/tile_memory.hpp"

namespace tidemark::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kRegionBytesMax = std::uint64_t{1} << 30;
constexpr std::uint8_t kNotWritten = 0xcd;  // what a window holds before its first poison

void refuse_oversize(const Program& program) {
  if (program.window > kSharedBytesMax)
    throw Error(fmt::format("program: a window of {} bytes does not fit shared memory ({})",
                            program.window, kSharedBytesMax));
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    if (program.regions[i].bytes > kRegionBytesMax)
      throw Error(
          fmt::format("program: region {} has {} bytes; the virtual device holds {}; take smaller "
                      "extents or strides",
                      i, program.regions[i].bytes, kRegionBytesMax));
}

ProgramRun make_run(const Program& program, Fault fault) {
  ProgramCta cta;
  cta.window.address = kWindowAddress;
  cta.window.bytes.assign(program.window, kNotWritten);
  cta.barriers.resize(program.barriers);
  for (BarrierMemory& memory : cta.barriers) memory.barrier.saturates = fault != kNoFault;
  ProgramRun run{.program = program,
                 .fault = fault,
                 .regions = {},
                 .before = {},
                 .ctas = std::vector<ProgramCta>(ctas_of(program), cta),
                 .engine = BulkEngine(program.payload.seed, fault),
                 .draw = {splitmix64(program.payload.seed + 1)},
                 .nowhere = init_mbarrier(1),
                 .result = {}};
  for (const Region& region : program.regions)
    run.regions.push_back(filled_region(region, program.payload));
  run.result.trace.resize(program.steps.size() * ctas_of(program));
  return run;
}

// Windows of 227 KiB are poisoned and looked through at every row: the compiler makes vectors of
// loops over locals only.
void take_poison(const Turn& turn) {
  const Step& step = turn.step();
  const Payload payload = turn.run.program.payload;
  const std::uint32_t cta = turn.cta, end = step.offset + step.bytes;
  std::uint8_t* const window = turn.own().window.bytes.data();
  for (std::uint32_t i = step.offset; i < end; ++i) window[i] = cta_poison_byte(payload, cta, i);
}

std::uint64_t take_missing(const Turn& turn) {
  const Step& step = turn.step();
  const Payload payload = turn.run.program.payload;
  const std::uint32_t cta = turn.cta, end = step.offset + step.bytes;
  const std::uint8_t* const window = turn.own().window.bytes.data();
  std::uint64_t missing = 0;
  for (std::uint32_t at = step.offset; at < end; at += kChunkBytes) {
    std::uint32_t written = 0;
    for (std::uint32_t i = at; i < at + kChunkBytes; ++i)
      written |= window[i] ^ cta_poison_byte(payload, cta, i);
    missing += written == 0 ? 1 : 0;
  }
  return missing;
}

void take_snapshot(const Turn& turn) {
  const Bytes& window = turn.own().window.bytes;
  turn.run.result.bytes.insert(turn.run.result.bytes.end(), window.begin(), window.end());
}

// None of what is in flight, all of it, or any part.
void let_some_land(ProgramRun& run) {
  for (std::uint32_t i = below(run.draw, run.engine.chunks_in_flight() + 1); i > 0; --i)
    run.engine.deliver_one();
}

void let_all_land(ProgramRun& run) {
  run.engine.deliver_all();
  finish_stores(run);
}

void take_delay(const Turn& turn) {
  if (turn.step().ns >= kLandNs)
    let_all_land(turn.run);
  else
    let_some_land(turn.run);
}

void take_send(const Turn& turn) {
  ProgramRun& run = turn.run;
  const Step& step = turn.step();
  const Fault fault = run.fault;
  const std::uint32_t to = step.of == kOwnCta ? turn.cta : step.of;
  const auto place = static_cast<std::uint32_t>(step.at[0]);
  Mbarrier& told = live_barrier(turn, fault == kFaultSendCreditStays ? turn.cta : to);
  const std::uint32_t landing = fault == kFaultSendWrongCta ? (to + 1) % ctas_of(run.program) : to;
  const std::int64_t destination =
      kWindowAddress + (fault == kFaultSendPlaceIgnored ? step.offset : place);
  const std::uint32_t chunks = step.bytes / kChunkBytes;
  const auto chunk = [&from = turn.own().window.bytes, offset = step.offset, destination,
                      lost = fault == kFaultSendChunkLost ? chunks / 2 : chunks](std::uint32_t i) {
    Chunk read{.address = destination + std::int64_t{kChunkBytes} * i};
    std::memcpy(read.bytes.data(), &from[offset + kChunkBytes * i], kChunkBytes);
    if (i == lost) read.written = 0;
    return read;
  };
  run.engine.issue({.chunks = chunks - (fault == kFaultSendEndLost ? 1 : 0),
                    .chunk = chunk,
                    .destination = destination,
                    .shared = &run.ctas[landing].window,
                    .barrier = fault == kFaultSendCreditLost ? &run.nowhere : &told});
}

void take_prefetch(const Turn& turn) {
  const Fault fault = turn.run.fault;
  std::vector<BarrierMemory>& barriers = turn.own().barriers;
  Bytes& window = turn.own().window.bytes;
  if (fault == kFaultPrefetchCredits && !barriers.empty())
    complete_tx(barriers[0].barrier, kChunkBytes);
  for (std::uint32_t i = 0; fault == kFaultPrefetchWrites && i < kChunkBytes; ++i)
    if (i < window.size()) window[i] ^= 0xffU;
  if (fault == kFaultPrefetchStale) turn.run.before = turn.run.regions;
}

// What one CTA does of a step. Returns its trace.
std::uint64_t take(const Turn& turn) {
  switch (turn.step().verb) {
    case Verb::init:
      take_init(turn);
      return 0;
    case Verb::inval:
      take_inval(turn);
      return 0;
    case Verb::arrive:
      take_arrive(turn);
      return 0;
    case Verb::expect_tx:
    case Verb::arrive_expect_tx:
      take_expect(turn);
      return 0;
    case Verb::complete_tx:
      take_complete_tx(turn);
      return 0;
    case Verb::test:
      return take_test(turn);
    case Verb::wait:
      return take_wait(turn);
    case Verb::meter:
      return take_meter(turn);
    case Verb::load:
      take_load(turn);
      return 0;
    case Verb::send:
      take_send(turn);
      return 0;
    case Verb::prefetch:
      take_prefetch(turn);
      return 0;
    case Verb::store:
      take_store(turn);
      return 0;
    case Verb::commit:
      take_commit(turn);
      return 0;
    case Verb::wait_group:
      return take_wait_group(turn);
    case Verb::wait_group_read:
      take_wait_group_read(turn);
      return 0;
    case Verb::delay:
      take_delay(turn);
      return 0;
    case Verb::fill:
      take_fill(turn);
      return 0;
    case Verb::add:
      take_add(turn);
      return 0;
    case Verb::copy:
      take_copy(turn);
      return 0;
    case Verb::look:
      return take_look(turn);
    case Verb::poison:
      take_poison(turn);
      return 0;
    case Verb::write:
      take_write(turn);
      return 0;
    case Verb::read:
      return take_read(turn);
    case Verb::missing:
      return take_missing(turn);
    case Verb::snapshot:
      take_snapshot(turn);
      return 0;
    case Verb::cluster_sync:  // every step is taken by all CTAs before the next begins
    case Verb::leave:         // the steps behind it are of verbs that one thread takes
      return 0;
  }
  return 0;
}

// Whether a part of what is in flight lands before step `number`. After a load it does, so that the
// step may find any part landed, and before a barrier changes. It does not before a step that only
// looks: otherwise chunks that come behind their credit would be there when the window is read.
// Waits and delays deliver by themselves.
bool is_landing_before(const Program& program, std::size_t number) {
  switch (program.steps[number].verb) {
    case Verb::arrive:
    case Verb::expect_tx:
    case Verb::arrive_expect_tx:
    case Verb::complete_tx:
      return true;
    case Verb::wait:
    case Verb::delay:
      return false;
    default:
      return number > 0 && (program.steps[number - 1].verb == Verb::load ||
                            program.steps[number - 1].verb == Verb::send);
  }
}

void take_step(ProgramRun& run, std::size_t number) {
  const Step& step = run.program.steps[number];
  if (is_landing_before(run.program, number)) let_some_land(run);
  for (std::uint32_t cta = 0; cta < ctas_of(run.program); ++cta) {
    const bool stays_out = run.ctas[cta].stopped && step.verb != Verb::snapshot;
    if (stays_out || !takes(step, cta)) continue;
    run.result.trace[number * ctas_of(run.program) + cta] =
        take({.run = run, .number = number, .cta = cta});
  }
}

void take_steps(ProgramRun& run) {
  for (std::size_t number = 0; number < run.program.steps.size(); ++number) {
    try {
      take_step(run, number);
    } catch (const Error& error) {
      throw Error(fmt::format("program: step {}: {}", number, error.what()));
    }
  }
  let_all_land(run);
}

// What is run, and how.
struct Asked {
  const Program& program;
  Fault fault = kNoFault;
  bool beside = false;
};

RunResult run(const Asked& asked, const Bytes& peer_memory) {
  const Program& program = asked.program;
  if (const std::string why = unsound(program); !why.empty()) throw Error(why);
  RunResult early = preflight(program, asked.fault);
  if (early.fault != DeviceFault::none) return early;
  refuse_oversize(program);

  ProgramRun run = make_run(program, asked.fault);
  run.beside = asked.beside;
  for (std::size_t i = 0; i < run.regions.size(); ++i)
    if (program.regions[i].source == MemorySource::peer) run.regions[i] = peer_memory;
  if (asked.fault == kFaultLoadStale) run.before = run.regions;
  take_steps(run);
  RunResult& result = run.result;
  for (const Bytes& region : run.regions)
    result.surroundings.insert(result.surroundings.end(), region.begin(), region.end());
  return std::move(result);
}

}  // namespace

std::vector<std::uint8_t> filled_region(const Region& region, const Payload& payload) {
  Bytes bytes(region.bytes);
  std::uint8_t* const data = bytes.data();
  const Payload local = payload;
  const DataType element = region.element;
  const Numbers numbers = region.numbers;
  for (std::uint64_t i = 0; region.poison && i < bytes.size(); ++i) data[i] = poison_byte(local, i);
  for (std::uint64_t i = 0; !region.poison && i < bytes.size() / 4; ++i) {
    const std::uint32_t word = region_word(local, element, numbers, i);
    std::memcpy(data + 4 * i, &word, 4);
  }
  return bytes;
}

RunResult run_virtual_program(const Program& program, Fault fault, bool beside) {
  return run({.program = program, .fault = fault, .beside = beside}, {});
}

RunResult run_virtual_peer_program(const Program& program, Fault fault, const Bytes& memory) {
  return run({.program = program, .fault = fault}, memory);
}

}  // namespace tidemark::kernels
