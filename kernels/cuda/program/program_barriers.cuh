// What a CTA of a program has, and what steps do on its barriers.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/program/program_kernel.hpp"
#include "kernels/cuda/ptx/barriers.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark {

namespace ptx = cuda::ptx;

/// What a CTA keeps in shared memory beside its window.
struct CtaState {
  std::uint64_t barriers[kProgramBarriers];
  std::uint8_t current[kProgramBarriers];  // parity of the phase that each barrier is in
  bool stopped;
  std::uint32_t missing;
  std::uint32_t stopped_at;  // step
  alignas(128) CUtensorMap edited;
};

/// What every step works on.
struct Cta {
  const ProgramTask& task;
  const CUtensorMap* maps;     // of this program
  const std::uint8_t* ranks;   // of its maps
  const std::uint8_t* places;  // of its maps in global memory
  std::uint8_t* window;
  CtaState& state;
  std::uint32_t rank;  // in the cluster
  std::uint32_t ctas;  // of the cluster
};

/// Every thread of every CTA of the cluster. Release and acquire: what was written to shared memory
/// before is seen behind it, in all of them.
__device__ inline void synchronise_cluster() {
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

__device__ inline std::uint32_t parity_of(const Cta& cta, const Step& step) {
  if (step.parity == kCurrentPhase) return cta.state.current[step.barrier];
  if (step.parity == kLastPhase) return cta.state.current[step.barrier] ^ 1U;
  return step.parity;
}

/// The barrier in the shared memory of another CTA of the cluster.
__device__ inline std::uint64_t* remote(const Cta& cta, const Step& step) {
  return cooperative_groups::this_cluster().map_shared_rank(&cta.state.barriers[step.barrier],
                                                            step.of);
}

__device__ inline bool is_remote(const Step& step) { return step.of != kOwnCta; }

__device__ inline void init(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  ptx::mbarrier_init(barrier, step.count);
  // A copy's complete_tx is an access at cluster scope: unfenced it may find the memory as it was
  // before the init, which may be the plain word of a life before.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  // And it comes through the async proxy, which sees an ordinary write only behind this fence.
  ptx::fence_proxy_async(ptx::space_shared);
  cta.state.current[step.barrier] = 0;
}

__device__ inline void arrive(const Cta& cta, const Step& step) {
  // The remote forms return no state.
  if (is_remote(step))
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                         remote(cta, step));
  else
    (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                               &cta.state.barriers[step.barrier]);
}

__device__ inline void arrive_drop(const Cta& cta, const Step& step) {
  if (is_remote(step))
    mbarrier_arrive_drop_remote(remote(cta, step));
  else
    mbarrier_arrive_drop(&cta.state.barriers[step.barrier]);
}

__device__ inline std::uint64_t arrive_token(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  const std::uint64_t token = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta,
                                                   ptx::space_shared, barrier, step.count);
  return ptx::mbarrier_test_wait(barrier, token) ? 1 : 0;
}

__device__ inline std::uint64_t pending_count(const Cta& cta, const Step& step) {
  return mbarrier_pending_count(
      ptx::mbarrier_arrive_no_complete(&cta.state.barriers[step.barrier], step.count));
}

__device__ inline void expect_tx(const Cta& cta, const Step& step) {
  if (is_remote(step))
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster,
                            remote(cta, step), step.bytes);
  else
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared,
                            &cta.state.barriers[step.barrier], step.bytes);
}

__device__ inline void arrive_expect_tx(const Cta& cta, const Step& step) {
  if (is_remote(step))
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                   remote(cta, step), step.bytes);
  else
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &cta.state.barriers[step.barrier], step.bytes);
}

/// The fused steps of Verb::meter.
__device__ inline std::uint64_t meter(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  const std::uint32_t parity = parity_of(cta, step);
  const bool complete = ptx::mbarrier_test_wait_parity(barrier, parity);
  const std::uint32_t phase = complete ? parity ^ 1U : parity;
  for (std::uint32_t i = complete ? step.count : step.pending; i > 0; --i)
    (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier);
  bool settled = ptx::mbarrier_test_wait_parity(barrier, phase);
  std::int32_t residue = 0;
  if (!settled) {
    if (step.bytes > 0)
      ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, barrier,
                              step.bytes);
    if (step.stride > 0) mbarrier_complete_tx(barrier, step.stride);
    std::uint32_t taken = 0;
    settled = ptx::mbarrier_test_wait_parity(barrier, phase);
    while (!settled && taken < step.most) {
      mbarrier_complete_tx(barrier, 1);
      ++taken;
      settled = ptx::mbarrier_test_wait_parity(barrier, phase);
    }
    residue =
        static_cast<std::int32_t>(step.stride + taken) - static_cast<std::int32_t>(step.bytes);
  }
  if (settled)
    cta.state.current[step.barrier] = static_cast<std::uint8_t>(phase ^ 1U);
  else
    cta.state.stopped = true;
  return meter_trace(complete, settled, residue);
}

}  // namespace tidemark
