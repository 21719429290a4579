// The maps that stressed boxes are drawn from.
#include "kernels/ops/stress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

// A tensor over all of the memory but what its last index does not fill. `inner` are the extents of
// all dimensions but the last one; rows of dimension 0 stand on 16 bytes.
TensorMapSpec over(std::uint64_t memory, DataType type, Swizzle swizzle,
                   std::initializer_list<std::uint32_t> box,
                   std::initializer_list<std::uint64_t> inner) {
  TensorMapSpec map{.type = type,
                    .rank = static_cast<std::uint32_t>(box.size()),
                    .swizzle = swizzle,
                    .l2_promotion = L2Promotion::b256};
  std::copy(box.begin(), box.end(), map.box.begin());
  std::copy(inner.begin(), inner.end(), map.extent.begin());
  std::uint64_t pitch = element_bytes(type);
  for (std::uint32_t i = 0; i + 1 < map.rank; ++i) {
    pitch = (pitch * map.extent[i] + 15) / 16 * 16;
    map.stride[i] = pitch;
  }
  map.extent[map.rank - 1] = memory / pitch;
  return map;
}

TensorMapSpec bulk_of(std::uint64_t memory, std::uint32_t bytes) {
  TensorMapSpec map{.rank = 1, .bulk = true};
  map.extent[0] = memory;
  map.box[0] = bytes;
  return map;
}

std::vector<TensorMapSpec> mixed(std::uint64_t memory) {
  TensorMapSpec strided = over(memory, DataType::u8, Swizzle::b128, {128, 16, 27}, {128 * 3, 37});
  strided.element_stride = {1, 2, 3, 1, 1};
  return {
      over(memory, DataType::f64, Swizzle::none, {256}, {}),
      over(memory, DataType::u8, Swizzle::b128, {128, 128}, {4096 + 48}),
      over(memory, DataType::bf16, Swizzle::b64, {32, 200}, {1000}),
      over(memory, DataType::f32, Swizzle::b32, {8, 7, 61}, {52, 9}),
      over(memory, DataType::u16, Swizzle::none, {40, 9, 13}, {42, 10}),
      over(memory, DataType::s32, Swizzle::none, {12, 5, 6, 7}, {60, 7, 6}),
      over(memory, DataType::f16, Swizzle::b128, {64, 3, 5, 2, 4}, {200, 5, 5, 3}),
      over(memory, DataType::u64, Swizzle::none, {2, 3, 5, 7, 9}, {4, 3, 9, 8}),
      strided,
      over(memory, DataType::f32, Swizzle::none, {256, 16}, {8192}),
      bulk_of(memory, 16),
      bulk_of(memory, 4112),
  };
}

}  // namespace

StressSm sum_of(const std::vector<StressSm>& sms) {
  StressSm sum;
  for (const StressSm& sm : sms) add_to(sum, sm);
  return sum;
}

void compare_digests(std::vector<StressSm>& sms) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const StressSm& sm : sms)
    if (sm.products > 0) ++counts[sm.digest];
  const auto most = std::ranges::max_element(
      counts, {}, [](const auto& digest_and_count) { return digest_and_count.second; });
  for (StressSm& sm : sms)
    if (sm.products > 0 && sm.digest != most->first) ++sm.wrong_products;
}

std::string stress_note(const std::vector<StressSm>& sms) {
  const StressSm sum = sum_of(sms);
  if (sum.ns == 0) return fmt::format("{} boxes", sum.boxes);
  const auto rate = [](const StressSm& sm) {
    return static_cast<double>(sm.bytes) / static_cast<double>(sm.ns);
  };
  const auto [least, most] =
      std::minmax_element(sms.begin(), sms.end(),
                          [&](const StressSm& a, const StressSm& b) { return rate(a) < rate(b); });
  return fmt::format("{} boxes; {:.1f} GB/s (SM {}) to {:.1f} GB/s, {:.0f} MHz", sum.boxes,
                     rate(*least), least->sm, rate(*most),
                     1e3 * static_cast<double>(sum.cycles) / static_cast<double>(sum.ns));
}

std::vector<StressShape> stress_shapes(const std::vector<TensorMapSpec>& maps) {
  std::vector<StressShape> shapes;
  shapes.reserve(maps.size());
  for (const TensorMapSpec& map : maps) shapes.push_back(stress_shape(map));
  return shapes;
}

std::vector<TensorMapSpec> stress_maps(const Stress& op, std::uint32_t ctas) {
  const std::uint64_t memory = op.memory_bytes;
  constexpr std::uint64_t kUnit = 64 << 10, kMost = std::uint64_t{8} << 30;
  if (memory < 16 * kUnit || memory > kMost || memory % kUnit != 0)
    throw Error(
        fmt::format("a stress draws boxes from {} bytes: take a multiple of 64 KiB from 1 "
                    "MiB to 8 GiB",
                    memory));
  const StressPart last = stress_part(op.copy, ctas - 1, kStressGroups - 1);
  if (last.begin + last.bytes > memory)
    throw Error(fmt::format("{} bytes have no part for each of {} CTAs: take {}", memory, ctas,
                            (last.begin + last.bytes + kUnit - 1) / kUnit * kUnit));
  // Sums are of whole words, so that none carries into its neighbor.
  const bool words = op.copy == StressCopy::reduce;
  const TensorMapSpec swizzled = words
                                     ? over(memory, DataType::s32, Swizzle::b128, {32, 128}, {32})
                                     : over(memory, DataType::u8, Swizzle::b128, {128, 128}, {128});
  if (op.boxes == StressBoxes::bulk) return {bulk_of(memory, kStressBoxBytes)};
  if (op.boxes == StressBoxes::swizzled) return {swizzled};
  std::vector<TensorMapSpec> maps = mixed(memory);
  if (!is_write(op.copy)) return maps;
  for (TensorMapSpec& map : maps) {
    const std::uint32_t element = element_bytes(map.type);
    if (words && element == 4) map.type = DataType::s32;
    // Stores end with whole 16 bytes, wherever the row does.
    if (!map.bulk) map.extent[0] -= map.extent[0] % (16 / element);
  }
  if (!words) return maps;
  std::erase_if(maps,
                [](const TensorMapSpec& map) { return !map.bulk && map.type != DataType::s32; });
  maps.push_back(swizzled);
  return maps;
}

StressShape stress_shape(const TensorMapSpec& map) {
  if (map.bulk)
    return {.bytes = map.box[0],
            .element = map.box[0] % 128 == 0 ? 128U : 16U,
            .taken = {map.box[0] / 16}};
  StressShape shape{
      .rank = map.rank,
      .bytes = tile_bytes(map),
      .element = element_bytes(map.type),
      .swizzle = (1U << static_cast<std::uint32_t>(map.swizzle)) - 1,
      .row_words = static_cast<std::uint32_t>(map.extent[0] * element_bytes(map.type) / 4)};
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    shape.extent[i] = static_cast<std::uint32_t>(map.extent[i]);
    shape.step[i] = traversal_step(map, i);
    shape.taken[i] = i == 0 ? tile_extent(map, 0) * shape.element / 16 : tile_extent(map, i);
    // Up to the last element taken: what a box skips behind it may be outside.
    shape.span[i] = (tile_extent(map, i) - 1) * shape.step[i] + 1;
    shape.inverse[i] = (kInverseUnit + shape.taken[i] - 1) / shape.taken[i];
    if (i > 0) shape.stride_words[i] = static_cast<std::uint32_t>(map.stride[i - 1] / 4);
  }
  return shape;
}

}  // namespace tidemark
