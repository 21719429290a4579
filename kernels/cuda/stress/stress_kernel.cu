// One persistent kernel for each mode of a stress.
#include "kernels/cuda/stress/stress_kernel.hpp"

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/stress/stress_load.cuh"
#include "kernels/cuda/stress/stress_write.cuh"

namespace tidemark {
namespace {

/// Multiplies the same operands over and over, until the boxes end: the same sums each time, on all
/// SMs.
__device__ void multiply(const StressLaunch& launch, StressShared& shared,
                         const std::uint8_t* operands, std::uint32_t sm) {
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

template <StressMode kMode>
__device__ void prepare(const StressLaunch& launch, StressShared& shared, std::uint8_t* window) {
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

template <StressMode kMode>
__device__ void sync_all() {
  if constexpr (kMode.clusters) {
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
  } else {
    __syncthreads();
  }
}

// Not of a StressMode: what nvcc calls a kernel by has no name for it.
template <bool kWrites, bool kClusters, bool kProducts>
__global__ void __launch_bounds__(StressMode{kWrites, kClusters, kProducts}.threads(), 1)
    stress(const __grid_constant__ StressLaunch launch) {
  constexpr StressMode kMode{kWrites, kClusters, kProducts};
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ StressShared shared;
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
/// How many CTAs it launched.
template <StressMode kMode>
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

std::array<const void*, 4> stress_kernels() {
  return {reinterpret_cast<const void*>(&stress<false, false, false>),
          reinterpret_cast<const void*>(&stress<false, false, true>),
          reinterpret_cast<const void*>(&stress<false, true, false>),
          reinterpret_cast<const void*>(&stress<true, false, false>)};
}

std::uint32_t launch_stress(const StressLaunch& launch, std::uint32_t sms, bool products,
                            cudaStream_t stream) {
  if (launch.copy == StressCopy::multicast)
    return launch_mode<StressMode{.clusters = true}>(launch, sms, stream);
  if (!is_write(launch.copy))
    return products ? launch_mode<StressMode{.products = true}>(launch, sms, stream)
                    : launch_mode<StressMode{}>(launch, sms, stream);
  return launch_mode<StressMode{.writes = true}>(launch, sms, stream);
}

}  // namespace tidemark
