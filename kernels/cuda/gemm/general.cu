// One thread an element, no tiles, nothing asynchronous: slow, and hard to get wrong.
#include "kernels/cuda/gemm/general.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernels/cuda/check.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kMostBlocks = 65536;  // grid-stride loops do the rest

__device__ float as_value(float c) { return c; }
__device__ float as_value(__nv_bfloat16 c) { return __bfloat162float(c); }
__device__ float as_value(__half c) { return __half2float(c); }
// By the CUDA headers, not by from_element(): the two are then held against each other.
__device__ float as_value(__nv_fp8_e4m3 c) { return static_cast<float>(c); }
__device__ float as_value(__nv_fp8_e5m2 c) { return static_cast<float>(c); }
__device__ void set(float& c, float value) { c = value; }
__device__ void set(__nv_bfloat16& c, float value) { c = __float2bfloat16_rn(value); }
__device__ void set(__half& c, float value) { c = __float2half_rn(value); }

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

}  // namespace tidemark
