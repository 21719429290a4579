// The kernels of a tile load: fill the source, run one row by the steps of
// kernels/ops/tile_load.hpp, time copies.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/tile_load_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kThreads = 512;
constexpr std::uint64_t kMustNotCompleteNs = 100'000;

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
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                            window + kGuardBytes + row.destination_offset, map, at, barrier);
}

/// Step 4: a second, exact copy in phase 1. Surplus or missing credit of the first shows here.
template <std::uint32_t kRank>
__device__ void copy_again(const CUtensorMap* map, const TileLoadLaunch& row, std::uint8_t* window,
                           std::uint64_t* barrier, TileLoadLedger& seen) {
  seen.next_complete_early = ptx::mbarrier_test_wait_parity(barrier, 1);
  announce_and_issue<kRank>(map, row, window, barrier, row.tile_bytes);
  seen.next_complete = wait_bounded(barrier, 1, kMustCompleteNs).complete;
  // The meter's copy goes to the same bytes, and the block may not end under a copy in flight.
  if (!seen.next_complete) quiesce(kSettleNs);
}

/// Step 5, the byte meter: announce more than the copy can credit, let it land, then take away
/// single bytes until the phase completes. What was not taken away is what the copy credited.
template <std::uint32_t kRank>
__device__ void meter(const CUtensorMap* map, const TileLoadLaunch& row, std::uint8_t* window,
                      std::uint64_t* barrier, TileLoadLedger& seen) {
  const std::uint32_t announced = row.tile_bytes + kMeterSlack;
  announce_and_issue<kRank>(map, row, window, barrier, announced);
  bool complete = wait_bounded(barrier, 0, kMustNotCompleteNs).complete;
  std::uint32_t steps = 0;
  while (!complete && steps < announced) {
    mbarrier_complete_tx(barrier, 1);
    ++steps;
    complete = ptx::mbarrier_test_wait_parity(barrier, 0);
  }
  seen.meter_ended = complete;
  seen.credited = announced - steps;
  // Credit that is missing may be a copy that is still on its way into this block's memory.
  if (seen.credited != row.tile_bytes) quiesce(kSettleNs);
}

template <std::uint32_t kRank>
__global__ void __launch_bounds__(kThreads, 1)
    tile_load(const __grid_constant__ CUtensorMap map, const __grid_constant__ TileLoadLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t copied;   // phases 0 and 1: steps 2 and 4
  __shared__ std::uint64_t metered;  // step 5
  std::uint8_t* const window = window_in(dynamic_memory);
  const bool leader = threadIdx.x == 0;
  TileLoadLedger seen;

  poison_window(window, row.window_bytes, row.payload);
  if (leader) {
    start_barrier(&copied);
    start_barrier(&metered);
  }
  // Nobody waits on a barrier before its init, and nothing is copied before all poison is fenced.
  __syncthreads();

  if (leader) {
    seen.announced = row.tile_bytes;
    seen.complete_before_issue = ptx::mbarrier_test_wait_parity(&copied, 0);
    announce_and_issue<kRank>(&map, row, window, &copied, row.tile_bytes);
  }
  // Every reader waits itself: only the completion that a thread observes orders the copy's writes
  // before that thread's reads.
  const WaitResult first = wait_bounded(&copied, 0, kMustCompleteNs);
  if (!first.complete) quiesce(kSettleNs);
  copy_window_out(window, row.window_bytes, row.window);
  // The next copy overwrites the window: unsynchronised, slow readers would read it.
  __syncthreads();
  if (!leader) return;

  seen.complete = first.complete;
  seen.waited_ns = first.waited_ns;
  // Phase 1 means nothing while phase 0 is open; the meter has a barrier of its own.
  if (first.complete) copy_again<kRank>(&map, row, window, &copied, seen);
  meter<kRank>(&map, row, window, &metered, seen);
  if (seen.complete && seen.next_complete && seen.meter_ended) {
    // The next block on this SM finds plain memory instead of live barriers.
    mbarrier_inval(&copied);
    mbarrier_inval(&metered);
  }
  seen.launch = row.launch;
  *row.ledger = seen;
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
  seen.launch = row.launch;
  *row.ledger = seen;
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

}  // namespace tidemark
