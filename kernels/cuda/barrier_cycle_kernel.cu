// The kernel of a barrier cycle: the steps of kernels/ops/barrier_cycle.hpp.
#include "kernels/cuda/barrier_cycle_kernel.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/tensor_copy.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint64_t kLandNs = 20'000;  // a box takes a microsecond or two

__global__ void fill_cycle(const __grid_constant__ BarrierCycleLaunch row) {
  const std::uint64_t words = cycle_source_bytes(row.cycle) / 8;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    reinterpret_cast<std::uint64_t*>(row.source)[i] = source_word(row.cycle.payload, i);
}

/// The barrier's memory, which is a barrier in one life and plain data between two.
__device__ void start_life(std::uint64_t* barrier, std::uint32_t count) {
  ptx::mbarrier_init(barrier, count);
  // The copy's complete_tx is an access at cluster scope: unfenced it may find the memory as it was
  // before the init, which is the plain word of the life before.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  // And it comes through the async proxy, which sees an ordinary write only behind this fence.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Step 2, by the one thread that issues.
__device__ void announce_and_issue(const BarrierCycle& cycle, const CUtensorMap* map,
                                   std::uint32_t phase, std::uint8_t* window,
                                   std::uint64_t* barrier) {
  std::int32_t at[kMaxRank];
  for (std::uint32_t i = 0; i < kMaxRank; ++i)
    at[i] = cycle.at[i] + static_cast<std::int32_t>(phase) * cycle.step[i];
  if (cycle.copy_first) {
    load_box(cycle.map.rank, map, at, window + kGuardBytes, barrier);
    quiesce(kLandNs);  // until then the tx-count is most likely below zero
  }
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       tile_bytes(cycle.map));
  if (!cycle.copy_first) load_box(cycle.map.rank, map, at, window + kGuardBytes, barrier);
}

/// One phase, all threads together; true where it completed for all of them.
__device__ bool run_phase(const BarrierCycleLaunch& row, const CUtensorMap* map,
                          std::uint32_t phase, std::uint32_t count, std::uint32_t parity,
                          std::uint8_t* window, std::uint64_t* barrier, std::uint8_t& seen) {
  const bool issuer = threadIdx.x == 0;
  poison_window(window, cycle_window_bytes(row.cycle), row.cycle.payload);
  // The poison of all threads is fenced, and the barrier is initialised, before the copy is issued.
  __syncthreads();
  if (issuer) {
    seen = ptx::mbarrier_test_wait_parity(barrier, parity) ? kSeenEarly : 0;
    announce_and_issue(row.cycle, map, phase, window, barrier);
  } else if (threadIdx.x + 1 < count) {
    (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier);
  }
  if (count > 1) {
    // All arrivals but the last are in when the issuer looks, and the last comes only behind that.
    __syncthreads();
    if (issuer && wait_bounded(barrier, parity, kLandNs).complete) seen |= kSeenBeforeLast;
    __syncthreads();
    if (threadIdx.x + 1 == count)
      (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier);
  }
  // Every reader waits itself: only the completion that a thread observes orders the copy's writes
  // before that thread's reads.
  const WaitResult wait = wait_bounded(barrier, parity, kMustCompleteNs);
  // All threads go on or stop together.
  const bool complete = __syncthreads_and(wait.complete) != 0;
  if (complete && issuer) seen |= kSeenComplete;
  if (!complete) quiesce(kSettleNs);
  copy_window_out(window, cycle_window_bytes(row.cycle),
                  row.windows + std::uint64_t{phase} * cycle_window_bytes(row.cycle));
  // The next phase poisons the window, and the end of a life takes the barrier away:
  // unsynchronised, slow threads would still read the one or wait on the other.
  __syncthreads();
  return complete;
}

__global__ void __launch_bounds__(kCycleThreads, 1)
    barrier_cycle(const __grid_constant__ CUtensorMap map,
                  const __grid_constant__ BarrierCycleLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t barrier;
  std::uint8_t* const window = window_in(dynamic_memory);
  const BarrierCycle& cycle = row.cycle;
  const bool issuer = threadIdx.x == 0;
  std::uint32_t phase = 0;
  bool complete = true;
  for (std::uint32_t life = 0; life < cycle.life_count && complete; ++life) {
    const std::uint32_t count = cycle.lives[life].count;
    if (issuer) start_life(&barrier, count);
    for (std::uint32_t i = 0; i < cycle.lives[life].phases && complete; ++i) {
      std::uint8_t seen = 0;
      complete = run_phase(row, &map, phase, count, i & 1U, window, &barrier, seen);
      if (issuer) row.ledger->phases[phase] = seen;
      ++phase;
    }
    if (!complete) break;
    if (issuer) {
      mbarrier_inval(&barrier);
      *static_cast<volatile std::uint64_t*>(&barrier) = cycle_plain_word(cycle, life);
    }
    __syncthreads();
    if (threadIdx.x == kCycleThreads - 1)
      row.ledger->words[life] = *static_cast<volatile std::uint64_t*>(&barrier);
    // The word is read before the next life overwrites it.
    __syncthreads();
  }
  if (!issuer) return;
  row.ledger->begun = phase;
  row.ledger->launch = row.launch;
}

}  // namespace

std::uint32_t prepare_barrier_cycle() {
  int device = 0;
  int per_block = 0;
  cudaFuncAttributes attributes{};
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  cuda_check(cudaFuncGetAttributes(&attributes, barrier_cycle), "load the barrier cycle kernel");
  const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
  cuda_check(
      cudaFuncSetAttribute(barrier_cycle, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
      "allow a barrier cycle all shared memory");
  return (static_cast<std::uint32_t>(dynamic) - kWindowAlignment) / 16 * 16;
}

void launch_fill_cycle(const BarrierCycleLaunch& row, cudaStream_t stream) {
  constexpr std::uint32_t kBlocks = 132, kFillThreads = 256;
  fill_cycle<<<kBlocks, kFillThreads, 0, stream>>>(row);
  cuda_check(cudaGetLastError(), "launch the fill of a barrier cycle");
}

void launch_barrier_cycle(const CUtensorMap& map, const BarrierCycleLaunch& row,
                          cudaStream_t stream) {
  barrier_cycle<<<1, kCycleThreads, dynamic_bytes(cycle_window_bytes(row.cycle)), stream>>>(map,
                                                                                            row);
  cuda_check(cudaGetLastError(), "launch the barrier cycle");
}

}  // namespace tidemark::kernels
