// Rows of boxes as stretches of addresses.
#include "kernels/ops/program/islands.hpp"

#include <algorithm>

#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kChunk = 16;

// Calls `each` with the addresses, in whole chunks, of every row of the box that lies in the
// tensor.
template <class Each>
void for_each_row(const TensorMapSpec& map, const BoxStart& at, const Each& each) {
  const auto end_of = [&](std::uint32_t i) {
    return std::min(at[i] + std::int64_t{map.box[i]}, static_cast<std::int64_t>(map.extent[i]));
  };
  const std::int64_t size = element_bytes(map.type);
  const std::int64_t left = std::max<std::int64_t>(at[0], 0), right = end_of(0);
  if (left >= right) return;
  std::uint64_t rows = 1;
  for (std::uint32_t i = 1; i < map.rank; ++i) rows *= tile_extent(map, i);
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::uint64_t rest = row;
    std::int64_t first = std::int64_t{kGuardBytes} + map.base_offset;
    bool inside = true;
    for (std::uint32_t i = 1; i < map.rank; ++i) {
      const std::uint32_t count = tile_extent(map, i);
      const std::int64_t x =
          at[i] + static_cast<std::int64_t>(rest % count) * map.element_stride[i];
      rest /= count;
      inside = inside && x >= 0 && x < end_of(i);
      first += x * static_cast<std::int64_t>(map.stride[i - 1]);
    }
    if (!inside) continue;
    const auto begin = static_cast<std::uint64_t>(first + left * size) / kChunk * kChunk;
    const auto end = (static_cast<std::uint64_t>(first + right * size) + kChunk - 1) / kChunk;
    each(begin, end * kChunk);
  }
}

}  // namespace

std::uint64_t held_byte(std::span<const Island> islands, std::uint64_t address) {
  if (islands.empty()) return address;
  std::uint64_t held = 0;
  for (const Island& island : islands) {
    if (address < island.at) return kNowhere;
    if (address - island.at < island.bytes) return held + address - island.at;
    held += island.bytes;
  }
  return kNowhere;
}

std::uint64_t address_of(std::span<const Island> islands, std::uint64_t held) {
  for (const Island& island : islands) {
    if (held < island.bytes) return island.at + held;
    held -= island.bytes;
  }
  return held;
}

std::uint64_t missing_byte(std::span<const Island> islands, const TensorMapSpec& map,
                           const BoxStart& at) {
  std::uint64_t missing = kNowhere;
  for_each_row(map, at, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t chunk = begin; chunk < end; chunk += kChunk)
      if (held_byte(islands, chunk) == kNowhere) missing = std::min(missing, chunk);
  });
  return missing;
}

std::vector<Island> islands_around(const TensorMapSpec& map, std::span<const BoxStart> boxes) {
  std::vector<Island> rows;
  for (const BoxStart& at : boxes)
    for_each_row(map, at, [&](std::uint64_t begin, std::uint64_t end) {
      rows.push_back({.at = begin - kGuardBytes, .bytes = end - begin + 2 * kGuardBytes});
    });
  std::sort(rows.begin(), rows.end(), [](const Island& a, const Island& b) { return a.at < b.at; });
  std::vector<Island> islands;
  for (const Island& row : rows) {
    if (islands.empty() || islands.back().at + islands.back().bytes < row.at) {
      islands.push_back(row);
      continue;
    }
    Island& last = islands.back();
    last.bytes = std::max(last.bytes, row.at + row.bytes - last.at);
  }
  // A box that touches nothing has memory all the same: its tensor's first bytes.
  if (islands.empty()) islands.push_back({.at = 0, .bytes = 2 * std::uint64_t{kGuardBytes}});
  return islands;
}

}  // namespace tidemark
