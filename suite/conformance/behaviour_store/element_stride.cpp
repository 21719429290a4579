// Stores by maps with element strides. cuda.h says what such a map loads and nothing of stores; PTX
// ISA 9.0, 5.5.3.2, has the box skip elements while it iterates the tensor and names no direction.
// Four readings are held against the bytes, and the outcome notes which of them each run agreed
// with; judged is that nothing outside the box was written. The virtual device takes the first.
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "suite/case.hpp"
#include "suite/conformance/store.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/store_place.hpp"

namespace tidemark {
namespace {

struct Reading {
  bool skips_in_tensor;  // what is written lies a stride apart
  bool packed_in_tile;   // shared memory holds what is written and nothing between
  bool takes_all;        // of the box; else ceil(box / stride) along each dimension
  std::string_view words;
};

constexpr std::array<Reading, 4> kReadings{{
    {true, true, false,
     "as loads have it: packed in shared memory, a stride apart in the tensor, nothing between "
     "them written"},
    {false, true, true, "ignored: every element of the box is written"},
    {false, true, false,
     "as many elements as a load would take, written side by side to the start of the box"},
    {true, false, false,
     "the box lies whole in shared memory, and of it the elements a stride apart are written"},
}};

std::uint32_t stride_of(const TensorMapSpec& map, std::uint32_t i) {
  return i == 0 ? 1 : map.element_stride[i];
}

// Where in the tile the element `at` places behind the start of the box comes from, counted in
// elements; -1 where the reading leaves it alone.
std::int64_t tile_element(const TensorMapSpec& map, const Reading& reading,
                          const std::array<std::int64_t, kMaxRank>& at) {
  std::int64_t linear = 0;
  for (std::uint32_t i = map.rank; i-- > 0;) {
    const std::int64_t step = stride_of(map, i);
    const bool strided_tile = reading.packed_in_tile && !reading.takes_all;
    const std::int64_t width = strided_tile ? tile_extent(map, i) : map.box[i];
    std::int64_t index = at[i];
    if (reading.skips_in_tensor) {
      if (index % step != 0) return -1;
      if (reading.packed_in_tile) index /= step;
    } else if (!reading.takes_all && index >= tile_extent(map, i)) {
      return -1;
    }
    linear = linear * width + index;
  }
  return linear;
}

std::uint8_t window_byte(const TileStore& store, std::uint64_t offset) {
  return static_cast<std::uint8_t>(source_window_word(store, offset / 4) >> (8 * (offset % 4)));
}

// The byte at `offset` of the destination, which the box covers, as `reading` leaves it.
std::uint8_t byte_of(const TileStore& store, const Reading& reading, std::uint64_t offset) {
  const std::uint32_t size = element_bytes(store.map.type);
  const StorePlace place = store_place(store, offset);
  std::array<std::int64_t, kMaxRank> at{};
  for (std::uint32_t i = 0; i < store.map.rank; ++i) at[i] = place.element[i] - store.at[i];
  const std::int64_t element = tile_element(store.map, reading, at);
  if (element < 0) return poison_byte(store.payload, offset);
  const std::uint64_t in_tensor = offset - kGuardBytes - store.map.base_offset;
  const std::uint64_t byte = static_cast<std::uint64_t>(element) * size + in_tensor % size;
  return window_byte(store, tile_offset(store, 0) + byte);
}

struct Agreement {
  std::uint64_t bytes = 0, written = 0;                 // that the box covers; that are not poison
  std::array<std::uint64_t, kReadings.size()> wrong{};  // by reading
};

Agreement agreement(const TileStore& store, const RunResult& result) {
  const Expectation expected = predict(store);
  Agreement sum;
  for (std::size_t i = 0; i < std::min(expected.compare.size(), result.bytes.size()); ++i) {
    if (expected.compare[i] != Compare::recorded) continue;
    ++sum.bytes;
    if (result.bytes[i] != poison_byte(store.payload, i)) ++sum.written;
    for (std::size_t r = 0; r < kReadings.size(); ++r)
      if (result.bytes[i] != byte_of(store, kReadings[r], i)) ++sum.wrong[r];
  }
  return sum;
}

std::string observed(const Op& op, const RunResult& result) {
  const auto& store = std::get<TileStore>(op);
  const Agreement sum = agreement(store, result);
  for (std::size_t r = 0; r < kReadings.size(); ++r)
    if (sum.wrong[r] == 0) return fmt::format("element strides on a store: {}", kReadings[r].words);
  return fmt::format(
      "element strides on a store: unlike each of {} readings ({} bytes wrong of {} in the box, of "
      "which {} are not poison; strides {}, box {})",
      kReadings.size(), fmt::join(sum.wrong, ", "), sum.bytes, sum.written,
      fmt::join(store.map.element_stride, " "), fmt::join(store.map.box, " "));
}

TileStore strided(std::uint32_t dimension, std::uint32_t step, std::uint32_t box) {
  TileLoad load = tile(DataType::u16, {48, 2, 2, 2, 2}, {24, 1, 1, 1, 1}, {8, 1, 1, 1, 1});
  load.map.extent[dimension] = box + 3;
  load.map.box[dimension] = box;
  load.map.element_stride[dimension] = step;
  for (std::uint32_t i = 1; i < 4; ++i)
    load.map.stride[i] = load.map.stride[i - 1] * load.map.extent[i];
  TileStore store = store_of(load);
  store.held_to = HeldTo::record;
  return store;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t dimension = 1; dimension < kMaxRank; ++dimension)
    for (const std::uint32_t step : {2U, 3U, 8U})
      for (const std::uint32_t box : {2 * step, 3 * step + 1}) {
        TileStore store = strided(dimension, step, box);
        rows.emplace_back(store);
        store.at[dimension] = 5;  // the last two hang over the far end
        rows.emplace_back(store);
      }
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileStore store = store_of(tile(DataType::u32, {32, 29, 19}, {32, 13, 7}, {0, 2, 3}));
    store.map.element_stride = {1, step, 10 - step, 1, 1};
    store.held_to = HeldTo::record;
    rows.emplace_back(store);
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.element_stride",
    .claim = "a store by a map with element strides writes nothing outside its box, and which "
             "elements of the box it writes is noted",
    .cites = "recorded; PTX ISA 9.0, 5.5.3.2; CUDA Driver API, cuTensorMapEncodeTiled, "
             "elementStrides, which speaks of loads alone",
    .rows = rows,
    .observed = observed,
}};

}  // namespace
}  // namespace tidemark
