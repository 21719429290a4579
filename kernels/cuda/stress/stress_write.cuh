// Stores and reductions: each group draws, makes and checks boxes of its own.
#pragma once

#include "kernels/cuda/stress/stress_box.cuh"

namespace tidemark {

/// Writes the words of the box into its slot, by all threads of a group.
__device__ inline void make_box(const StressLaunch& launch, const DrawnBox& drawn,
                                std::uint8_t* slot, std::uint32_t seed, bool negative,
                                std::uint32_t lane) {
  const StressShape shape = launch.shapes[drawn.box.map];
  with_chunks(shape, drawn.box, [&](const auto& words_of) {
#pragma unroll 2
    for (std::uint32_t chunk = lane; chunk < drawn.bytes / 16; chunk += kGroupThreads) {
      std::array<std::uint32_t, 4> words = words_of(seed, chunk);
      if (negative)
        for (std::uint32_t& word : words) word = 0U - word;
      else if (drawn.spoiled == chunk)
        words[2] ^= 0x100;
      *reinterpret_cast<uint4*>(slot + drawn.box.offset + 16 * chunk) =
          make_uint4(words[0], words[1], words[2], words[3]);
    }
  });
}

/// Takes the words of an added box off again, by all threads of a group.
__device__ inline void take_off(const StressLaunch& launch, const DrawnBox& drawn,
                                std::uint32_t lane) {
  const StressShape shape = launch.shapes[drawn.box.map];
  auto* const memory = reinterpret_cast<std::uint32_t*>(launch.memory);
  with_chunks(shape, drawn.box, [&](const auto& words_of) {
    for (std::uint32_t chunk = lane; chunk < drawn.bytes / 16; chunk += kGroupThreads)
      for (const std::uint32_t word : words_of(launch.word_seed, chunk))
        atomicAdd(memory + stress_index(word, launch.word_seed), 0U - word);
  });
}

/// Brings the stored box back and compares it: every other one by a load into `slot`, else as
/// threads read it. False where the load was lost.
__device__ inline bool read_back(const StressLaunch& launch, StressShared& shared,
                                 std::uint8_t* slot, DrawnBox& drawn, Compared compared,
                                 std::uint32_t lane) {
  const std::uint32_t group = threadIdx.x / kGroupThreads;
  const auto number = static_cast<std::uint32_t>(compared.iteration / kGroups);
  drawn.spoiled = kNone;  // which was in what was stored
  // Outside of its tensor no memory is a box's.
  const bool by_threads = number % 2 != 0 && !drawn.box.outside;
  std::uint64_t* const barrier = &shared.full[group];
  if (lane == 0) {
    // All, read or loaded: each other one of a phase.
    expect_box(by_threads ? DrawnBox{} : drawn, barrier);
    if (!by_threads) issue_load(launch, drawn, slot, barrier);
  }
  if (!wait_for_box(barrier, number % 2)) {
    if (lane % kWarp == 0) shared.lost[group] = 1;
  }
  // Behind it a warp that saw the box does not wait for one that did not and has left.
  sync_at_barrier(1 + group, kGroupThreads);
  if (now(shared.lost[group]) != 0) return false;
  if (by_threads)
    check_box<true, 2>(launch, shared, slot, drawn, compared, lane);
  else
    check_box<false, 2>(launch, shared, slot, drawn, compared, lane);
  return true;
}

/// Stores or adds boxes that the group makes, until time is up. Each group has a slot to write from
/// and one to load into.
__device__ inline void write_boxes(const StressLaunch& launch, StressShared& shared,
                                   std::uint8_t* window, std::uint32_t sm) {
  const std::uint32_t group = threadIdx.x / kGroupThreads, lane = threadIdx.x % kGroupThreads;
  const bool adds = launch.copy == StressCopy::reduce;
  std::uint8_t* const from = slot_in(window, group);
  const Began began = begin_now();
  std::uint64_t iteration = group, bytes = 0;
  for (;; iteration += kGroups) {
    const bool again = adds && reduced_iteration(iteration) != iteration;
    if (lane == 0)  // what was added is taken off again in any case
      shared.drawn[group] =
          draw(launch, blockIdx.x, adds ? reduced_iteration(iteration) : iteration, sm,
               !again && is_up(launch, began));
    sync_at_barrier(1 + group, kGroupThreads);
    DrawnBox drawn = shared.drawn[group];
    if (drawn.last) break;
    bytes += drawn.bytes;
    if (again && is_taken_off_by_threads(iteration) && !drawn.box.outside) {
      take_off(launch, drawn, lane);
      continue;
    }
    const std::uint32_t seed = adds ? launch.word_seed : stored_seed(launch.word_seed, iteration);
    make_box(launch, drawn, from, seed, again, lane);
    // Without it the copy may carry off what was in the slot before, or what memory is written with
    // may come in front of the reads of the last box.
    ptx::fence_proxy_async();
    sync_at_barrier(1 + group, kGroupThreads);
    if (lane == 0) {
      issue_write(launch, drawn, from);
      ptx::cp_async_bulk_commit_group();
      // Without it the box is read back before it is stored, or the slot made anew before it is
      // read.
      if (adds)
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
      else
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
    if (!adds && !read_back(launch, shared, slot_in(window, kGroups + group), drawn,
                            {.seed = seed, .iteration = iteration}, lane)) {
      if (lane == 0) note_lost(launch, shared, iteration);
      break;
    }
  }
  if (lane != 0) return;
  // Without it the CTA ends, and its memory is another's, while sums are on their way.
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  note_done(shared, iteration / kGroups, bytes);
}

}  // namespace tidemark
