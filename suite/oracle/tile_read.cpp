// Predicts what each lane of a warp reads by asking which elements of the tensor its chunk is made
// of; knows nothing of shared memory.
#include <cstring>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/compare_regions.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

// The element at `at` of the tensor lies there in the source allocation, or nowhere.
std::int64_t source_offset(const TensorMapSpec& map, const std::array<std::int64_t, 3>& at) {
  std::int64_t offset = kGuardBytes + map.base_offset;
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (at[i] < 0 || at[i] >= static_cast<std::int64_t>(map.extent[i])) return -1;
    offset +=
        at[i] * static_cast<std::int64_t>(i == 0 ? element_bytes(map.type) : map.stride[i - 1]);
  }
  return offset;
}

void compare_lanes(const TileRead& read, const Expectation& expected, const RunResult& result,
                   std::uint32_t row, std::vector<Miscompare>& found) {
  const std::size_t size = expected.bytes.size();
  if (result.bytes.size() != size) {
    found.push_back(wrong_size("byte", "lanes of a warp", size, result.bytes.size(), row));
    return;
  }
  const auto difference = exact_difference(expected.bytes, result.bytes, 0, size);
  if (!difference) return;
  Miscompare miscompare = wrong_byte("byte", *difference, expected.bytes, result.bytes, row);
  const auto lane = static_cast<std::uint32_t>(miscompare.first_offset / kReadBytes);
  const LaneChunk chunk = chunk_of_lane(read, lane);
  miscompare.coordinate = {chunk.column, chunk.row};
  miscompare.text = fmt::format(
      "lane {} (row {}, column {}), byte {} of 16: expected 0x{:02x}, got 0x{:02x}; {} of {} bytes "
      "are wrong",
      lane, chunk.row, chunk.column, miscompare.first_offset % kReadBytes, miscompare.expected,
      miscompare.actual, miscompare.wrong_bytes, size);
  found.push_back(miscompare);
}

}  // namespace

std::vector<Miscompare> compare(const TileRead& read, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  compare_lanes(read, expected, result, row, found);
  compare_source(expected, result, row, found);
  compare_line("complete", "phase 0 complete after the copy", expected.ledger.complete,
               result.ledger.complete, row, found);
  return found;
}

Expectation predict(const TileRead& read) {
  const TensorMapSpec& map = read.load.map;
  Expectation expectation = predict(read.load);
  if (map.rank != 3 || map.fill != Fill::zero)
    throw Error("tile read: only tiles of rank 3 with zero fill have a prediction");
  expectation.ledger = {.complete = true};
  expectation.bytes.assign(std::size_t{kWarpLanes} * kReadBytes, 0);
  const std::uint32_t size = element_bytes(map.type), per_chunk = kReadBytes / size;
  const std::uint32_t chunks_a_row = map.box[0] / per_chunk;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const LaneChunk chunk = chunk_of_lane(read, lane);
    for (std::uint32_t e = 0; e < per_chunk; ++e) {
      const std::int64_t offset = source_offset(
          map, {std::int64_t{read.load.at[0]} + chunk.column % chunks_a_row * per_chunk + e,
                std::int64_t{read.load.at[1]} + chunk.row,
                std::int64_t{read.load.at[2]} + chunk.column / chunks_a_row});
      if (offset < 0) continue;
      std::memcpy(&expectation.bytes[lane * kReadBytes + e * size],
                  &expectation.surroundings[static_cast<std::size_t>(offset)], size);
    }
  }
  return expectation;
}

}  // namespace tidemark::suite
