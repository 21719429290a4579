// An SM that another kernel slows is the slowest by far, and no SM is slow without one.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cuda/ptx>
#include <thread>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/cuda/stress/stress.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kPieces = 1 << 20;          // 16 MiB, which L2 holds
constexpr std::uint64_t kSlowedNs = 1'500'000'000;  // longer than the stress
constexpr double kSlow = 0.97;                      // of the median: what `show` names

/// Reads L2 on SM `sm` alone.
__global__ void read_on(const uint4* memory, std::uint32_t sm, std::uint32_t* sink) {
  if (cuda::ptx::get_sreg_smid() != sm) return;
  const std::uint64_t began = cuda::ptx::get_sreg_globaltimer();
  const long long first = clock64();
  std::uint32_t sum = 0, at = threadIdx.x;
  // %globaltimer may stand still: four cycles a nanosecond are above any clock of the chip.
  while (cuda::ptx::get_sreg_globaltimer() - began < kSlowedNs &&
         clock64() - first < static_cast<long long>(4 * kSlowedNs))
    for (std::uint32_t i = 0; i < 64; ++i, at += 7 * blockDim.x) {
      const uint4 piece = __ldcg(memory + at % kPieces);
      sum ^= piece.x ^ piece.w;
    }
  if (sum == 0x12345678U) *sink = sum;  // keeps the reads
}

class SlowedSmOnGpu : public GpuTest {
 protected:
  /// The SMs whose rate is below kSlow of the median, while SM `slowed` also reads; -1: none does.
  static std::vector<std::uint32_t> slow_sms(int slowed) {
    const DeviceBuffer memory(std::size_t{kPieces} * sizeof(uint4)), sink(sizeof(std::uint32_t));
    const Stream stream;
    cudaFuncAttributes loaded{};  // else its launch waits for the stress
    cuda_check(cudaFuncGetAttributes(&loaded, read_on), "load the reader");
    // Later: an SM whose shared memory another kernel has laid out has no room for a stress.
    std::thread reader([&] {
      if (slowed < 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      read_on<<<528, 512, 0, stream.get()>>>(memory.as<uint4>(), static_cast<std::uint32_t>(slowed),
                                             sink.as<std::uint32_t>());
    });
    RowWorkspace workspace;
    const Measurement measured = measure_stress(
        workspace,
        {.boxes = StressBoxes::bulk, .memory_bytes = kStressL2Bytes, .seconds = 0.6, .seed = 7});
    reader.join();
    cuda_check(cudaStreamSynchronize(stream.get()), "wait for the reader");
    EXPECT_EQ(measured.fault, DeviceFault::none) << measured.note;
    std::vector<double> rates;
    for (const StressSm& sm : measured.last.stress)
      rates.push_back(static_cast<double>(sm.bytes) / static_cast<double>(sm.ns));
    std::vector<double> sorted = rates;
    std::ranges::sort(sorted);
    std::vector<std::uint32_t> slow;
    for (std::size_t i = 0; i < rates.size(); ++i)
      if (rates[i] < kSlow * sorted[sorted.size() / 2]) slow.push_back(measured.last.stress[i].sm);
    return slow;
  }
};

TEST_F(SlowedSmOnGpu, IsNamedAndNoOther) {
  int sms = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const std::uint32_t sm = (37 * i + 5) % static_cast<std::uint32_t>(sms);
    EXPECT_EQ(slow_sms(static_cast<int>(sm)), std::vector<std::uint32_t>{sm});
  }
}

TEST_F(SlowedSmOnGpu, NoneIsNamedWhereNothingElseRuns) {
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(slow_sms(-1), std::vector<std::uint32_t>{});
}

}  // namespace
}  // namespace tidemark
