// Packs rows before a product, all of an operand or what the first tiles read, and sets up the
// words by which the rest is handed over.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/pack/pack_rows.cuh"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocksAnSm = 4;  // 64 KiB on their way, an SM

/// Rows of `ahead` that are packed before the product: the first ones and the last.
constexpr std::uint64_t rows_before(const RowsAhead& ahead) {
  return ahead.any() ? ahead.first + std::uint64_t{1} : ahead.rows.rows;
}
constexpr std::uint64_t runs_before(const RowsAhead& ahead) {
  return rows_before(ahead) * ahead.runs.runs;
}

__device__ void set_up(const RowsAhead& ahead) {
  if (!ahead.any()) return;
  // The last row is packed here, too.
  for (std::uint32_t i = threadIdx.x; i < ahead.bands(); i += kThreads)
    ahead.done[i] = i + 1 == ahead.bands() ? 1 : 0;
  if (threadIdx.x == 0) *ahead.taken = 0;
}

/// Words of which perhaps one half only is the operand's: the other may be somebody else's, or
/// nobody's.
struct EdgeWords {
  const std::byte* begin;
  const std::byte* end;

  __device__ __forceinline__ std::uint32_t operator()(const std::uint32_t* at) const {
    const auto* const low = reinterpret_cast<const std::byte*>(at);
    const std::byte* const high = low + 2;
    if (low >= begin && high + 2 <= end) return *at;
    std::uint32_t word = 0;
    if (low >= begin && high <= end) word = *reinterpret_cast<const std::uint16_t*>(low);
    if (high >= begin && high + 2 <= end)
      word |= std::uint32_t{*reinterpret_cast<const std::uint16_t*>(high)} << 16;
    return word;
  }
};

/// Warp `warp` of `warps` copies its runs: every `warps`-th one.
__device__ void pack_before(const RowsAhead& ahead, std::uint32_t warp, std::uint32_t warps) {
  const std::uint32_t lane = threadIdx.x % 32;
  const PackedRows& rows = ahead.rows;
  const RowRuns& runs = ahead.runs;
  const std::uint64_t last = rows.rows - 1;
  const std::byte* const end =
      rows.from + (last * rows.from_pitch + rows.elements) * sizeof(std::uint16_t);
  const std::uint64_t all = runs_before(ahead);
  for (std::uint64_t at = warp; at < all; at += warps) {
    const auto index = static_cast<std::uint32_t>(at / runs.runs);
    // The last row comes first: read with more care, it takes longer.
    const std::uint32_t row = index == 0 ? static_cast<std::uint32_t>(last) : index - 1;
    const std::uint32_t first = static_cast<std::uint32_t>(at % runs.runs) * runs.run_words;
    const Run run = run_of(rows, row, first, min(runs.run_words, runs.words - first));
    if (row == 0 || row == last || rows.elements == 1)
      copy_run<kRunSteps, false>(run, lane, ahead.stays, EdgeWords{rows.from, end});
    else
      copy_run<kRunSteps, false>(run, lane, ahead.stays, InnerWords{});
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksAnSm)
    pack(const __grid_constant__ RowsAhead a, const __grid_constant__ RowsAhead b) {
  if (blockIdx.x == 0) {
    set_up(a);
    set_up(b);
  }
  const std::uint32_t warp = (blockIdx.x * kThreads + threadIdx.x) / 32;
  const std::uint32_t warps = gridDim.x * kThreads / 32;
  pack_before(a, warp, warps);
  // The warps that had one run of A less than the others begin with B.
  const auto busy = static_cast<std::uint32_t>(runs_before(a) % warps);
  pack_before(b, warp < busy ? warp + warps - busy : warp - busy, warps);
}

}  // namespace

void launch_pack(const std::array<RowsAhead, 2>& operands, std::uint32_t sm_budget,
                 cudaStream_t stream) {
  std::uint64_t runs = 0;
  for (const RowsAhead& ahead : operands) runs += runs_before(ahead);
  if (runs == 0) return;
  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  // Nothing makes blocks share an SM while another is free: a budget is one of blocks.
  const std::uint64_t most =
      sm_budget != 0 ? sm_budget : static_cast<std::uint64_t>(multiprocessors) * kBlocksAnSm;
  const std::uint64_t blocks = std::min(most, runs / (kThreads / 32) + 1);
  pack<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(operands[0], operands[1]);
  cuda_check(cudaGetLastError(), "launch the kernel that packs rows");
}

}  // namespace tidemark::kernels
