// Loads: a producer warp draws boxes and issues their copies; groups of warps check what lands.
#pragma once

#include <cooperative_groups.h>

#include "kernels/cuda/stress/stress_box.cuh"

namespace tidemark {

/// Writes to all CTAs of the cluster which round is the last. None is there yet: one a ring ahead
/// of this CTA waits for it.
__device__ inline void end_cluster_with(StressShared& shared, const StressLaunch& launch,
                                        std::uint64_t round) {
  for (std::uint32_t rank = 0; rank < launch.cluster; ++rank)
    *static_cast<volatile std::uint64_t*>(
        cooperative_groups::this_cluster().map_shared_rank(&shared.end, rank)) = round;
  // Without it a box that is expected from here on may be seen before the round is.
  ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
}

/// The lanes draw a box each, and the first one issues them, until time is up or a box was lost.
/// Then a `last` for each group.
template <StressMode kMode>
__device__ void produce(const StressLaunch& launch, StressShared& shared, std::uint8_t* window,
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
      if (!wait_for_box<kScope>(&shared.empty[slot], parity)) {
        late = true;
        break;
      }
      const DrawnBox& next = shared.drawn[(base + i) % kDrawn];
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

/// Gives the slot back: to all CTAs that fill it.
template <StressMode kMode>
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
template <StressMode kMode>
__device__ void consume(const StressLaunch& launch, StressShared& shared, std::uint8_t* window) {
  constexpr auto kScope = kMode.clusters ? ptx::dot_scope::cluster : ptx::dot_scope::cta;
  const std::uint32_t group = threadIdx.x / kGroupThreads, lane = threadIdx.x % kGroupThreads;
  std::uint32_t slot = group, parity = 0;
  std::uint64_t iteration = group, bytes = 0;
  for (;; iteration += kGroups) {
    // Together: lanes that saw the box would else wait for those that did not.
    if (!__all_sync(~0U, wait_for_box<kScope>(&shared.full[slot], parity))) {
      // Behind a lost box others wait for boxes that were never issued.
      if (lane % kWarp == 0 && iteration < now(shared.issued)) note_lost(launch, shared, iteration);
      break;
    }
    const DrawnBox& drawn = shared.drawn[iteration % kDrawn];
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

}  // namespace tidemark
