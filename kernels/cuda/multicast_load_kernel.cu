// The kernel of a multicast load: one cluster runs one row by the steps of
// kernels/ops/multicast_load.hpp.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/multicast_load_kernel.hpp"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kLandedNs = 100'000;  // a box takes microseconds to land
constexpr std::uint32_t kMeterSlack = 512;    // announced beyond the tile

/// Every thread of every block comes here before any goes on, and sees what all of them wrote
/// before. Has no bound of its own: between two of these every wait is bounded, so that the last
/// thread comes in bounded time; and a block that faults takes the whole grid with it.
__device__ void cluster_sync() {
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

/// What a block knows of itself.
struct Cta {
  std::uint32_t rank = 0;
  bool leader = false;  // the one thread that acts for the block
  bool masked = false;
  bool issues = false;
  std::uint32_t slice = 0;  // that it issues
};

__device__ Cta this_cta(const MulticastLaunch& row) {
  const std::uint32_t size = row.cluster[0] * row.cluster[1] * row.cluster[2];
  Cta cta;
  cta.rank = ptx::get_sreg_cluster_ctarank();
  cta.leader = threadIdx.x == 0;
  cta.masked = (row.mask >> cta.rank & 1U) != 0;
  cta.slice = (cta.rank + size - row.issuer) % size;
  cta.issues = cta.leader && cta.slice < row.slices;
  return cta;
}

/// Announces `bytes` with the one arrival that the phase of this block's barrier waits for.
__device__ void announce(std::uint64_t* barrier, std::uint32_t bytes) {
  (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                       bytes);
}

/// Multicasts the slice of this block. `window` and `barrier` are its own, even where it is not in
/// the mask: what counts is their offset, which is the same in every block of a kernel.
template <std::uint32_t kRank>
__device__ void issue(const CUtensorMap* map, const MulticastLaunch& row, const Cta& cta,
                      std::uint8_t* window, std::uint64_t* barrier) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = row.at[i];
  at[kRank - 1] += static_cast<std::int32_t>(cta.slice * row.slice_step);
  ptx::cp_async_bulk_tensor(
      ptx::space_cluster, ptx::space_global,
      window + kGuardBytes + row.destination_offset + cta.slice * row.slice_bytes, map, at, barrier,
      row.mask);
}

/// Steps 3 and 5 up to the waits, in the order that is asked for: all that are `armed` announce and
/// the issuers issue. `early` becomes what the phase was just before.
template <std::uint32_t kRank>
__device__ void arm_and_issue(const CUtensorMap* map, const MulticastLaunch& row, const Cta& cta,
                              bool armed, std::uint8_t* window, std::uint64_t* barrier,
                              std::uint32_t parity, std::uint32_t& early) {
  const auto arm = [&] {
    if (!cta.leader || !armed) return;
    early = ptx::mbarrier_test_wait_parity(barrier, parity);
    announce(barrier, row.tile_bytes);
  };
  if (!row.late_arm) arm();
  // Without it an issuer may be ahead of a receiver: legal, but that is what late_arm is for. And
  // nothing may be written into a block whose barrier is not initialised, or whose window is still
  // being read.
  cluster_sync();
  if (cta.issues) issue<kRank>(map, row, cta, window, barrier);
  if (!row.late_arm) return;
  cluster_sync();  // everything has been issued; only now does the time to land begin
  quiesce(kLandedNs);
  arm();
}

/// Step 6, the byte meter, in every block: announce more than the copies can credit, let them land,
/// then take away single bytes until the phase completes. What was not taken away was credited.
template <std::uint32_t kRank>
__device__ void meter(const CUtensorMap* map, const MulticastLaunch& row, const Cta& cta,
                      std::uint8_t* window, std::uint64_t* barrier, MulticastCtaLedger& seen) {
  const std::uint32_t announced = row.tile_bytes + kMeterSlack;
  if (cta.leader) announce(barrier, announced);
  // The second copy must have landed everywhere before the third goes to the same bytes.
  cluster_sync();
  if (cta.issues) issue<kRank>(map, row, cta, window, barrier);
  if (!cta.leader) return;
  bool complete = wait_bounded<ptx::dot_scope::cluster>(barrier, 0, kLandedNs).complete;
  std::uint32_t steps = 0;
  while (!complete && steps < announced) {
    mbarrier_complete_tx(barrier, 1);
    ++steps;
    complete = ptx::mbarrier_test_wait_parity(barrier, 0);
  }
  seen.meter_ended = complete;
  seen.credited = announced - steps;
  // Credit that is missing may be a copy that is still on its way into this block's memory.
  if (seen.credited != (cta.masked ? row.tile_bytes : 0)) quiesce(kSettleNs);
}

template <std::uint32_t kRank>
__global__ void __launch_bounds__(kThreads, 1)
    multicast_load(const __grid_constant__ CUtensorMap map,
                   const __grid_constant__ MulticastLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t copied;   // steps 3 and 5
  __shared__ std::uint64_t metered;  // step 6
  std::uint8_t* const window = window_in(dynamic_memory);
  const Cta cta = this_cta(row);
  MulticastCtaLedger seen;

  poison_window(window, row.window_bytes, row.payload, cluster_poison_twist(cta.rank));
  if (cta.leader) {
    start_barrier(&copied);
    start_barrier(&metered);
  }
  // This block's threads test and arm the barriers only after their init. What other blocks need
  // before they copy into this one, the cluster_sync ahead of each issue gives.
  __syncthreads();

  // Step 3. A block outside the mask tests as well; late ones test again before they announce.
  if (cta.leader) seen.complete_before_issue = ptx::mbarrier_test_wait_parity(&copied, 0);
  if (cta.masked) seen.announced = row.tile_bytes;
  arm_and_issue<kRank>(&map, row, cta, cta.masked, window, &copied, 0, seen.complete_before_issue);
  if (cta.masked) {
    // Every reader waits itself, and at cluster scope: only the completion that a thread observes
    // orders writes issued by another block before that thread's reads.
    const WaitResult first = wait_bounded<ptx::dot_scope::cluster>(&copied, 0, kMustCompleteNs);
    if (!first.complete) quiesce(kSettleNs);
    seen.complete = first.complete;
    seen.waited_ns = first.waited_ns;
  } else {
    quiesce(kLandedNs);  // nothing tells when a copy that must not come would have come
    seen.complete = ptx::mbarrier_test_wait_parity(&copied, 0);
  }
  const std::uint32_t pitch = (row.window_bytes + 15) / 16 * 16;
  copy_window_out(window, row.window_bytes, row.windows + std::uint64_t{cta.rank} * pitch);

  // Step 5. Its cluster_sync ahead of the issue keeps the second copy from windows that slower
  // threads, here and in other blocks, still read. Where phase 0 never completed, phase 1 means
  // nothing: the block gets the copy and does not look.
  const bool going_on = cta.masked && seen.complete != 0;
  arm_and_issue<kRank>(&map, row, cta, going_on, window, &copied, 1, seen.next_complete_early);
  if (cta.leader && going_on) {
    seen.next_complete =
        wait_bounded<ptx::dot_scope::cluster>(&copied, 1, kMustCompleteNs).complete;
    if (!seen.next_complete) quiesce(kSettleNs);
  } else if (cta.leader) {
    quiesce(kLandedNs);
  }
  if (cta.leader && !cta.masked) {
    seen.next_complete_early = ptx::mbarrier_test_wait_parity(&copied, 0);
    (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &copied);
    seen.next_complete = ptx::mbarrier_test_wait_parity(&copied, 0);
  }

  meter<kRank>(&map, row, cta, window, &metered, seen);
  if (cta.leader) hand_in(seen, row.launch, &row.ledgers[cta.rank]);
  // A block may not end while copies to it are in flight, and an issuer cannot see those to others:
  // all stay until each has seen its own arrive, or has let kSettleNs go by.
  cluster_sync();
  if (cta.rank == 0 && cta.leader) row.end->launch = row.launch;
}

using Kernel = void (*)(CUtensorMap, MulticastLaunch);

constexpr Kernel kMulticastLoad[kMaxRank] = {
    multicast_load<1>, multicast_load<2>, multicast_load<3>, multicast_load<4>, multicast_load<5>};

cudaLaunchAttribute cluster_of(const MulticastLaunch& row) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = row.cluster[0];
  attribute.val.clusterDim.y = row.cluster[1];
  attribute.val.clusterDim.z = row.cluster[2];
  return attribute;
}

/// `attribute` must outlive the configuration.
cudaLaunchConfig_t configuration_of(const MulticastLaunch& row, cudaLaunchAttribute& attribute,
                                    cudaStream_t stream) {
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(row.cluster[0], row.cluster[1], row.cluster[2]);
  configuration.blockDim = dim3(kThreads);
  configuration.dynamicSmemBytes = dynamic_bytes(row.window_bytes);
  configuration.stream = stream;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  return configuration;
}

}  // namespace

std::uint32_t prepare_multicast_load() {
  int device = 0;
  int per_block = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the shared memory of a block");
  std::uint32_t smallest = 0xffffffffU;
  for (const Kernel kernel : kMulticastLoad) {
    cudaFuncAttributes attributes{};
    cuda_check(cudaFuncGetAttributes(&attributes, kernel), "load the multicast kernels");
    const int dynamic = per_block - static_cast<int>(attributes.sharedSizeBytes);
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
               "allow a multicast all shared memory");
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               "allow clusters of more than 8 blocks");
    smallest = std::min(smallest, static_cast<std::uint32_t>(dynamic));
  }
  return (smallest - kWindowAlignment) / 16 * 16;
}

bool can_start(std::uint32_t rank, const MulticastLaunch& row) {
  cudaLaunchAttribute attribute = cluster_of(row);
  const cudaLaunchConfig_t configuration = configuration_of(row, attribute, nullptr);
  int clusters = 0;
  const cudaError_t answer =
      cudaOccupancyMaxActiveClusters(&clusters, kMulticastLoad[rank - 1], &configuration);
  if (answer == cudaErrorInvalidClusterSize) {
    (void)cudaGetLastError();  // an answer, not an error that a later check should find
    return false;
  }
  cuda_check(answer, "ask how many clusters fit");
  return clusters > 0;
}

void launch_multicast_load(std::uint32_t rank, const CUtensorMap& map, const MulticastLaunch& row,
                           cudaStream_t stream) {
  cudaLaunchAttribute attribute = cluster_of(row);
  const cudaLaunchConfig_t configuration = configuration_of(row, attribute, stream);
  cuda_check(cudaLaunchKernelEx(&configuration, kMulticastLoad[rank - 1], map, row),
             "launch the multicast load");
}

}  // namespace tidemark::kernels
