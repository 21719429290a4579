// The kernel of a mismatched announcement, by the steps of kernels/ops/expect_tx.hpp: one block, or
// a cluster of two where the announcement goes to the peer.
#include <cooperative_groups.h>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/expect_tx_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kNoPhase = 2;  // neither parity: the barrier was not settled

/// Every thread of every block of the cluster. Release and acquire: what was written to shared
/// memory before is seen behind it, in both blocks.
__device__ void synchronise_cluster() {
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

template <std::uint32_t kRank>
__device__ void issue_of_rank(const CUtensorMap* map, const ExpectTx& op, std::uint8_t* window,
                              std::uint64_t* barrier) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = op.load.at[i];
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                            window + kGuardBytes + op.load.destination_offset, map, at, barrier);
}

/// Block 0 alone: its own window and barrier are addresses in the cluster, too.
__device__ void issue(const CUtensorMap* map, const ExpectTx& op, std::uint8_t* window,
                      std::uint64_t* barrier) {
  switch (op.load.map.rank) {
    case 1:
      return issue_of_rank<1>(map, op, window, barrier);
    case 2:
      return issue_of_rank<2>(map, op, window, barrier);
    case 3:
      return issue_of_rank<3>(map, op, window, barrier);
    case 4:
      return issue_of_rank<4>(map, op, window, barrier);
    default:
      return issue_of_rank<5>(map, op, window, barrier);
  }
}

__device__ void issue_or_simulate(const CUtensorMap* map, const ExpectTx& op, std::uint8_t* window,
                                  std::uint64_t* barriers) {
  if (!is_simulated(op)) return issue(map, op, window, &barriers[0]);
  for (std::uint32_t i = 0; i < 2; ++i)
    if (op.simulated[i] != 0) mbarrier_complete_tx(&barriers[0], op.simulated[i]);
}

__device__ void arrive(std::uint64_t* barrier) {
  (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier);
}

/// On a barrier of this block.
__device__ void announce_here(std::uint64_t* barrier, std::uint32_t bytes, bool arrives) {
  if (arrives)
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         barrier, bytes);
  else
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, barrier, bytes);
}

/// On A of block 1. The remote forms return no state.
__device__ void announce_there(std::uint64_t* barriers, std::uint32_t bytes, bool arrives) {
  std::uint64_t* const remote = cooperative_groups::this_cluster().map_shared_rank(&barriers[0], 1);
  if (arrives)
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, remote,
                                   bytes);
  else
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster, remote,
                            bytes);
}

__device__ void announce_and_arrive(const ExpectTx& op, std::uint64_t* barriers) {
  for (std::uint32_t i = 0; i < op.announcements; ++i) {
    // One arrival a phase: a second would be one too many, which is undefined.
    const bool arrives = op.arrival == Arrival::with_announcement && i + 1 == op.announcements;
    if (op.on == AnnouncedOn::peer)
      announce_there(barriers, op.announced, arrives);
    else
      announce_here(&barriers[announced_barrier(op)], op.announced, arrives);
  }
  if (op.arrival == Arrival::separate) arrive(&barriers[0]);
}

/// Step 2.
__device__ void mismatch(const CUtensorMap* map, const ExpectTx& op, std::uint8_t* window,
                         std::uint64_t* barriers) {
  if (op.order == IssueOrder::announced_first) announce_and_arrive(op, barriers);
  issue_or_simulate(map, op, window, barriers);
  if (op.order == IssueOrder::landed_first) quiesce(kSettleNs);
  if (op.order != IssueOrder::announced_first) announce_and_arrive(op, barriers);
  if (op.arrival != Arrival::late) return;
  quiesce(kSettleNs);
  arrive(&barriers[0]);
}

/// Step 3, the count: all threads of the block together. The copy may still be writing: what is
/// read here is told, and judged by nobody.
__device__ void count_missing(const ExpectTx& op, const std::uint8_t* window,
                              std::uint32_t* missing) {
  const std::uint32_t begin = kGuardBytes + op.load.destination_offset;
  const std::uint32_t end = begin + tile_bytes(op.load.map);
  std::uint32_t found = 0;
  for (std::uint32_t at = begin + 16 * threadIdx.x; at < end; at += 16 * blockDim.x) {
    const uint4 piece = *reinterpret_cast<const uint4*>(window + at);
    const Payload& payload = op.load.payload;
    if (piece.x == poison_word(payload, at) && piece.y == poison_word(payload, at + 4) &&
        piece.z == poison_word(payload, at + 8) && piece.w == poison_word(payload, at + 12))
      ++found;
  }
  if (found != 0) atomicAdd(missing, found);
}

/// Step 5 for barrier `which` of the cluster, in its own block. Returns the phase that the recovery
/// completed, or kNoPhase.
__device__ std::uint32_t settle(const ExpectTx& op, std::uint32_t which, std::uint64_t* barrier,
                                BarrierAccount& seen) {
  seen.complete = ptx::mbarrier_test_wait_parity(barrier, 0);
  const std::uint32_t phase = seen.complete ? 1 : 0;
  if (seen.complete || !arrives_on(op, which)) arrive(barrier);
  seen.settled = ptx::mbarrier_test_wait_parity(barrier, phase);
  if (seen.settled) return phase;
  const std::uint32_t slack = meter_slack(op, which);
  const std::uint32_t stride = meter_stride(op, which);
  if (slack > 0) announce_here(barrier, slack, false);
  if (stride > 0) mbarrier_complete_tx(barrier, stride);
  std::uint32_t steps = 0;
  seen.settled = ptx::mbarrier_test_wait_parity(barrier, phase);
  while (!seen.settled && steps < meter_steps(op, which)) {
    mbarrier_complete_tx(barrier, 1);
    ++steps;
    seen.settled = ptx::mbarrier_test_wait_parity(barrier, phase);
  }
  seen.residue = static_cast<std::int32_t>(stride + steps) - static_cast<std::int32_t>(slack);
  return seen.settled ? phase : kNoPhase;
}

__global__ void __launch_bounds__(kThreads, 1)
    expect_tx(const __grid_constant__ CUtensorMap map, const __grid_constant__ ExpectTxLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t barriers[2];  // A and B
  __shared__ std::uint32_t missing;      // 16-byte pieces of the tile
  __shared__ std::uint32_t settled_a;    // the phase of A that the recovery completed
  std::uint8_t* const window = window_in(dynamic_memory);
  const ExpectTx& op = row.op;
  const std::uint32_t block = ptx::get_sreg_cluster_ctarank();
  const bool leader = threadIdx.x == 0;
  BarrierAccount seen[2];

  poison_window(window, window_bytes(op.load), op.load.payload);
  if (leader) {
    missing = 0;
    for (std::uint32_t i = 0; i < 2; ++i) {
      start_barrier(&barriers[i]);
      seen[i].complete_before = ptx::mbarrier_test_wait_parity(&barriers[i], 0);
    }
  }
  // Nothing is announced on a barrier of the peer before its init, nor copied before all poison is
  // fenced.
  synchronise_cluster();

  WaitResult waited;
  if (leader && block == 0) {
    mismatch(&map, op, window, barriers);
    waited = wait_bounded(&barriers[0], op.parity,
                          is_announced_exactly(op) ? kMustCompleteNs : kSettleNs);
  }
  // The others of block 0 have not waited: they count when the leader's wait is over.
  __syncthreads();
  if (block == 0) count_missing(op, window, &missing);
  if (leader && block == 0) quiesce(kSettleNs);
  // Block 1 settles its barriers only when block 0 has announced all it will.
  synchronise_cluster();

  if (leader) {
    std::uint32_t phases[2] = {kNoPhase, kNoPhase};
    for (std::uint32_t i = 0; i < 2; ++i)
      if (!seen[i].complete_before) phases[i] = settle(op, 2 * block + i, &barriers[i], seen[i]);
    settled_a = phases[0];
    for (std::uint32_t i = 0; i < 2; ++i)
      if (seen[i].settled)
        seen[i].next_complete_early = ptx::mbarrier_test_wait_parity(&barriers[i], phases[i] ^ 1U);
  }
  // Unsynchronised, the others would read settled_a before the leader wrote it.
  __syncthreads();
  // Every reader observes the last phase itself: only that orders the copy's writes before its
  // reads. It is complete, so nobody waits.
  if (block == 0 && settled_a != kNoPhase)
    (void)wait_bounded(&barriers[0], settled_a, kMustCompleteNs);
  copy_window_out(window, window_bytes(op.load), row.windows + block * window_pitch(op));
  // The next copy overwrites the window: unsynchronised, slow readers would read it.
  __syncthreads();

  if (leader && block == 0 && seen[0].settled) {
    announce_here(&barriers[0], tile_bytes(op.load.map), true);
    issue(&map, op, window, &barriers[0]);
    seen[0].next_complete = wait_bounded(&barriers[0], settled_a ^ 1U, kMustCompleteNs).complete;
    // The block may not end, nor the barrier, under a copy in flight.
    if (!seen[0].next_complete) quiesce(kSettleNs);
  }
  if (leader)
    for (std::uint32_t i = 0; i < 2; ++i) {
      const bool copied_again = 2 * block + i == 0;
      // The next block on this SM finds plain memory instead of live barriers.
      if (seen[i].settled && (!copied_again || seen[i].next_complete)) mbarrier_inval(&barriers[i]);
      row.ledger->accounts[2 * block + i] = seen[i];
    }
  // Neither block ends before the other is done with it, and block 0 signs for both.
  synchronise_cluster();
  if (!leader || block != 0) return;
  row.ledger->waited = waited.complete;
  row.ledger->waited_ns = waited.waited_ns;
  row.ledger->pieces_missing = missing;
  row.ledger->launch = row.launch;
}

}  // namespace

std::uint32_t prepare_expect_tx() {
  int device = 0;
  int per_block = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, expect_tx), "load the expect_tx kernel");
  const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
  cuda_check(cudaFuncSetAttribute(expect_tx, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
             "allow the expect_tx kernel all shared memory");
  return (static_cast<std::uint32_t>(dynamic) - kWindowAlignment) / 16 * 16;
}

void launch_expect_tx(const CUtensorMap& map, const ExpectTxLaunch& row, cudaStream_t stream) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks_of(row.op);
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks_of(row.op));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = dynamic_bytes(window_bytes(row.op.load));
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cuda_check(cudaLaunchKernelEx(&config, expect_tx, map, row), "launch the expect_tx kernel");
}

}  // namespace tidemark::kernels
