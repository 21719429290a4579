// Makes kernels of the template and says what they are for.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>
#include <vector>

#include "kernels/cuda/gemm/engine/kernel.cuh"

namespace tidemark {

/// A TileShape as a type: nvcc's host stubs cannot name a kernel by a value of a class.
template <std::uint32_t tile_m, std::uint32_t tile_n, std::uint32_t cluster_m, std::uint32_t stages,
          std::uint32_t boxes, bool ping_pong>
struct ShapeType {
  static constexpr TileShape kShape{tile_m, tile_n, cluster_m, stages, boxes, ping_pong};
};
template <TileShape kShape>
using ShapeTypeOf = ShapeType<kShape.tile_m, kShape.tile_n, kShape.cluster_m, kShape.stages,
                              kShape.boxes, kShape.ping_pong>;

template <class Out>
constexpr GemmOutput output_of() {
  if (std::is_same_v<Out, float>) return GemmOutput::f32;
  return std::is_same_v<Out, __half> ? GemmOutput::f16 : GemmOutput::bf16;
}

constexpr GemmElement element_of(MmaType type) {
  if (type == MmaType::e4m3) return GemmElement::e4m3;
  if (type == MmaType::e5m2) return GemmElement::e5m2;
  return type == MmaType::bf16 ? GemmElement::bf16 : GemmElement::f16;
}

/// C = A B^T, bf16 operands, both K-major, in each of `shapes`, and C of type `Out`.
template <class Out, TileShape... shapes>
std::vector<EngineKernel> plain_kernels() {
  using Operands = EngineOperands<MmaType::bf16, false, false>;
  return {{.shape = shapes,
           .output = output_of<Out>(),
           .kernel = reinterpret_cast<const void*>(
               &engine_kernel<ShapeTypeOf<shapes>, Operands, Out, false>)}...};
}

/// C = alpha A B^T + beta C with operands of `type`, in whichever order each is kept.
template <TileShape kShape, MmaType type, bool a_mn, bool b_mn, class... Outs>
std::vector<EngineKernel> general_kernels() {
  using Operands = EngineOperands<type, a_mn, b_mn>;
  return {{.shape = kShape,
           .output = output_of<Outs>(),
           .kernel = reinterpret_cast<const void*>(
               &engine_kernel<ShapeTypeOf<kShape>, Operands, Outs, true>),
           .general = true,
           .element = element_of(type),
           .a_major = a_mn ? Major::mn : Major::k,
           .b_major = b_mn ? Major::mn : Major::k}...};
}

inline std::vector<EngineKernel> joined(std::initializer_list<std::vector<EngineKernel>> some) {
  std::vector<EngineKernel> all;
  for (const std::vector<EngineKernel>& kernels : some)
    all.insert(all.end(), kernels.begin(), kernels.end());
  return all;
}

/// Of one shape, one type of 16 bits, and every order and type of C.
template <TileShape kShape, MmaType type>
std::vector<EngineKernel> all_general_kernels() {
  return joined({general_kernels<kShape, type, false, false, float, __nv_bfloat16, __half>(),
                 general_kernels<kShape, type, false, true, float, __nv_bfloat16, __half>(),
                 general_kernels<kShape, type, true, false, float, __nv_bfloat16, __half>(),
                 general_kernels<kShape, type, true, true, float, __nv_bfloat16, __half>()});
}

}  // namespace tidemark
