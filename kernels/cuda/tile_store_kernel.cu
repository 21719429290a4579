// The kernels of a tile store: poison the destination, run one row by the steps of
// kernels/ops/tile_store.hpp, time stores.
#include <algorithm>
#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/shared_memory.hpp"
#include "kernels/cuda/tile_store_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kThreads = 512;

__global__ void fill_destination(const __grid_constant__ Payload payload, uint4* destination,
                                 std::uint64_t chunks) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chunks;
       i += step) {
    const auto at = static_cast<std::uint32_t>(16 * i);  // poison repeats every 65536 bytes
    destination[i] = make_uint4(poison_word(payload, at), poison_word(payload, at + 4),
                                poison_word(payload, at + 8), poison_word(payload, at + 12));
  }
}

/// The 16 source bytes at `offset` of the window.
__device__ uint4 source_chunk(const TileStoreLaunch& row, std::uint32_t offset) {
  const std::uint64_t word = offset / 4;
  return make_uint4(source_element_word(row.payload, row.type, word),
                    source_element_word(row.payload, row.type, word + 1),
                    source_element_word(row.payload, row.type, word + 2),
                    source_element_word(row.payload, row.type, word + 3));
}

/// Fills the whole window with source bytes, all threads of the block together.
__device__ void fill_window(const TileStoreLaunch& row, std::uint8_t* window) {
  for (std::uint32_t at = 16 * threadIdx.x; at < row.window_bytes; at += 16 * blockDim.x)
    *reinterpret_cast<uint4*>(window + at) = source_chunk(row, at);
  // Each writer fences its own stores: the engine reads through the async proxy, which may find
  // shared memory as it was before an ordinary store that is not fenced.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Replaces the tile of `group` by overwritten_word, all threads of the block together. Inverts
/// what is there, since making the words anew would give a late reader some hundred cycles more.
/// The engine does not read the tile again, so that no fence is due.
__device__ void overwrite_tile(const TileStoreLaunch& row, std::uint32_t group,
                               std::uint8_t* window) {
  const std::uint32_t begin = row.first_tile + group * row.tile_pitch;
  for (std::uint32_t i = 16 * threadIdx.x; i < row.tile_bytes; i += 16 * blockDim.x) {
    auto* const chunk = reinterpret_cast<uint4*>(window + begin + i);
    const uint4 old = *chunk;
    *chunk = make_uint4(~old.x, ~old.y, ~old.z, ~old.w);
  }
}

/// Issues the store of `group` and commits it as a group of its own: uncommitted, no wait covers
/// it.
template <std::uint32_t kRank>
__device__ void issue_and_commit(const CUtensorMap* map, const TileStoreLaunch& row,
                                 std::uint32_t group, const std::uint8_t* window) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = row.at[group][i];
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at,
                            window + row.first_tile + group * row.tile_pitch);
  ptx::cp_async_bulk_commit_group();
}

/// Commits what this thread has issued since its last commit as one group: nothing, where the row
/// asks for an empty group.
__device__ void commit_if_empty_asked(const TileStoreLaunch& row, std::uint32_t bit) {
  if ((row.empty_groups >> bit & 1U) != 0) ptx::cp_async_bulk_commit_group();
}

/// Step 2, by one thread.
template <std::uint32_t kRank>
__device__ void issue_all(const CUtensorMap* map, const TileStoreLaunch& row,
                          const std::uint8_t* window) {
  for (std::uint32_t group = 0; group < row.stores; ++group) {
    commit_if_empty_asked(row, group);
    issue_and_commit<kRank>(map, row, group, window);
  }
  commit_if_empty_asked(row, row.stores);
}

/// The most groups that can be younger than one that is waited for.
using GroupsBehind = std::make_integer_sequence<std::uint32_t, kMaxGroups>;

template <std::uint32_t... kPending>
__device__ void wait_read_of(std::uint32_t pending,
                             std::integer_sequence<std::uint32_t, kPending...>) {
  ((pending == kPending ? ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kPending>{}) : void()),
   ...);
}

template <std::uint32_t... kPending>
__device__ void wait_complete_of(std::uint32_t pending,
                                 std::integer_sequence<std::uint32_t, kPending...>) {
  ((pending == kPending ? ptx::cp_async_bulk_wait_group(ptx::n32_t<kPending>{}) : void()), ...);
}

/// Waits until no more than `pending` of this thread's groups have their sources still to read. The
/// instruction takes a constant and has no bound: a store that never ends is seen by the host.
__device__ void wait_until_read(std::uint32_t pending) { wait_read_of(pending, GroupsBehind{}); }

/// Waits until no more than `pending` of this thread's groups are still to complete; what the
/// others wrote is then visible to this thread. Bounded as wait_until_read is.
__device__ void wait_until_complete(std::uint32_t pending) {
  wait_complete_of(pending, GroupsBehind{});
}

/// Reads the chunks of `group` that the row asks for, by ordinary loads: the wait has made the
/// writes of the async proxy visible to this thread, and no other fence is promised to be needed.
__device__ void read_probes(const TileStoreLaunch& row, std::uint32_t group) {
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    const std::uint64_t offset = row.probe[group][probe];
    uint4 chunk = make_uint4(0, 0, 0, 0);
    if (offset != kNowhere) chunk = *reinterpret_cast<const uint4*>(row.destination + offset);
    *reinterpret_cast<uint4*>(row.ledger->stored.read[group][probe].data()) = chunk;
  }
}

/// Step 3, by a thread that committed nothing. Its loads are volatile (ld.cv): an ordinary one
/// would leave lines in L1 that are old when the issuing thread reads the same chunks.
__device__ void watch(const TileStoreLaunch& row) {
  wait_until_complete(0);
  for (std::uint32_t group = 0; group < row.stores; ++group)
    for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
      const std::uint64_t offset = row.probe[group][probe];
      uint4 chunk = make_uint4(0, 0, 0, 0);
      if (offset != kNowhere)
        chunk = __ldcv(reinterpret_cast<const uint4*>(row.destination + offset));
      *reinterpret_cast<uint4*>(row.ledger->stored.by_other[group][probe].data()) = chunk;
    }
}

/// Steps 3 to 5, all threads of the block together.
__device__ void wait_for_stores(const TileStoreLaunch& row, std::uint8_t* window) {
  constexpr std::uint32_t kBystander = 32;  // of the second warp
  const bool leader = threadIdx.x == 0;
  if (row.bystander) {
    __syncthreads();  // everything is issued
    if (threadIdx.x == kBystander) watch(row);
  }
  if (row.wait == StoreWait::read)
    for (std::uint32_t group = 0; group < row.stores; ++group) {
      if (leader) wait_until_read(row.behind[group]);
      // Groups belong to the thread that committed them: the others know of its wait only by this.
      __syncthreads();
      overwrite_tile(row, group, window);
    }
  if (!leader) return;
  for (std::uint32_t group = 0; group < kMaxStores; ++group) {
    if (group < row.stores) wait_until_complete(row.behind[group]);
    read_probes(row, group);
  }
  wait_until_complete(0);
}

template <std::uint32_t kRank>
__global__ void __launch_bounds__(kThreads, 1)
    tile_store(const __grid_constant__ CUtensorMap map,
               const __grid_constant__ TileStoreLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  std::uint8_t* const window = window_in(dynamic_memory);
  const bool leader = threadIdx.x == 0;

  fill_window(row, window);
  // Nothing is stored before all of the window is written and fenced.
  __syncthreads();

  if (row.wait == StoreWait::only_read || row.wait == StoreWait::none) {
    copy_window_out(window, row.window_bytes, row.window);
    __syncthreads();  // the leader's stores are the last that the block does
    if (!leader) return;
    row.ledger->launch = row.launch;
    issue_all<kRank>(&map, row, window);
    if (row.wait == StoreWait::only_read) wait_until_read(0);
    return;
  }
  if (leader) issue_all<kRank>(&map, row, window);
  wait_for_stores(row, window);
  // Unsynchronised, threads would copy out what others have still to overwrite, and might do so
  // before the stores have completed.
  __syncthreads();
  copy_window_out(window, row.window_bytes, row.window);
  if (leader) row.ledger->launch = row.launch;
}

template <std::uint32_t kRank>
__global__ void timed_tile_store(const __grid_constant__ CUtensorMap map,
                                 const __grid_constant__ TileStoreLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  const std::uint8_t* const window = window_in(dynamic_memory);
  for (std::uint32_t i = 0; i < row.copies; ++i) {
    issue_and_commit<kRank>(&map, row, 0, window);
    wait_until_complete(0);
  }
  row.ledger->launch = row.launch;
}

using Kernel = void (*)(CUtensorMap, TileStoreLaunch);

constexpr Kernel kTileStore[kMaxRank] = {tile_store<1>, tile_store<2>, tile_store<3>, tile_store<4>,
                                         tile_store<5>};
constexpr Kernel kTimedTileStore[kMaxRank] = {timed_tile_store<1>, timed_tile_store<2>,
                                              timed_tile_store<3>, timed_tile_store<4>,
                                              timed_tile_store<5>};

}  // namespace

std::uint32_t prepare_tile_store() {
  const void* kernels[2 * kMaxRank];
  for (std::uint32_t i = 0; i < kMaxRank; ++i) {
    kernels[i] = reinterpret_cast<const void*>(kTileStore[i]);
    kernels[kMaxRank + i] = reinterpret_cast<const void*>(kTimedTileStore[i]);
  }
  return (allow_all_shared_memory(kernels) - kWindowAlignment) / 16 * 16;
}

void launch_fill_destination(const TileStore& store, std::byte* destination, cudaStream_t stream) {
  constexpr std::uint32_t kFillThreads = 256;
  constexpr std::uint64_t kMostBlocks = 1056;  // eight a SM of an H200; the loop does the rest
  const std::uint64_t chunks = destination_allocation_bytes(store) / 16;
  const std::uint64_t blocks = std::min((chunks + kFillThreads - 1) / kFillThreads, kMostBlocks);
  fill_destination<<<static_cast<std::uint32_t>(blocks), kFillThreads, 0, stream>>>(
      store.payload, reinterpret_cast<uint4*>(destination), chunks);
  cuda_check(cudaGetLastError(), "launch the destination fill");
}

void launch_tile_store(std::uint32_t rank, const CUtensorMap& map, const TileStoreLaunch& row,
                       cudaStream_t stream) {
  kTileStore[rank - 1]<<<1, kThreads, dynamic_bytes(row.window_bytes), stream>>>(map, row);
  cuda_check(cudaGetLastError(), "launch the tile store");
}

void launch_timed_tile_store(std::uint32_t rank, const CUtensorMap& map, const TileStoreLaunch& row,
                             cudaStream_t stream) {
  kTimedTileStore[rank - 1]<<<1, 1, dynamic_bytes(row.window_bytes), stream>>>(map, row);
  cuda_check(cudaGetLastError(), "launch the timed tile store");
}

}  // namespace tidemark::kernels
