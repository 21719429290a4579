// Makes kernels of the template and says what they are for.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>
#include <vector>

#include "kernels/cuda/gemm/engine/engine_kernel.cuh"

namespace tidemark::kernels {

/// A TileShape as a type: nvcc's host stubs cannot name a kernel by a value of a class.
template <std::uint32_t tile_m, std::uint32_t tile_n, std::uint32_t cluster_m,
          std::uint32_t cluster_n, std::uint32_t split, std::uint32_t stages, std::uint32_t boxes,
          bool in_turn, bool stream_k>
struct ShapeType {
  static constexpr TileShape kShape{tile_m, tile_n, cluster_m, cluster_n, split,
                                    stages, boxes,  in_turn,   stream_k};
};
template <TileShape kShape>
using ShapeTypeOf =
    ShapeType<kShape.tile_m, kShape.tile_n, kShape.cluster_m, kShape.cluster_n, kShape.split,
              kShape.stages, kShape.boxes, kShape.in_turn, kShape.stream_k>;

template <class Out>
constexpr GemmOutput output_of() {
  if (std::is_same_v<Out, float>) return GemmOutput::f32;
  return std::is_same_v<Out, __half> ? GemmOutput::f16 : GemmOutput::bf16;
}

/// C = A B^T, bf16 operands, both K-major.
template <TileShape kShape, class Out>
EngineKernel plain() {
  using Shape = ShapeTypeOf<kShape>;
  using Operands = EngineOperands<MmaType::bf16, false, false>;
  return {.shape = kShape,
          .output = output_of<Out>(),
          .kernel = reinterpret_cast<const void*>(&engine_kernel<Shape, Operands, Out, false>)};
}

constexpr GemmElement element_of(MmaType type) {
  if (type == MmaType::e4m3) return GemmElement::e4m3;
  if (type == MmaType::e5m2) return GemmElement::e5m2;
  return type == MmaType::bf16 ? GemmElement::bf16 : GemmElement::f16;
}

/// C = alpha A B^T + beta C with operands of `type`, in whichever order each is kept.
template <MmaType type, bool a_mn, bool b_mn, class Out, TileShape kShape = kGeneralShape>
EngineKernel general() {
  using Shape = ShapeTypeOf<kShape>;
  using Operands = EngineOperands<type, a_mn, b_mn>;
  return {.shape = kShape,
          .output = output_of<Out>(),
          .kernel = reinterpret_cast<const void*>(&engine_kernel<Shape, Operands, Out, true>),
          .general = true,
          .element = element_of(type),
          .a_major = a_mn ? Major::mn : Major::k,
          .b_major = b_mn ? Major::mn : Major::k};
}

/// All of them in one shape, for one type of operands of 16 bits.
template <TileShape kShape, MmaType type>
std::vector<EngineKernel> general_kernels() {
  const auto made = []<class... Outs>() -> std::vector<EngineKernel> {
    return {general<type, false, false, Outs, kShape>()...,
            general<type, false, true, Outs, kShape>()...,
            general<type, true, false, Outs, kShape>()...,
            general<type, true, true, Outs, kShape>()...};
  };
  return made.template operator()<float, __nv_bfloat16, __half>();
}

/// Those of them whose B is K-major.
template <TileShape kShape, MmaType type>
std::vector<EngineKernel> b_k_major_kernels() {
  const auto made = []<class... Outs>() -> std::vector<EngineKernel> {
    return {general<type, false, false, Outs, kShape>()...,
            general<type, true, false, Outs, kShape>()...};
  };
  return made.template operator()<float, __nv_bfloat16, __half>();
}

/// In all shapes that general kernels of 16-bit operands have.
template <MmaType type>
std::vector<EngineKernel> all_general_kernels() {
  std::vector<EngineKernel> all;
  for (const std::vector<EngineKernel>& some :
       {general_kernels<kGeneralShape, type>(), general_kernels<kTurnStreamShape, type>(),
        general_kernels<kStreamBesideShape, type>(), b_k_major_kernels<kStreamShape200, type>()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// All of them for one type of fp8, in one shape: the tensor cores take it K-major only.
template <TileShape kShape, MmaType type>
std::vector<EngineKernel> k_major_kernels() {
  return {general<type, false, false, float, kShape>(),
          general<type, false, false, __nv_bfloat16, kShape>(),
          general<type, false, false, __half, kShape>()};
}

/// Each of `shapes` with either output.
template <TileShape... shapes>
std::vector<EngineKernel> plain_kernels() {
  return {plain<shapes, float>()..., plain<shapes, __nv_bfloat16>()...};
}

}  // namespace tidemark::kernels
