// What each step of a program does on a GPU. kernels/ops/program/program.hpp says what it is to do.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/cuda/program/program_copies.cuh"
#include "kernels/cuda/program/program_wgmma.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark {

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

__device__ inline void place_rows(const Cta& cta, const Step& step) {
  const TensorMapSpec& map = cta.task.specs[step.map].spec;
  const std::uint32_t columns = columns_of(map);
  for (std::uint32_t i = threadIdx.x; i < map.box[1] * columns; i += blockDim.x) {
    const LaneChunk chunk{.row = i / columns, .column = i % columns};
    const std::uint32_t from = step.offset + chunk_offset(map, 0, chunk);
    const std::uint32_t to = step.at[0] + chunk_offset(map, columns * kReadBytes, chunk);
    *reinterpret_cast<uint4*>(cta.window + swizzled(to, map.swizzle)) =
        *reinterpret_cast<const uint4*>(cta.window + swizzled(from, map.swizzle));
  }
  // As behind add().
  ptx::fence_proxy_async(ptx::space_shared);
}

/// One warp, 16 bytes a lane.
__device__ inline void read_columns(const Cta& cta, const Step& step) {
  const TensorMapSpec& map = cta.task.specs[step.map].spec;
  const std::uint32_t lane = threadIdx.x % kWarpLanes;
  const LaneChunk chunk = chunk_of_lane(map, step.at[1], lane);
  const std::uint32_t from = step.offset + chunk_offset(map, step.stride, chunk);
  *reinterpret_cast<uint4*>(cta.window + step.at[0] + kReadBytes * lane) =
      *reinterpret_cast<const uint4*>(cta.window + swizzled(from, map.swizzle));
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

__device__ inline void cluster_sync(const Cta&, const Step&) { synchronise_cluster(); }

__device__ inline void inval(const Cta& cta, const Step& step) {
  mbarrier_inval(&cta.state.barriers[step.barrier]);
}

__device__ inline void complete_tx(const Cta& cta, const Step& step) {
  if (is_remote(step))
    mbarrier_complete_tx_remote(remote(cta, step), step.bytes);
  else
    mbarrier_complete_tx(&cta.state.barriers[step.barrier], step.bytes);
}

__device__ inline std::uint64_t test(const Cta& cta, const Step& step) {
  return ptx::mbarrier_test_wait_parity(&cta.state.barriers[step.barrier], parity_of(cta, step))
             ? 1
             : 0;
}

__device__ inline void commit(const Cta&, const Step&) { ptx::cp_async_bulk_commit_group(); }

__device__ inline void delay(const Cta&, const Step& step) { quiesce(step.ns); }

__device__ inline void fill_source(const Cta& cta, const Step& step) { fill(cta, step, 0); }

__device__ inline void write(const Cta& cta, const Step& step) {
  *static_cast<volatile std::uint64_t*>(&cta.state.barriers[step.barrier]) = step.word;
}

__device__ inline std::uint64_t read(const Cta& cta, const Step& step) {
  return *static_cast<volatile std::uint64_t*>(&cta.state.barriers[step.barrier]);
}

__device__ inline void by_the_walk(const Cta&, const Step&) {}  // program_kernel.cu

/// What the takers of a verb (VerbInfo::takers) do of a step: what the function returns is the
/// trace.
template <Verb kOf, auto kFunction>
struct Does {
  static constexpr Verb kVerb = kOf;

  static __device__ void take(const Cta& cta, const Step& step, std::uint64_t* trace) {
    constexpr Takers kTakers = info_of(kVerb).takers;
    const std::uint32_t thread = threadIdx.x;
    if (kTakers == Takers::one && thread != step.thread) return;
    if (kTakers == Takers::count && (thread < step.thread || thread >= step.thread + step.count))
      return;
    if (kTakers == Takers::warp && thread / 32 != step.thread / 32U) return;
    if (kTakers == Takers::warpgroup && thread / kWgmmaThreads != step.thread / kWgmmaThreads)
      return;
    if constexpr (std::is_void_v<decltype(kFunction(cta, step))>) {
      kFunction(cta, step);
    } else {
      const std::uint64_t seen = kFunction(cta, step);
      if (kTakers == Takers::one || thread == 0) *trace = seen;
    }
  }
};

template <class... Entries>
struct VerbFunctions {
  static_assert(sizeof...(Entries) == kVerbs, "each verb has a function");

  /// One step by all threads of a CTA that takes it.
  static __device__ void take(const Cta& cta, const Step& step, std::uint64_t* trace) {
    ((step.verb == Entries::kVerb ? Entries::take(cta, step, trace) : void()), ...);
  }
};

using Verbs = VerbFunctions<Does<Verb::init, init>,                          //
                            Does<Verb::inval, inval>,                        //
                            Does<Verb::arrive, arrive>,                      //
                            Does<Verb::arrive_drop, arrive_drop>,            //
                            Does<Verb::arrive_token, arrive_token>,          //
                            Does<Verb::pending_count, pending_count>,        //
                            Does<Verb::expect_tx, expect_tx>,                //
                            Does<Verb::arrive_expect_tx, arrive_expect_tx>,  //
                            Does<Verb::complete_tx, complete_tx>,            //
                            Does<Verb::test, test>,                          //
                            Does<Verb::wait, wait>,                          //
                            Does<Verb::meter, meter>,                        //
                            Does<Verb::load, load>,                          //
                            Does<Verb::send, send>,                          //
                            Does<Verb::st_async, st_async>,                  //
                            Does<Verb::red_async, red_async>,                //
                            Does<Verb::prefetch, prefetch>,                  //
                            Does<Verb::store, store>,                        //
                            Does<Verb::commit, commit>,                      //
                            Does<Verb::wait_group, wait_group>,              //
                            Does<Verb::wait_group_read, wait_group_read>,    //
                            Does<Verb::cluster_sync, cluster_sync>,          //
                            Does<Verb::delay, delay>,                        //
                            Does<Verb::replace, replace>,                    //
                            Does<Verb::acquire, acquire>,                    //
                            Does<Verb::fill, fill_source>,                   //
                            Does<Verb::add, add>,                            //
                            Does<Verb::copy, copy>,                          //
                            Does<Verb::place_rows, place_rows>,              //
                            Does<Verb::read_columns, read_columns>,          //
                            Does<Verb::look, look>,                          //
                            Does<Verb::poison, poison>,                      //
                            Does<Verb::write, write>,                        //
                            Does<Verb::read, read>,                          //
                            Does<Verb::missing, missing>,                    //
                            Does<Verb::wgmma, wgmma_product>,                //
                            Does<Verb::snapshot, by_the_walk>,               //
                            Does<Verb::leave, by_the_walk>>;

}  // namespace tidemark
