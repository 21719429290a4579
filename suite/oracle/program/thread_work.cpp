// Asks for each place of the tile which element stands there.
#include "suite/oracle/program/thread_work.hpp"

#include <cmath>
#include <cstring>

#include "kernels/error.hpp"
#include "suite/oracle/place/tile_place.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kElement = 4;

std::uint32_t sum_of(DataType type, std::uint32_t bits, std::uint32_t amount) {
  if (type != DataType::f32) return bits + amount;
  constexpr float kExact = 1U << 23;  // up to it all whole numbers and their sums are floats
  float number = 0;
  std::memcpy(&number, &bits, kElement);
  const bool whole = std::trunc(number) == number;
  if (!whole || !(std::abs(number) <= kExact) || amount > static_cast<std::uint32_t>(kExact))
    throw Error(
        "program: an add to f32 elements that are no whole numbers of up to 2^23 is rounded; fill "
        "the region with small or counting numbers");
  number += static_cast<float>(amount);
  std::memcpy(&bits, &number, kElement);
  return bits;
}

}  // namespace

void add_to_tile(const TileLoad& tile, const Step& add, std::vector<std::uint8_t>& window) {
  const std::uint32_t begin = tile_start(tile), end = begin + tile_span(tile.map);
  for (std::uint32_t place = begin; place < end; place += kElement) {
    const std::uint32_t index = unswizzled_byte(tile, place) / kElement;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &window[place], kElement);
    bits = sum_of(tile.map.type, bits, add.count + index * add.stride);
    std::memcpy(&window[place], &bits, kElement);
  }
}

}  // namespace tidemark::suite
