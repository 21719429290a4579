// Tensor maps as the driver encodes them.
#include "kernels/cuda/encode.hpp"

#include <cuda_runtime_api.h>

#include <fmt/core.h>
#include <algorithm>
#include <cstring>

#include "kernels/cuda/check.hpp"

namespace tidemark {

// Calls the driver's encoder, and says what it refused.

namespace {

// encode() casts our enums to the driver's: the values have to be the same.
static_assert(static_cast<int>(DataType::u8) == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(static_cast<int>(DataType::u16) == CU_TENSOR_MAP_DATA_TYPE_UINT16);
static_assert(static_cast<int>(DataType::u32) == CU_TENSOR_MAP_DATA_TYPE_UINT32);
static_assert(static_cast<int>(DataType::s32) == CU_TENSOR_MAP_DATA_TYPE_INT32);
static_assert(static_cast<int>(DataType::u64) == CU_TENSOR_MAP_DATA_TYPE_UINT64);
static_assert(static_cast<int>(DataType::s64) == CU_TENSOR_MAP_DATA_TYPE_INT64);
static_assert(static_cast<int>(DataType::f16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
static_assert(static_cast<int>(DataType::f32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(static_cast<int>(DataType::f64) == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(static_cast<int>(DataType::bf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(static_cast<int>(DataType::f32_ftz) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
static_assert(static_cast<int>(DataType::tf32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
static_assert(static_cast<int>(DataType::tf32_ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(static_cast<int>(Interleave::none) == CU_TENSOR_MAP_INTERLEAVE_NONE);
static_assert(static_cast<int>(Interleave::b16) == CU_TENSOR_MAP_INTERLEAVE_16B);
static_assert(static_cast<int>(Interleave::b32) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(static_cast<int>(Swizzle::none) == CU_TENSOR_MAP_SWIZZLE_NONE);
static_assert(static_cast<int>(Swizzle::b32) == CU_TENSOR_MAP_SWIZZLE_32B);
static_assert(static_cast<int>(Swizzle::b64) == CU_TENSOR_MAP_SWIZZLE_64B);
static_assert(static_cast<int>(Swizzle::b128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(static_cast<int>(L2Promotion::none) == CU_TENSOR_MAP_L2_PROMOTION_NONE);
static_assert(static_cast<int>(L2Promotion::b64) == CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
static_assert(static_cast<int>(L2Promotion::b128) == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(static_cast<int>(L2Promotion::b256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(static_cast<int>(Fill::zero) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(static_cast<int>(Fill::nan) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
static_assert(sizeof(CUtensorMap) == 128);

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);
using EncodeIm2col = decltype(&cuTensorMapEncodeIm2col);
using ReplaceAddress = decltype(&cuTensorMapReplaceAddress);

/// The arrays of a spec, and behind them sound values for a driver that reads on: the rank may be
/// above 5.
struct Arrays {
  template <class Value, std::size_t N>
  static std::array<Value, 8> longer(const std::array<Value, N>& some, Value rest) {
    std::array<Value, 8> all{};
    all.fill(rest);
    std::ranges::copy(some, all.begin());
    return all;
  }
  explicit Arrays(const TensorMapSpec& spec)
      : extent(longer(spec.extent, std::uint64_t{1})),
        stride(longer(spec.stride, std::uint64_t{16})),
        box(longer(spec.box, 1U)),
        step(longer(spec.element_stride, 1U)),
        lower(longer(spec.lower_corner, 0)),
        upper(longer(spec.upper_corner, 0)) {}
  std::array<std::uint64_t, 8> extent, stride;
  std::array<std::uint32_t, 8> box, step;
  std::array<std::int32_t, 8> lower, upper;
};

CUresult encode_tiled(const TensorMapSpec& spec, void* address, bool no_strides, CUtensorMap* map) {
  static const auto call =
      reinterpret_cast<EncodeTiled>(driver_entry("cuTensorMapEncodeTiled", 12000));
  const Arrays of(spec);
  return call(map, static_cast<CUtensorMapDataType>(spec.type), spec.rank, address,
              of.extent.data(), no_strides ? nullptr : of.stride.data(), of.box.data(),
              of.step.data(), static_cast<CUtensorMapInterleave>(spec.interleave),
              static_cast<CUtensorMapSwizzle>(spec.swizzle),
              static_cast<CUtensorMapL2promotion>(spec.l2_promotion),
              static_cast<CUtensorMapFloatOOBfill>(spec.fill));
}

CUresult encode_im2col(const TensorMapSpec& spec, void* address, CUtensorMap* map) {
  static const auto call =
      reinterpret_cast<EncodeIm2col>(driver_entry("cuTensorMapEncodeIm2col", 12000));
  // Corners along W, H, D, as CUTLASS passes them; cuda.h writes {D, H, W}. Measured:
  // behaviour.load.im2col_corners.
  const Arrays of(spec);
  return call(map, static_cast<CUtensorMapDataType>(spec.type), spec.rank, address,
              of.extent.data(), of.stride.data(), of.lower.data(), of.upper.data(), spec.box[0],
              spec.box[1], of.step.data(), static_cast<CUtensorMapInterleave>(spec.interleave),
              static_cast<CUtensorMapSwizzle>(spec.swizzle),
              static_cast<CUtensorMapL2promotion>(spec.l2_promotion),
              static_cast<CUtensorMapFloatOOBfill>(spec.fill));
}

CUresult ask_encoder(const TensorMapSpec& spec, void* address, bool no_strides, CUtensorMap* map) {
  const CUresult code = spec.im2col ? encode_im2col(spec, address, map)
                                    : encode_tiled(spec, address, no_strides, map);
  // In a context that a kernel has lost, the encoder repeats that kernel's error whatever the map
  // is. Driver and runtime number these errors alike.
  const auto lost = static_cast<cudaError_t>(code);
  if (is_sticky(lost)) cuda_check(lost, "encode a tensor map");
  return code;
}

/// Gives the map at `map` the address `to`, and adds it and one that has it from the first to the
/// bytes of `result`.
CUresult replace_address(const Encode& op, void* to, CUtensorMap* map, RunResult& result) {
  static const auto call =
      reinterpret_cast<ReplaceAddress>(driver_entry("cuTensorMapReplaceAddress", 12000));
  const CUresult code = call(map, to);
  if (code != CUDA_SUCCESS) return code;
  const Encoded fresh = encode(op.map, to);
  if (fresh.code != CUDA_SUCCESS) return code;  // it gives a map that the encoder does not
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(map);  // maybe misaligned
  result.bytes.assign(bytes, bytes + sizeof(CUtensorMap));
  const std::array<std::uint8_t, 128> expected = descriptor_bytes(fresh.map);
  result.bytes.insert(result.bytes.end(), expected.begin(), expected.end());
  return code;
}

}  // namespace

Encoded encode(const TensorMapSpec& spec, void* address) {
  Encoded result;
  result.code = ask_encoder(spec, address, false, &result.map);
  if (result.code != CUDA_SUCCESS) result.map = CUtensorMap{};
  return result;
}

RunResult run_encode(const Encode& op) {
  struct alignas(128) Place {
    std::array<std::uint8_t, 256> bytes;
  };
  Place place{};
  place.bytes.fill(0xa5);
  const Place before = place;
  auto* const map = reinterpret_cast<CUtensorMap*>(place.bytes.data() + op.map_offset);
  RunResult result;
  CUresult code = ask_encoder(op.map, reinterpret_cast<void*>(op.address + op.map.base_offset),
                              op.no_strides, map);
  if (code == CUDA_SUCCESS) {
    std::copy_n(place.bytes.begin() + op.map_offset, 128, result.maps.emplace_back().begin());
    if (op.replacement != 0)
      code = replace_address(op, reinterpret_cast<void*>(op.replacement), map, result);
  } else if (place.bytes != before.bytes) {
    result.trace = {1};
  }
  result.code = static_cast<std::int32_t>(code);
  return result;
}

std::string encode_refusal(CUresult code, const TensorMapSpec& spec) {
  const std::string number = std::to_string(static_cast<int>(code));
  // Nearly every refusal is this one, the only one that the driver's manual names.
  const std::string name =
      code == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE (" + number + ")" : number;
  return std::string(spec.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled") +
         " refused the tensor map: " + name;
}

std::array<std::uint8_t, 128> descriptor_bytes(const CUtensorMap& map) {
  std::array<std::uint8_t, 128> bytes{};
  std::memcpy(bytes.data(), &map, bytes.size());
  return bytes;
}

// Asks the CUDA runtime for the driver's functions.

void* driver_entry(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer = cudaDriverEntryPointSymbolNotFound;
  const std::string what = fmt::format("look up {}", name);
  // By version: the unversioned look-up fails on some drivers newer than the runtime.
  cuda_check(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &answer),
             what.c_str());
  if (answer != cudaDriverEntryPointSuccess || found == nullptr)
    throw Error(fmt::format("the driver has no {}: install a driver for CUDA {}.{} or newer", name,
                            version / 1000, version % 1000 / 10));
  return found;
}

}  // namespace tidemark
