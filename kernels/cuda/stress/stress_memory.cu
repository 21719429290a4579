// The memory of a stress: filled, scanned, read by threads alone, and how long one load takes.
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/stress/stress_box.cuh"
#include "kernels/cuda/stress/stress_kernel.hpp"

namespace tidemark {
namespace {

/// Looks for words that no copy can have left.
__global__ void stress_scan(const __grid_constant__ StressLaunch launch, std::uint32_t ctas) {
  const auto* const memory = reinterpret_cast<const std::uint32_t*>(launch.memory);
  StressResults& results = *launch.results;
  const auto words = static_cast<std::uint32_t>(launch.memory_bytes / 4);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
       i += gridDim.x * blockDim.x) {
    const std::uint32_t word = memory[i], expected = stress_word(i, launch.word_seed);
    const std::uint32_t writer = stress_writer(launch.copy, i);
    const std::uint32_t cta = writer < ctas ? writer : ctas;  // behind the last: of no CTA
    if (stress_may_leave(launch.copy, expected, word, cta == ctas ? 0 : results.sms[cta].boxes))
      continue;
    const std::uint64_t kept =
        atomicAdd(reinterpret_cast<unsigned long long*>(&results.sms[cta].wrong_words), 1ULL);
    if (kept < kKeptWrongWords)
      results.wrong[cta][kept] = {.seed = launch.seed,
                                  .iteration = kOfMemory | i,
                                  .cta = cta,
                                  .sm = cta == ctas ? kNoSm : results.sms[cta].sm,
                                  .expected = expected,
                                  .actual = word,
                                  .in_memory = word};
  }
}

__global__ void stress_fill(std::uint32_t* memory, std::uint64_t words, std::uint32_t seed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    memory[i] = stress_word(static_cast<std::uint32_t>(i), seed);
}

__global__ void plain_read(const uint4* memory, std::uint64_t pieces, std::uint32_t times,
                           std::uint32_t* sink) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t sum = 0;
  for (std::uint32_t time = 0; time < times; ++time)
#pragma unroll 8
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pieces;
         i += step) {
      const uint4 piece = __ldcg(memory + i);
      sum ^= piece.x ^ piece.y ^ piece.z ^ piece.w;
    }
  if (sum == 0x12345678U) *sink = sum;  // keeps the reads
}

__global__ void latency(const std::uint8_t* memory, StressResults* results) {
  alignas(16) __shared__ std::uint8_t to[16];
  __shared__ std::uint64_t barrier;
  ptx::mbarrier_init(&barrier, 1);
  // Without it a copy may complete on a barrier that the async proxy has not seen initialized.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  std::uint64_t cycles = 0;
  bool lost = false;
  for (std::uint32_t i = 0; i < 2 * kLatencyLoads && !lost; ++i) {
    // All over the first MiB: near slices of L2 and far ones. The first time it comes to L2.
    const std::uint32_t place = (i % kLatencyLoads * kStressFactor) >> 12 & ~15U;
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &barrier, 16);
    const long long began = clock64();
    bulk_load(to, memory + place, 16, &barrier);
    bool came = false;
    for (std::uint32_t tries = 0; !came && tries < 10'000; ++tries)
      came = ptx::mbarrier_test_wait_parity(&barrier, i % 2);
    if (i >= kLatencyLoads) cycles += static_cast<std::uint64_t>(clock64() - began);
    lost = !came && !wait_for_box(&barrier, i % 2);
  }
  if (lost) quiesce(10'000'000);
  results->cycles[ptx::get_sreg_smid()] =
      lost ? kLatencyLost : static_cast<std::uint32_t>(cycles / kLatencyLoads);
}

}  // namespace

void launch_stress_fill(std::uint8_t* memory, std::uint64_t bytes, std::uint32_t word_seed,
                        cudaStream_t stream) {
  stress_fill<<<1056, 256, 0, stream>>>(reinterpret_cast<std::uint32_t*>(memory), bytes / 4,
                                        word_seed);
  cuda_check(cudaGetLastError(), "launch the fill of a stress");
}

void launch_stress_scan(const StressLaunch& launch, std::uint32_t ctas, cudaStream_t stream) {
  stress_scan<<<1056, 256, 0, stream>>>(launch, ctas);
  cuda_check(cudaGetLastError(), "launch the scan of a stress");
}

void launch_plain_read(const std::uint8_t* memory, std::uint64_t bytes, std::uint32_t times,
                       std::uint32_t* sink, std::uint32_t sms, cudaStream_t stream) {
  plain_read<<<sms * 8, 512, 0, stream>>>(reinterpret_cast<const uint4*>(memory), bytes / 16, times,
                                          sink);
  cuda_check(cudaGetLastError(), "launch a plain read");
}

void launch_stress_latency(const std::uint8_t* memory, std::uint32_t sms, StressResults* results,
                           cudaStream_t stream) {
  latency<<<sms, 1, 0, stream>>>(memory, results);
  cuda_check(cudaGetLastError(), "launch the latency of loads");
}

}  // namespace tidemark
