// What all stresses share: the ring of slots, how boxes are drawn and issued, and how their bytes
// are compared.
#pragma once

#include <array>
#include <cstdint>

#include <cuda/ptx>

#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/tensor_copy.cuh"
#include "kernels/cuda/stress/stress_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark {

namespace ptx = cuda::ptx;

inline constexpr std::uint32_t kWarp = 32;
inline constexpr std::uint32_t kGroups = kStressGroups, kGroupThreads = 64;
inline constexpr std::uint32_t kGroupsEnd = kGroups * kGroupThreads;  // the first thread behind
inline constexpr std::uint32_t kSlotBytes = kStressBoxBytes + kStressGuardBytes;
inline constexpr std::uint32_t kGuardChunks = 8;  // compared of each guard, from the slot on
// A box takes microseconds; but some wait always is on, also where something else holds the GPU up.
inline constexpr std::uint64_t kBoundNs = 900'000'000;

/// A drawn box; or, with `last`, that nothing comes any more.
struct DrawnBox {
  StressBox box;
  std::uint32_t rank, bytes;  // of its shape
  std::uint32_t spoiled;      // the chunk that is; kNone
  bool last;
};
inline constexpr std::uint32_t kNone = ~0U;
// Two rounds of a warp: what is being checked, and the next.
inline constexpr std::uint32_t kDrawn = 64;
static_assert(kDrawn - kWarp >= kStressSlots);

// Products beside the copies, of one warpgroup: 64 rows by 128 columns, some steps along K long.
inline constexpr std::uint32_t kProductThreads = 128;
inline constexpr std::uint32_t kRowsBytes = 64 * 128, kColumnsBytes = 128 * 128;  // of 64 along K
inline constexpr std::uint32_t kStageBytes = kRowsBytes + kColumnsBytes, kStages = 4;

/// One kernel is compiled for each.
struct StressMode {
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
static_assert(kStressSlots == StressMode{}.slots());

struct StressShared {
  std::uint64_t full[kStressSlots], empty[kStressSlots];
  DrawnBox drawn[kDrawn];                 // of iteration i at i % kDrawn
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
__device__ bool wait_for_box(std::uint64_t* barrier, std::uint32_t parity) {
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

__device__ inline std::uint8_t* slot_in(std::uint8_t* window, std::uint32_t slot) {
  return window + kStressGuardBytes + slot * kSlotBytes;
}

/// Calls `use` with the coordinates of the box, as many as its map has dimensions.
template <class Use>
__device__ void with_coordinates(const DrawnBox& drawn, const Use& use) {
  with_rank(drawn.rank, [&](auto rank) {
    if constexpr (rank > 0) {
      std::int32_t at[rank];
      for (std::uint32_t i = 0; i < rank; ++i) at[i] = drawn.box.at[i];
      use(at);
    }
  });
}

/// Issues the load of the box into `slot`; with `ctas`, into that of each of them.
__device__ inline void issue_load(const StressLaunch& launch, const DrawnBox& next,
                                  std::uint8_t* slot, std::uint64_t* barrier,
                                  std::uint16_t ctas = 0) {
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
__device__ inline void issue_write(const StressLaunch& launch, const DrawnBox& next,
                                   std::uint8_t* slot) {
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
__device__ inline void expect_box(const DrawnBox& next, std::uint64_t* barrier) {
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       next.bytes);
}

/// When a thread began.
struct Began {
  std::uint64_t ns;
  long long cycle;
};
__device__ inline Began begin_now() {
  return {.ns = ptx::get_sreg_globaltimer(), .cycle = clock64()};
}

/// Whether the time of the launch is up.
__device__ inline bool is_up(const StressLaunch& launch, const Began& began) {
  // %globaltimer may stand still: four cycles a nanosecond are above any clock of the chip.
  return ptx::get_sreg_globaltimer() - began.ns > launch.ns ||
         clock64() - began.cycle > static_cast<long long>(launch.ns * 4);
}

__device__ inline DrawnBox draw(const StressLaunch& launch, std::uint32_t cta,
                                std::uint64_t iteration, std::uint32_t sm, bool last) {
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
__device__ inline std::uint32_t drawing_cta(const StressLaunch& launch) {
  return blockIdx.x / launch.cluster * launch.cluster;
}

/// What is being compared: whose seed of stress_word(), and which box.
struct Compared {
  std::uint32_t seed;
  std::uint64_t iteration;
};

/// Counts and keeps one wrong word.
static __device__ __noinline__ void note_wrong(const StressLaunch& launch, StressShared& shared,
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

__device__ inline void compare_chunk(const StressLaunch& launch, StressShared& shared,
                                     Compared compared, std::uint32_t offset,
                                     const std::array<std::uint32_t, 4>& expected,
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
__device__ inline void check_guards(const StressLaunch& launch, StressShared& shared,
                                    std::uint8_t* slot, Compared compared, std::uint32_t lane) {
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
__device__ void check_box(const StressLaunch& launch, StressShared& shared, std::uint8_t* slot,
                          const DrawnBox& of_box, Compared compared, std::uint32_t lane) {
  // Copies: the rare call above may change what a reference stands for, so that each chunk would
  // read all of it again.
  const DrawnBox drawn = of_box;
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
__device__ inline void note_lost(const StressLaunch& launch, StressShared& shared,
                                 std::uint64_t iteration) {
  if (atomicExch(&shared.done.lost, 1U) != 0) return;
  shared.done.lost_seed = launch.seed;
  shared.done.lost_iteration = iteration;
  shared.done.lost_cta = drawing_cta(launch);
}

/// What a group did, once it has no more boxes.
__device__ inline void note_done(StressShared& shared, std::uint64_t boxes, std::uint64_t bytes) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.boxes), boxes);
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.bytes), bytes);
  *static_cast<volatile std::uint32_t*>(&shared.ended) = 1;
}

}  // namespace tidemark
