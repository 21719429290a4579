// The kernels of a consumed tile: fill the source, then load both tiles and multiply them by the
// steps of kernels/ops/tile_consume.hpp, one warpgroup a launch.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/consume/tile_consume_kernel.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/tile_window.cuh"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

namespace ptx = cuda::ptx;

constexpr std::uint32_t kWarpgroup = 128;

__global__ void fill_source(const __grid_constant__ TileConsume op, std::uint32_t* source,
                            std::uint64_t words) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    source[i] = source_element_word(op, i);
}

/// Issues the boxes of one operand.
__device__ void issue_boxes(const CUtensorMap* map, const TileConsume& op, GemmOperand which,
                            std::uint8_t* window, std::uint64_t* barrier) {
  const TensorDimensions of = dimensions_of(op, which);
  const std::uint32_t inner = span_bytes(operand_of(op, which).swizzle) / element_bytes(op.type);
  for (std::uint32_t box = 0; box < box_count(op, which); ++box) {
    const std::int32_t at[2] = {op.at[of.inner] + static_cast<std::int32_t>(box * inner),
                                op.at[of.outer]};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                              window + tile_offset(op, which) + box * box_bytes(op, which), map, at,
                              barrier);
  }
}

/// Step 3 up to the store: all steps of K, each waited for, so that no accumulator is touched by
/// anything else while the tensor core writes it.
template <class Form, int count>
__device__ __forceinline__ void multiply(const TileConsume& op, std::uint32_t window,
                                         std::uint32_t (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) d[i] = kStaleAccumulator;
  hold_accumulators(d);  // or the stores above are dropped: the first step ignores them
  const std::uint32_t a = window + tile_offset(op, GemmOperand::a);
  const std::uint32_t b = window + tile_offset(op, GemmOperand::b);
#pragma unroll 1  // unrolled, ptxas would add fences of its own
  for (std::uint32_t step = 0; step < step_count(op); ++step) {
    const std::uint64_t a_step = encoded(descriptor(op, GemmOperand::a, step, a));
    const std::uint64_t b_step = encoded(descriptor(op, GemmOperand::b, step, b));
    // Without it wgmma may read accumulators that are still being set. No proxy fence is needed for
    // the tiles: TMA wrote them and wgmma reads them through the same async proxy, and the wait for
    // the barrier that every thread has made orders the one before the other.
    wgmma_fence();
    wgmma<Form>(d, a_step, b_step, step > 0);
    wgmma_commit();  // without it the wait has nothing to count
    wgmma_wait<0>();
    hold_accumulators(d);
  }
}

/// Writes the accumulators in the order in which wgmma leaves them.
template <int count>
__device__ __forceinline__ void store_accumulators(const std::uint32_t (&d)[count],
                                                   std::uint8_t* c) {
  constexpr std::uint32_t kColumns = 2 * count;
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t row = thread / 32 * 16 + thread % 32 / 4;
  auto* const upper = reinterpret_cast<uint2*>(c) + (row * kColumns + thread % 4 * 2) / 2;
  uint2* const lower = upper + 8 * kColumns / 2;
#pragma unroll
  for (int j = 0; j < count / 4; ++j) {
    upper[4 * j] = make_uint2(d[4 * j], d[4 * j + 1]);
    lower[4 * j] = make_uint2(d[4 * j + 2], d[4 * j + 3]);
  }
}

template <class Form, int n>
__global__ void __launch_bounds__(kWarpgroup, 1)
    tile_consume(const __grid_constant__ CUtensorMap a_map,
                 const __grid_constant__ CUtensorMap b_map,
                 const __grid_constant__ TileConsumeLaunch row) {
  extern __shared__ std::uint8_t dynamic_memory[];
  __shared__ std::uint64_t loaded;
  const TileConsume& op = row.op;
  std::uint8_t* const window = window_in(dynamic_memory);
  const bool leader = threadIdx.x == 0;
  TileConsumeLedger seen;

  poison_window(window, shared_window_bytes(op), op.payload);
  for (std::uint32_t at = 4 * threadIdx.x; at < result_bytes(op); at += 4 * kWarpgroup)
    *reinterpret_cast<std::uint32_t*>(row.result + at) = poison_word(op.payload, at);
  if (leader) start_barrier(&loaded);
  // Nobody waits on the barrier before its init, nothing is copied before all poison is fenced, and
  // no poison of the result comes after what is stored there.
  __syncthreads();

  if (leader) {
    seen.announced = operand_bytes(op, GemmOperand::a) + operand_bytes(op, GemmOperand::b);
    seen.complete_before_issue = ptx::mbarrier_test_wait_parity(&loaded, 0);
    // Announced before the copies: their credit then only ever counts down to zero.
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &loaded, seen.announced);
    issue_boxes(&a_map, op, GemmOperand::a, window, &loaded);
    issue_boxes(&b_map, op, GemmOperand::b, window, &loaded);
  }
  // The other lanes of its warp wait for the leader: .aligned instructions come below.
  __syncwarp();
  // Every thread waits itself: only the completion that a thread observes orders the copies' writes
  // before the wgmma that it takes part in.
  const WaitResult wait = wait_bounded(&loaded, 0, kMustCompleteNs);
  // All or none: wgmma needs all four warps, and they meet here before its .aligned instructions.
  seen.complete = __syncthreads_and(wait.complete);
  seen.waited_ns = wait.waited_ns;
  if (seen.complete) {
    if (leader) seen.next_complete_early = ptx::mbarrier_test_wait_parity(&loaded, 1);
    __syncwarp();  // or lane 0 could come late to the first .aligned instruction
    std::uint32_t d[n / 2];
    multiply<Form>(op, shared_address(window), d);
    store_accumulators(d, row.result + kGuardBytes);
  } else {
    quiesce(kSettleNs);  // the block may not end under a copy in flight to its memory
  }
  __syncthreads();  // or the ledger could say that the result is there before it is
  if (!leader) return;
  hand_in(seen, row.launch, row.ledger);
}

using Kernel = void (*)(CUtensorMap, CUtensorMap, TileConsumeLaunch);

template <MmaType type, bool a_mn = false, bool b_mn = false>
Kernel kernel_of(std::uint32_t n) {
  using Form = WgmmaForm<type, a_mn, b_mn>;
  switch (n) {
    case 8:
      return tile_consume<Form, 8>;
    case 16:
      return tile_consume<Form, 16>;
    case 32:
      return tile_consume<Form, 32>;
    case 64:
      return tile_consume<Form, 64>;
    case 128:
      return tile_consume<Form, 128>;
    default:
      throw Error("tile consume: no kernel for this n");
  }
}

template <MmaType type>
Kernel kernel_of_majors(const TileConsume& op) {
  const bool a_mn = op.a.major == Major::mn;
  const bool b_mn = op.b.major == Major::mn;
  if (a_mn) return b_mn ? kernel_of<type, true, true>(op.n) : kernel_of<type, true, false>(op.n);
  return b_mn ? kernel_of<type, false, true>(op.n) : kernel_of<type, false, false>(op.n);
}

Kernel kernel_for(const TileConsume& op) {
  switch (op.type) {
    case MmaType::f16:
      return kernel_of_majors<MmaType::f16>(op);
    case MmaType::bf16:
      return kernel_of_majors<MmaType::bf16>(op);
    case MmaType::tf32:
      return kernel_of<MmaType::tf32>(op.n);
    case MmaType::e4m3:
      return kernel_of<MmaType::e4m3>(op.n);
    case MmaType::e5m2:
      return kernel_of<MmaType::e5m2>(op.n);
    case MmaType::s8:
      return kernel_of<MmaType::s8>(op.n);
    case MmaType::u8:
      return kernel_of<MmaType::u8>(op.n);
  }
  throw Error("tile consume: no kernel for this type");
}

}  // namespace

void launch_fill_source(const TileConsume& op, std::byte* source, cudaStream_t stream) {
  constexpr std::uint32_t kFillThreads = 256;
  constexpr std::uint64_t kMostBlocks = 1056;  // eight a SM of an H200; the loop does the rest
  const std::uint64_t words = source_allocation_bytes(op) / 4;
  const std::uint64_t blocks = std::min((words + kFillThreads - 1) / kFillThreads, kMostBlocks);
  fill_source<<<static_cast<std::uint32_t>(blocks), kFillThreads, 0, stream>>>(
      op, reinterpret_cast<std::uint32_t*>(source), words);
  cuda_check(cudaGetLastError(), "launch the source fill");
}

void launch_tile_consume(const CUtensorMap& a, const CUtensorMap& b, const TileConsumeLaunch& row,
                         cudaStream_t stream) {
  const Kernel kernel = kernel_for(row.op);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(dynamic_bytes(kConsumeWindowMax))),
             "allow a consumed tile its shared memory");
  kernel<<<1, kWarpgroup, dynamic_bytes(shared_window_bytes(row.op)), stream>>>(a, b, row);
  cuda_check(cudaGetLastError(), "launch the consumed tile");
}

}  // namespace tidemark::kernels
