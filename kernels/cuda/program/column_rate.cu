// The kernel that reads columns against the clock, and the samples that it gives.

#include <array>
#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/program/program.hpp"
#include "kernels/cuda/tile_window.cuh"
#include "kernels/device.hpp"
#include "kernels/ops/program/checks.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = kReadingWarps * kWarpLanes;
constexpr double kTimedReads = double{kReadingWarps} * kReadsPerWarp;

using LaneOffsets = std::array<std::uint32_t, kWarpLanes>;

/// What a launch leaves: clock cycles from the first to the last read, and sums that keep the reads
/// alive.
struct ColumnTimes {
  std::int64_t cycles = 0;
  std::array<std::uint32_t, kThreads> sums{};
};

/// One 16-byte read of shared memory. PTX ISA 9.0, 9.7.9.8.
__device__ uint4 read_chunk(std::uint32_t address) {
  uint4 chunk;
  // ld.volatile: ptxas merges plain reads of one address, though the asm is volatile, and the time
  // of one would be that of eight (seen on H200).
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(chunk.x), "=r"(chunk.y), "=r"(chunk.z), "=r"(chunk.w)
               : "r"(address)
               : "memory");
  return chunk;
}

/// The cycles that kReadsPerWarp reads of all warps took together; where kSlowed, with
/// `extra` more of each warp. A parameter of the template, so that the loop that measures GPUs is
/// compiled without the other one.
template <bool kSlowed>
__device__ std::int64_t time_reads(std::uint32_t address, std::uint32_t extra,
                                   std::uint32_t* sums) {
  __shared__ long long starts[kReadingWarps];
  uint4 sum = make_uint4(0, 0, 0, 0);
  // All warps start together: the banks are to be busy from the first cycle on.
  __syncthreads();
  const long long began = clock64();
#pragma unroll 8
  for (std::uint32_t i = 0; i < kReadsPerWarp; ++i) {
    const uint4 chunk = read_chunk(address);
    sum.x ^= chunk.x;
    sum.y ^= chunk.y;
    sum.z ^= chunk.z;
    sum.w ^= chunk.w;
  }
  if constexpr (kSlowed) {
    for (std::uint32_t i = 0; i < extra; ++i) sum.x ^= read_chunk(address).x;
  }
  // Uses what was read: a read nobody waits for would not have ended when the clock is read.
  sums[threadIdx.x] = sum.x ^ sum.y ^ sum.z ^ sum.w;
  if (threadIdx.x % kWarpLanes == 0) starts[threadIdx.x / kWarpLanes] = began;
  // The block began when its first warp did, and is done when its last is. By the clock of one warp
  // an H200 gave 31.8 of 32 cycles (ci/baselines/h200-198-cases.h5), so 31.9 to 32.0
  // (h200-bank-conflicts.h5).
  __syncthreads();
  const long long ended = clock64();
  long long first = began;
  for (const long long start : starts) first = start < first ? start : first;
  return ended - first;
}

template <bool kSlowed>
__global__ void __launch_bounds__(kThreads, 1)
    read_columns(const __grid_constant__ LaneOffsets offsets, std::uint32_t extra,
                 ColumnTimes* times) {
  extern __shared__ std::uint8_t dynamic_memory[];
  const std::uint32_t address =
      shared_address(window_in(dynamic_memory)) + offsets[threadIdx.x % kWarpLanes];
  const std::int64_t cycles = time_reads<kSlowed>(address, extra, times->sums.data());
  if (threadIdx.x == 0) times->cycles = cycles;
}

LaneOffsets offsets_of(const TileRead& read) {
  LaneOffsets offsets;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) offsets[lane] = read_offset(read, lane);
  return offsets;
}

void launch(RowWorkspace& workspace, const TileRead& read, std::uint32_t extra) {
  const auto kernel = extra == 0 ? read_columns<false> : read_columns<true>;
  const std::uint32_t bytes = dynamic_bytes(window_bytes(read.load));
  kernel<<<1, kThreads, bytes, workspace.stream.get()>>>(offsets_of(read), extra,
                                                         workspace.answer.as<ColumnTimes>());
  cuda_check(cudaGetLastError(), "launch a warp's reads");
}

/// Says in `result` where the kernel hung.
void take_samples(RowWorkspace& workspace, const TileRead& read, const Timing& timing,
                  Measurement& result) {
  const Event began(Event::Kind::timing), ended(Event::Kind::timing);
  const cudaStream_t stream = workspace.stream.get();
  for (const auto kernel : {read_columns<false>, read_columns<true>})
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(dynamic_bytes(window_bytes(read.load)))),
               "allow a warp's reads their shared memory");
  grow(workspace.answer, sizeof(ColumnTimes));
  grow(workspace.host, sizeof(ColumnTimes));
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    // Else a kernel that did nothing would hand in the cycles of the one before it.
    cuda_check(cudaMemsetAsync(workspace.answer.data(), 0, sizeof(ColumnTimes), stream),
               "clear the cycles");
    cuda_check(cudaEventRecord(began.get(), stream), "record the start of a sample");
    launch(workspace, read, i < timing.warmups ? 0 : extra_units(kReadsPerWarp, timing.slow));
    cuda_check(cudaEventRecord(ended.get(), stream), "record the end of a sample");
    cuda_check(cudaMemcpyAsync(workspace.host.data(), workspace.answer.data(), sizeof(ColumnTimes),
                               cudaMemcpyDeviceToHost, stream),
               "read the cycles back");
    if (!wait_for_launch(workspace)) {
      result.fault = DeviceFault::timeout;
      result.note = hung_note();
      return;
    }
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
    if (i < timing.warmups) continue;
    const auto cycles = static_cast<double>(workspace.host.as<ColumnTimes>()->cycles);
    if (cycles <= 0) throw Error("a warp's reads left no cycles");
    result.samples.push_back({.at_unix_s = unix_seconds(),
                              .total_ns = double{milliseconds} * 1e6 / kTimedReads,
                              .cycles = cycles / kTimedReads});
  }
}

}  // namespace

Measurement measure_column_rate(RowWorkspace& workspace, const TileRead& read,
                                const Timing& timing) {
  Measurement result;
  const Program program = with_checks(program_of(read));
  result.last = run_programs(workspace, {&program, 1}).front();
  result.fault = result.last.fault;
  result.code = result.last.code;
  result.note = result.last.note;
  if (result.fault != DeviceFault::none) return result;
  catch_sticky(result, [&] { take_samples(workspace, read, timing, result); });
  if (result.fault != DeviceFault::none) {
    result.samples.clear();
    return result;
  }
  result.note = "each sample is the mean of " + std::to_string(kReadsPerWarp) +
                " reads of each of " + std::to_string(kReadingWarps) + " warps" +
                slowed_note(kReadsPerWarp, timing.slow, "reads");
  return result;
}

}  // namespace tidemark
