// What a driver makes, on the virtual device, and its faults.
#include "kernels/virtual/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {
namespace {

constexpr Fault kRefusesWideElements{1000};
constexpr Fault kRefusesRank3{1001};
constexpr Fault kRefusesPromotion{1002};
constexpr Fault kTakesOddStride{1003};
constexpr Fault kTakesNan{1004};
constexpr Fault kTakesEmptyExtent{1005};
constexpr Fault kOtherError{1006};
constexpr Fault kReplacesWrongly{1007};

constexpr Fault kNoRegisters{1008};
constexpr Fault kNoThreads{1009};
constexpr Fault kOtherCode{1010};

constexpr std::int32_t kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

constexpr FaultInfo encode_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::encode, .name = name, .step = step};
}

constexpr FaultInfo compiled_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::compiled, .name = name, .step = step, .documented = false};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    encode_fault(kRefusesWideElements, "encode_refuses_wide_elements",
                 "answer: elements of 8 bytes are refused"),
    encode_fault(kRefusesRank3, "encode_refuses_rank_3", "answer: maps of rank 3 are refused"),
    encode_fault(kRefusesPromotion, "encode_refuses_promotion",
                 "answer: an L2 promotion of 256 bytes is refused"),
    encode_fault(kTakesOddStride, "encode_takes_odd_stride",
                 "answer: strides that are odd multiples of 8 bytes are accepted"),
    encode_fault(kTakesNan, "encode_takes_nan", "answer: NaN fill of integers is accepted"),
    encode_fault(kTakesEmptyExtent, "encode_takes_empty_extent",
                 "answer: extents of 0 are accepted"),
    encode_fault(kOtherError, "encode_other_error", "answer: what is refused ends in error 801"),
    encode_fault(kReplacesWrongly, "encode_replaces_wrongly",
                 "map: one bit of each map is lost where its address is replaced"),
    compiled_fault(kNoRegisters, "compiled_no_registers", "facts: a kernel has no registers"),
    compiled_fault(kNoThreads, "compiled_no_threads", "facts: a kernel can start no thread"),
    compiled_fault(kOtherCode, "compiled_other_code", "facts: the code is that of another GPU"),
});

/// Of an address, which the map's rules know as base_offset.
bool is_off(std::uint64_t address, const TensorMapSpec& map) {
  return address % (map.interleave == Interleave::b32 ? 32 : 16) != 0;
}

bool is_refused(const Encode& op, Fault fault) {
  TensorMapSpec map = op.map;
  if (fault == kRefusesWideElements && map.type < DataType{kDataTypes} &&
      element_bytes(map.type) == 8)
    return true;
  if ((fault == kRefusesRank3 && map.rank == 3) ||
      (fault == kRefusesPromotion && map.l2_promotion == L2Promotion::b256))
    return true;
  if (map.type >= DataType{kDataTypes} || map.interleave > Interleave::b32 ||
      map.swizzle > Swizzle::b128 || map.l2_promotion > L2Promotion::b256 || map.fill > Fill::nan)
    return true;
  if (fault == kTakesOddStride)
    for (std::uint64_t& stride : map.stride)
      if (stride % 16 == 8) stride &= ~std::uint64_t{8};
  if (fault == kTakesNan) map.fill = Fill::zero;
  if (fault == kTakesEmptyExtent)
    for (std::uint64_t& extent : map.extent) extent = std::max(extent, std::uint64_t{1});
  if (map.im2col) map.interleave = Interleave::none;
  return is_off(op.address + map.base_offset, map) || !refusal_of(map).empty();
}

std::array<std::uint8_t, 128> map_of(const Encode& op, std::uint64_t address) {
  const TensorMapSpec& map = op.map;
  std::uint64_t hash = splitmix64(map.rank);
  const auto add = [&hash](std::uint64_t value) { hash = splitmix64(hash ^ value); };
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    add(map.extent[i]);
    add(i == 0 ? 0 : map.stride[i - 1]);
    add(map.box[i]);
    add(map.element_stride[i]);
  }
  for (std::uint32_t i = 0; map.im2col && i < spatial_of(map); ++i)
    add(static_cast<std::uint64_t>(map.lower_corner[i]) << 32 ^
        static_cast<std::uint32_t>(map.upper_corner[i]));
  add(static_cast<std::uint64_t>(map.type) | static_cast<std::uint64_t>(map.interleave) << 8 |
      static_cast<std::uint64_t>(map.swizzle) << 16 |
      static_cast<std::uint64_t>(map.l2_promotion) << 24 |
      static_cast<std::uint64_t>(map.fill) << 32);
  std::array<std::uint8_t, 128> bytes{};
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint64_t word = i < 8 ? address : hash;
    bytes[i] = static_cast<std::uint8_t>(word >> (8 * (i % 8)));
  }
  return bytes;
}

}  // namespace

RunResult run_virtual_encode(const Encode& op, Fault fault) {
  RunResult result;
  result.code = is_refused(op, fault) ? kEncodeRefusedCode : 0;
  if (result.code == 0) {
    result.maps = {map_of(op, op.address + op.map.base_offset)};
    if (op.replacement != 0 && is_off(op.replacement, op.map)) {
      result.code = kEncodeRefusedCode;
    } else if (op.replacement != 0) {
      const auto fresh = map_of(op, op.replacement);
      result.bytes.insert(result.bytes.end(), fresh.begin(), fresh.end());
      result.bytes.insert(result.bytes.end(), fresh.begin(), fresh.end());
      if (fault == kReplacesWrongly) result.bytes[10] ^= 0x20;
    }
  }
  if (result.code != 0 && fault == kOtherError) result.code = kNotSupported;
  return result;
}

RunResult run_virtual_compiled(const CompiledKernel& op, Fault fault) {
  RunResult result;
  result.trace = {fault == kNoRegisters ? 0U : 168U, 0, 1024, fault == kNoThreads ? 0U : 384U,
                  fault == kOtherCode ? 80U : 90U};
  result.note = fmt::format("kernel {}: the virtual device has no code", op.kernel);
  return result;
}

std::span<const FaultInfo> encode_faults() { return kFaults; }

}  // namespace tidemark
