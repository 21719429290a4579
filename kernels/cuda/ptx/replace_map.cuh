// Fields of tensor maps in memory. cuda::ptx takes dimensions, types and modes as constants: here
// they are those of a TensorMapSpec. PTX ISA 9.0, 9.7.9.26 tensormap.replace.
#pragma once

#include <cuda/ptx>

#include <cstdint>
#include <utility>

#include "kernels/ops/program/program.hpp"

namespace tidemark::kernels {

/// Calls `fence` with the scope as a constant.
template <class Fence>
__device__ inline void with_scope(Scope scope, const Fence& fence) {
  if (scope == Scope::cta) fence(cuda::ptx::scope_cta);
  if (scope == Scope::cluster) fence(cuda::ptx::scope_cluster);
  if (scope == Scope::gpu) fence(cuda::ptx::scope_gpu);
  if (scope == Scope::sys) fence(cuda::ptx::scope_sys);
}

/// Calls `replace` with `value` as a constant, which is one of `kValues`.
template <std::uint32_t... kValues, class Replace>
__device__ inline void with_constant(std::uint32_t value,
                                     std::integer_sequence<std::uint32_t, kValues...>,
                                     const Replace& replace) {
  ((value == kValues ? replace(cuda::ptx::n32_t<kValues>{}) : void()), ...);
}

/// The number that instructions have for the type; the driver numbers these three otherwise. PTX
/// ISA 9.0, 9.7.9.26, Table 36.
__device__ constexpr std::uint32_t device_number(DataType type) {
  if (type == DataType::f32_ftz) return 8;
  if (type == DataType::f64) return 9;
  if (type == DataType::bf16) return 10;
  return static_cast<std::uint32_t>(type);
}

/// Dimension `kDimension`, where it differs or `from` has none.
template <std::uint32_t kDimension, class Space>
__device__ inline void replace_dimension(Space space, void* map, const TensorMapSpec* from,
                                         const TensorMapSpec& to) {
  namespace ptx = cuda::ptx;
  constexpr ptx::n32_t<kDimension> kOrdinal;
  const bool made = from == nullptr || kDimension >= from->rank;
  if (kDimension >= to.rank) return;
  if (made || from->extent[kDimension] != to.extent[kDimension])
    ptx::tensormap_replace_global_dim(space, map, kOrdinal,
                                      static_cast<std::uint32_t>(to.extent[kDimension]));
  if (made || from->box[kDimension] != to.box[kDimension])
    ptx::tensormap_replace_box_dim(space, map, kOrdinal, to.box[kDimension]);
  if (made || from->element_stride[kDimension] != to.element_stride[kDimension])
    ptx::tensormap_replace_element_stride(space, map, kOrdinal, to.element_stride[kDimension]);
  if constexpr (kDimension > 0)  // in bytes; before ptxas 12.5 in units of 16
    if (made || from->stride[kDimension - 1] != to.stride[kDimension - 1])
      ptx::tensormap_replace_global_stride(space, map, ptx::n32_t<kDimension - 1>{},
                                           to.stride[kDimension - 1]);
}

/// Every field but the address in which `to` differs from `from`; all where there is no `from`.
template <class Space>
__device__ inline void replace_spec(Space space, void* map, const TensorMapSpec* from,
                                    const TensorMapSpec& to) {
  namespace ptx = cuda::ptx;
  if (from == nullptr || from->rank != to.rank)
    ptx::tensormap_replace_rank(space, map, to.rank - 1);  // the field counts from 0
  replace_dimension<0>(space, map, from, to);
  replace_dimension<1>(space, map, from, to);
  replace_dimension<2>(space, map, from, to);
  replace_dimension<3>(space, map, from, to);
  replace_dimension<4>(space, map, from, to);
  if (from == nullptr) ptx::tensormap_replace_interleave_layout(space, map, ptx::n32_t<0>{});
  if (from == nullptr || from->type != to.type)
    with_constant(device_number(to.type), std::make_integer_sequence<std::uint32_t, kDataTypes>{},
                  [&](auto type) { ptx::tensormap_replace_elemtype(space, map, type); });
  if (from == nullptr || from->swizzle != to.swizzle)
    with_constant(static_cast<std::uint32_t>(to.swizzle),
                  std::make_integer_sequence<std::uint32_t, 4>{},
                  [&](auto mode) { ptx::tensormap_replace_swizzle_mode(space, map, mode); });
  if (from == nullptr || from->fill != to.fill)
    with_constant(static_cast<std::uint32_t>(to.fill),
                  std::make_integer_sequence<std::uint32_t, 2>{},
                  [&](auto mode) { ptx::tensormap_replace_fill_mode(space, map, mode); });
}

}  // namespace tidemark::kernels
