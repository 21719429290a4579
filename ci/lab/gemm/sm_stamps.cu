// Reads every SM's clock counter and the GPU's timer: two readings make a mean clock.
#include "ci/lab/gemm/draw.hpp"
#include "kernels/cuda/check.hpp"

namespace tidemark {
namespace {

constexpr int kBlocksAnSm = 4;             // so that none is passed over
constexpr long long kStayClocks = 20'000;  // each stays until the others have found their SMs

__global__ void stamp(SmStamps* stamps) {
  unsigned sm = 0;
  unsigned long long now = 0;
  // volatile: without it the timer could be read before the block is where it stays.
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  const long long clocks = clock64();
  // The first block on an SM writes; both numbers are of the same block.
  if (sm < SmStamps::kMost && atomicCAS(&stamps->nanoseconds[sm], 0ULL, now) == 0)
    stamps->clocks[sm] = static_cast<unsigned long long>(clocks);
  while (clock64() - clocks < kStayClocks) {
  }
}

}  // namespace

void launch_sm_stamps(SmStamps* stamps, cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  stamp<<<multiprocessors * kBlocksAnSm, 1, 0, stream>>>(stamps);
  cuda_check(cudaGetLastError(), "launch what reads the SMs' clocks");
}

}  // namespace tidemark
