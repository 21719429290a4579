// Tensor maps as the driver encodes them.
#include "kernels/cuda/encode.hpp"

#include <cuda_runtime_api.h>

#include <fmt/core.h>
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

CUresult encode_tiled(const TensorMapSpec& spec, void* address, CUtensorMap& map) {
  static const auto call =
      reinterpret_cast<EncodeTiled>(driver_entry("cuTensorMapEncodeTiled", 12000));
  return call(&map, static_cast<CUtensorMapDataType>(spec.type), spec.rank, address,
              spec.extent.data(), spec.stride.data(), spec.box.data(), spec.element_stride.data(),
              static_cast<CUtensorMapInterleave>(spec.interleave),
              static_cast<CUtensorMapSwizzle>(spec.swizzle),
              static_cast<CUtensorMapL2promotion>(spec.l2_promotion),
              static_cast<CUtensorMapFloatOOBfill>(spec.fill));
}

CUresult encode_im2col(const TensorMapSpec& spec, void* address, CUtensorMap& map) {
  static const auto call =
      reinterpret_cast<EncodeIm2col>(driver_entry("cuTensorMapEncodeIm2col", 12000));
  // Corners along W, H, D, as CUTLASS passes them; cuda.h writes {D, H, W}. Measured:
  // behaviour.load.im2col_corners.
  return call(&map, static_cast<CUtensorMapDataType>(spec.type), spec.rank, address,
              spec.extent.data(), spec.stride.data(), spec.lower_corner.data(),
              spec.upper_corner.data(), spec.box[0], spec.box[1], spec.element_stride.data(),
              CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(spec.swizzle),
              static_cast<CUtensorMapL2promotion>(spec.l2_promotion),
              static_cast<CUtensorMapFloatOOBfill>(spec.fill));
}

}  // namespace

Encoded encode(const TensorMapSpec& spec, void* address) {
  Encoded result;
  result.code = spec.im2col ? encode_im2col(spec, address, result.map)
                            : encode_tiled(spec, address, result.map);
  // In a context that a kernel has lost, the encoder repeats that kernel's error whatever the map
  // is. Driver and runtime number these errors alike.
  const auto lost = static_cast<cudaError_t>(result.code);
  if (is_sticky(lost)) cuda_check(lost, "encode a tensor map");
  if (result.code != CUDA_SUCCESS) result.map = CUtensorMap{};
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
