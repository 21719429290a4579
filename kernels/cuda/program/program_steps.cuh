// What each step of a program does on a GPU. kernels/ops/program/program.hpp says what it is to do.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/cuda/program/program_async.cuh"
#include "kernels/cuda/program/program_copies.cuh"
#include "kernels/cuda/program/program_maps.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {

/// Numbers of groups that may be pending behind a wait: the instructions take a constant.
using Pending = std::make_integer_sequence<std::uint32_t, kGroupsPending + 1>;

template <std::uint32_t... kPending>
__device__ inline void wait_until_complete(std::uint32_t pending,
                                           std::integer_sequence<std::uint32_t, kPending...>) {
  ((pending == kPending ? ptx::cp_async_bulk_wait_group(ptx::n32_t<kPending>{}) : void()), ...);
}

template <std::uint32_t... kPending>
__device__ inline void wait_until_read(std::uint32_t pending,
                                       std::integer_sequence<std::uint32_t, kPending...>) {
  ((pending == kPending ? ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kPending>{}) : void()),
   ...);
}

/// The wait has made the writes of the async proxy visible to this thread: no fence is promised to
/// be needed between it and an ordinary load.
__device__ inline std::uint64_t wait_group(const Cta& cta, const Step& step) {
  wait_until_complete(step.pending, Pending{});
  if (step.region == kNoRegion) return 0;
  return *reinterpret_cast<const std::uint64_t*>(cta.task.regions[step.region] + step.word);
}

/// Volatile (ld.cv): an ordinary load would leave a line in L1 that is old when the thread that
/// waits for the stores reads it.
__device__ inline std::uint64_t look(const Cta& cta, const Step& step) {
  if (step.region == kNoRegion) return 0;
  return __ldcv(
      reinterpret_cast<const unsigned long long*>(cta.task.regions[step.region] + step.word));
}

/// All threads. Every reader waits itself: only the completion that a thread observes orders the
/// copy's writes before that thread's reads.
__device__ inline std::uint64_t wait(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  const std::uint32_t parity = parity_of(cta, step);
  const WaitResult waited = cta.ctas == 1 ? wait_bounded(barrier, parity, step.ns)
                                          : wait_bounded<ptx::dot_scope::cluster>(
                                                barrier, parity, step.ns);  // others may arrive
  const bool complete = __syncthreads_and(waited.complete) != 0;
  if (threadIdx.x == 0) {
    if (complete) cta.state.current[step.barrier] = static_cast<std::uint8_t>(parity ^ 1U);
    if (!complete && step.stops) cta.state.stopped = true;
  }
  return complete ? 1 : 0;
}

/// The 16 bytes of poison at `at` of this CTA's window.
__device__ inline uint4 poison_at(const Cta& cta, std::uint32_t at) {
  const Payload& payload = cta.task.payload;
  const std::uint32_t twist = 0x01010101U * poison_twist(cta.rank);
  return make_uint4(poison_word(payload, at) ^ twist, poison_word(payload, at + 4) ^ twist,
                    poison_word(payload, at + 8) ^ twist, poison_word(payload, at + 12) ^ twist);
}

__device__ inline void poison(const Cta& cta, const Step& step) {
  const std::uint32_t end = step.offset + step.bytes;
  for (std::uint32_t at = step.offset + 16 * threadIdx.x; at < end; at += 16 * blockDim.x)
    *reinterpret_cast<uint4*>(cta.window + at) = poison_at(cta, at);
  // Each thread fences its own stores: without that a poison store may land on top of a copy, which
  // comes through the async proxy.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// All threads fill this part of the window with source words, or with their complement.
__device__ inline void fill(const Cta& cta, const Step& step, std::uint32_t flip) {
  const DataType type = cta.task.specs[step.map].spec.type;
  const auto word = [&](std::uint32_t at) {
    return source_element_word(cta.task.payload, type, at / 4) ^ flip;
  };
  const std::uint32_t end = step.offset + step.bytes;
  for (std::uint32_t at = step.offset + 16 * threadIdx.x; at < end; at += 16 * blockDim.x)
    *reinterpret_cast<uint4*>(cta.window + at) =
        make_uint4(word(at), word(at + 4), word(at + 8), word(at + 12));
  // Each thread fences its own writes: without that a store, which reads through the async proxy,
  // may find what was there before.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Byte of the window where byte `linear` of the step's tile stands. PTX ISA 9.0, 5.5.7: of the
/// address, 16-byte piece and 128-byte row are exclusive-ored.
__device__ inline std::uint32_t place_of(const TensorMapSpec& map, const Step& step,
                                         std::uint32_t linear) {
  const std::uint32_t plain = step.offset + linear;
  if (map.swizzle == Swizzle::none) return plain;
  return plain ^ ((plain >> 7 & (swizzle_bytes(map.swizzle) / 16 - 1)) << 4);
}

__device__ inline void add(const Cta& cta, const Step& step) {
  const TensorMapSpec& map = cta.task.specs[step.map].spec;
  for (std::uint32_t i = threadIdx.x; i < tile_bytes(map) / 4; i += blockDim.x) {
    const std::uint32_t amount = step.count + i * step.stride;
    std::uint8_t* const element = cta.window + place_of(map, step, 4 * i);
    if (map.type == DataType::f32)
      *reinterpret_cast<float*>(element) += static_cast<float>(amount);
    else
      *reinterpret_cast<std::uint32_t*>(element) += amount;
  }
  // Each thread fences its own accesses: without that a store, which reads through the async proxy,
  // may take the bytes of before, and a load may be overtaken by them.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Byte by byte, so that it serves every element size.
__device__ inline void copy(const Cta& cta, const Step& step) {
  const Map& from = cta.task.specs[step.map];
  const TensorMapSpec& map = from.spec;
  const std::uint32_t size = element_bytes(map.type);
  for (std::uint32_t byte = threadIdx.x; byte < tile_bytes(map); byte += blockDim.x) {
    std::uint32_t rest = byte / size;
    std::int64_t offset = kGuardBytes + map.base_offset + byte % size;
    bool inside = true;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      const std::uint32_t x = rest % tile_extent(map, i);
      rest /= tile_extent(map, i);
      const std::int64_t at = step.at[i] + std::int64_t{x} * (i == 0 ? 1 : map.element_stride[i]);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.extent[i]);
      offset += at * (i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]));
    }
    cta.window[place_of(map, step, byte)] =
        inside ? cta.task.regions[from.region][offset] : std::uint8_t{0};
  }
  // As behind add().
  ptx::fence_proxy_async(ptx::space_shared);
}

/// One thread waits, all overwrite at once what its groups have read.
__device__ inline void wait_group_read(const Cta& cta, const Step& step) {
  if (threadIdx.x == step.thread) wait_until_read(step.pending, Pending{});
  // Groups belong to the thread that committed them: the others know of its wait only by this.
  __syncthreads();
  fill(cta, step, ~0U);
}

/// All threads. The copy may still be writing: what is read here is told, and judged by nobody.
__device__ inline std::uint64_t missing(const Cta& cta, const Step& step) {
  if (threadIdx.x == 0) cta.state.missing = 0;
  __syncthreads();  // else a thread may count before the first has set it back
  const std::uint32_t end = step.offset + step.bytes;
  std::uint32_t found = 0;
  for (std::uint32_t at = step.offset + 16 * threadIdx.x; at < end; at += 16 * blockDim.x) {
    const uint4 piece = *reinterpret_cast<const uint4*>(cta.window + at);
    const uint4 poison = poison_at(cta, at);
    if (piece.x == poison.x && piece.y == poison.y && piece.z == poison.z && piece.w == poison.w)
      ++found;
  }
  if (found != 0) atomicAdd(&cta.state.missing, found);
  __syncthreads();
  return cta.state.missing;
}

/// What one thread does of a step. Returns its trace.
__device__ inline std::uint64_t take_alone(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  switch (step.verb) {
    case Verb::init:
      init(cta, step);
      return 0;
    case Verb::inval:
      mbarrier_inval(barrier);
      return 0;
    case Verb::expect_tx:
      expect_tx(cta, step);
      return 0;
    case Verb::arrive_expect_tx:
      arrive_expect_tx(cta, step);
      return 0;
    case Verb::complete_tx:
      mbarrier_complete_tx(barrier, step.bytes);
      return 0;
    case Verb::test:
      return ptx::mbarrier_test_wait_parity(barrier, parity_of(cta, step)) ? 1 : 0;
    case Verb::meter:
      return meter(cta, step);
    case Verb::load:
      load(cta, step);
      return 0;
    case Verb::send:
      send(cta, step);
      return 0;
    case Verb::st_async:
      st_async(cta, step);
      return 0;
    case Verb::prefetch:
      prefetch(cta, step);
      return 0;
    case Verb::store:
      store(cta, step);
      return 0;
    case Verb::commit:
      ptx::cp_async_bulk_commit_group();
      return 0;
    case Verb::wait_group:
      return wait_group(cta, step);
    case Verb::acquire:
      acquire(cta, step);
      return 0;
    case Verb::look:
      return look(cta, step);
    case Verb::delay:
      quiesce(step.ns);
      return 0;
    case Verb::write:
      *static_cast<volatile std::uint64_t*>(barrier) = step.word;
      return 0;
    case Verb::read:
      return *static_cast<volatile std::uint64_t*>(barrier);
    default:
      return 0;
  }
}

/// One step by all threads of a CTA that takes it.
__device__ inline void take(const Cta& cta, const Step& step, std::uint64_t* trace,
                            std::uint8_t* snapshot) {
  switch (step.verb) {
    case Verb::cluster_sync:
      synchronise_cluster();
      return;
    case Verb::snapshot:
      copy_window_out(cta.window, cta.task.window, snapshot);
      return;
    case Verb::arrive:
      if (threadIdx.x >= step.thread && threadIdx.x < step.thread + step.count) arrive(cta, step);
      return;
    case Verb::red_async:
      if (threadIdx.x >= step.thread && threadIdx.x < step.thread + step.count)
        red_async(cta, step);
      return;
    case Verb::wait: {
      const std::uint64_t seen = wait(cta, step);
      if (threadIdx.x == 0) *trace = seen;
      return;
    }
    case Verb::wait_group_read:
      wait_group_read(cta, step);
      return;
    case Verb::replace:
      if (threadIdx.x / 32 == step.thread / 32U) replace(cta, step);
      return;
    case Verb::fill:
      fill(cta, step, 0);
      return;
    case Verb::add:
      add(cta, step);
      return;
    case Verb::copy:
      copy(cta, step);
      return;
    case Verb::poison:
      poison(cta, step);
      return;
    case Verb::missing: {
      const std::uint64_t seen = missing(cta, step);
      if (threadIdx.x == 0) *trace = seen;
      return;
    }
    default:
      if (threadIdx.x == step.thread) *trace = take_alone(cta, step);
  }
}

}  // namespace tidemark::kernels
