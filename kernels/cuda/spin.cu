// Every SM multiplies until its time is over. It must not idle: a GPU at its power cap would clock
// higher in the rest of the sample and give back a part of what was added.
#include <algorithm>
#include <cuda/ptx>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/spin.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 512;
constexpr int kBlocksOfSm = 4;                  // 2048 threads: all that an SM holds
constexpr std::uint64_t kMostNs = 500'000'000;  // the bound of a kernel that must end
constexpr std::uint32_t kMultiplies = 16;       // between two looks at the clock

__global__ void __launch_bounds__(kThreads) spin(std::uint64_t ns, float* never) {
  // A second bound, since %globaltimer may stand still on some targets: 4 cycles a nanosecond is
  // above any clock of the chip.
  const auto bound_cycles = static_cast<long long>(ns * 4);
  const std::uint64_t began_ns = cuda::ptx::get_sreg_globaltimer();
  const long long began_cycle = clock64();
  auto value = static_cast<float>(threadIdx.x);
  do {
#pragma unroll
    for (std::uint32_t i = 0; i < kMultiplies; ++i) value = fmaf(value, 0.5f, 1.0f);
  } while (cuda::ptx::get_sreg_globaltimer() - began_ns < ns &&
           clock64() - began_cycle < bound_cycles);
  // Values go to 2 and never meet this one: a use, without which nothing would be multiplied.
  if (value == 0.25f) *never = value;
}

}  // namespace

void launch_spin(std::uint64_t ns, cudaStream_t stream) {
  int device = 0;
  int sms = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
             "ask how many SMs there are");
  spin<<<static_cast<unsigned>(sms * kBlocksOfSm), kThreads, 0, stream>>>(std::min(ns, kMostNs),
                                                                          nullptr);
  cuda_check(cudaGetLastError(), "launch the spin of a slowed benchmark");
}

}  // namespace tidemark
