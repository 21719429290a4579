// A row as data: memory, tensor maps, barriers, and the steps that a cluster of thread blocks
// (CTAs) takes on them. Devices carry programs out, the oracle predicts them; neither knows what
// they are for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/islands.hpp"
#include "kernels/ops/program/wgmma.hpp"
#include "kernels/ops/reduction.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

/// What a step does. Behind each verb stand the operands of Step that it takes; it ignores all
/// others. The trace of a step is the number that each CTA taking it leaves; 0 where nothing is
/// said of it. PTX ISA 9.0, 9.7.13.15 for the mbarrier verbs.
enum class Verb : std::uint8_t {
  // On the mbarrier `barrier`, by thread `thread`. `of` names the CTA whose barrier it is, by
  // the shared::cluster form; kOwnCta is the CTA itself, by the shared::cta form.

  init,              // count; fenced for the async proxy and the cluster. The phase becomes 0
  inval,             // its 8 bytes are plain memory afterwards
  arrive,            // count, of: threads from `thread` on, each of which arrives once
  arrive_drop,       // the same; each phase behind this one waits for `count` arrivals fewer
  arrive_token,      // count: arrivals by one instruction on the own barrier. Trace: 1 where the
                     // phase of the token that it returns is complete
  pending_count,     // count: the same by .noComplete, which may not end the phase. Trace: arrivals
                     // that were pending before, by mbarrier.pending_count of the token
  expect_tx,         // bytes, of
  arrive_expect_tx,  // bytes, of
  complete_tx,       // bytes, of; by hand, as a copy that lands would
  test,              // parity. Trace: 1 where the phase of this parity has completed

  // parity, ns. All threads of the CTA wait, each at most `ns`. Trace: 1 where the phase completed
  // for all of them. With `stops` a CTA that waited in vain takes no further step but snapshot and
  // cluster_sync.
  wait,

  // parity, count, pending, bytes, stride, most. Brings the barrier to the end of a phase and
  // counts what is outstanding. By one thread:
  //   1. tests `parity`. Where that phase has completed, the one to end is the next, which waits
  //      for `count` arrivals; else it is this one, which waits for `pending`;
  //   2. makes these arrivals. If the phase to end is complete now, nothing was outstanding;
  //   3. else expect_tx(bytes) makes the tx-count positive, complete_tx(stride) takes off what
  //      certainly is there, and complete_tx(1) follows until the phase completes, at most `most`
  //      times. What was taken off less `bytes` is the residue.
  // A CTA whose meter did not settle is stopped as by a wait. Trace: meter_trace().
  meter,

  // map, at, offset, hint, mask: cp.async.bulk.tensor, or cp.async.bulk where the map is
  // TensorMapSpec::bulk, of the box at `at` to byte `offset` of the
  // CTA's own window, crediting `barrier`; where `mask` is not 0 by the multicast form, to byte
  // `offset` of the window of each CTA in the mask, crediting `barrier` there. By thread `thread`.
  // Where the map is TensorMapSpec::im2col by the .im2col form with im2col_offsets: `at` is the
  // first pixel, and of each pixel the one that is so much further is loaded.
  load,

  // offset, bytes, of, at, reduction, type: cp.async.bulk.shared::cluster.shared::cta of `bytes`
  // from byte `offset` of the CTA's own window to byte at[0] of the window of `of`, crediting
  // `barrier` there; kOwnCta for its own. With a reduction cp.reduce.async.bulk of elements of
  // `type`. By thread `thread`.
  send,

  // To byte at[0] of the window of `of`, crediting `barrier` there, out of registers of thread
  // `thread`: the words of async_word().

  st_async,   // type, bytes, of, at, word: st.async of one element of u32 or u64, or a vector
  red_async,  // type, reduction, of, at, word, count: red.async of one element, by each of so many
              // threads from `thread` on

  // map, at: cp.async.bulk.prefetch.tensor, or cp.async.bulk.prefetch where the map is
  // TensorMapSpec::bulk, of the box at `at` to L2, by thread `thread`; by an im2col map with
  // im2col_offsets, as a load. Nobody is told when it is there, and nothing that can be seen
  // changes.
  prefetch,

  // To global memory, in the bulk async-groups of thread `thread`.

  // map, at, offset, hint, reduction: cp.async.bulk.tensor of the tile at byte `offset` of the
  // CTA's own window to the box at `at`; with a reduction cp.reduce.async.bulk.tensor. Without
  // .tensor where the map is TensorMapSpec::bulk, .im2col_no_offs where it is
  // TensorMapSpec::im2col.
  store,
  commit,  // what the thread has stored since its last commit, or nothing, becomes a group. What is
           // never committed lands as well, and no wait counts it

  // pending, region, word: waits until all but the `pending` youngest groups of the thread have
  // completed. No bound of its own: the host bounds the launch. Trace: bytes `word` to `word` + 7
  // of the region, which the thread reads then; 0 for kNoRegion. Groups of other threads are not
  // waited for.
  wait_group,

  // pending, map, offset, bytes: waits until all but the `pending` youngest groups of the thread
  // have read their sources. All threads then overwrite this part of the window with the complement
  // of what fill puts there.
  wait_group_read,

  // Order. The steps of one CTA begin one after the other: the next when all threads of the CTA
  // have come to the end of this one. CTAs are ordered by cluster_sync alone, and a CTA may not
  // wait for what another does at a later step.

  cluster_sync,
  delay,  // ns go by, in thread `thread`; what was issued 20 us ago has landed

  // Tensor maps in global memory: Map::from says which. A CTA acquires one before it uses it, and
  // again when it was replaced.

  // map, scope, in_place. Where Map::from is, `map` is then: each field that differs is replaced,
  // each of all where there were zeros. In a copy of the 128 bytes in shared memory, which
  // tensormap.cp_fenceproxy brings back, by the warp of thread `thread`; with in_place in global
  // memory, by the thread alone. Released at `scope`.
  replace,
  acquire,  // map, scope: fence.proxy.tensormap acquire, by thread `thread`

  // Through the generic proxy.

  fill,  // map, offset, bytes: all threads fill this part of the window with source words, word
         // i at byte 4 i of the window, as a region of the map's type has them

  // map, offset, count, stride: to element i of the tile of `map` that stands at byte `offset` of
  // the window, dimension 0 fastest, all threads add count + i * stride. For u32, s32 and f32.
  add,

  // map, at, offset: all threads put the box at `at` where a load would put it, element by element
  // out of global memory, and zeros where the tensor ends.
  copy,

  // On a tile as tensor_map.hpp sees it, by the map's swizzle of the address.

  // map, offset, at: all threads copy each 16-byte chunk of the tile at byte `offset`, which lies
  // as
  // a load left it, to where it stands in rows of all groups, from byte at[0] of the window on.
  place_rows,

  // map, offset, stride, at: lane l of the warp of `thread` copies the chunk of
  // chunk_of_lane(map, at[1], l) to byte at[0] + 16 l of the window. The tile at byte `offset` lies
  // as a load left it, or, where `stride` is not 0, in rows of so many bytes.
  read_columns,

  look,  // region, word. Trace: bytes `word` to `word` + 7 of the region, by thread `thread`, past
         // the caches of its SM
  poison,   // offset, bytes: all threads fill this part of the window with cta_poison_byte()
  write,    // word: to the 8 bytes of `barrier`, by thread `thread`
  read,     // Trace: the 8 bytes of `barrier`, by thread `thread`
  missing,  // offset, bytes. Trace: how many 16-byte pieces still are poison. Where a copy is in
            // flight this is a race, for reading

  // product, offset: the warpgroup of `thread` multiplies the tiles of Program::products[product]
  // and writes C, 64 x n numbers of 4 bytes (f32, of integers s32), row by row from byte `offset`
  // of the window on. Each accumulator is kStaleAccumulator at first; then comes a wgmma.mma_async
  // m64n{n} for each of step_count() steps, by descriptor() of A and B. The first does not add to
  // what was there. PTX ISA 9.0, 9.7.15.5.2.
  wgmma,
  snapshot,  // all threads copy the CTA's window to the result

  // Of the CTA nothing is left but thread `thread`, which takes the steps behind this one, as fast
  // as it can: store, commit, and wait_group_read of 0 bytes (whose map has to exist); none where
  // the CTA was stopped. What is in flight then is waited for
  // by nobody. In a program of one CTA.
  leave,
};

/// The threads of a CTA that take a step: `thread`; `count` of them from there on; its warp; its
/// warpgroup; all.
enum class Takers : std::uint8_t { one, count, warp, warpgroup, all };

/// What a verb is called in JSON and in reproducers, and which of its operands have to fit the
/// program: unsound() asks for them.
struct VerbInfo {
  Verb verb;
  std::string_view name;
  Takers takers = Takers::one;
  bool barrier = false;   // it is one of the program's
  bool tx_bytes = false;  // `bytes`: a tx-count holds them
  bool map = false;       // it is one of the program's
  bool box = false;       // `at` of the map: it has memory
  bool tile = false;      // `offset`: the map's tile fits the window there
  bool range = false;     // `offset` and `bytes`: on 16, in the window
  bool groups = false;    // `pending`: at most kGroupsPending
  bool word = false;      // `region` and `word`: 8 bytes of a region, or none
};

/// In the order of Verb, whose last is `leave`.
inline constexpr auto kVerbTable = std::to_array<VerbInfo>({
    {.verb = Verb::init, .name = "init", .barrier = true},
    {.verb = Verb::inval, .name = "inval", .barrier = true},
    {.verb = Verb::arrive, .name = "arrive", .takers = Takers::count, .barrier = true},
    {.verb = Verb::arrive_drop, .name = "arrive_drop", .takers = Takers::count, .barrier = true},
    {.verb = Verb::arrive_token, .name = "arrive_token", .barrier = true},
    {.verb = Verb::pending_count, .name = "pending_count", .barrier = true},
    {.verb = Verb::expect_tx, .name = "expect_tx", .barrier = true, .tx_bytes = true},
    {.verb = Verb::arrive_expect_tx, .name = "arrive_expect_tx", .barrier = true, .tx_bytes = true},
    {.verb = Verb::complete_tx, .name = "complete_tx", .barrier = true, .tx_bytes = true},
    {.verb = Verb::test, .name = "test", .barrier = true},
    {.verb = Verb::wait, .name = "wait", .takers = Takers::all, .barrier = true},
    {.verb = Verb::meter, .name = "meter", .barrier = true, .tx_bytes = true},
    {.verb = Verb::load, .name = "load", .barrier = true, .map = true, .box = true, .tile = true},
    {.verb = Verb::send, .name = "send", .barrier = true, .range = true},
    {.verb = Verb::st_async, .name = "st_async", .barrier = true},
    {.verb = Verb::red_async, .name = "red_async", .takers = Takers::count, .barrier = true},
    {.verb = Verb::prefetch, .name = "prefetch", .map = true, .box = true},
    {.verb = Verb::store, .name = "store", .map = true, .box = true, .tile = true, .groups = true},
    {.verb = Verb::commit, .name = "commit", .groups = true},
    {.verb = Verb::wait_group, .name = "wait_group", .groups = true, .word = true},
    {.verb = Verb::wait_group_read,
     .name = "wait_group_read",
     .takers = Takers::all,
     .map = true,
     .range = true,
     .groups = true},
    {.verb = Verb::cluster_sync, .name = "cluster_sync", .takers = Takers::all},
    {.verb = Verb::delay, .name = "delay"},
    {.verb = Verb::replace, .name = "replace", .takers = Takers::warp, .map = true},
    {.verb = Verb::acquire, .name = "acquire", .map = true},
    {.verb = Verb::fill, .name = "fill", .takers = Takers::all, .map = true, .range = true},
    {.verb = Verb::add, .name = "add", .takers = Takers::all, .map = true, .tile = true},
    {.verb = Verb::copy,
     .name = "copy",
     .takers = Takers::all,
     .map = true,
     .box = true,
     .tile = true},
    {.verb = Verb::place_rows, .name = "place_rows", .takers = Takers::all, .map = true},
    {.verb = Verb::read_columns, .name = "read_columns", .takers = Takers::warp, .map = true},
    {.verb = Verb::look, .name = "look", .word = true},
    {.verb = Verb::poison, .name = "poison", .takers = Takers::all, .range = true},
    {.verb = Verb::write, .name = "write", .barrier = true},
    {.verb = Verb::read, .name = "read", .barrier = true},
    {.verb = Verb::missing, .name = "missing", .takers = Takers::all, .range = true},
    {.verb = Verb::wgmma, .name = "wgmma", .takers = Takers::warpgroup},
    {.verb = Verb::snapshot, .name = "snapshot", .takers = Takers::all},
    {.verb = Verb::leave, .name = "leave"},
});
inline constexpr std::uint32_t kVerbs = kVerbTable.size();

/// Of a verb that is one.
constexpr const VerbInfo& info_of(Verb verb) { return kVerbTable[static_cast<std::size_t>(verb)]; }

/// "unknown" for a value that is none.
constexpr std::string_view name_of(Verb verb) {
  return static_cast<std::size_t>(verb) < kVerbs ? info_of(verb).name : "unknown";
}

/// A CTA that was stopped still shows its window, and its peers wait for it.
constexpr bool is_taken_when_stopped(Verb verb) {
  return verb == Verb::snapshot || verb == Verb::cluster_sync;
}

static_assert([] {
  for (std::uint32_t i = 0; i < kVerbs; ++i)
    if (info_of(static_cast<Verb>(i)).verb != static_cast<Verb>(i)) return false;
  return kVerbTable.back().verb == Verb::leave;
}());

/// Parities that are known only when the step is taken. Each CTA keeps one for each of its
/// barriers: 0 from `init` on; the other one than p when a `wait` for p or a `meter` has seen the
/// phase of parity p complete.
inline constexpr std::uint8_t kCurrentPhase = 2, kLastPhase = 3;

/// Step::of: the CTA that takes the step.
inline constexpr std::uint8_t kOwnCta = 0xff;

/// Step::region: nothing is read.
inline constexpr std::uint8_t kNoRegion = 0xff;

/// Step::pending of waits for groups, at most: the instructions take it as a constant.
inline constexpr std::uint32_t kGroupsPending = 15;

/// Bits of the trace of a meter. Behind them stands the residue: bytes announced less bytes
/// credited, as a signed number of 32 bits in bits 32 to 63.
inline constexpr std::uint64_t kMeterComplete = 1;  // the phase had completed before the meter
inline constexpr std::uint64_t kMeterSettled = 2;   // a phase completed by the meter's end

constexpr std::uint64_t meter_trace(bool complete, bool settled, std::int32_t residue) {
  return (complete ? kMeterComplete : 0) | (settled ? kMeterSettled : 0) |
         std::uint64_t{static_cast<std::uint32_t>(residue)} << 32;
}
constexpr std::int32_t residue_of(std::uint64_t trace) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(trace >> 32));
}

/// How far a fence reaches: scopes of the PTX ISA.
enum class Scope : std::uint8_t { cta, cluster, gpu, sys };

struct Step {
  Verb verb = Verb::cluster_sync;
  std::uint16_t ctas = 1;    // bit b: CTA b of each cluster takes it
  std::uint16_t thread = 0;  // of 0 .. kProgramThreads - 1
  std::uint8_t barrier = 0;
  std::uint8_t of = kOwnCta;
  std::uint8_t map = 0;
  std::uint8_t region = kNoRegion;
  std::uint8_t product = 0;
  std::uint8_t parity = 0;  // 0, 1, kCurrentPhase or kLastPhase
  bool stops = false;
  CacheHint hint = CacheHint::none;
  Reduction reduction = Reduction::none;
  Scope scope = Scope::gpu;
  bool in_place = false;
  DataType type = DataType::u32;  // of elements in a window that no map names
  std::uint16_t mask = 0;         // bit b: CTA b of the cluster
  std::uint32_t count = 1;
  std::uint32_t pending = 0;  // meter: arrivals that its phase still waits for; else groups
  std::uint32_t offset = 0;   // bytes from the start of the window, which stands on 1024
  std::uint32_t bytes = 0;
  std::uint32_t stride = 0;  // meter: bytes that are taken off in one piece; add: per element
  std::uint32_t most = 0;    // meter: single bytes that are taken off then, at most
  std::uint32_t ns = 0;
  std::array<std::int32_t, kMaxRank> at{};  // first element of the box; in a window at[0], a byte
  std::array<std::uint16_t, kMaxSpatial> im2col_offsets{};  // elements along W, H, D
  std::uint64_t word = 0;

  friend bool operator==(const Step&, const Step&) = default;
};

/// Global memory, filled with region_word(payload, element, numbers, index), or with poison_byte()
/// of the offset, before the program runs, and handed back whole behind it. Memory of a peer is
/// filled and read back by its owner.
struct Region {
  std::uint64_t bytes = 0;  // a multiple of 16
  MemorySource source = MemorySource::device;
  DataType element = DataType::u8;
  Numbers numbers = Numbers::hash;
  bool poison = false;
  bool cold = false;              // flushed from L2 before the program runs
  std::vector<Island> islands{};  // of MemorySource::mapped: what of its addresses has memory,
                                  // which is `bytes` in all; empty: all have

  friend bool operator==(const Region&, const Region&) = default;
};

/// Map::from: the driver encodes the map; or a step `replace` makes it of 128 bytes of zeros.
inline constexpr std::uint8_t kEncoded = 0xff, kZeroed = 0xfe;

/// A tensor that starts kGuardBytes + spec.base_offset into the addresses of its region.
struct Map {
  TensorMapSpec spec;
  std::uint8_t region = 0;
  // kEncoded, kZeroed, or the earlier map that a step `replace` makes this one of. Both are in
  // global memory then, at the same place, first the one, then the other. A kernel parameter else.
  std::uint8_t from = kEncoded;

  friend bool operator==(const Map&, const Map&) = default;
};

/// A cluster of CTAs of kProgramThreads threads. CTAs are named by their rank in the cluster, PTX
/// %cluster_ctarank. Each has a window and barriers of its own, at the same places in its shared
/// memory. Steps are taken in order; see Verb.
struct Program {
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // CTAs along x, y and z
  std::uint32_t window = 0;    // bytes of shared memory that each CTA is given; a multiple of 16
  std::uint32_t barriers = 0;  // that each CTA has
  std::vector<Region> regions;
  std::vector<Map> maps;
  std::vector<Wgmma> products{};
  std::vector<Step> steps;
  HeldTo held_to = HeldTo::documents;
  Payload payload;
  std::string what{};  // the row in words, of a case that writes its programs itself

  friend bool operator==(const Program&, const Program&) = default;
};

inline constexpr std::uint64_t kEdgeBytes = std::uint64_t{2} << 20;  // of MemorySource::edge, most
inline constexpr std::uint32_t kProgramThreads = 256;
inline constexpr std::uint32_t kProgramBarriers = 8;   // Program::barriers, at most
inline constexpr std::uint32_t kProgramCtas = 16;      // of a cluster, at most
inline constexpr std::uint32_t kProgramProducts = 16;  // Program::products, at most

/// CTAs of the cluster; 0 where it has more than kProgramCtas.
constexpr std::uint32_t ctas_of(const Program& program) {
  std::uint32_t ctas = 1;
  for (const std::uint32_t along : program.cluster) {
    if (along > kProgramCtas) return 0;
    ctas *= along;
  }
  return ctas <= kProgramCtas ? ctas : 0;
}

/// The CTAs of the cluster as a mask.
constexpr std::uint16_t all_ctas(const Program& program) {
  return static_cast<std::uint16_t>((1U << ctas_of(program)) - 1);
}

/// The CTAs whose windows a load of CTA `cta` writes and whose barriers it credits.
constexpr std::uint16_t destinations_of(const Step& load, std::uint32_t cta) {
  return load.mask != 0 ? load.mask : static_cast<std::uint16_t>(1U << cta);
}

/// Bytes that st_async or red_async writes and credits.
constexpr std::uint32_t async_bytes(const Step& step) {
  return step.verb == Verb::st_async ? step.bytes : element_bytes(step.type);
}

/// Word `i` of them: those of Step::word, or of its complement where the payload is inverted, and
/// behind them each once more, plus one.
constexpr std::uint32_t async_word(const Payload& payload, const Step& step, std::uint32_t i) {
  const std::uint64_t words = payload.inverted ? ~step.word : step.word;
  return static_cast<std::uint32_t>(words >> (32 * (i % 2))) + i / 2;
}

/// Where the bytes of an asynchronous copy come to shared memory: to the same place in the windows
/// of `ctas`, each of whose barriers Step::barrier is credited.
struct Landing {
  std::uint16_t ctas = 0;   // none: the step is no such copy
  std::uint32_t begin = 0;  // in the window
  std::uint32_t end = 0;
  std::uint32_t credited = 0;  // bytes
};
Landing landing_of(const Program& program, const Step& step, std::uint32_t cta);

/// What is XORed to each byte of poison in the window of CTA `cta`: another value in each of 16, so
/// that the windows of two CTAs cannot be taken for each other.
constexpr std::uint8_t poison_twist(std::uint32_t cta) {
  return static_cast<std::uint8_t>(0x11U * (cta & 0xfU));
}

/// Byte `offset` of the window of CTA `cta` behind a poison step.
constexpr std::uint8_t cta_poison_byte(const Payload& payload, std::uint32_t cta,
                                       std::uint64_t offset) {
  return static_cast<std::uint8_t>(poison_byte(payload, offset) ^ poison_twist(cta));
}

/// The source allocation of `load`: beyond kDenseBytes with islands around the box.
Region region_of(const TileLoad& load);

/// Leaves these islands of the region.
void keep_islands(Region& region, std::vector<Island> islands);

/// The first of the maps that are, one after the other, where `map` is in global memory; kEncoded
/// for a kernel parameter.
std::uint8_t place_of_map(const Program& program, std::uint8_t map);

constexpr bool takes(const Step& step, std::uint32_t cta) { return (step.ctas >> cta & 1U) != 0; }

/// Largest magnitude of a tx-count. PTX ISA 9.0, 9.7.13.15.2.
inline constexpr std::uint32_t kTxCountMax = (1U << 20) - 1;

inline constexpr std::uint32_t kMustCompleteNs = 50'000'000;  // a box takes microseconds
inline constexpr std::uint32_t kSettleNs = 1'000'000;  // for copies whose completion is not seen
inline constexpr std::uint32_t kLandNs = 20'000;       // a box takes a microsecond or two

Program program_of(const TileLoad& load);

/// A row may be a program as it stands.
inline const Program& program_of(const Program& program) { return program; }
constexpr Payload& payload_of(Program& program) { return program.payload; }

/// What is wrong with a program as such, in one line; empty where nothing is. Devices and the
/// oracle refuse what is not sound. What a sound program does may still be an error on a GPU.
std::string unsound(const Program& program);

/// What to say where step `step` stopped CTA `cta`: a wait in vain, or a meter that did not settle.
std::string stop_note(const Program& program, std::uint32_t step, std::uint32_t cta);

}  // namespace tidemark
