// The kernels of a tile load: fill the source, run one row by the steps of
// kernels/ops/tile_load.hpp, time copies.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/cache_hint.cuh"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/tile_load_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kThreads = 512;
constexpr std::uint64_t kLandedNs = 20'000;  // for a copy like one before it, and eight times that
constexpr std::uint64_t kLateNs = 100'000;   // for one that has not landed by then

__global__ void fill_source(const __grid_constant__ TileLoad load, uint4* source,
                            std::uint64_t chunks) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chunks;
       i += step)
    source[i] =
        make_uint4(source_element_word(load, 4 * i), source_element_word(load, 4 * i + 1),
                   source_element_word(load, 4 * i + 2), source_element_word(load, 4 * i + 3));
}

/// Announces `bytes` with the one arrival that the phase waits for, and issues the copy.
template <std::uint32_t kRank>
__device__ void announce_and_issue(const CUtensorMap* map, const TileLoadLaunch& row,
                                   std::uint8_t* window, std::uint64_t* barrier,
                                   std::uint32_t bytes) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = row.at[i];
  // Announced first: issued first, the copy could only drive the tx-count below zero for a while,
  // which is legal, but says less when something goes wrong.
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       bytes);
  std::uint8_t* const to = window + kGuardBytes + row.destination_offset;
  if (row.hint == CacheHint::none)
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier);
  else
    load_tile_with_policy<kRank>(to, map, at, barrier, cache_policy(row.hint));
}

/// Takes single bytes off phase 0 until it completes, at most `most`; says how many.
__device__ std::uint32_t take_to_complete(std::uint64_t* barrier, std::uint32_t most) {
  std::uint32_t taken = 0;
  while (taken < most && !ptx::mbarrier_test_wait_parity(barrier, 0)) {
    mbarrier_complete_tx(barrier, 1);
    ++taken;
  }
  return taken;
}

/// Step 2: announces a tile that never comes, and counts what has to be taken away instead.
__device__ std::uint32_t announced_bytes(const TileLoadLaunch& row, std::uint64_t* barrier) {
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       row.tile_bytes);
  if (ptx::mbarrier_test_wait_parity(barrier, 0)) return 0;
  const std::uint32_t at_once =
      row.tile_bytes - 16;  // the rest byte by byte: that tells if it flips
  if (at_once > 0) mbarrier_complete_tx(barrier, at_once);
  const std::uint32_t taken = take_to_complete(barrier, 32);
  return ptx::mbarrier_test_wait_parity(barrier, 0) ? at_once + taken : 0;
}

/// Step 5, the byte meter: announce more than the copy can credit, let it land, then take away
/// single bytes until the phase completes. What was not taken away is what the copy credited. True
/// where the barrier's next phase can be tried.
template <std::uint32_t kRank>
__device__ bool meter(const CUtensorMap* map, const TileLoadLaunch& row, std::uint8_t* window,
                      std::uint64_t* barrier, TileLoadLedger& seen) {
  const std::uint32_t announced = row.tile_bytes + kMeterSlack;
  announce_and_issue<kRank>(map, row, window, barrier, announced);
  // Both waits are for time to pass: the phase is not to complete. What the first copy took is
  // known.
  (void)wait_bounded(barrier, 0, min(kLandedNs + 8 * seen.waited_ns, kLateNs));
  std::uint32_t taken = take_to_complete(barrier, kMeterSlack);
  // Not complete: credit is missing, or on its way. What comes late is waited for before more is
  // taken away, which would be counted as never credited.
  if (!ptx::mbarrier_test_wait_parity(barrier, 0)) {
    (void)wait_bounded(barrier, 0, kLateNs);
    taken += take_to_complete(barrier, announced - taken);
  }
  seen.meter_ended = ptx::mbarrier_test_wait_parity(barrier, 0);
  seen.credited = announced - taken;
  // Credit that is missing may be a copy that is still on its way into this block's memory.
  if (seen.credited != row.tile_bytes) quiesce(kSettleNs);
  return seen.meter_ended && taken > 0;
}

/// All threads: waits for the phase, hands the window out as the next one and poisons it anew.
/// True, for all of them alike, where each saw the phase complete.
__device__ bool hand_out(const TileLoadLaunch& row, std::uint8_t* window, std::uint64_t* barrier,
                         std::uint32_t parity, TileLoadLedger& seen) {
  // Every reader waits itself: only the completion that a thread observes orders the copy's writes
  // before that thread's reads.
  const WaitResult wait = wait_bounded(barrier, parity, kMustCompleteNs);
  if (!wait.complete) quiesce(kSettleNs);
  const std::uint32_t pieces = (row.window_bytes + 15) / 16;
  copy_window_out(window, row.window_bytes,
                  row.windows + std::size_t{16} * pieces * seen.windows++);
  if (seen.windows == 1) seen.waited_ns = wait.waited_ns;
  // Unsynchronised, the new poison would overtake slow readers. The vote keeps the threads
  // together: one that waited in vain must not skip a synchronisation that others reach.
  const bool complete = __syncthreads_and(wait.complete) != 0;
  poison_window(window, row.window_bytes, row.payload);
  // Nothing is copied before all poison is fenced.
  __syncthreads();
  return complete;
}

template <std::uint32_t kRank>
__global__ void __launch_bounds__(kThreads, 1)
    tile_load(const __grid_constant__ CUtensorMap map, const __grid_constant__ TileLoadLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t promised;  // step 2
  __shared__ std::uint64_t copied;    // phases 0 and 1: steps 3 and 4
  __shared__ std::uint64_t metered;   // phases 0 and 1: steps 5 and 6
  std::uint8_t* const window = window_in(dynamic_memory);
  const bool leader = threadIdx.x == 0;
  TileLoadLedger seen;  // what only the leader sees counts only in the leader's

  poison_window(window, row.window_bytes, row.payload);
  if (leader) {
    start_barrier(&promised);
    start_barrier(&copied);
    start_barrier(&metered);
  }
  // Nobody waits on a barrier before its init, and nothing is copied before all poison is fenced.
  __syncthreads();

  if (leader) {
    seen.announced = announced_bytes(row, &promised);
    seen.complete_before_issue = ptx::mbarrier_test_wait_parity(&copied, 0);
    announce_and_issue<kRank>(&map, row, window, &copied, row.tile_bytes);
  }
  seen.complete = hand_out(row, window, &copied, 0, seen);
  // Phase 1 means nothing while phase 0 is open; the meter has a barrier of its own.
  if (seen.complete) {
    if (leader) {
      seen.next_complete_early = ptx::mbarrier_test_wait_parity(&copied, 1);
      announce_and_issue<kRank>(&map, row, window, &copied, row.tile_bytes);
    }
    seen.next_complete = hand_out(row, window, &copied, 1, seen);
  }
  const bool can_go_on = leader && meter<kRank>(&map, row, window, &metered, seen);
  // The others wait here while the leader counts. An open phase would only cost each of them a
  // wait.
  if (__syncthreads_or(leader && seen.meter_ended)) (void)hand_out(row, window, &metered, 0, seen);
  if (__syncthreads_or(can_go_on)) {
    if (leader) {
      seen.metered_next_early = ptx::mbarrier_test_wait_parity(&metered, 1);
      announce_and_issue<kRank>(&map, row, window, &metered, row.tile_bytes);
    }
    seen.metered_next_lost = !hand_out(row, window, &metered, 1, seen);
  }
  if (!leader) return;

  if (seen.announced == row.tile_bytes && seen.complete && seen.next_complete && can_go_on &&
      !seen.metered_next_lost) {
    // The next block on this SM finds plain memory instead of live barriers.
    mbarrier_inval(&promised);
    mbarrier_inval(&copied);
    mbarrier_inval(&metered);
  }
  hand_in(seen, row.launch, row.ledger);
}

template <std::uint32_t kRank>
__global__ void timed_tile_load(const __grid_constant__ CUtensorMap map,
                                const __grid_constant__ TileLoadLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t copied;
  std::uint8_t* const window = window_in(dynamic_memory);
  start_barrier(&copied);
  TileLoadLedger seen;
  seen.complete = 1;
  for (std::uint32_t i = 0; i < row.copies && seen.complete; ++i) {
    announce_and_issue<kRank>(&map, row, window, &copied, row.tile_bytes);
    seen.complete = wait_bounded(&copied, i % 2, kMustCompleteNs).complete;
  }
  // The block may not end under a copy in flight: it would write into whoever comes next.
  if (!seen.complete) quiesce(kSettleNs);
  hand_in(seen, row.launch, row.ledger);
}

using Kernel = void (*)(CUtensorMap, TileLoadLaunch);

constexpr Kernel kTileLoad[kMaxRank] = {tile_load<1>, tile_load<2>, tile_load<3>, tile_load<4>,
                                        tile_load<5>};
constexpr Kernel kTimedTileLoad[kMaxRank] = {timed_tile_load<1>, timed_tile_load<2>,
                                             timed_tile_load<3>, timed_tile_load<4>,
                                             timed_tile_load<5>};

}  // namespace

std::uint32_t prepare_tile_load() {
  const void* kernels[2 * kMaxRank];
  for (std::uint32_t i = 0; i < kMaxRank; ++i) {
    kernels[i] = reinterpret_cast<const void*>(kTileLoad[i]);
    kernels[kMaxRank + i] = reinterpret_cast<const void*>(kTimedTileLoad[i]);
  }
  return (allow_all_shared_memory(kernels) - kWindowAlignment) / 16 * 16;
}

void launch_fill_source(const TileLoad& load, std::byte* source, cudaStream_t stream) {
  constexpr std::uint32_t kFillThreads = 256;
  constexpr std::uint64_t kMostBlocks = 1056;  // eight a SM of an H200; the loop does the rest
  const std::uint64_t chunks = source_allocation_bytes(load) / 16;
  const std::uint64_t blocks = std::min((chunks + kFillThreads - 1) / kFillThreads, kMostBlocks);
  fill_source<<<static_cast<std::uint32_t>(blocks), kFillThreads, 0, stream>>>(
      load, reinterpret_cast<uint4*>(source), chunks);
  cuda_check(cudaGetLastError(), "launch the source fill");
}

void launch_tile_load(std::uint32_t rank, const CUtensorMap& map, const TileLoadLaunch& row,
                      cudaStream_t stream) {
  kTileLoad[rank - 1]<<<1, kThreads, dynamic_bytes(row.window_bytes), stream>>>(map, row);
  cuda_check(cudaGetLastError(), "launch the tile load");
}

void launch_timed_tile_load(std::uint32_t rank, const CUtensorMap& map, const TileLoadLaunch& row,
                            cudaStream_t stream) {
  kTimedTileLoad[rank - 1]<<<1, 1, dynamic_bytes(row.window_bytes), stream>>>(map, row);
  cuda_check(cudaGetLastError(), "launch the timed tile load");
}

}  // namespace tidemark::kernels
