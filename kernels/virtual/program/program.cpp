// Takes the steps of a program as the CTAs of one cluster would, in step or apart.
#include "kernels/virtual/program/program.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {
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
                 .maps = {},
                 .lost = {},
                 .snapshots = {},
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
  turn.run.snapshots[{turn.number, turn.cta}] = turn.own().window.bytes;
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
  const std::uint32_t ctas = ctas_of(run.program);
  const bool strays =
      fault == kFaultSendWrongCta || (fault == kFaultSendOddCluster && ctas % 2 == 1);
  const std::uint32_t landing = strays ? (to + 1) % ctas : to;
  const std::int64_t destination =
      kWindowAddress + (fault == kFaultSendPlaceIgnored ? step.offset : place);
  const std::uint32_t chunks = step.bytes / kChunkBytes;
  std::function<Chunk(std::uint32_t)> chunk =
      [&from = turn.own().window.bytes, offset = step.offset, destination,
       lost = fault == kFaultSendChunkLost ? chunks / 2 : chunks](std::uint32_t i) {
        Chunk read{.address = destination + std::int64_t{kChunkBytes} * i};
        std::memcpy(read.bytes.data(), &from[offset + kChunkBytes * i], kChunkBytes);
        if (i == lost) read.written = 0;
        return read;
      };
  SharedWindow& window = run.ctas[landing].window;
  if (step.reduction != Reduction::none) chunk = reducing(turn, window, std::move(chunk));
  run.engine.issue({.chunks = chunks - (fault == kFaultSendEndLost ? 1 : 0),
                    .chunk = std::move(chunk),
                    .destination = destination,
                    .shared = &window,
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
    case Verb::arrive_drop:
      take_arrive(turn);
      return 0;
    case Verb::arrive_token:
      return take_arrive_token(turn);
    case Verb::pending_count:
      return take_pending_count(turn);
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
    case Verb::st_async:
    case Verb::red_async:
      take_async(turn);
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
    case Verb::replace:
      take_replace(turn);
      return 0;
    case Verb::acquire:
      take_acquire(turn);
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
    case Verb::place_rows:
      take_place_rows(turn);
      return 0;
    case Verb::read_columns:
      take_read_columns(turn);
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
    case Verb::wgmma:
      take_wgmma(turn);
      return 0;
    case Verb::snapshot:
      take_snapshot(turn);
      return 0;
    case Verb::cluster_sync:  // take_steps()
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
    case Verb::arrive_drop:
    case Verb::arrive_token:
    case Verb::pending_count:
    case Verb::expect_tx:
    case Verb::arrive_expect_tx:
    case Verb::complete_tx:
      return true;
    case Verb::wait:
    case Verb::delay:
      return false;
    default:
      return number > 0 && landing_of(program, program.steps[number - 1], 0).ctas != 0;
  }
}

bool takes(const ProgramRun& run, std::size_t number, std::uint32_t cta) {
  const Step& step = run.program.steps[number];
  const bool stays_out = run.ctas[cta].stopped && step.verb != Verb::snapshot;
  return takes(step, cta) && !stays_out;
}

void take_step(ProgramRun& run, std::size_t number, std::uint32_t cta) {
  try {
    run.result.trace[number * ctas_of(run.program) + cta] =
        take({.run = run, .number = number, .cta = cta});
  } catch (const Error& error) {
    throw Error(fmt::format("program: step {}: {}", number, error.what()));
  }
}

// Each step by all CTAs before the next.
void take_in_step(ProgramRun& run, std::size_t begin, std::size_t end) {
  for (std::size_t number = begin; number < end; ++number) {
    if (is_landing_before(run.program, number)) let_some_land(run);
    for (std::uint32_t cta = 0; cta < ctas_of(run.program); ++cta)
      if (takes(run, number, cta)) take_step(run, number, cta);
  }
}

// Each CTA at its own pace, as on a GPU between two barriers of the cluster. It does not get past a
// wait before others have done what ends it, and a delay is longer than all that others do
// meanwhile.
void take_apart(ProgramRun& run, std::size_t begin, std::size_t end) {
  const std::uint32_t ctas = ctas_of(run.program);
  std::vector<std::size_t> at(ctas, begin);
  const auto pass_over = [&](std::uint32_t cta) {
    while (at[cta] < end && !takes(run, at[cta], cta)) ++at[cta];
  };
  const auto stays = [&](std::uint32_t cta) {
    const Step& step = run.program.steps[at[cta]];
    if (step.verb == Verb::delay && step.ns >= kLandNs)
      return std::any_of(at.begin(), at.end(), [&](std::size_t other) { return other < at[cta]; });
    return step.verb == Verb::wait && has_to_wait({.run = run, .number = at[cta], .cta = cta});
  };
  for (;;) {
    std::vector<std::uint32_t> ready, waiting;
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      pass_over(cta);
      if (at[cta] < end) (stays(cta) ? waiting : ready).push_back(cta);
    }
    if (ready.empty() && waiting.empty()) return;
    // Where all wait, for copies or for what never comes, the one that is furthest behind goes.
    const std::uint32_t cta =
        ready.empty() ? *std::min_element(waiting.begin(), waiting.end(),
                                          [&](auto one, auto other) { return at[one] < at[other]; })
                      : ready[below(run.draw, static_cast<std::uint32_t>(ready.size()))];
    if (is_landing_before(run.program, at[cta])) let_some_land(run);
    take_step(run, at[cta]++, cta);
  }
}

void take_steps(ProgramRun& run) {
  const std::vector<Step>& steps = run.program.steps;
  const auto is_sync = [&run](const Step& step) {
    return step.verb == Verb::cluster_sync && run.fault != kFaultSyncIgnored;
  };
  for (std::size_t begin = 0; begin < steps.size();) {
    const auto sync =
        std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(begin), steps.end(), is_sync);
    const auto end = static_cast<std::size_t>(sync - steps.begin());
    const bool apart = below(run.draw, 2) == 0 || run.fault == kFaultSyncIgnored;
    if (ctas_of(run.program) > 1 && apart)
      take_apart(run, begin, end);
    else
      take_in_step(run, begin, end);
    begin = end + 1;
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
  if (run.lost) return *run.lost;
  RunResult& result = run.result;
  for (const auto& [of, window] : run.snapshots)
    result.bytes.insert(result.bytes.end(), window.begin(), window.end());
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

}  // namespace tidemark
