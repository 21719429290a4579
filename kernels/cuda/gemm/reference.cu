// The references, and the inputs of all GEMMs. No TMA, no tensor cores, no asynchrony.
#include "kernels/cuda/gemm/reference.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {

// C = A B^T as plainly as a GPU can do it in reasonable time: what the fast engine is compared
// with. Every element is summed by one thread in order of k.

namespace {

constexpr std::uint32_t kTile = 128;     // rows and columns of C a block computes
constexpr std::uint32_t kDepth = 16;     // of k, per step
constexpr std::uint32_t kThreads = 256;  // 16 x 16
constexpr std::uint32_t kMicro = 8;      // a thread computes 8 x 8 elements, in four 4 x 4 patches
constexpr std::uint32_t kPad = 4;        // keeps float4 on 16 bytes, spreads the banks
constexpr std::uint32_t kVector = 8;  // 16-bit elements a thread loads or writes at once: 16 bytes

/// A step's part of A or B, k by k, as fp32.
struct Panel {
  alignas(16) float at[kDepth][kTile + kPad];
};

/// Loads rows first_row ... + 127 and k ... + 15 of a K-major matrix; zeros outside of it. A thread
/// loads eight neighbours of one row: `pitch` is a multiple of 8, so they never leave the row.
__device__ void load_panel(Panel& panel, const __nv_bfloat16* matrix, std::uint64_t pitch,
                           std::uint64_t rows, std::uint64_t k_end, std::uint64_t first_row,
                           std::uint64_t first_k) {
  const std::uint32_t row = threadIdx.x / 2;
  const std::uint32_t depth = threadIdx.x % 2 * kVector;
  const std::uint64_t k = first_k + depth;
  alignas(16) __nv_bfloat16 values[kVector] = {};
  if (first_row + row < rows && k < k_end)
    *reinterpret_cast<uint4*>(values) =
        *reinterpret_cast<const uint4*>(matrix + (first_row + row) * pitch + k);
#pragma unroll
  for (std::uint32_t i = 0; i < kVector; ++i)
    panel.at[depth + i][row] = k + i < k_end ? __bfloat162float(values[i]) : 0.0F;
}

/// The eight rows (or columns) of a thread in one k: four from `lane` on, four from 64 behind.
__device__ void pick(float (&into)[kMicro], const float (&from)[kTile + kPad], std::uint32_t lane) {
  *reinterpret_cast<float4*>(&into[0]) = *reinterpret_cast<const float4*>(&from[lane * 4]);
  *reinterpret_cast<float4*>(&into[4]) =
      *reinterpret_cast<const float4*>(&from[kTile / 2 + lane * 4]);
}

__device__ void set(float& c, float value) { c = value; }
__device__ void set(__nv_bfloat16& c, float value) { c = __float2bfloat16_rn(value); }
__device__ void set(__half& c, float value) { c = __float2half_rn(value); }

template <class Out>
__global__ void __launch_bounds__(kThreads) reference(LocalGemm gemm) {
  __shared__ Panel a;
  __shared__ Panel b;
  const auto* a_matrix = reinterpret_cast<const __nv_bfloat16*>(gemm.a);
  const auto* b_matrix = reinterpret_cast<const __nv_bfloat16*>(gemm.b);
  const std::uint64_t first_row = std::uint64_t{blockIdx.y} * kTile;
  const std::uint64_t first_column = std::uint64_t{blockIdx.x} * kTile;
  const std::uint32_t lane_m = threadIdx.x / 16;
  const std::uint32_t lane_n = threadIdx.x % 16;

  float sum[kMicro][kMicro] = {};
  for (std::uint64_t k = 0; k < gemm.k; k += kDepth) {
    load_panel(a, a_matrix, gemm.pitch, gemm.m, gemm.k, first_row, k);
    load_panel(b, b_matrix, gemm.pitch, gemm.n, gemm.k, first_column, k);
    __syncthreads();  // without it a thread would read what others have not written yet
#pragma unroll
    for (std::uint32_t depth = 0; depth < kDepth; ++depth) {
      alignas(16) float left[kMicro];
      alignas(16) float right[kMicro];
      pick(left, a.at[depth], lane_m);
      pick(right, b.at[depth], lane_n);
#pragma unroll
      for (std::uint32_t i = 0; i < kMicro; ++i)
#pragma unroll
        for (std::uint32_t j = 0; j < kMicro; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
    }
    __syncthreads();  // without it the next step would overwrite what others still read
  }

#pragma unroll
  for (std::uint32_t i = 0; i < kMicro; ++i)
#pragma unroll
    for (std::uint32_t j = 0; j < kMicro; ++j) {
      const std::uint64_t row = first_row + i / 4 * (kTile / 2) + lane_m * 4 + i % 4;
      const std::uint64_t column = first_column + j / 4 * (kTile / 2) + lane_n * 4 + j % 4;
      if (row < gemm.m && column < gemm.n)
        set(reinterpret_cast<Out*>(gemm.c)[row * gemm.ldc + column], sum[i][j]);
    }
}

}  // namespace

void launch_reference(const LocalGemm& gemm, cudaStream_t stream) {
  const std::uint64_t across = (gemm.n + kTile - 1) / kTile;
  const std::uint64_t down = (gemm.m + kTile - 1) / kTile;
  if (down > 65535 || across > 0x7fffffffU)  // CUDA's limits of gridDim.y and gridDim.x
    throw Error("gemm: a block of " + std::to_string(gemm.m) + " x " + std::to_string(gemm.n) +
                " is too large for the reference engine: use fewer than 8388480 rows");
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
  if (gemm.output == GemmOutput::f32)
    reference<float><<<grid, kThreads, 0, stream>>>(gemm);
  else
    reference<__nv_bfloat16><<<grid, kThreads, 0, stream>>>(gemm);
  cuda_check(cudaGetLastError(), "launch the reference GEMM");
}

// One thread an element, no tiles, nothing asynchronous: slow, and hard to get wrong.

namespace {

constexpr std::uint64_t kMostBlocks = 65536;  // grid-stride loops do the rest

__device__ float as_value(float c) { return c; }
__device__ float as_value(__nv_bfloat16 c) { return __bfloat162float(c); }
__device__ float as_value(__half c) { return __half2float(c); }
// By the CUDA headers, not by from_element(): the two are then held against each other.
__device__ float as_value(__nv_fp8_e4m3 c) { return static_cast<float>(c); }
__device__ float as_value(__nv_fp8_e5m2 c) { return static_cast<float>(c); }

/// Element (index, k) of an operand.
template <class In>
__device__ float element(const std::byte* matrix, Major major, std::uint64_t pitch,
                         std::uint64_t index, std::uint64_t k) {
  const std::uint64_t at = major == Major::k ? index * pitch + k : k * pitch + index;
  return as_value(reinterpret_cast<const In*>(matrix)[at]);
}

template <class In, class Out>
__global__ void __launch_bounds__(kThreads) general_reference(LocalGemm gemm) {
  const std::uint64_t elements = gemm.m * gemm.n;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t row = i / gemm.n;
    const std::uint64_t column = i % gemm.n;
    float sum = 0;
    const std::uint64_t end = gemm.alpha == 0 ? 0 : gemm.k;
    for (std::uint64_t k = 0; k < end; ++k)
      sum = fmaf(element<In>(gemm.a, gemm.a_major, gemm.pitch, row, k),
                 element<In>(gemm.b, gemm.b_major, gemm.pitch_of_b(), column, k), sum);
    Out& c = reinterpret_cast<Out*>(gemm.c)[row * gemm.ldc + column];
    float value = gemm.alpha * sum;
    if (gemm.beta != 0) value = fmaf(gemm.beta, as_value(c), value);
    set(c, value);
  }
}

/// One thread an element, padding included. `Bits` is as wide as an element.
template <class Bits>
__global__ void __launch_bounds__(kThreads)
    fill_operand(OperandLayout layout, bool k_major, std::uint64_t first_global, GemmInputs inputs,
                 GemmOperand operand, GemmElement type, std::uint64_t seed, Bits* to) {
  const std::uint64_t all = layout.rows * layout.pitch;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < all;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t row = i / layout.pitch;
    const std::uint64_t at = i % layout.pitch;
    const std::uint64_t index = first_global + (k_major ? row : at);
    to[i] = at < layout.elements ? static_cast<Bits>(gemm_element(inputs, operand, seed, index,
                                                                  k_major ? at : row, type))
                                 : static_cast<Bits>(0xffff);
  }
}

template <class Out>
__global__ void __launch_bounds__(kThreads)
    fill_c(std::uint64_t rows, std::uint64_t columns, std::uint64_t ldc, std::uint64_t first_row,
           std::uint64_t first_column, GemmInputs inputs, std::uint64_t seed, Out* c) {
  const std::uint64_t elements = rows * columns;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
       i += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t row = i / columns;
    const std::uint64_t column = i % columns;
    set(c[row * ldc + column],
        gemm_value(inputs, GemmOperand::c, seed, first_row + row, first_column + column));
  }
}

unsigned blocks_for(std::uint64_t elements) {
  const std::uint64_t blocks = (elements + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

template <class In>
void launch_for(const LocalGemm& gemm, cudaStream_t stream) {
  const unsigned blocks = blocks_for(gemm.m * gemm.n);
  if (gemm.output == GemmOutput::f32)
    general_reference<In, float><<<blocks, kThreads, 0, stream>>>(gemm);
  else if (gemm.output == GemmOutput::bf16)
    general_reference<In, __nv_bfloat16><<<blocks, kThreads, 0, stream>>>(gemm);
  else
    general_reference<In, __half><<<blocks, kThreads, 0, stream>>>(gemm);
}

template <class Bits>
void launch_fill_operand(const Gemm& gemm, GemmOperand operand, std::byte* to,
                         cudaStream_t stream) {
  const OperandLayout layout = layout_of(gemm, operand);
  const bool is_a = operand == GemmOperand::a;
  fill_operand<Bits><<<blocks_for(layout.rows * layout.pitch), kThreads, 0, stream>>>(
      layout, (is_a ? gemm.a_major : gemm.b_major) == Major::k,
      is_a ? gemm.rows.first : gemm.cols.first, gemm.inputs, operand, gemm.element, gemm.seed,
      reinterpret_cast<Bits*>(to));
}

template <class Out>
void launch_fill_c_of(const Gemm& gemm, std::byte* c, cudaStream_t stream) {
  const std::uint64_t ldc = c_row_pitch(gemm) / sizeof(Out);
  fill_c<Out><<<blocks_for(gemm.rows.count * gemm.cols.count), kThreads, 0, stream>>>(
      gemm.rows.count, gemm.cols.count, ldc, gemm.rows.first, gemm.cols.first, gemm.inputs,
      gemm.seed, reinterpret_cast<Out*>(c));
}

}  // namespace

void launch_general_reference(const LocalGemm& gemm, cudaStream_t stream) {
  if (gemm.element == GemmElement::bf16)
    launch_for<__nv_bfloat16>(gemm, stream);
  else if (gemm.element == GemmElement::f16)
    launch_for<__half>(gemm, stream);
  else if (gemm.element == GemmElement::e4m3)
    launch_for<__nv_fp8_e4m3>(gemm, stream);
  else
    launch_for<__nv_fp8_e5m2>(gemm, stream);
  cuda_check(cudaGetLastError(), "launch the general reference GEMM");
}

void launch_general_fill(const Gemm& gemm, GemmOperand operand, std::byte* to,
                         cudaStream_t stream) {
  const OperandLayout layout = layout_of(gemm, operand);
  if (layout.rows * layout.pitch == 0) return;  // CUDA refuses an empty grid
  if (is_fp8(gemm.element))
    launch_fill_operand<std::uint8_t>(gemm, operand, to, stream);
  else
    launch_fill_operand<std::uint16_t>(gemm, operand, to, stream);
  cuda_check(cudaGetLastError(), "launch the kernel that makes an operand");
}

void launch_fill_c(const Gemm& gemm, std::byte* c, cudaStream_t stream) {
  if (gemm.rows.count * gemm.cols.count == 0) return;
  if (gemm.output == GemmOutput::f32)
    launch_fill_c_of<float>(gemm, c, stream);
  else if (gemm.output == GemmOutput::bf16)
    launch_fill_c_of<__nv_bfloat16>(gemm, c, stream);
  else
    launch_fill_c_of<__half>(gemm, c, stream);
  cuda_check(cudaGetLastError(), "launch the kernel that makes C");
}

// Inputs are made where they are used: no rank sends or reads what it can compute.

namespace {

/// One thread makes eight neighbours of one row.
__global__ void __launch_bounds__(kThreads)
    fill(PanelRows rows, GemmInputs inputs, GemmOperand operand, std::uint64_t seed) {
  const std::uint64_t vectors_a_row = rows.pitch / kVector;
  const std::uint64_t vectors = rows.rows * vectors_a_row;
  for (std::uint64_t at = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; at < vectors;
       at += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t row = at / vectors_a_row;
    const std::uint64_t first_k = at % vectors_a_row * kVector;
    alignas(16) std::uint16_t values[kVector];
#pragma unroll
    for (std::uint32_t i = 0; i < kVector; ++i)
      values[i] = first_k + i < rows.k
                      ? gemm_element(inputs, operand, seed, rows.first_global + row, first_k + i)
                      : std::uint16_t{0};
    reinterpret_cast<uint4*>(rows.base)[at] = *reinterpret_cast<const uint4*>(values);
  }
}

/// One thread a byte of the two guards.
__global__ void poison_guards(std::byte* allocation, std::uint64_t bytes, Payload payload) {
  const std::uint32_t offset = blockIdx.x * blockDim.x + threadIdx.x;
  if (offset >= 2 * kGuardBytes) return;
  const std::uint64_t at = offset < kGuardBytes ? offset : bytes + offset;
  allocation[at] = std::byte{poison_byte(payload, offset)};
}

}  // namespace

void launch_fill(const PanelRows& rows, GemmInputs inputs, GemmOperand operand, std::uint64_t seed,
                 cudaStream_t stream) {
  const std::uint64_t vectors = rows.rows * (rows.pitch / kVector);
  if (vectors == 0) return;  // CUDA refuses an empty grid
  const std::uint64_t blocks = std::min((vectors + kThreads - 1) / kThreads, kMostBlocks);
  fill<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(rows, inputs, operand, seed);
  cuda_check(cudaGetLastError(), "launch the kernel that makes the GEMM's inputs");
}

void launch_poison(std::byte* allocation, std::uint64_t bytes, std::uint64_t seed,
                   cudaStream_t stream) {
  if (bytes != 0)
    cuda_check(cudaMemsetAsync(allocation + kGuardBytes, 0xff, bytes, stream), "poison C");
  poison_guards<<<2 * kGuardBytes / kThreads, kThreads, 0, stream>>>(allocation, bytes,
                                                                     Payload{.seed = seed});
  cuda_check(cudaGetLastError(), "launch the kernel that poisons the guards of C");
}

}  // namespace tidemark
