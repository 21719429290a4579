// One rank's multiplication in device memory, the engine without tensor cores, and how the bounded
// waits of the others report.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

/// C[m, n] = A[m, k] B^T[n, k]; bf16 inputs, both K-major. m, n, k >= 1. Rows start on 16 bytes,
/// but for launch_general_reference(), which takes any row that starts on an element, and the
/// engine, which takes the same but for rows of A and B of fp8.
struct LocalGemm {
  std::byte* a = nullptr;   // m rows of k elements
  std::byte* b = nullptr;   // n rows of k elements
  std::byte* c = nullptr;   // m rows of n elements of `output`
  std::uint64_t pitch = 0;  // elements from one row of A or B to the next
  std::uint64_t ldc = 0;    // elements from one row of C to the next
  std::uint64_t m = 0, n = 0, k = 0;
  GemmOutput output = GemmOutput::f32;

  // What the engine of engine/ can do beyond that; the ladder and the reference cannot.
  GemmElement element = GemmElement::bf16;
  Major a_major = Major::k, b_major = Major::k;  // mn: k rows of m (n) elements
  std::uint64_t b_pitch = 0;                     // of B where it is not A's; 0: it is
  float alpha = 1, beta = 0;                     // C = alpha A B^T + beta C
  std::byte* workspace = nullptr;                // engine_workspace_bytes(), on 128 bytes
  std::uint32_t sm_budget = 0;                   // SMs that may be taken; 0: all
  bool one_sum = false;  // each element is one sum in order of k, as in blocks of another size

  constexpr std::uint64_t pitch_of_b() const { return b_pitch != 0 ? b_pitch : pitch; }
};

/// GemmEngine::reference on `stream`: CUDA cores only, no TMA and no tensor cores; each element is
/// one thread's fused multiply-adds in order of k.
void launch_reference(const LocalGemm& gemm, cudaStream_t stream);

/// Which wait ended by its bound.
struct TimedOutWait {
  bool producer = false;  // waited for a free stage; else a consumer, for bytes or sums
  bool rows = false;      // for rows of other ranks; then neither of both
  std::uint32_t block = 0;
};
/// The host's word where it ends a product that waits for rows.
inline constexpr std::uint32_t kCancelled = 0xffffffff;
/// As one word; never 0, and not kCancelled.
constexpr std::uint32_t timed_out_word(const TimedOutWait& wait) {
  return wait.rows ? 0x80000000U | wait.block : 2 * wait.block + (wait.producer ? 2U : 1U);
}
constexpr TimedOutWait timed_out_wait(std::uint32_t word) {
  if (word >> 31 != 0) return {.rows = true, .block = word & 0x7fffffffU};
  return {.producer = word % 2 == 0, .block = (word - 1) / 2};
}
static_assert(timed_out_wait(timed_out_word({.rows = true, .block = 131})).block == 131);
static_assert(timed_out_wait(timed_out_word({.rows = true, .block = 131})).rows);
static_assert(!timed_out_wait(timed_out_word({.producer = true, .block = 131})).rows);
static_assert(timed_out_wait(timed_out_word({.producer = true, .block = 131})).block == 131);
static_assert(timed_out_wait(timed_out_word({.producer = true, .block = 131})).producer);
static_assert(timed_out_wait(timed_out_word({.producer = false, .block = 131})).block == 131);
static_assert(!timed_out_wait(timed_out_word({.producer = false, .block = 131})).producer);

#ifndef TIDEMARK_KERNEL_WAIT_S  // given where a tool slows kernels down (ci/gpu)
#define TIDEMARK_KERNEL_WAIT_S 2
#endif

/// Bound of each wait inside the kernel.
inline constexpr std::uint64_t kKernelWaitNs =
    TIDEMARK_KERNEL_WAIT_S * std::uint64_t{1'000'000'000};

}  // namespace tidemark
