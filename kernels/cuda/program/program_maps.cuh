// Tensor maps that a program changes.
#pragma once

#include <cstdint>

#include "kernels/cuda/program/program_copies.cuh"
#include "kernels/cuda/ptx/tensor_copy.cuh"

namespace tidemark {

/// Everything in which the step's map differs from the one that it is made of.
template <class Space>
__device__ inline void replace_fields(Space space, void* map, const Cta& cta, const Step& step) {
  const Map& to = cta.task.specs[step.map];
  const Map* const from = to.from == kZeroed ? nullptr : &cta.task.specs[to.from];
  const auto address = [&](const Map& of) {
    return cta.task.regions[of.region] + kGuardBytes + of.spec.base_offset;
  };
  if (from == nullptr || address(*from) != address(to))
    ptx::tensormap_replace_global_address(space, map, address(to));
  replace_spec(space, map, from == nullptr ? nullptr : &from->spec, to.spec);
}

/// By the warp of the step's thread.
__device__ inline void replace(const Cta& cta, const Step& step) {
  CUtensorMap* const map = &cta.task.maps[cta.places[step.map]];
  const bool edits = threadIdx.x == step.thread;
  if (step.in_place) {
    if (!edits) return;
    replace_fields(ptx::space_global, map, cta, step);
    // Without it a CTA that acquires the map may find it as it was, or in parts.
    with_scope(step.scope,
               [](auto scope) { ptx::fence_proxy_tensormap_generic(ptx::sem_release, scope); });
    return;
  }
  static_assert(sizeof(CUtensorMap) == 32 * sizeof(std::uint32_t));
  reinterpret_cast<std::uint32_t*>(&cta.state.edited)[threadIdx.x % 32] =
      reinterpret_cast<const std::uint32_t*>(map)[threadIdx.x % 32];
  __syncwarp();  // else fields are replaced in words that other lanes have not copied yet
  if (edits) replace_fields(ptx::space_shared, &cta.state.edited, cta, step);
  __syncwarp();  // else the warp publishes what its thread has not replaced yet
  with_scope(step.scope, [&](auto scope) {
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, scope, map, &cta.state.edited,
                                 ptx::n32_t<128>{});
  });
}

/// Without it copies of this CTA may go by a map that its SM has read before.
__device__ inline void acquire(const Cta& cta, const Step& step) {
  with_scope(step.scope, [&](auto scope) {
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, scope, map_of(cta, step),
                                       ptx::n32_t<128>{});
  });
}

}  // namespace tidemark
