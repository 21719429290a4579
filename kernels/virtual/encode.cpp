// What a driver makes, on the virtual device, and its faults.
#include "kernels/virtual/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

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
constexpr Fault kLessSharedMemory{1011};
constexpr Fault kNoPairs{1012};
constexpr Fault kLacksEntryPoint{1013};

constexpr Fault kOtherMapBit{1014};
constexpr Fault kOtherOpenAnswer{1015};
constexpr Fault kMoreRegisters{1016};
constexpr Fault kOtherAttribute{1017};

// Device attributes by number, as the programming guide has them for compute capability 9.0.
constexpr std::pair<std::uint32_t, std::int64_t> kGuideAttributes[] = {
    {1, 1024},    {10, 32},    {12, 65536},  {39, 2048}, {75, 9},  {76, 0},
    {81, 233472}, {82, 65536}, {97, 232448}, {106, 32},  {120, 1}, {127, 1}};
constexpr std::uint32_t kVirtualSms = 132;

constexpr std::int32_t kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

constexpr FaultInfo encode_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::encode, .name = name, .step = step};
}

constexpr FaultInfo facts_fault(Fault fault, std::string_view name, std::string_view step) {
  return {
      .fault = fault, .op = OpKind::driver_facts, .name = name, .step = step, .documented = false};
}

constexpr FaultInfo recorded(FaultInfo made) {
  made.recorded = true;
  return made;
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
    facts_fault(kNoRegisters, "compiled_no_registers", "facts: a kernel has no registers"),
    facts_fault(kNoThreads, "compiled_no_threads", "facts: a kernel can start no thread"),
    facts_fault(kOtherCode, "compiled_other_code", "facts: the code is that of another GPU"),
    facts_fault(kLessSharedMemory, "driver_less_shared_memory",
                "facts: blocks may have 1 KiB of shared memory less than the guide says"),
    facts_fault(kNoPairs, "driver_no_pairs", "facts: no cluster of 2 CTAs fits"),
    facts_fault(kLacksEntryPoint, "driver_lacks_entry_point",
                "facts: the encoder of tiled tensor maps is missing"),
    recorded(encode_fault(kOtherMapBit, "encode_other_map_bit",
                          "map: bit 85 is set where f32 maps of rank 3 have no swizzle")),
    recorded(encode_fault(kOtherOpenAnswer, "encode_other_open_answer",
                          "answer: strides of 0 are refused at rank 4, which is left open")),
    recorded(facts_fault(kMoreRegisters, "compiled_more_registers",
                         "facts: a kernel has one register more")),
    recorded(facts_fault(kOtherAttribute, "driver_other_attribute",
                         "facts: a device attribute is one less")),
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
  if (fault == kOtherOpenAnswer && map.rank == 4 && std::ranges::count(map.stride, 0ULL) > 1)
    return true;
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
    if (fault == kOtherMapBit && op.map.type == DataType::f32 && op.map.rank == 3 &&
        op.map.swizzle == Swizzle::none)
      result.maps[0][10] ^= 0x20;
    if (op.replacement % 16 != 0) {
      result.code = kEncodeRefusedCode;
    } else if (op.replacement != 0 && !is_off(op.replacement, op.map)) {
      const auto fresh = map_of(op, op.replacement);
      result.bytes.insert(result.bytes.end(), fresh.begin(), fresh.end());
      result.bytes.insert(result.bytes.end(), fresh.begin(), fresh.end());
      if (fault == kReplacesWrongly) result.bytes[10] ^= 0x20;
    }
  }
  if (result.code != 0 && fault == kOtherError) result.code = kNotSupported;
  return result;
}

RunResult run_virtual_driver_facts(const DriverFacts& op, Fault fault) {
  RunResult result;
  const auto add = [&](std::string subject, std::string question, std::int64_t answer) {
    result.answers.push_back(
        {.subject = std::move(subject), .question = std::move(question), .answer = answer});
  };
  switch (op.subject) {
    case DriverSubject::kernel: {
      const std::string name = fmt::format("kernel {}", op.number);
      const bool more = fault == kMoreRegisters && op.number == 5;
      add(name, kRegisters, fault == kNoRegisters ? 0 : more ? 169 : 168);
      add(name, kMostThreads, fault == kNoThreads ? 0 : 384);
      add(name, kArchitecture, fault == kOtherCode ? 80 : 90);
      break;
    }
    case DriverSubject::attributes:
      for (const auto& [number, value] : kGuideAttributes)
        add("device attribute", std::to_string(number),
            value - (fault == kLessSharedMemory && number == 97 ? 1024 : 0));
      add("device attribute", "108", fault == kOtherAttribute ? (32 << 20) - 1 : 32 << 20);
      break;
    case DriverSubject::limits:
      add("context limit", "5", 64);
      break;
    case DriverSubject::clusters:
      for (const std::uint32_t shared_bytes : kClusterSharedBytes)
        for (std::uint32_t ctas = 1; ctas <= 16; ++ctas)
          add("clusters that fit", cluster_question(ctas, shared_bytes),
              fault == kNoPairs && ctas == 2 ? 0 : kVirtualSms / ctas);
      break;
    case DriverSubject::entry_points:
      add("entry point", "cuTensorMapEncodeTiled", fault == kLacksEntryPoint ? 0 : 1);
      add("entry point", "cuTensorMapEncodeIm2col", 1);
      break;
  }
  return result;
}

std::span<const FaultInfo> encode_faults() { return kFaults; }

}  // namespace tidemark
