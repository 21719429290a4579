// wgmma as a step of a program: every type, major-ness and width in which the instruction is tried.
#pragma once

#include <cstdint>

#include "kernels/cuda/program/program_copies.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {

/// All steps of K, each waited for, so that no accumulator is touched by anything else while the
/// tensor core writes it.
template <class Form, int count>
__device__ __forceinline__ void multiply(const Wgmma& op, std::uint32_t window,
                                         std::uint32_t (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) d[i] = kStaleAccumulator;
  hold_accumulators(d);  // or the stores above are dropped: the first step ignores them
  const std::uint32_t a = window + op.a.offset;
  const std::uint32_t b = window + op.b.offset;
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
  const std::uint32_t thread = threadIdx.x % kWgmmaThreads;
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
__device__ __forceinline__ void multiply_and_store(std::uint32_t window, const Wgmma& op,
                                                   std::uint8_t* c) {
  std::uint32_t d[n / 2];
  multiply<Form>(op, window, d);
  store_accumulators(d, c);
}

// Not inlined: the kernel would take minutes to compile. ptxas serializes wgmma beside a call,
// which is what these do anyway (TIDEMARK_WGMMA_SERIALIZED in kernels/CMakeLists.txt).
template <MmaType type, bool a_mn = false, bool b_mn = false>
__device__ __noinline__ void multiply_in_width(std::uint32_t window, const Wgmma& op,
                                               std::uint8_t* c) {
  using Form = WgmmaForm<type, a_mn, b_mn>;
  switch (op.n) {
    case 8:
      return multiply_and_store<Form, 8>(window, op, c);
    case 16:
      return multiply_and_store<Form, 16>(window, op, c);
    case 32:
      return multiply_and_store<Form, 32>(window, op, c);
    case 64:
      return multiply_and_store<Form, 64>(window, op, c);
    default:  // unsound() lets no other through
      return multiply_and_store<Form, 128>(window, op, c);
  }
}

template <MmaType type>
__device__ inline void multiply_in_majors(std::uint32_t window, const Wgmma& op, std::uint8_t* c) {
  const bool b_mn = op.b.major == Major::mn;
  if (op.a.major == Major::mn)
    return b_mn ? multiply_in_width<type, true, true>(window, op, c)
                : multiply_in_width<type, true, false>(window, op, c);
  return b_mn ? multiply_in_width<type, false, true>(window, op, c)
              : multiply_in_width<type, false, false>(window, op, c);
}

/// By the threads of one warpgroup.
__device__ inline void wgmma_product(const Cta& cta, const Step& step) {
  const Wgmma& op = cta.task.products[step.product];
  const std::uint32_t window = shared_address(cta.window);
  std::uint8_t* const c = cta.window + step.offset;
  __syncwarp();  // or a lane could come late to the first .aligned instruction
  switch (op.type) {
    case MmaType::f16:
      multiply_in_majors<MmaType::f16>(window, op, c);
      break;
    case MmaType::bf16:
      multiply_in_majors<MmaType::bf16>(window, op, c);
      break;
    case MmaType::tf32:
      multiply_in_width<MmaType::tf32>(window, op, c);
      break;
    case MmaType::e4m3:
      multiply_in_width<MmaType::e4m3>(window, op, c);
      break;
    case MmaType::e5m2:
      multiply_in_width<MmaType::e5m2>(window, op, c);
      break;
    case MmaType::s8:
      multiply_in_width<MmaType::s8>(window, op, c);
      break;
    case MmaType::u8:
      multiply_in_width<MmaType::u8>(window, op, c);
      break;
  }
  // As behind add(): a store may take C from here.
  ptx::fence_proxy_async(ptx::space_shared);
}

}  // namespace tidemark
