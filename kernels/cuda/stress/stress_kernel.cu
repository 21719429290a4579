// A producer warp draws boxes and issues their copies; groups of warps check what lands.
#include "kernels/cuda/stress/stress_kernel.hpp"

#include <cuda/ptx>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/tensor_copy.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kGroups = 6;  // each checks every sixth box
// A group that is ahead of the others asks for a phase of its next slot by parity, which the phase
// before the last has, too: no other group may have boxes in that slot.
static_assert(kStressSlots % kGroups == 0);
constexpr std::uint32_t kGroupThreads = 64;
constexpr std::uint32_t kThreads = kGroups * kGroupThreads + kWarp;
constexpr std::uint32_t kSlotBytes = kStressBoxBytes + kStressGuardBytes;
constexpr std::uint32_t kWindowBytes = kStressGuardBytes + kStressSlots * kSlotBytes;
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

struct Shared {
  std::uint64_t full[kStressSlots], empty[kStressSlots];
  Drawn drawn[kDrawn];                    // of iteration i at i % kDrawn
  unsigned long long wrong_here[kDrawn];  // 1 + iteration of the last wrong box there
  StressSm done;
  std::uint32_t kept;  // wrong words, or that would have been
  std::uint32_t stop;  // a box was lost
};

/// False where the phase did not complete in time.
__device__ bool wait(std::uint64_t* barrier, std::uint32_t parity) {
  // First without a bound to measure: reading the timer takes longer than the box that is there.
  if (ptx::mbarrier_try_wait_parity(barrier, parity)) return true;
  return wait_bounded(barrier, parity, kBoundNs).complete;
}

__device__ bool is_stopped(const Shared& shared) {
  return *static_cast<const volatile std::uint32_t*>(&shared.stop) != 0;
}

__device__ std::uint8_t* slot_in(std::uint8_t* window, std::uint32_t slot) {
  return window + kStressGuardBytes + slot * kSlotBytes;
}

template <std::uint32_t kRank>
__device__ void load_of_rank(const CUtensorMap* map, const StressBox& box, std::uint8_t* to,
                             std::uint64_t* barrier) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = box.at[i];
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier);
}

__device__ void issue(const StressLaunch& launch, const Drawn& next, std::uint8_t* slot,
                      std::uint64_t* barrier) {
  const StressBox& box = next.box;
  const CUtensorMap* const map = &launch.maps[box.map];
  std::uint8_t* const to = slot + box.offset;
  // Releases the description of the box to the threads that wait for this phase.
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       next.bytes);
  switch (next.rank) {
    case 0:
      return bulk_load(to, launch.memory + box.address, next.bytes, barrier);
    case 1:
      return load_of_rank<1>(map, box, to, barrier);
    case 2:
      return load_of_rank<2>(map, box, to, barrier);
    case 3:
      return load_of_rank<3>(map, box, to, barrier);
    case 4:
      return load_of_rank<4>(map, box, to, barrier);
    default:
      return load_of_rank<5>(map, box, to, barrier);
  }
}

/// The lanes draw a box each, and the first one issues them, until time is up or a box was lost.
/// Then a `last` for each group.
__device__ void produce(const StressLaunch& launch, Shared& shared, std::uint8_t* window,
                        std::uint32_t sm) {
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint64_t began = ptx::get_sreg_globaltimer();
  const long long began_cycle = clock64();
  // %globaltimer may stand still: four cycles a nanosecond are above any clock of the chip.
  const auto bound_cycles = static_cast<long long>(launch.ns * 4);
  std::uint32_t slot = 0, parity = 1;  // that of a phase before the first has completed
  bool late = false;
  for (std::uint64_t base = 0; !late; base += kWarp) {
    late = __any_sync(~0U, ptx::get_sreg_globaltimer() - began > launch.ns ||
                               clock64() - began_cycle > bound_cycles) != 0;
    const std::uint64_t key = stress_key(launch.seed, sm, base + lane);
    const StressBox box = stress_draw(launch.shapes, launch.map_count, launch.memory_bytes, key);
    const StressShape& shape = launch.shapes[box.map];
    // The boxes that were described here are checked: a round is more than the ring.
    shared.drawn[(base + lane) % kDrawn] = {
        .box = box,
        .rank = shape.rank,
        .bytes = shape.bytes,
        .spoiled =
            is_spoiled(launch.spoiled, sm, key) ? stress_below(key >> 16, shape.bytes / 16) : kNone,
        .last = late};
    __syncwarp();
    for (std::uint32_t i = 0; lane == 0 && i < (late ? kGroups : kWarp); ++i) {
      if (!wait(&shared.empty[slot], parity)) {
        late = true;
        break;
      }
      if (late) {
        (void)ptx::mbarrier_arrive(&shared.full[slot]);
      } else {
        issue(launch, shared.drawn[(base + i) % kDrawn], slot_in(window, slot), &shared.full[slot]);
      }
      if (++slot == kStressSlots) {
        slot = 0;
        parity ^= 1;
      }
    }
    late = __any_sync(~0U, late) != 0;
  }
}

/// Counts and keeps one wrong word of the box of iteration `iteration`.
__device__ __noinline__ void note_wrong(const StressLaunch& launch, Shared& shared,
                                        std::uint64_t iteration, std::uint32_t offset,
                                        std::uint32_t expected, std::uint32_t actual) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.wrong_words), 1ULL);
  if (atomicExch(&shared.wrong_here[iteration % kDrawn], iteration + 1) != iteration + 1)
    atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.wrong_boxes), 1ULL);
  const std::uint32_t kept = atomicAdd(&shared.kept, 1U);
  if (kept >= kKeptWrongWords) return;
  // Where the memory itself is wrong, no copy is to blame.
  const std::uint32_t index = stress_index(expected, launch.word_seed);
  const bool is_of_memory = (offset & kGuardWord) == 0 && index < launch.memory_bytes / 4;
  const auto* const memory = reinterpret_cast<const std::uint32_t*>(launch.memory);
  launch.results->wrong[blockIdx.x][kept] = {
      .seed = launch.seed,
      .iteration = iteration,
      .gpu_ns = ptx::get_sreg_globaltimer(),
      .sm = shared.done.sm,
      .offset = offset,
      .expected = expected,
      .actual = actual,
      .in_memory = is_of_memory ? __ldcv(memory + index) : expected};
}

__device__ void compare_chunk(const StressLaunch& launch, Shared& shared, std::uint64_t iteration,
                              std::uint32_t offset, const std::array<std::uint32_t, 4>& expected,
                              const uint4& actual) {
  const bool right = (actual.x == expected[0]) & (actual.y == expected[1]) &
                     (actual.z == expected[2]) & (actual.w == expected[3]);
  if (right) return;
  const std::uint32_t words[] = {actual.x, actual.y, actual.z, actual.w};
  for (std::uint32_t j = 0; j < 4; ++j)
    if (words[j] != expected[j])
      note_wrong(launch, shared, iteration, offset + 4 * j, expected[j], words[j]);
}

/// What is next to a slot, before and behind it.
__device__ void check_guards(const StressLaunch& launch, Shared& shared, std::uint8_t* slot,
                             std::uint64_t iteration, std::uint32_t lane) {
  if (lane >= 2 * kGuardChunks) return;
  const bool behind = lane < kGuardChunks;
  const std::uint32_t chunk =
      behind ? lane : kStressGuardBytes / 16 - (2 * kGuardChunks - lane);  // of its guard
  std::uint8_t* const guard = behind ? slot + kStressBoxBytes : slot - kStressGuardBytes;
  auto* const words = reinterpret_cast<uint4*>(guard + 16 * chunk);
  std::array<std::uint32_t, 4> expected{};
  for (std::uint32_t j = 0; j < 4; ++j) expected[j] = stress_guard_word(4 * chunk + j);
  compare_chunk(launch, shared, iteration, kGuardWord | (behind ? kGuardBehind : 0U) | (16 * chunk),
                expected, *words);
  // Else all boxes that follow would be wrong, too.
  *words = make_uint4(expected[0], expected[1], expected[2], expected[3]);
}

/// All chunks of a box.
__device__ void check_box(const StressLaunch& launch, Shared& shared, std::uint8_t* window,
                          std::uint32_t slot, std::uint64_t iteration, std::uint32_t lane) {
  // Copies: the rare call above may change what a reference stands for, so that each chunk would
  // read all of it again.
  const Drawn drawn = shared.drawn[iteration % kDrawn];
  const StressShape shape = launch.shapes[drawn.box.map];
  const std::uint32_t seed = launch.word_seed;
  std::uint8_t* const data = slot_in(window, slot);
  with_chunks(shape, drawn.box, [&](const auto& expected_of) {
// By four, small boxes take twice as long: H200, boxes of all shapes from L2.
#pragma unroll 2
    for (std::uint32_t chunk = lane; chunk < drawn.bytes / 16; chunk += kGroupThreads) {
      uint4 actual = *reinterpret_cast<const uint4*>(data + drawn.box.offset + 16 * chunk);
      if (drawn.spoiled == chunk) actual.z ^= 0x100;
      compare_chunk(launch, shared, iteration, 16 * chunk, expected_of(seed, chunk), actual);
    }
  });
  check_guards(launch, shared, data, iteration, lane);
}

/// Tells of the first box that was lost on this SM: what follows it does not come either.
__device__ void note_lost(const StressLaunch& launch, Shared& shared, std::uint64_t iteration) {
  if (atomicExch(&shared.stop, 1U) != 0) return;
  shared.done.lost = 1;
  shared.done.lost_seed = launch.seed;
  shared.done.lost_iteration = iteration;
}

/// Every sixth box, until the last.
template <bool kChecked>
__device__ void consume(const StressLaunch& launch, Shared& shared, std::uint8_t* window) {
  const std::uint32_t group = threadIdx.x / kGroupThreads, lane = threadIdx.x % kGroupThreads;
  std::uint32_t slot = group, parity = 0;
  std::uint64_t boxes = 0, bytes = 0;
  for (std::uint64_t iteration = group;; iteration += kGroups) {
    // Together: lanes that saw the box would else wait for those that did not.
    if (!__all_sync(~0U, wait(&shared.full[slot], parity))) {
      if (lane % kWarp == 0) note_lost(launch, shared, iteration);
      break;
    }
    const Drawn& drawn = shared.drawn[iteration % kDrawn];
    if (drawn.last) break;
    ++boxes;
    bytes += drawn.bytes;
    if constexpr (kChecked) check_box(launch, shared, window, slot, iteration, lane);
    // Else a lane that has not yet read is overtaken by the next copy.
    __syncwarp();
    if (lane % kWarp == 0) (void)ptx::mbarrier_arrive(&shared.empty[slot]);
    slot += kGroups;
    if (slot >= kStressSlots) {
      slot -= kStressSlots;
      parity ^= 1;
    }
  }
  if (lane != 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.boxes), boxes);
  atomicAdd(reinterpret_cast<unsigned long long*>(&shared.done.bytes), bytes);
}

template <bool kChecked>
__global__ void __launch_bounds__(kThreads, 1) stress(const __grid_constant__ StressLaunch launch) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ Shared shared;
  std::uint8_t* const window = window_in(dynamic_memory);
  const std::uint64_t began = ptx::get_sreg_globaltimer();
  const long long began_cycle = clock64();
  const std::uint32_t sm = ptx::get_sreg_smid();
  for (std::uint32_t i = threadIdx.x; i < (kStressSlots + 1) * kStressGuardBytes / 4;
       i += kThreads) {
    const std::uint32_t guard = i / (kStressGuardBytes / 4), word = i % (kStressGuardBytes / 4);
    reinterpret_cast<std::uint32_t*>(window + guard * kSlotBytes)[word] = stress_guard_word(word);
  }
  if (threadIdx.x < kDrawn) shared.wrong_here[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    for (std::uint32_t i = 0; i < kStressSlots; ++i) {
      ptx::mbarrier_init(&shared.full[i], 1);
      ptx::mbarrier_init(&shared.empty[i], kGroupThreads / kWarp);
    }
    // Without it a copy may complete on a barrier that the async proxy has not seen initialized.
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    shared.done = {};
    shared.done.sm = sm;
    shared.kept = shared.stop = 0;
  }
  __syncthreads();
  if (threadIdx.x < kGroups * kGroupThreads)
    consume<kChecked>(launch, shared, window);
  else
    produce(launch, shared, window, sm);
  // A copy in flight to the memory of a CTA that has ended would hit the next one's.
  if (is_stopped(shared)) quiesce(10'000'000);
  __syncthreads();
  if (threadIdx.x != 0) return;
  shared.done.ns = ptx::get_sreg_globaltimer() - began;
  shared.done.cycles = static_cast<std::uint64_t>(clock64() - began_cycle);
  launch.results->sms[blockIdx.x] = shared.done;
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
  std::uint32_t fewest = kLatencyLost;
  for (std::uint32_t i = 0; i < kLatencyLoads; ++i) {
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &barrier, 16);
    const long long began = clock64();
    bulk_load(to, memory, 16, &barrier);
    bool came = false;
    for (std::uint32_t tries = 0; !came && tries < 10'000; ++tries)
      came = ptx::mbarrier_test_wait_parity(&barrier, i % 2);
    const auto took = static_cast<std::uint32_t>(clock64() - began);
    if (!came && !wait(&barrier, i % 2)) {
      fewest = kLatencyLost;
      quiesce(10'000'000);
      break;
    }
    fewest = took < fewest ? took : fewest;
  }
  results->cycles[ptx::get_sreg_smid()] = fewest;
}

}  // namespace

void launch_stress_fill(std::uint8_t* memory, std::uint64_t bytes, std::uint32_t word_seed,
                        cudaStream_t stream) {
  stress_fill<<<1056, 256, 0, stream>>>(reinterpret_cast<std::uint32_t*>(memory), bytes / 4,
                                        word_seed);
  cuda_check(cudaGetLastError(), "launch the fill of a stress");
}

void launch_stress(const StressLaunch& launch, std::uint32_t sms, bool checked,
                   cudaStream_t stream) {
  const auto kernel = checked ? stress<true> : stress<false>;
  const std::uint32_t bytes = dynamic_bytes(kWindowBytes);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "allow a stress its shared memory");
  kernel<<<sms, kThreads, bytes, stream>>>(launch);
  cuda_check(cudaGetLastError(), "launch a stress");
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

}  // namespace tidemark::kernels
