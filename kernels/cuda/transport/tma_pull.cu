// Bulk copies of TMA through shared memory: one thread of each block keeps them in flight. 8 SMs
// bring what NVLink can (326 GB/s on an H200), 4 bring 200 GB/s, whatever the size of a piece.
#include "kernels/cuda/transport/tma_pull.hpp"

#include <cuda/atomic>
#include <cuda/ptx>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/transport.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kPieceBytes = 16 << 10;
constexpr std::uint32_t kStages = 12;
constexpr std::uint32_t kRingBytes = kStages * kPieceBytes;  // no other block fits beside it
constexpr std::uint32_t kCluster = 2;  // leaves whole pairs of SMs to clusters of a product
constexpr std::uint64_t kBoundNs = 120'000'000'000;

using SystemWord = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;
using DeviceWord = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>;

/// A shard in pieces for TMA, which moves whole 16 bytes, and the bytes before and behind them.
struct Pieces {
  std::uint32_t head = 0, tail = 0;
  std::uint64_t body = 0;
  std::uint32_t count = 0;  // at least 1: the first one takes head and tail along

  __device__ explicit Pieces(const PulledShard& shard) {
    const auto off = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(shard.to) % 16);
    head = static_cast<std::uint32_t>(min(std::uint64_t{(16 - off) % 16}, shard.bytes));
    body = (shard.bytes - head) / 16 * 16;
    tail = static_cast<std::uint32_t>(shard.bytes - head - body);
    const std::uint64_t pieces = (body + kPieceBytes - 1) / kPieceBytes;
    count = pieces == 0 ? 1 : static_cast<std::uint32_t>(pieces);
  }
  __device__ std::uint64_t offset(std::uint32_t piece) const {
    return head + std::uint64_t{piece} * kPieceBytes;
  }
  __device__ std::uint32_t bytes(std::uint32_t piece) const {
    const std::uint64_t left = body - std::uint64_t{piece} * kPieceBytes;
    return static_cast<std::uint32_t>(min(left, std::uint64_t{kPieceBytes}));
  }
};

/// Where this block is among the pieces that are its own: of every shard each gridDim.x-th.
struct Place {
  const Pull& pull;
  std::uint32_t item = 0;  // shard, of one panel behind the other
  std::uint32_t items;
  std::uint32_t piece = 0;
  bool is_there = false;  // the owner has started
  PulledShard shard;
  Pieces pieces{shard};

  __device__ explicit Place(const Pull& p) : pull(p), items(p.panels[0].count + p.panels[1].count) {
    begin();
  }
  __device__ const PulledPanel& panel(std::uint32_t& index) const {
    const bool first = item < pull.panels[0].count;
    index = first ? item : item - pull.panels[0].count;
    return pull.panels[first ? 0 : 1];
  }
  __device__ const PulledPanel& panel() const {
    std::uint32_t index = 0;
    return panel(index);
  }
  __device__ void begin() {
    if (item >= items) return;
    std::uint32_t index = 0;
    const PulledPanel& of = panel(index);
    shard = of.shards[index];
    pieces = Pieces(shard);
    // Shards of one piece go to one block after the other.
    piece = (blockIdx.x + item) % gridDim.x;
    is_there = false;
  }
  __device__ bool ends() const { return item >= items; }
  __device__ bool has_piece() const { return piece < pieces.count; }
  __device__ void next_item() {
    ++item;
    begin();
  }
};

__device__ void copy_bytes(const PulledShard& shard, std::uint64_t first, std::uint32_t count) {
  const volatile std::byte* const from = shard.from + first;
  for (std::uint32_t i = 0; i < count; ++i) shard.to[first + i] = static_cast<std::byte>(from[i]);
}

/// This block has its part of a shard. The last one to say so tells the reader.
__device__ void end_part(const PulledShard& shard, std::uint32_t epoch) {
  namespace ptx = cuda::ptx;
  // Until the bytes are written, not only read from shared memory: without it the word could be
  // seen before them.
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  // Release and acquire: the block that writes the word speaks for what all others have written.
  const std::uint32_t before = DeviceWord(*shard.parts).fetch_add(1, cuda::memory_order_acq_rel);
  if ((before + 1) % gridDim.x != 0) return;
  // Release, at system scope as the reader acquires it: without it the bytes could come later.
  SystemWord(*shard.arrived).store(epoch, cuda::memory_order_release);
}

__global__ void __launch_bounds__(32, 1) pull_kernel(const __grid_constant__ Pull pull) {
  namespace ptx = cuda::ptx;
  extern __shared__ __align__(128) std::byte ring[];
  __shared__ std::uint64_t full[kStages];
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0)
    for (const PulledPanel& panel : pull.panels)
      for (std::uint32_t i = 0; i < panel.others; ++i)
        // Release: whoever reads this rank's rows behind the word finds them as they are.
        SystemWord(*panel.tell[i]).store(panel.gather, cuda::memory_order_release);
  if ((DeviceWord(*pull.began).fetch_add(1, cuda::memory_order_relaxed) + 1) % gridDim.x == 0)
    for (const PulledPanel& panel : pull.panels)
      if (panel.moving != nullptr)
        SystemWord(*panel.moving).store(panel.epoch, cuda::memory_order_relaxed);
  for (std::uint64_t& barrier : full) ptx::mbarrier_init(&barrier, 1);
  // Without it the copies' credits may find barriers that do not exist yet.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);

  Place load(pull), store(pull);
  std::uint32_t ahead = 0, load_stage = 0, store_stage = 0, parity = 0;
  std::uint64_t since = ptx::get_sreg_globaltimer();
  const auto give_up = [&] {
    SystemWord(*pull.gave_up).store(1, cuda::memory_order_relaxed);
    quiesce(10'000'000);  // copies in flight land in the memory of this block
  };
  while (!store.ends()) {
    if (!store.has_piece()) {
      end_part(store.shard, store.panel().epoch);
      store.next_item();
      continue;
    }
    while (!load.ends() && ahead < kStages - 2) {
      if (!load.has_piece()) {
        load.next_item();
        continue;
      }
      if (!load.is_there) {
        // Acquire: without it the owner's rows could be read as they were before it started.
        const std::uint32_t word = SystemWord(*load.shard.started).load(cuda::memory_order_acquire);
        if (word == kNobodyWaits) return give_up();
        if (static_cast<std::int32_t>(word - load.panel().gather) < 0) break;
        // TMA reads through the async proxy: without it, it may find the rows as they were.
        ptx::fence_proxy_async(ptx::space_global);
        load.is_there = true;
      }
      const std::uint32_t bytes = load.pieces.bytes(load.piece);
      const std::uint64_t offset = load.pieces.offset(load.piece);
      std::byte* const stage = ring + load_stage * kPieceBytes;
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &full[load_stage], bytes);
      if (bytes != 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage, load.shard.from + offset,
                           bytes, &full[load_stage]);
      load_stage = load_stage + 1 == kStages ? 0 : load_stage + 1;
      load.piece += gridDim.x;
      ++ahead;
    }
    const bool arrived =
        ahead != 0 &&
        ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &full[store_stage], parity);
    if (!arrived) {
      if (ptx::get_sreg_globaltimer() - since > kBoundNs) return give_up();
      continue;
    }
    const std::uint64_t offset = store.pieces.offset(store.piece);
    const std::uint32_t bytes = store.pieces.bytes(store.piece);
    if (bytes != 0)
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, store.shard.to + offset,
                         ring + store_stage * kPieceBytes, bytes);
    ptx::cp_async_bulk_commit_group();
    if (store.piece == 0) {
      copy_bytes(store.shard, 0, store.pieces.head);
      copy_bytes(store.shard, store.shard.bytes - store.pieces.tail, store.pieces.tail);
    }
    // All but this store have read their stage: without it the next load could overwrite one.
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>{});
    if (++store_stage == kStages) {
      store_stage = 0;
      parity ^= 1;
    }
    store.piece += gridDim.x;
    --ahead;
    since = ptx::get_sreg_globaltimer();
  }
}

}  // namespace

void prepare_pull() {
  cuda_check(cudaFuncSetAttribute(pull_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kRingBytes)),
             "give the kernel that fetches panels its shared memory");
  cudaFuncAttributes loaded{};
  cuda_check(cudaFuncGetAttributes(&loaded, pull_kernel), "load the kernel that fetches panels");
}

void start_pull(const Pull& pull, cudaStream_t stream) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kCluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(sms_of(PanelRoute::tma_pull));
  config.blockDim = dim3(32);
  config.dynamicSmemBytes = kRingBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cuda_check(cudaLaunchKernelEx(&config, pull_kernel, pull), "fetch panels by TMA");
}

}  // namespace tidemark::kernels
