// The kernels of a tile round trip: fill memory, then load, work and store by the steps of
// kernels/ops/tile_round_trip.hpp.
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/tensor_copy.cuh"
#include "kernels/cuda/tile_round_trip_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

__global__ void fill_round_trip(const __grid_constant__ TileRoundTripLaunch row) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t source = trip_allocation_bytes(row.trip.from) / 4;
  for (std::uint64_t i = first; i < source; i += step)
    reinterpret_cast<std::uint32_t*>(row.source)[i] = trip_source_word(row.trip, i);
  if (row.destination == nullptr) return;
  const std::uint64_t destination = trip_allocation_bytes(row.trip.to) / 4;
  for (std::uint64_t i = first; i < destination; i += step)
    reinterpret_cast<std::uint32_t*>(row.destination)[i] =
        poison_word(row.trip.payload, static_cast<std::uint32_t>(4 * i));
}

/// The first element of the block's tile `number`.
__device__ void tile_at(const TileRoundTrip& trip, const TileWalk& walk, std::uint32_t number,
                        std::int32_t (&at)[kMaxRank]) {
  std::uint32_t tile = blockIdx.x + number * trip.ctas;
  for (std::uint32_t i = 0; i < kMaxRank; ++i) {
    at[i] = walk.at[i] + static_cast<std::int32_t>(tile % walk.tiles[i]) * walk.step[i];
    tile /= walk.tiles[i];
  }
}

/// Offset in a window, which starts on 1024 bytes, of byte `linear` of the tile in a stage.
/// PTX ISA 9.0, 5.5.7: of the address, 16-byte piece and 128-byte row are exclusive-ored.
__device__ std::uint32_t place_of(const TileRoundTrip& trip, std::uint32_t stage,
                                  std::uint32_t linear) {
  const std::uint32_t offset = kGuardBytes + stage * trip_stage_bytes(trip) + linear;
  if (trip.from.swizzle == Swizzle::none) return offset;
  const std::uint32_t mask = swizzle_bytes(trip.from.swizzle) / 16 - 1;
  return offset ^ ((offset >> 7 & mask) << 4);
}

__device__ void announce_and_load(const TileRoundTrip& trip, const CUtensorMap* map,
                                  std::uint32_t number, std::uint8_t* window,
                                  std::uint64_t* barriers, TileRoundTripLedger& seen) {
  const std::uint32_t stage = number % trip.stages;
  std::uint64_t* const barrier = barriers + stage;
  std::int32_t at[kMaxRank];
  tile_at(trip, trip.load, number, at);
  seen.early |= ptx::mbarrier_test_wait_parity(barrier, number / trip.stages & 1U) ? 1U : 0U;
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       tile_bytes(trip.from));
  seen.announced += tile_bytes(trip.from);
  load_box(trip.from.rank, map, at, window + kGuardBytes + stage * trip_stage_bytes(trip), barrier);
}

__device__ void add_in_shared(const TileRoundTrip& trip, std::uint32_t stage,
                              std::uint8_t* window) {
  for (std::uint32_t i = threadIdx.x; i < tile_bytes(trip.from) / 4; i += blockDim.x) {
    const std::uint32_t amount = trip.work == TileWork::add_one ? 1 : i;
    std::uint8_t* const element = window + place_of(trip, stage, 4 * i);
    if (trip.from.type == DataType::f32)
      *reinterpret_cast<float*>(element) += static_cast<float>(amount);
    else
      *reinterpret_cast<std::uint32_t*>(element) += amount;
  }
}

/// The threads' own copy, byte by byte, so that it serves every element size.
__device__ void copy_by_threads(const TileRoundTripLaunch& row, std::uint32_t number,
                                std::uint8_t* window) {
  const TensorMapSpec& map = row.trip.from;
  const std::uint32_t size = element_bytes(map.type);
  std::int32_t at[kMaxRank];
  tile_at(row.trip, row.trip.load, number, at);
  for (std::uint32_t byte = threadIdx.x; byte < tile_bytes(map); byte += blockDim.x) {
    std::uint32_t rest = byte / size;
    std::int64_t offset = kGuardBytes + map.base_offset + byte % size;
    bool inside = true;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      const std::uint32_t x = rest % tile_extent(map, i);
      rest /= tile_extent(map, i);
      const std::int64_t g = at[i] + std::int64_t{x} * (i == 0 ? 1 : map.element_stride[i]);
      inside = inside && g >= 0 && g < static_cast<std::int64_t>(map.extent[i]);
      offset += g * (i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]));
    }
    window[place_of(row.trip, number % row.trip.stages, byte)] = inside ? row.source[offset] : 0;
  }
}

/// Step 2d for the group that ends with tile `number`: the stages may be loaded again only when the
/// stores have read them.
__device__ void finish_group(const TileRoundTrip& trip, const CUtensorMap* map,
                             std::uint32_t number, std::uint32_t tiles, std::uint8_t* window,
                             std::uint64_t* barriers, TileRoundTripLedger& seen) {
  ptx::cp_async_bulk_commit_group();
  // Without this wait a load below may land in a stage whose store still reads it. The instruction
  // has no bound of its own: the host's bound on the launch stands behind it.
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  const std::uint32_t first = number / trip.stores_per_group * trip.stores_per_group;
  for (std::uint32_t i = first; i <= number; ++i)
    if (i + trip.stages < tiles)
      announce_and_load(trip, map, i + trip.stages, window, barriers, seen);
}

__global__ void __launch_bounds__(kTripThreads, 1)
    tile_round_trip(const __grid_constant__ CUtensorMap from,
                    const __grid_constant__ CUtensorMap to,
                    const __grid_constant__ TileRoundTripLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t barriers[kTripStages];
  const TileRoundTrip& trip = row.trip;
  std::uint8_t* const loaded = window_in(dynamic_memory);
  std::uint8_t* const placed = loaded + row.window_pitch;  // thread_copy only
  const bool by_threads = trip.work == TileWork::thread_copy;
  const bool issuer = threadIdx.x == trip.issuer;
  const std::uint32_t tiles = (tiles_of(trip.load) - blockIdx.x + trip.ctas - 1) / trip.ctas;
  TileRoundTripLedger seen;

  poison_window(loaded, trip_window_bytes(trip), trip.payload);
  if (by_threads) poison_window(placed, trip_window_bytes(trip), trip.payload);
  if (issuer)
    for (std::uint32_t stage = 0; stage < trip.stages; ++stage) start_barrier(&barriers[stage]);
  // Nobody waits on a barrier before its init, and nothing is copied before all poison is fenced.
  __syncthreads();
  if (issuer)
    for (std::uint32_t i = 0; i < trip.stages && i < tiles; ++i)
      announce_and_load(trip, &from, i, loaded, barriers, seen);

  for (; seen.completed < tiles; ++seen.completed) {
    const std::uint32_t i = seen.completed;
    const std::uint32_t stage = i % trip.stages;
    // Every thread waits itself: only the completion that a thread observes orders the copy's
    // writes before that thread's reads.
    const WaitResult wait = wait_bounded(&barriers[stage], i / trip.stages & 1U, kMustCompleteNs);
    // All threads leave together, or those that stay would wait for the others below.
    if (__syncthreads_and(wait.complete) == 0) {
      quiesce(kSettleNs);
      break;
    }
    if (by_threads) copy_by_threads(row, i, placed);
    if (trip.work == TileWork::add_one || trip.work == TileWork::add_index)
      add_in_shared(trip, stage, loaded);
    // Each thread fences its own accesses: without that the store, which reads through the async
    // proxy, may take the bytes of before, and the next load may be overtaken by them.
    ptx::fence_proxy_async(ptx::space_shared);
    // All threads have fenced when the store is issued.
    __syncthreads();
    if (!issuer) continue;
    std::int32_t at[kMaxRank];
    tile_at(trip, trip.store, i, at);
    store_box(trip.to.rank, &to, at,
              (by_threads ? placed : loaded) + kGuardBytes + stage * trip_stage_bytes(trip));
    if ((i + 1) % trip.stores_per_group == 0 || i + 1 == tiles)
      finish_group(trip, &from, i, tiles, loaded, barriers, seen);
  }
  if (issuer) {
    // A block that stopped half way has stores in no group yet.
    ptx::cp_async_bulk_commit_group();
    // Until the stores are done, the block's memory may not go to the next one.
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
  // No thread reads a window before the last store of the issuer, nor while others still work.
  __syncthreads();
  const std::uint32_t windows = trip_windows(trip) * row.window_pitch;
  copy_window_out(loaded, windows, row.windows + std::uint64_t{blockIdx.x} * windows);
  if (!issuer) return;

  if (seen.completed == tiles) {
    const std::uint32_t last = tiles - 1;
    seen.late = ptx::mbarrier_test_wait_parity(&barriers[last % trip.stages],
                                               (last / trip.stages + 1) & 1U);
    // The next block on this SM finds plain memory instead of live barriers.
    for (std::uint32_t stage = 0; stage < trip.stages; ++stage) mbarrier_inval(&barriers[stage]);
  }
  hand_in(seen, row.launch,
          reinterpret_cast<TileRoundTripLedger*>(row.ledgers +
                                                 std::size_t{blockIdx.x} * row.ledger_pitch));
}

}  // namespace

std::uint32_t prepare_tile_round_trip() {
  int device = 0;
  int per_block = 0;
  cudaFuncAttributes attributes{};
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  cuda_check(cudaFuncGetAttributes(&attributes, tile_round_trip), "load the round trip kernel");
  const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
  cuda_check(
      cudaFuncSetAttribute(tile_round_trip, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
      "allow a round trip all shared memory");
  return (static_cast<std::uint32_t>(dynamic) - kWindowAlignment) / kWindowAlignment *
         kWindowAlignment;
}

void launch_fill_round_trip(const TileRoundTripLaunch& row, cudaStream_t stream) {
  constexpr std::uint32_t kBlocks = 132, kFillThreads = 256;
  fill_round_trip<<<kBlocks, kFillThreads, 0, stream>>>(row);
  cuda_check(cudaGetLastError(), "launch the fill of a round trip");
}

void launch_tile_round_trip(const CUtensorMap& from, const CUtensorMap& to,
                            const TileRoundTripLaunch& row, cudaStream_t stream) {
  const std::uint32_t windows = trip_windows(row.trip) * row.window_pitch;
  tile_round_trip<<<row.trip.ctas, kTripThreads, dynamic_bytes(windows), stream>>>(from, to, row);
  cuda_check(cudaGetLastError(), "launch the round trip");
}

}  // namespace tidemark::kernels
