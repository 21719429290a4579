// The kernel that carries out programs: each cluster walks the steps of one. It observes and never
// judges.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/program/program_kernel.hpp"
#include "kernels/cuda/program/program_steps.cuh"

namespace tidemark {
namespace {

/// Says that this CTA has come to the end of its program.
__device__ void hand_in_end(const Cta& cta, std::uint32_t launch) {
  cta.task.ends[cta.rank] = {
      .launch = launch, .sm = ptx::get_sreg_smid(), .stopped_at = cta.state.stopped_at};
}

/// The steps behind Verb::leave, by the one thread that is left: nothing comes between them, and
/// nothing behind.
__device__ void take_rest(const Cta& cta, std::uint32_t next) {
  for (std::uint32_t i = next; i < cta.task.step_count; ++i) {
    const Step& step = cta.task.steps[i];
    if (step.verb == Verb::store) store(cta, step);
    if (step.verb == Verb::commit) ptx::cp_async_bulk_commit_group();
    if (step.verb == Verb::wait_group_read) wait_until_read(step.pending, Pending{});
  }
}

/// False where the CTA has left: its end is said already.
__device__ bool walk(const Cta& cta, std::uint32_t launch) {
  std::uint8_t* snapshots = cta.task.snapshots;
  for (std::uint32_t i = 0; i < cta.task.step_count; ++i) {
    const Step& step = cta.task.steps[i];
    const bool stopped = cta.state.stopped;
    if (step.verb == Verb::leave) {
      if (threadIdx.x == 0) hand_in_end(cta, launch);
      if (threadIdx.x == step.thread && !stopped) take_rest(cta, i + 1);
      return false;
    }
    // Every thread has read `stopped` before this step may change it.
    __syncthreads();
    const std::uint32_t before = __popc(step.ctas & ((1U << cta.rank) - 1));
    if (takes(step, cta.rank) && (!stopped || is_taken_when_stopped(step.verb))) {
      Verbs::take(cta, step, &cta.task.trace[std::size_t{i} * cta.ctas + cta.rank]);
      if (step.verb == Verb::snapshot)
        copy_window_out(cta.window, cta.task.window,
                        snapshots + std::size_t{before} * cta.task.window);
    }
    if (step.verb == Verb::snapshot) snapshots += std::size_t(__popc(step.ctas)) * cta.task.window;
    // Steps begin one after the other: nobody starts on the next, which may read what this one
    // wrote, before all have ended this one.
    __syncthreads();
    if (stopped || !cta.state.stopped) continue;
    if (threadIdx.x == 0) {
      cta.state.stopped_at = i;
      quiesce(kSettleNs);  // copies whose completion nobody saw may still be landing
    }
  }
  return true;
}

__global__ void __launch_bounds__(kProgramThreads, 1)
    run_programs(const __grid_constant__ LaunchMaps maps, const ProgramTask* tasks,
                 const std::uint32_t launch) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ CtaState state;
  // Clusters stand side by side along x.
  const ProgramTask& task = tasks[blockIdx.x / ptx::get_sreg_cluster_nctaid_x()];
  const std::uint32_t ctas = ptx::get_sreg_cluster_nctarank();
  const Cta cta{.task = task,
                .maps = &maps.maps[task.first_map],
                .ranks = &maps.ranks[task.first_map],
                .places = &maps.places[task.first_map],
                .window = window_in(dynamic_memory),
                .state = state,
                .rank = ptx::get_sreg_cluster_ctarank(),
                .ctas = ctas};
  if (threadIdx.x == 0) {
    state.stopped = false;
    state.stopped_at = kNotStopped;
  }
  __syncthreads();  // else a thread may read `stopped` before it is set
  if (!walk(cta, launch)) return;
  // No CTA ends while another may still arrive on its barriers.
  if (ctas > 1) synchronise_cluster();
  if (threadIdx.x == 0) hand_in_end(cta, launch);
}

/// A launch with its cluster dimension, which must outlive the call that takes the configuration.
struct ClusterLaunch {
  cudaLaunchAttribute cluster{};
  cudaLaunchConfig_t config{};
};

void configure(ClusterLaunch& launch, const ProgramGrid& grid, cudaStream_t stream) {
  launch.cluster.id = cudaLaunchAttributeClusterDimension;
  const auto& [x, y, z] = grid.cluster;
  launch.cluster.val.clusterDim.x = x;
  launch.cluster.val.clusterDim.y = y;
  launch.cluster.val.clusterDim.z = z;
  launch.config.gridDim = dim3(grid.programs * x, y, z);
  launch.config.blockDim = dim3(kProgramThreads);
  launch.config.dynamicSmemBytes = dynamic_bytes(grid.window);
  launch.config.stream = stream;
  launch.config.attrs = &launch.cluster;
  launch.config.numAttrs = 1;
}

}  // namespace

const void* program_kernel() { return reinterpret_cast<const void*>(&run_programs); }

std::uint32_t prepare_programs() {
  int device = 0;
  int per_block = 0;
  cudaFuncAttributes attributes{};
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  cuda_check(cudaFuncGetAttributes(&attributes, run_programs), "load the kernel of programs");
  const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
  cuda_check(
      cudaFuncSetAttribute(run_programs, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
      "allow programs all shared memory");
  cuda_check(cudaFuncSetAttribute(run_programs, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
             "allow programs clusters of 16");
  return (static_cast<std::uint32_t>(dynamic) - kWindowAlignment) / 16 * 16;
}

bool launch_programs(const LaunchMaps& maps, const ProgramTask* tasks, const ProgramGrid& grid,
                     cudaStream_t stream) {
  ClusterLaunch launch;
  configure(launch, grid, stream);
  int clusters = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&clusters, run_programs, &launch.config),
             "ask how many clusters fit");
  if (clusters == 0) return false;
  cuda_check(cudaLaunchKernelEx(&launch.config, run_programs, maps, tasks, grid.launch),
             "launch programs");
  return true;
}

}  // namespace tidemark
