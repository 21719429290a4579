// Of loads, a producer warp draws boxes and issues their copies; groups of warps check what lands.
// Of stores and reductions, each group draws, makes and checks its own.
#include "kernels/cuda/stress/stress_kernel.hpp"

#include <cooperative_groups.h>

#include <cuda/ptx>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/tensor_copy.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kGroups = kStressGroups, kGroupThreads = 64;
constexpr std::uint32_t kGroupsEnd = kGroups * kGroupThreads;  // first of the threads behind them
constexpr std::uint32_t kSlotBytes = kStressBoxBytes + kStressGuardBytes;
constexpr std::uint32_t kGuardChunks = 8;  // compared of each guard, from the slot on
// A box takes microseconds; but some wait always is on, also where something else holds the GPU up.
constexpr std::uint64_t kBoundNs = 900'000'000;

/// A drawn box; or, with `last`, that nothing comes any more.
struct Drawn {
  StressBox box;
  std::uint32_t rank, bytes;  // of its shape
  std::uint32_t spoiled;      // the chunk that is; kNone
  bool last;
};
constexpr std::uint32_t kNone = ~0U;
constexpr std::uint32_t kDrawn = 64;  // two rounds of a warp: what is being checked, and the next
static_assert(kDrawn - kWarp >= kStressSlots);

// Products beside the copies, of one warpgroup: 64 rows by 128 columns, some steps along K long.
constexpr std::uint32_t kProductThreads = 128;
constexpr std::uint32_t kRowsBytes = 64 * 128, kColumnsBytes = 128 * 128;  // of 64 along K
constexpr std::uint32_t kStageBytes = kRowsBytes + kColumnsBytes, kStages = 4;

/// One kernel is compiled for each.
struct Mode {
  bool writes = false, clusters = false, products = false;
  // A group that is ahead of the others asks for a phase of its next slot by parity, which the
  // phase before the last has, too: no other group may have boxes in that slot.
  constexpr std::uint32_t slots() const { return products ? kGroups : 2 * kGroups; }
  constexpr std::uint32_t window() const { return kStressGuardBytes + slots() * kSlotBytes; }
  constexpr std::uint32_t bytes() const {  // with the operands of products behind the slots
    return (window() + 1023) / 1024 * 1024 + (products ? kStages * kStageBytes : 0);
  }
  constexpr std::uint32_t threads() const {
    return kGroupsEnd + (products ? kProductThreads : 0) + (writes ? 0 : kWarp);
  }
};
static_assert(kStressSlots == Mode{}.slots());

struct Shared {
  std::uint64_t full[kStressSlots], empty[kStressSlots];
  Drawn drawn[kDrawn];                    // of iteration i at i % kDrawn
  unsigned long long wrong_here[kDrawn];  // 1 + iteration of the last wrong box there
  StressSm done;
  std::uint64_t end;            // the round that is the last, once the cluster knows
  std::uint64_t issued;         // boxes whose copies were issued
  std::uint32_t lost[kGroups];  // to the group
  std::uint32_t ended;          // a group has no more boxes
  std::uint32_t multiplies[2];  // the next product, too; by its number
};

/// False where the phase did not complete in time. `kScope` is the cluster where its CTAs arrive.
template <ptx::dot_scope kScope = ptx::dot_scope::cta>
__device__ bool wait(std::uint64_t* barrier, std::uint32_t parity) {
  // First without a bound to measure: reading the timer takes longer than the box that is there.
  if (ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_t<kScope>{}, barrier, parity))
    return true;
  return wait_bounded<kScope>(barrier, parity, kBoundNs).complete;
}

/// What another thread may write at any time.
template <class T>
__device__ T now(const T& of_shared) {
  return *static_cast<const volatile T*>(&of_shared);
}

__device__ std::uint8_t* slot_in(std::uint8_t* window, std::uint32_t slot) {
  return window + kStressGuardBytes + slot * kSlotBytes;
}

/// Calls `use` with the coordinates of the box, as many as its map has dimensions.
template <class Use>
__device__ void with_coordinates(const Drawn& drawn, const Use& use) {
  with_rank(drawn.rank, [&](auto rank) {
    if constexpr (rank > 0) {
      std::int32_t at[rank];
      for (std::uint32_t i = 0; i < rank; ++i) at[i] = drawn.box.at[i];
      use(at);
    }
  });
}

/// Issues the load of the box into `slot`; with `ctas`, into that of each of them.
__device__ void issue_load(const StressLaunch& launch, const Drawn& next, std::uint8_t* slot,
                           std::uint64_t* barrier, std::uint16_t ctas = 0) {
  std::uint8_t* const to = slot + next.box.offset;
  const std::uint8_t* const from = launch.memory + next.box.address;
  if (next.rank == 0)
    return ctas != 0 ? bulk_multicast(to, from, next.bytes, barrier, ctas)
                     : bulk_load(to, from, next.bytes, barrier);
  const CUtensorMap* const map = &launch.maps[next.box.map];
  with_coordinates(next, [&](const auto& at) {
    if (ctas != 0)
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier, ctas);
    else
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier);
  });
}

/// Issues the store or the reduction of the box in `slot`.
__device__ void issue_write(const StressLaunch& launch, const Drawn& next, std::uint8_t* slot) {
  const std::uint8_t* const from = slot + next.box.offset;
  std::uint8_t* const to = launch.memory + next.box.address;
  const bool adds = launch.copy == StressCopy::reduce;
  if (next.rank == 0)
    return adds ? bulk_reduce(to, from, next.bytes, Reduction::add, DataType::s32)
                : bulk_store(to, from, next.bytes);
  const CUtensorMap* const map = &launch.maps[next.box.map];
  with_coordinates(next, [&](const auto& at) {
    if (adds)
      ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, map, at,
                                       from);
    else
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at, from);
  });
}

/// Releases the description of the box to the threads that wait for this phase, and adds its bytes
/// to those that the phase waits for.
__device__ void expect_box(const Drawn& next, std::uint64_t* barrier) {
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       next.bytes);
}

/// When a thread began.
struct Began {
  std::uint64_t ns;
  long long cycle;
};
__device__ Began begin_now() { return {.ns = ptx::get_sreg_globaltimer(), .cycle = clock64()}; }

/// Whether the time of the launch is up.
__device__ bool is_up(const StressLaunch& launch, const Began& began) {
  // %globaltimer may stand still: four cycles a nanosecond are above any clock of the chip.
  return ptx::get_sreg_globaltimer() - began.ns > launch.ns ||
         clock64() - began.cycle > static_cast<long long>(launch.ns * 4);
}

__device__ Drawn draw(const StressLaunch& launch, std::uint32_t cta, std::uint64_t iteration,
                      std::uint32_t sm, bool last) {
  const std::uint64_t key = stress_key(launch.seed, cta, iteration);
  const StressBox box = stress_draw(launch.shapes, launch.map_count, launch.memory_bytes,
                                    stress_part(launch.copy, cta, iteration), key);
  const StressShape& shape = launch.shapes[box.map];
  return {.box = box,
          .rank = shape.rank,
          .bytes = shape.bytes,
          .spoiled = is_spoiled(launch.spoiled, sm, key) ? stress_below(key >> 16, shape.bytes / 16)
                                                         : kNone,
          .last = last};
}

/// The CTA whose boxes this one has: itself, or the first of its cluster.
__device__ std::uint32_t drawing_cta(const StressLaunch& launch) {
  return blockIdx.x / launch.cluster * launch.cluster;
}

/// Writes to all CTAs of the cluster which round is the last. None is there yet: one a ring ahead
/// of this CTA waits for it.
__device__ void end_cluster_with(Shared& shared, const StressLaunch& launch, std::uint64_t round) {
  for (std::uint32_t rank = 0; rank < launch.cluster; ++rank)
    *static_cast<volatile std::uint64_t*>(
        cooperative_groups::this_cluster().map_shared_rank(&shared.end, rank)) = round;
  // Without it a box that is expected from here on may be seen before the round is.
  ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
}

/// The lanes draw a box each, and the first one issues them, until time is up or a box was lost.
/// Then a `last` for each group.
template <Mode kMode>
__device__ void produce(const StressLaunch& launch, Shared& shared, std::uint8_t* window,
                        std::uint32_t sm) {
  constexpr auto kScope = kMode.clusters ? ptx::dot_scope::cluster : ptx::dot_scope::cta;
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint32_t rank = kMode.clusters ? ptx::get_sreg_cluster_ctarank() : 0;
  std::uint16_t ctas = 0;
  if (kMode.clusters) ctas = static_cast<std::uint16_t>((1U << launch.cluster) - 1);
  const Began began = begin_now();
  std::uint32_t slot = 0, parity = 1;  // that of a phase before the first has completed
  bool late = false;
  for (std::uint64_t base = 0; !late; base += kWarp) {
    late = __any_sync(~0U, is_up(launch, began)) != 0;
    if constexpr (kMode.clusters) {
      if (late && rank == 0 && lane == 0 && now(shared.end) == ~0ULL)
        end_cluster_with(shared, launch, base + kWarp);
      late = __any_sync(~0U, base >= now(shared.end)) != 0;
    }
    // The boxes that were described here are checked: a round is more than the ring.
    shared.drawn[(base + lane) % kDrawn] = draw(launch, drawing_cta(launch), base + lane, sm, late);
    __syncwarp();
    for (std::uint32_t i = 0; lane == 0 && i < (late ? kGroups : kWarp); ++i) {
      if (!wait<kScope>(&shared.empty[slot], parity)) {
        late = true;
        break;
      }
      const Drawn& next = shared.drawn[(base + i) % kDrawn];
      if (late) {
        (void)ptx::mbarrier_arrive(&shared.full[slot]);
      } else {
        expect_box(next, &shared.full[slot]);
        *static_cast<volatile std::uint64_t*>(&shared.issued) = base + i + 1;
        if (!kMode.clusters || (base + i) % launch.cluster == rank)
          issue_load(launch, next, slot_in(window, slot), &shared.full[slot], ctas);
      }
      if (++slot == kMode.slots()) {
        slot = 0;
        parity ^= 1;
      }
    }
    late = __any_sync(~0U, late) != 0;
  }
}

/// What is being compared: whose seed of stress_word(), and which box.
struct Compared {
  std::uint32_t seed;
  std::uint64_t iteration;
};

/// Counts and keeps one wrong word.
__device__ __noinline__ void note_wrong(const StressLaunch& launch, Shared& shared,
                                        Compared compared, std::uint32_t offset,
                                        std::uint32_t expected, std::uint32_t actual) {
  const std::uint64_t iteration = compared.iteration;
  const std::uint64_t kept =
      atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.wrong_words), 1ULL);
  if (atomicExch(&shared.wrong_here[iteration % kDrawn], iteration + 1) != iteration + 1)
    atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.wrong_boxes), 1ULL);
  if (kept >= kKeptWrongWords) return;
  // Where the memory itself is wrong, no copy is to blame.
  const std::uint32_t index = stress_index(expected, compared.seed);
  const bool is_of_memory = (offset & kGuardWord) == 0 && index < launch.memory_bytes / 4;
  const auto* const memory = reinterpret_cast<const std::uint32_t*>(launch.memory);
  launch.results->wrong[blockIdx.x][kept] = {
      .seed = launch.seed,
      .iteration = iteration,
      .cta = drawing_cta(launch),
      .sm = shared.done.sm,
      .offset = offset,
      .expected = expected,
      .actual = actual,
      .in_memory = is_of_memory ? __ldcv(memory + index) : expected};
}

__device__ void compare_chunk(const StressLaunch& launch, Shared& shared, Compared compared,
                              std::uint32_t offset, const std::array<std::uint32_t, 4>& expected,
                              const uint4& actual) {
  const bool right = (actual.x == expected[0]) & (actual.y == expected[1]) &
                     (actual.z == expected[2]) & (actual.w == expected[3]);
  if (right) return;
  const std::uint32_t words[] = {actual.x, actual.y, actual.z, actual.w};
  for (std::uint32_t j = 0; j < 4; ++j)
    if (words[j] != expected[j])
      note_wrong(launch, shared, compared, offset + 4 * j, expected[j], words[j]);
}

/// What is next to a slot, before and behind it.
__device__ void check_guards(const StressLaunch& launch, Shared& shared, std::uint8_t* slot,
                             Compared compared, std::uint32_t lane) {
  if (lane >= 2 * kGuardChunks) return;
  const bool behind = lane < kGuardChunks;
  const std::uint32_t chunk =
      behind ? lane : kStressGuardBytes / 16 - (2 * kGuardChunks - lane);  // of its guard
  std::uint8_t* const guard = behind ? slot + kStressBoxBytes : slot - kStressGuardBytes;
  auto* const words = reinterpret_cast<uint4*>(guard + 16 * chunk);
  std::array<std::uint32_t, 4> expected{};
  for (std::uint32_t j = 0; j < 4; ++j) expected[j] = stress_guard_word(4 * chunk + j);
  compare_chunk(launch, shared, compared, kGuardWord | (behind ? kGuardBehind : 0U) | (16 * chunk),
                expected, *words);
  // Else all boxes that follow would be wrong, too.
  *words = make_uint4(expected[0], expected[1], expected[2], expected[3]);
}

/// All chunks of a box in `slot`; or, where threads read it, in memory.
template <bool kByThreads, int kAtOnce>
__device__ void check_box(const StressLaunch& launch, Shared& shared, std::uint8_t* slot,
                          const Drawn& of_box, Compared compared, std::uint32_t lane) {
  // Copies: the rare call above may change what a reference stands for, so that each chunk would
  // read all of it again.
  const Drawn drawn = of_box;
  const StressShape shape = launch.shapes[drawn.box.map];
  const auto* const memory = reinterpret_cast<const std::uint32_t*>(launch.memory);
  with_chunks(shape, drawn.box, [&](const auto& expected_of) {
// By four, small boxes take twice as long: H200, boxes of all shapes from L2.
#pragma unroll kAtOnce
    for (std::uint32_t chunk = lane; chunk < drawn.bytes / 16; chunk += kGroupThreads) {
      const std::array<std::uint32_t, 4> expected = expected_of(compared.seed, chunk);
      uint4 actual;
      if constexpr (kByThreads)  // the word says where in memory it is
        actual = __ldcg(
            reinterpret_cast<const uint4*>(memory + stress_index(expected[0], compared.seed)));
      else
        actual = *reinterpret_cast<const uint4*>(slot + drawn.box.offset + 16 * chunk);
      if (drawn.spoiled == chunk) actual.z ^= 0x100;
      compare_chunk(launch, shared, compared, 16 * chunk, expected, actual);
    }
  });
  if constexpr (!kByThreads) check_guards(launch, shared, slot, compared, lane);
}

/// Tells of the first box that was lost on this SM: what follows it does not come either.
__device__ void note_lost(const StressLaunch& launch, Shared& shared, std::uint64_t iteration) {
  if (atomicExch(&shared.done.lost, 1U) != 0) return;
  shared.done.lost_seed = launch.seed;
  shared.done.lost_iteration = iteration;
  shared.done.lost_cta = drawing_cta(launch);
}

/// What a group did, once it has no more boxes.
__device__ void note_done(Shared& shared, std::uint64_t boxes, std::uint64_t bytes) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.boxes), boxes);
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.bytes), bytes);
  *static_cast<volatile std::uint32_t*>(&shared.ended) = 1;
}

/// Gives the slot back: to all CTAs that fill it.
template <Mode kMode>
__device__ void give_back(const StressLaunch& launch, std::uint64_t* empty, std::uint32_t lane) {
  if constexpr (kMode.clusters) {
    if (lane < launch.cluster)
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                           cooperative_groups::this_cluster().map_shared_rank(empty, lane));
  } else if (lane == 0) {
    (void)ptx::mbarrier_arrive(empty);
  }
}

/// Every sixth loaded box, until the last.
template <Mode kMode>
__device__ void consume(const StressLaunch& launch, Shared& shared, std::uint8_t* window) {
  constexpr auto kScope = kMode.clusters ? ptx::dot_scope::cluster : ptx::dot_scope::cta;
  const std::uint32_t group = threadIdx.x / kGroupThreads, lane = threadIdx.x % kGroupThreads;
  std::uint32_t slot = group, parity = 0;
  std::uint64_t iteration = group, bytes = 0;
  for (;; iteration += kGroups) {
    // Together: lanes that saw the box would else wait for those that did not.
    if (!__all_sync(~0U, wait<kScope>(&shared.full[slot], parity))) {
      // Behind a lost box others wait for boxes that were never issued.
      if (lane % kWarp == 0 && iteration < now(shared.issued)) note_lost(launch, shared, iteration);
      break;
    }
    const Drawn& drawn = shared.drawn[iteration % kDrawn];
    if (drawn.last) break;
    bytes += drawn.bytes;
    // Beside products there are no registers for two chunks at once.
    check_box<false, kMode.products ? 1 : 2>(launch, shared, slot_in(window, slot), drawn,
                                             {.seed = launch.word_seed, .iteration = iteration},
                                             lane);
    // Else a lane that has not yet read is overtaken by the next copy.
    __syncwarp();
    give_back<kMode>(launch, &shared.empty[slot], lane % kWarp);
    slot += kGroups;
    if (slot >= kMode.slots()) {
      slot -= kMode.slots();
      parity ^= 1;
    }
  }
  if (lane == 0) note_done(shared, iteration / kGroups, bytes);
}

/// Writes the words of the box into its slot, by all threads of a group.
__device__ void make_box(const StressLaunch& launch, const Drawn& drawn, std::uint8_t* slot,
                         std::uint32_t seed, bool negative, std::uint32_t lane) {
  const StressShape shape = launch.shapes[drawn.box.map];
  with_chunks(shape, drawn.box, [&](const auto& words_of) {
#pragma unroll 2
    for (std::uint32_t chunk = lane; chunk < drawn.bytes / 16; chunk += kGroupThreads) {
      std::array<std::uint32_t, 4> words = words_of(seed, chunk);
      if (negative)
        for (std::uint32_t& word : words) word = 0U - word;
      else if (drawn.spoiled == chunk)
        words[2] ^= 0x100;
      *reinterpret_cast<uint4*>(slot + drawn.box.offset + 16 * chunk) =
          make_uint4(words[0], words[1], words[2], words[3]);
    }
  });
}

/// Takes the words of an added box off again, by all threads of a group.
__device__ void take_off(const StressLaunch& launch, const Drawn& drawn, std::uint32_t lane) {
  const StressShape shape = launch.shapes[drawn.box.map];
  auto* const memory = reinterpret_cast<std::uint32_t*>(launch.memory);
  with_chunks(shape, drawn.box, [&](const auto& words_of) {
    for (std::uint32_t chunk = lane; chunk < drawn.bytes / 16; chunk += kGroupThreads)
      for (const std::uint32_t word : words_of(launch.word_seed, chunk))
        atomicAdd(memory + stress_index(word, launch.word_seed), 0U - word);
  });
}

/// Brings the stored box back and compares it: every other one by a load into `slot`, else as
/// threads read it. False where the load was lost.
__device__ bool read_back(const StressLaunch& launch, Shared& shared, std::uint8_t* slot,
                          Drawn& drawn, Compared compared, std::uint32_t lane) {
  const std::uint32_t group = threadIdx.x / kGroupThreads;
  const auto number = static_cast<std::uint32_t>(compared.iteration / kGroups);
  drawn.spoiled = kNone;  // which was in what was stored
  // Outside of its tensor no memory is a box's.
  const bool by_threads = number % 2 != 0 && !drawn.box.outside;
  std::uint64_t* const barrier = &shared.full[group];
  if (lane == 0) {
    // All, read or loaded: each other one of a phase.
    expect_box(by_threads ? Drawn{} : drawn, barrier);
    if (!by_threads) issue_load(launch, drawn, slot, barrier);
  }
  if (!wait(barrier, number % 2)) {
    if (lane % kWarp == 0) shared.lost[group] = 1;
  }
  // Behind it a warp that saw the box does not wait for one that did not and has left.
  sync_at_barrier(1 + group, kGroupThreads);
  if (now(shared.lost[group]) != 0) return false;
  if (by_threads)
    check_box<true, 2>(launch, shared, slot, drawn, compared, lane);
  else
    check_box<false, 2>(launch, shared, slot, drawn, compared, lane);
  return true;
}

/// Stores or adds boxes that the group makes, until time is up. Each group has a slot to write from
/// and one to load into.
__device__ void write_boxes(const StressLaunch& launch, Shared& shared, std::uint8_t* window,
                            std::uint32_t sm) {
  const std::uint32_t group = threadIdx.x / kGroupThreads, lane = threadIdx.x % kGroupThreads;
  const bool adds = launch.copy == StressCopy::reduce;
  std::uint8_t* const from = slot_in(window, group);
  const Began began = begin_now();
  std::uint64_t iteration = group, bytes = 0;
  for (;; iteration += kGroups) {
    const bool again = adds && reduced_iteration(iteration) != iteration;
    if (lane == 0)  // what was added is taken off again in any case
      shared.drawn[group] =
          draw(launch, blockIdx.x, adds ? reduced_iteration(iteration) : iteration, sm,
               !again && is_up(launch, began));
    sync_at_barrier(1 + group, kGroupThreads);
    Drawn drawn = shared.drawn[group];
    if (drawn.last) break;
    bytes += drawn.bytes;
    if (again && is_taken_off_by_threads(iteration) && !drawn.box.outside) {
      take_off(launch, drawn, lane);
      continue;
    }
    const std::uint32_t seed = adds ? launch.word_seed : stored_seed(launch.word_seed, iteration);
    make_box(launch, drawn, from, seed, again, lane);
    // Without it the copy may carry off what was in the slot before, or what memory is written with
    // may come in front of the reads of the last box.
    ptx::fence_proxy_async();
    sync_at_barrier(1 + group, kGroupThreads);
    if (lane == 0) {
      issue_write(launch, drawn, from);
      ptx::cp_async_bulk_commit_group();
      // Without it the box is read back before it is stored, or the slot made anew before it is
      // read.
      if (adds)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
      else
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
    if (!adds && !read_back(launch, shared, slot_in(window, kGroups + group), drawn,
                            {.seed = seed, .iteration = iteration}, lane)) {
      if (lane == 0) note_lost(launch, shared, iteration);
      break;
    }
  }
  if (lane != 0) return;
  // Without it the CTA ends, and its memory is another's, while sums are on their way.
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  note_done(shared, iteration / kGroups, bytes);
}

/// Multiplies the same operands over and over, until the boxes end: the same sums each time, on all
/// SMs.
__device__ void multiply(const StressLaunch& launch, Shared& shared, const std::uint8_t* operands,
                         std::uint32_t sm) {
  using Form = WgmmaForm<MmaType::bf16, false, false>;
  constexpr std::uint32_t kLaps = 16, kStepsOfStage = 4;
  const std::uint32_t lane = threadIdx.x % kProductThreads;
  const std::uint64_t rows = k_major_swizzle128(shared_address(operands));
  const std::uint64_t columns = k_major_swizzle128(shared_address(operands) + kRowsBytes);
  std::uint32_t first = 0, wrong = 0;
  std::uint32_t number = 0;
  for (;; ++number) {
    if (lane == 0) shared.multiplies[number % 2] = now(shared.ended) == 0 ? 1 : 0;
    // Together: wgmma takes all warps of a warpgroup.
    sync_at_barrier(1 + kGroups, kProductThreads);
    if (__any_sync(~0U, now(shared.multiplies[number % 2]) != 0) == 0) break;
    float sums[64] = {};
#pragma unroll 1
    for (std::uint32_t lap = 0; lap < kLaps; ++lap) {
      wgmma_fence();
#pragma unroll
      for (std::uint32_t step = 0; step < kStages * kStepsOfStage; ++step) {
        const std::uint32_t at = step / kStepsOfStage * (kStageBytes / 16) +
                                 step % kStepsOfStage * 2;  // 32 bytes along K
        wgmma<Form>(sums, rows + at, columns + at, 1);
      }
      wgmma_commit();
      wgmma_wait<0>();
      hold_sums(sums);
    }
    if (lane == 0 && is_spoiled(launch.spoiled, sm, number + 1)) sums[5] = -sums[5];
    std::uint32_t digest = 0;
    for (const float sum : sums) digest = digest * kStressFactor + __float_as_uint(sum);
    if (number == 0) first = digest;
    wrong += __any_sync(~0U, digest != first) != 0 ? 1 : 0;
  }
  atomicAdd(&shared.done.digest, first * (2 * threadIdx.x + 1));
  if (lane % kWarp != 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.products), number);
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.wrong_products), wrong);
}

/// Random numbers from 0.5 to 2, of both signs.
__device__ void fill_operands(std::uint8_t* operands) {
  auto* const words = reinterpret_cast<std::uint32_t*>(operands);
  for (std::uint32_t i = threadIdx.x; i < kStages * kStageBytes / 4; i += blockDim.x)
    words[i] = (static_cast<std::uint32_t>(splitmix64(i)) & 0x80ff80ffU) | 0x3f003f00U;
  // Without it tensor cores may read what was there before.
  ptx::fence_proxy_async(ptx::space_shared);
}

template <Mode kMode>
__device__ void prepare(const StressLaunch& launch, Shared& shared, std::uint8_t* window) {
  for (std::uint32_t i = threadIdx.x; i < (kMode.slots() + 1) * kStressGuardBytes / 4;
       i += kMode.threads()) {
    const std::uint32_t guard = i / (kStressGuardBytes / 4), word = i % (kStressGuardBytes / 4);
    reinterpret_cast<std::uint32_t*>(window + guard * kSlotBytes)[word] = stress_guard_word(word);
  }
  if constexpr (kMode.products) fill_operands(window + kMode.bytes() - kStages * kStageBytes);
  if (threadIdx.x < kDrawn) shared.wrong_here[threadIdx.x] = 0;
  if (threadIdx.x < kGroups) shared.lost[threadIdx.x] = 0;
  if (threadIdx.x != 0) return;
  for (std::uint32_t i = 0; i < kMode.slots(); ++i) {
    ptx::mbarrier_init(&shared.full[i], 1);
    ptx::mbarrier_init(&shared.empty[i], kGroupThreads / kWarp * launch.cluster);
  }
  // Without it a copy may complete on a barrier that the async proxy has not seen initialized.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  shared.done = {};
  shared.done.sm = ptx::get_sreg_smid();
  shared.end = ~0ULL;
  shared.issued = 0;
  shared.ended = 0;
}

template <Mode kMode>
__device__ void sync_all() {
  if constexpr (kMode.clusters) {
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
  } else {
    __syncthreads();
  }
}

// Not of a Mode: what nvcc calls a kernel by has no name for it.
template <bool kWrites, bool kClusters, bool kProducts>
__global__ void __launch_bounds__(Mode{kWrites, kClusters, kProducts}.threads(), 1)
    stress(const __grid_constant__ StressLaunch launch) {
  constexpr Mode kMode{kWrites, kClusters, kProducts};
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ Shared shared;
  std::uint8_t* const window = window_in(dynamic_memory);
  const Began began = begin_now();
  const std::uint32_t sm = ptx::get_sreg_smid();
  prepare<kMode>(launch, shared, window);
  sync_all<kMode>();
  // From lane 0, so that the compiler sees one value a warp: wgmma takes all of its lanes.
  const std::uint32_t thread = __shfl_sync(~0U, threadIdx.x, 0);
  if (thread < kGroupsEnd) {
    if constexpr (kMode.writes)
      write_boxes(launch, shared, window, sm);
    else
      consume<kMode>(launch, shared, window);
  } else if (kMode.products && thread < kGroupsEnd + kProductThreads) {
    multiply(launch, shared, window + kMode.bytes() - kStages * kStageBytes, sm);
  } else if (!kMode.writes) {
    produce<kMode>(launch, shared, window, sm);
  }
  // A copy in flight to the memory of a CTA that has ended would hit the next one's.
  if (now(shared.done.lost) != 0) quiesce(10'000'000);
  // Also of those that others of the cluster issued.
  sync_all<kMode>();
  if (threadIdx.x != 0) return;
  shared.done.ns = ptx::get_sreg_globaltimer() - began.ns;
  shared.done.cycles = static_cast<std::uint64_t>(clock64() - began.cycle);
  launch.results->sms[blockIdx.x] = shared.done;
}

/// Looks for words that no copy can have left.
__global__ void stress_scan(const __grid_constant__ StressLaunch launch, std::uint32_t ctas) {
  const auto* const memory = reinterpret_cast<const std::uint32_t*>(launch.memory);
  StressResults& results = *launch.results;
  const auto words = static_cast<std::uint32_t>(launch.memory_bytes / 4);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
       i += gridDim.x * blockDim.x) {
    const std::uint32_t word = memory[i], expected = stress_word(i, launch.word_seed);
    const std::uint32_t writer = stress_writer(launch.copy, i);
    const std::uint32_t cta = writer < ctas ? writer : ctas;  // behind the last: of no CTA
    if (stress_may_leave(launch.copy, expected, word, cta == ctas ? 0 : results.sms[cta].boxes))
      continue;
    const std::uint64_t kept =
        atomicAdd(reinterpret_cast<unsigned long long*>(&results.sms[cta].wrong_words), 1ULL);
    if (kept < kKeptWrongWords)
      results.wrong[cta][kept] = {.seed = launch.seed,
                                  .iteration = kOfMemory | i,
                                  .cta = cta,
                                  .sm = cta == ctas ? kNoSm : results.sms[cta].sm,
                                  .expected = expected,
                                  .actual = word,
                                  .in_memory = word};
  }
}

__global__ void stress_fill(std::uint32_t* memory, std::uint64_t words, std::uint32_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    memory[i] = stress_word(static_cast<std::uint32_t>(i), seed);
}

__global__ void plain_read(const uint4* memory, std::uint64_t pieces, std::uint32_t times,
                           std::uint32_t* sink) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t sum = 0;
  for (std::uint32_t time = 0; time < times; ++time)
#pragma unroll 8
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pieces;
         i += step) {
      const uint4 piece = __ldcg(memory + i);
      sum ^= piece.x ^ piece.y ^ piece.z ^ piece.w;
    }
  if (sum == 0x12345678U) *sink = sum;  // keeps the reads
}

__global__ void latency(const std::uint8_t* memory, StressResults* results) {
  alignas(16) __shared__ std::uint8_t to[16];
  __shared__ std::uint64_t barrier;
  ptx::mbarrier_init(&barrier, 1);
  // Without it a copy may complete on a barrier that the async proxy has not seen initialized.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  std::uint64_t cycles = 0;
  bool lost = false;
  for (std::uint32_t i = 0; i < 2 * kLatencyLoads && !lost; ++i) {
    // All over the first MiB: near slices of L2 and far ones. The first time it comes to L2.
    const std::uint32_t place = (i % kLatencyLoads * kStressFactor) >> 12 & ~15U;
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &barrier, 16);
    const long long began = clock64();
    bulk_load(to, memory + place, 16, &barrier);
    bool came = false;
    for (std::uint32_t tries = 0; !came && tries < 10'000; ++tries)
      came = ptx::mbarrier_test_wait_parity(&barrier, i % 2);
    if (i >= kLatencyLoads) cycles += static_cast<std::uint64_t>(clock64() - began);
    lost = !came && !wait(&barrier, i % 2);
  }
  if (lost) quiesce(10'000'000);
  results->cycles[ptx::get_sreg_smid()] =
      lost ? kLatencyLost : static_cast<std::uint32_t>(cycles / kLatencyLoads);
}

}  // namespace

void launch_stress_fill(std::uint8_t* memory, std::uint64_t bytes, std::uint32_t word_seed,
                        cudaStream_t stream) {
  stress_fill<<<1056, 256, 0, stream>>>(reinterpret_cast<std::uint32_t*>(memory), bytes / 4,
                                        word_seed);
  cuda_check(cudaGetLastError(), "launch the fill of a stress");
}

namespace {

/// How many CTAs it launched.
template <Mode kMode>
std::uint32_t launch_mode(const StressLaunch& launch, std::uint32_t sms, cudaStream_t stream) {
  const auto kernel = stress<kMode.writes, kMode.clusters, kMode.products>;
  const std::uint32_t bytes = dynamic_bytes(kMode.bytes());
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "allow a stress its shared memory");
  if (launch.cluster > 8)
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               "allow a stress clusters above 8 CTAs");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {launch.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(sms / launch.cluster * launch.cluster);
  config.blockDim = dim3(kMode.threads());
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  if (kMode.clusters) {
    int clusters = 0;
    cuda_check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config),
               "ask how many clusters fit");
    config.gridDim = dim3(static_cast<unsigned>(clusters) * launch.cluster);
  }
  if (config.gridDim.x > 0)
    cuda_check(cudaLaunchKernelEx(&config, kernel, launch), "launch a stress");
  return config.gridDim.x;
}

}  // namespace

std::uint32_t launch_stress(const StressLaunch& launch, std::uint32_t sms, bool products,
                            cudaStream_t stream) {
  if (launch.copy == StressCopy::multicast)
    return launch_mode<Mode{.clusters = true}>(launch, sms, stream);
  if (!is_write(launch.copy))
    return products ? launch_mode<Mode{.products = true}>(launch, sms, stream)
                    : launch_mode<Mode{}>(launch, sms, stream);
  return launch_mode<Mode{.writes = true}>(launch, sms, stream);
}

void launch_stress_scan(const StressLaunch& launch, std::uint32_t ctas, cudaStream_t stream) {
  stress_scan<<<1056, 256, 0, stream>>>(launch, ctas);
  cuda_check(cudaGetLastError(), "launch the scan of a stress");
}

void launch_plain_read(const std::uint8_t* memory, std::uint64_t bytes, std::uint32_t times,
                       std::uint32_t* sink, std::uint32_t sms, cudaStream_t stream) {
  plain_read<<<sms * 8, 512, 0, stream>>>(reinterpret_cast<const uint4*>(memory), bytes / 16, times,
                                          sink);
  cuda_check(cudaGetLastError(), "launch a plain read");
}

void launch_stress_latency(const std::uint8_t* memory, std::uint32_t sms, StressResults* results,
                           cudaStream_t stream) {
  latency<<<sms, 1, 0, stream>>>(memory, results);
  cuda_check(cudaGetLastError(), "launch the latency of loads");
}

}  // namespace tidemark
