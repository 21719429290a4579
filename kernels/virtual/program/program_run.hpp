// What the steps of a program work on: the memory of a cluster, its copies in flight, and what has
// been seen so far; and the steps themselves, by file: maps, barriers, copies, threads,
// wgmma.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"
#include "kernels/ops/program/wgmma.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"
#include "kernels/virtual/copies/store_engine.hpp"

namespace tidemark {

/// 8 bytes of shared memory: an mbarrier from init to inval, else a word.
struct BarrierMemory {
  Mbarrier barrier;
  bool live = false;
  std::uint32_t lives = 0;        // inits so far
  std::uint32_t first_count = 0;  // of its first life, for a fault to remember
  std::uint32_t phase = 0;        // parity of the current phase, as far as its CTA has seen
  std::uint64_t word = 0;
  std::uint32_t loads = 0, loads_of = 0;  // issued so far, and in which phase: for a fault
};

struct ProgramCta {
  SharedWindow window;
  std::vector<BarrierMemory> barriers;
  std::map<std::uint16_t, StoreEngine> stores;  // by the thread that issued them
  std::map<std::uint8_t, Map> maps;             // by place_of_map(), since its last acquire
  // For faults to remember:
  std::optional<std::uint32_t> first_stored;  // offset of the tile
  std::optional<Step> first_loaded;
  SharedWindow before;  // the window in front of the threads' last work
  bool stopped = false;
};

/// One run of a program. Copies in flight point into it: it stays where it is from the first step.
struct ProgramRun {
  const Program& program;
  Fault fault;
  std::vector<std::vector<std::uint8_t>> regions;
  std::vector<std::vector<std::uint8_t>> before;  // the regions as filled, for a fault to remember
  std::vector<ProgramCta> ctas;
  BulkEngine engine;                 // of the whole cluster's loads
  Draw draw;                         // for how far copies get between two steps
  bool beside = false;               // other programs run on the device meanwhile
  Mbarrier nowhere;                  // credit that nobody sees
  std::map<std::uint8_t, Map> maps;  // that were replaced in global memory, by place_of_map()
  std::optional<RunResult> lost;     // the error that the program ends in
  std::uint32_t copies = 0;
  // By step and CTA.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::uint8_t>> snapshots;
  RunResult result;
};

/// One step as one CTA takes it.
struct Turn {
  ProgramRun& run;
  std::size_t number;  // of the step
  std::uint32_t cta;

  const Step& step() const { return run.program.steps[number]; }
  ProgramCta& own() const { return run.ctas[cta]; }
  BarrierMemory& memory() const { return own().barriers[step().barrier]; }
};

// Tensor maps that a program changes: what is in global memory, and what each CTA takes it for.

/// The map that a copy of the step goes by. A CTA that has used one from global memory before keeps
/// it until its next acquire.
Map map_of(const Turn& turn);

/// Whether a copy by what map_of() gives ends the program: such a map cannot be encoded, or has
/// another rank than the instruction. ProgramRun::lost has the error then.
bool is_lost(const Turn& turn, const Map& map);

void take_replace(const Turn& turn);
void take_acquire(const Turn& turn);

// Where the loads and stores of a program start, and whether they may.

/// The box of a load or a store, and the place of its tile in the window, as the engine takes them.
struct CopyStart {
  std::array<std::int32_t, kMaxRank> at;
  std::uint32_t offset;
};

CopyStart start_of(const Program& program, const Step& copy, Fault fault);

/// What comes of a load or a store that starts where none may; no fault where it may.
RunResult legality_of(const Program& program, const Step& copy, Fault fault);

/// What ends a program before its first step: a map that the driver would refuse, or a copy that
/// starts where none may. No fault where nothing does.
RunResult preflight(const Program& program, Fault fault);

// The steps of a program that an mbarrier takes, and those of its memory. What is undefined on a
// GPU is an error of the program and thrown; a device with a fault may come to it and goes on.

/// The barrier that the step names, in its own CTA. Throws Error where it is not initialized.
Mbarrier& live_barrier(const Turn& turn);
/// The same barrier of CTA `cta`.
Mbarrier& live_barrier(const Turn& turn, std::uint32_t cta);

/// The verbs of their names; those with a trace return it. take_expect: expect_tx and
/// arrive_expect_tx. Steps that let time pass deliver copies in flight.
void take_init(const Turn& turn);
void take_inval(const Turn& turn);
void take_arrive(const Turn& turn);
std::uint64_t take_arrive_token(const Turn& turn);
std::uint64_t take_pending_count(const Turn& turn);
void take_expect(const Turn& turn);
void take_complete_tx(const Turn& turn);
std::uint64_t take_test(const Turn& turn);
std::uint64_t take_wait(const Turn& turn);
/// Whether the phase that a wait is for is not complete.
bool has_to_wait(const Turn& turn);
std::uint64_t take_meter(const Turn& turn);
void take_write(const Turn& turn);
std::uint64_t take_read(const Turn& turn);

// Who gets what of a load: the copies that one issue turns into, one a destination, and the faults
// of a multicast that change them.

/// A load on its way to one destination. CTAs by rank in the cluster.
struct Leg {
  std::uint32_t to = 0;       // whose it is
  std::uint32_t told = 0;     // whose barrier is credited
  std::uint32_t written = 0;  // whose window is written
  std::uint32_t offset = 0;   // in the window, where the box begins
  std::uint32_t place = 0;    // among the destinations, and how many there are
  std::uint32_t places = 1;
  Fault geometry = kNoFault;  // what goes wrong on this leg where chunks are made,
  Fault delivery = kNoFault;  // and where they land
};

/// The legs of the load that `turn` takes, whose box the issuer would have at `offset`; by rank.
std::vector<Leg> legs_of(const Turn& turn, std::uint32_t offset);

/// Issues `copy` to the engine so that of each `leg.places` chunks only that of `leg.place` is
/// credited.
void issue_split(ProgramRun& run, const BulkCopy& copy, const Leg& leg);

// The loads of a program.

/// Issues the load. Nothing of it lands yet.
void take_load(const Turn& turn);

// The steps of a program that store, and those that wait for it or look at it.

/// The verbs of their names; those with a trace return it. Nothing of a store moves before a step
/// waits, by whichever thread.
void take_store(const Turn& turn);
void take_commit(const Turn& turn);
std::uint64_t take_wait_group(const Turn& turn);
void take_wait_group_read(const Turn& turn);
void take_fill(const Turn& turn);
std::uint64_t take_look(const Turn& turn);

/// Lets all stores of all CTAs land.
void finish_stores(ProgramRun& run);

// Steps that the threads of a CTA take on tiles by ordinary accesses.

void take_add(const Turn& turn);
void take_copy(const Turn& turn);

// What lands in the window of another CTA without being a plain copy.

/// st_async and red_async.
void take_async(const Turn& turn);

/// The chunks of `copy`, each reduced into what `window` holds where it lands, when it does.
std::function<Chunk(std::uint32_t)> reducing(const Turn& turn, const SharedWindow& window,
                                             std::function<Chunk(std::uint32_t)> copy);

// Chunks of tiles that threads move, and the faults of a warp's read.

void take_place_rows(const Turn& turn);
void take_read_columns(const Turn& turn);

// The faults of a warp's read: each changes the address or the data of some lanes.

inline constexpr Fault kFaultReadLaneStale{801};
inline constexpr Fault kFaultReadNeighbourRow{802};
inline constexpr Fault kFaultReadNextColumn{803};
inline constexpr Fault kFaultReadSwizzleIgnored{804};
inline constexpr Fault kFaultReadWordsRotated{805};
inline constexpr Fault kFaultReadLastLaneRepeats{806};
inline constexpr Fault kFaultReadFirstGroupOnly{807};
inline constexpr Fault kFaultReadBitFlipped{808};
inline constexpr Fault kFaultReadTooEarly{809};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_read_faults();

void take_wgmma(const Turn& turn);

/// Shared address of the first byte of element (mn, k) of one step's operand. PTX ISA 9.0,
/// 9.7.15.5.1.2: in units of 16 bytes the canonical layouts are made of rows as wide as the
/// swizzle, eight of them a group; the address bits 4..6 are then exchanged with bits 7..9, counted
/// from where the base offset says that the pattern starts.
std::int64_t element_address(const MatrixDescriptor& descriptor, Major major, std::uint32_t size,
                             std::uint32_t mn, std::uint32_t k, Fault fault);

/// The number that an element's `bits` stand for; NaN and infinity included.
double value_of(MmaType type, std::uint32_t bits, Fault fault);

// The faults of wgmma: each changes one step of its way from shared memory to the result. What TMA
// does wrong before is among the faults of a tile load.

// Addresses: where an element is looked for.
inline constexpr Fault kFaultConsumeSwizzleIgnored{601};
inline constexpr Fault kFaultConsumeSwizzleNarrower{602};
inline constexpr Fault kFaultConsumeSwizzleRelative{603};
inline constexpr Fault kFaultConsumeStrideNextGroup{604};
inline constexpr Fault kFaultConsumeOffsetsExchanged{605};
inline constexpr Fault kFaultConsumeBaseOffsetIgnored{606};
inline constexpr Fault kFaultConsumeMnAsK{607};
inline constexpr Fault kFaultConsumeLeadingIgnored{608};
inline constexpr Fault kFaultConsumeSwizzleWider{609};
inline constexpr Fault kFaultConsumeBaseOffsetAdded{610};
inline constexpr Fault kFaultConsumeReadAsWritten{611};
// Steps along K.
inline constexpr Fault kFaultConsumeAdvanceMissing{615};
inline constexpr Fault kFaultConsumeAdvanceHalved{616};
inline constexpr Fault kFaultConsumeLastStepDropped{617};
inline constexpr Fault kFaultConsumeNotCleared{618};
// Elements: what the bits that were found mean.
inline constexpr Fault kFaultConsumeChunkStale{625};
inline constexpr Fault kFaultConsumeSignLost{626};
inline constexpr Fault kFaultConsumeUnsignedAsSigned{627};
inline constexpr Fault kFaultConsumeBf16AsF16{628};
inline constexpr Fault kFaultConsumeE5m2AsE4m3{629};
inline constexpr Fault kFaultConsumeRowDuplicated{630};
inline constexpr Fault kFaultConsumeHalvesExchanged{631};
// Result: accumulators and where they go.
inline constexpr Fault kFaultConsumeSaturatesAt16{640};
inline constexpr Fault kFaultConsumeLowerRowsStale{641};
inline constexpr Fault kFaultConsumeColumnsExchanged{642};
inline constexpr Fault kFaultConsumeWritesBehind{643};
inline constexpr Fault kFaultConsumeZeroOnMismatch{644};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_consume_faults();

}  // namespace tidemark
