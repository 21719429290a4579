// The kernel of a warp's read: load a tile, place it anew where asked, read its columns, and do so
// many times against the clock.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/consume/tile_read_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kThreads = kReadingWarps * kWarpLanes;

/// One 16-byte read of shared memory. PTX ISA 9.0, 9.7.9.8.
__device__ uint4 read_chunk(std::uint32_t address) {
  uint4 chunk;
  // ld.volatile: ptxas merges plain reads of one address, though the asm is volatile, and the time
  // of one would be that of eight (seen on H200).
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
               : "r"(address)
               : "memory");
  return chunk;
}

__device__ void load_tile(const CUtensorMap* map, const TileRead& read, std::uint8_t* window,
                          std::uint64_t* barrier) {
  const std::int32_t at[3] = {read.load.at[0], read.load.at[1], read.load.at[2]};
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       tile_bytes(read.load.map));
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                            window + kGuardBytes + read.load.destination_offset, map, at, barrier);
}

/// Step 2, all threads of the block together.
__device__ void place_unsplit(const TileRead& read, const std::uint8_t* window,
                              std::uint8_t* area) {
  const TensorMapSpec& map = read.load.map;
  const std::uint32_t columns = group_row_bytes(read) / kReadBytes * map.box[2];
  for (std::uint32_t i = threadIdx.x; i < map.box[1] * columns; i += kThreads) {
    const LaneChunk chunk{.row = i / columns, .column = i % columns};
    const std::uint32_t from = swizzled(
        read.load.destination_offset + linear_offset(read, TilePlacement::as_loaded, chunk),
        map.swizzle);
    const std::uint32_t to =
        swizzled(linear_offset(read, TilePlacement::unsplit, chunk), map.swizzle);
    *reinterpret_cast<uint4*>(area + to) =
        *reinterpret_cast<const uint4*>(window + kGuardBytes + from);
  }
}

/// Step 4: the cycles that kReadsPerWarp reads of all warps took together; where kSlowed, with
/// `extra` more of each warp. A parameter of the template, so that the loop that measures GPUs is
/// compiled without the other one.
template <bool kSlowed>
__device__ std::int64_t time_reads(std::uint32_t address, std::uint32_t extra,
                                   std::uint32_t* sums) {
  uint4 sum = make_uint4(0, 0, 0, 0);
  // All warps start together: the banks are to be busy from the first cycle on.
  __syncthreads();
  const long long began = clock64();
#pragma unroll 8
  for (std::uint32_t i = 0; i < kReadsPerWarp; ++i) {
    const uint4 chunk = read_chunk(address);
    sum.x ^= chunk.x;
    sum.y ^= chunk.y;
    sum.z ^= chunk.z;
    sum.w ^= chunk.w;
  }
  if constexpr (kSlowed) {
    for (std::uint32_t i = 0; i < extra; ++i) sum.x ^= read_chunk(address).x;
  }
  // Uses what was read: a read nobody waits for would not have ended when the clock is read.
  sums[threadIdx.x] = sum.x ^ sum.y ^ sum.z ^ sum.w;
  // The block is done when its last warp is.
  __syncthreads();
  return clock64() - began;
}

template <bool kSlowed>
__global__ void __launch_bounds__(kThreads, 1)
    tile_read(const __grid_constant__ CUtensorMap map, const __grid_constant__ TileReadLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t copied;
  std::uint8_t* const window = window_in(dynamic_memory);
  const std::uint32_t window_size = window_bytes(row.read.load);
  std::uint8_t* const area =
      window + (window_size + kWindowAlignment - 1) / kWindowAlignment * kWindowAlignment;

  poison_window(window, window_size, row.read.load.payload);
  if (threadIdx.x == 0) start_barrier(&copied);
  // Nobody waits on a barrier before its init, and nothing is copied before all poison is fenced.
  __syncthreads();
  if (threadIdx.x == 0) load_tile(&map, row.read, window, &copied);
  // Every reader waits itself: only the completion that a thread observes orders the copy's writes
  // before that thread's reads.
  const WaitResult waited = wait_bounded(&copied, 0, kMustCompleteNs);
  if (!waited.complete) quiesce(kSettleNs);
  const bool unsplit = row.read.placement == TilePlacement::unsplit;
  if (unsplit) place_unsplit(row.read, window, area);
  // A lane reads what other threads placed.
  __syncthreads();

  const std::uint8_t* const start = unsplit ? area : window + kGuardBytes;
  const std::uint32_t address =
      shared_address(start) + read_offset(row.read, threadIdx.x % kWarpLanes);
  if (threadIdx.x < kWarpLanes) row.lanes[threadIdx.x] = read_chunk(address);
  std::int64_t cycles = 0;
  if (row.timed != 0)
    cycles = time_reads<kSlowed>(address, row.extra_reads,
                                 reinterpret_cast<std::uint32_t*>(row.lanes + kWarpLanes));
  if (threadIdx.x != 0) return;
  // The next block on this SM finds plain memory instead of a live barrier.
  if (waited.complete) mbarrier_inval(&copied);
  *row.ledger = {.launch = row.launch,
                 .complete = waited.complete,
                 .waited_ns = waited.waited_ns,
                 .cycles = cycles};
}

using Kernel = void (*)(CUtensorMap, TileReadLaunch);

}  // namespace

std::uint32_t prepare_tile_read() {
  int device = 0;
  int per_block = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  int dynamic = per_block;
  for (const Kernel kernel : {tile_read<false>, tile_read<true>}) {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel), "load the tile read kernel");
    dynamic = std::min(dynamic, per_block - static_cast<int>(attributes.sharedSizeBytes));
  }
  for (const Kernel kernel : {tile_read<false>, tile_read<true>})
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
               "allow a tile read all shared memory");
  return static_cast<std::uint32_t>(dynamic);
}

std::uint32_t tile_read_bytes(const TileRead& read) {
  // Room to align the window and the area behind it.
  return dynamic_bytes(window_bytes(read.load)) + dynamic_bytes(tile_bytes(read.load.map));
}

void launch_tile_read(const CUtensorMap& map, const TileReadLaunch& row, cudaStream_t stream) {
  const Kernel kernel = row.extra_reads == 0 ? tile_read<false> : tile_read<true>;
  kernel<<<1, kThreads, tile_read_bytes(row.read), stream>>>(map, row);
  cuda_check(cudaGetLastError(), "launch the tile read");
}

}  // namespace tidemark::kernels
