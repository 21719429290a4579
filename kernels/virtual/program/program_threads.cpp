// Adds to the elements of tiles and copies boxes element by element, and the faults of both.
#include "kernels/virtual/program/program_threads.hpp"

#include <cstring>

#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/program/program_faults.hpp"

namespace tidemark::kernels {
namespace {

// Where byte `linear` of a tile at byte `offset` of the window stands in the window, which starts
// on 1024. PTX ISA 9.0, 5.5.7: address bits 4 to 6 are exclusive-ored with bits 7 to 9.
std::uint32_t place_of(Swizzle swizzle, std::uint32_t offset, std::uint32_t linear,
                       bool from_tile = false) {
  const std::uint32_t plain = offset + linear;
  if (swizzle == Swizzle::none) return plain;
  const std::uint32_t mask = swizzle_bytes(swizzle) / kChunkBytes - 1;
  const std::uint32_t row = (from_tile ? linear : plain) >> 7;
  return plain ^ ((row & mask) << 4);
}

template <typename Number>
void add_to(std::uint8_t* element, std::uint32_t amount) {
  Number number;
  std::memcpy(&number, element, sizeof number);
  number += static_cast<Number>(amount);
  std::memcpy(element, &number, sizeof number);
}

// What a store finds that is not ordered behind the accesses of the threads.
void keep_window(const Turn& turn) {
  if (turn.run.fault == kFaultStoreBeforeFence) turn.own().before = turn.own().window;
}

}  // namespace

void take_add(const Turn& turn) {
  keep_window(turn);
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const TensorMapSpec& map = turn.run.program.maps[step.map].spec;
  std::vector<std::uint8_t>& window = turn.own().window.bytes;
  const std::uint32_t elements = tile_bytes(map) / 4;
  const std::uint32_t reached = elements + (fault == kFaultAddReachesGuard ? 4 : 0);
  const Swizzle swizzle = fault == kFaultAddSkipsSwizzle ? Swizzle::none : map.swizzle;
  const bool floats = map.type == DataType::f32 && fault != kFaultAddFloatAsWhole;
  for (std::uint32_t i = 0; i < reached; ++i) {
    const std::uint32_t at = place_of(swizzle, step.offset, 4 * i);
    if (at + 4 > window.size()) continue;
    const std::uint32_t amount = step.count + i * step.stride;
    if (floats)
      add_to<float>(&window[at], amount);
    else
      add_to<std::uint32_t>(&window[at], amount);
  }
}

void take_copy(const Turn& turn) {
  keep_window(turn);
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const Map& from = turn.run.program.maps[step.map];
  const TensorMapSpec& map = from.spec;
  const std::uint32_t size = element_bytes(map.type);
  for (std::uint32_t linear = 0; linear < tile_bytes(map); linear += size) {
    std::uint32_t rest = linear / size;
    std::int64_t offset = kGuardBytes + map.base_offset;
    bool inside = true;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      const std::uint32_t x = rest % tile_extent(map, i);
      rest /= tile_extent(map, i);
      const std::int64_t at = step.at[i] + std::int64_t{x} * (i == 0 ? 1 : map.element_stride[i]);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.extent[i]);
      offset += at * (i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]));
    }
    std::uint8_t* const to = &turn.own().window.bytes[place_of(map.swizzle, step.offset, linear,
                                                               fault == kFaultCopySwizzleRelative)];
    if (inside)
      std::memcpy(
          to,
          &turn.run.regions[from.region][held_byte(turn.run.program.regions[from.region].islands,
                                                   static_cast<std::uint64_t>(offset))],
          size);
    else if (fault != kFaultCopyPaddingKept)
      std::memset(to, 0, size);
  }
}

}  // namespace tidemark::kernels
