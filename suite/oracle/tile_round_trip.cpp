// Predicts a tile round trip backwards, from each place that is compared to the source.
#include "suite/oracle/tile_round_trip.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/region.hpp"
#include "suite/oracle/tile_place.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kPiece = 16;  // what swizzles keep together
using Piece = std::array<std::uint8_t, kPiece>;
using Bytes = std::vector<std::uint8_t>;
using Index = std::array<std::int64_t, kMaxRank>;

// A box of `map` in the stage of a window that tile `tile` goes through.
TileLoad box_in_stage(const TileRoundTrip& trip, const TensorMapSpec& map, std::uint32_t tile) {
  const std::uint32_t stage = tile / trip.ctas % trip.stages;
  return {.map = map,
          .at = {},
          .destination_offset = stage * trip_stage_bytes(trip),
          .payload = trip.payload};
}

TileLoad load_of_tile(const TileRoundTrip& trip, std::uint32_t tile) {
  TileLoad load = box_in_stage(trip, trip.from, tile);
  std::uint32_t below = 1;  // tiles from one index of the dimension to the next
  for (std::uint32_t i = 0; i < trip.from.rank; ++i) {
    const std::uint32_t index = tile / below % trip.load.tiles[i];
    load.at[i] =
        static_cast<std::int32_t>(trip.load.at[i] + std::int64_t{index} * trip.load.step[i]);
    below *= trip.load.tiles[i];
  }
  return load;
}

void refuse_walk(const TensorMapSpec& map, const TileWalk& walk, std::string_view side) {
  const auto size = static_cast<std::int64_t>(element_bytes(map.type));
  for (std::uint32_t i = map.rank; i < kMaxRank; ++i)
    if (walk.tiles[i] != 1)
      throw Error(fmt::format("tile round trip: the {} walks past its rank", side));
  if (walk.at[0] * size % kPiece != 0 || (walk.tiles[0] > 1 && walk.step[0] * size % kPiece != 0))
    throw Error(fmt::format("tile round trip: the {} goes off 16 bytes, which faults", side));
}

void refuse_store(const TileRoundTrip& trip) {
  const TensorMapSpec& map = trip.to;
  const std::uint64_t size = element_bytes(map.type);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const bool several = trip.store.tiles[i] > 1;
    if (map.element_stride[i] != 1 || trip.store.at[i] < 0 ||
        (several && trip.store.step[i] < static_cast<std::int32_t>(map.box[i])))
      throw Error(fmt::format(
          "tile round trip: stores with an element stride, before the tensor or over one another "
          "have no prediction (dimension {})",
          i));
    if (i > 0 && map.stride[i - 1] < map.extent[i - 1] * (i == 1 ? size : map.stride[i - 2]))
      throw Error("tile round trip: rows of the destination overlap");
  }
  const std::int64_t last =
      trip.store.at[0] + (trip.store.tiles[0] - 1) * std::int64_t{trip.store.step[0]} + map.box[0];
  if (map.extent[0] * size % kPiece != 0 && last > static_cast<std::int64_t>(map.extent[0]))
    throw Error("tile round trip: how a store cuts a row off 16 bytes is not documented");
}

void refuse_the_undocumented(const TileRoundTrip& trip) {
  // The rules for one box are those of a tile load, for the store's as well.
  (void)predict(TileLoad{.map = trip.from, .at = {}, .payload = {}});
  (void)predict(TileLoad{.map = trip.to, .at = {}, .payload = {}});
  const bool converts = trip.from.type >= DataType::f32_ftz || trip.to.type >= DataType::f32_ftz;
  if (converts || trip.from.fill == Fill::nan || trip.to.fill == Fill::nan)
    throw Error("tile round trip: take types that no copy converts, and zero fill");
  if (tiles_of(trip.load) != tiles_of(trip.store) || tile_bytes(trip.from) != tile_bytes(trip.to))
    throw Error("tile round trip: loads and stores differ in number or in size");
  refuse_walk(trip.from, trip.load, "load");
  refuse_walk(trip.to, trip.store, "store");
  refuse_store(trip);
  const DataType type = trip.from.type;
  const bool adds = trip.work == TileWork::add_one || trip.work == TileWork::add_index;
  const bool exact = type == DataType::u32 || type == DataType::s32 ||
                     (type == DataType::f32 && trip.numbers != SourceNumbers::hash);
  if ((adds || trip.numbers != SourceNumbers::hash) && !exact && element_bytes(type) != 4)
    throw Error("tile round trip: numbers are made and added in u32, s32 and f32 only");
  if (adds && !exact) throw Error("tile round trip: sums of hashed f32 bits are not exact");
  const bool same_boxes =
      trip.load.at == trip.store.at && trip.load.step == trip.store.step &&
      trip.load.tiles == trip.store.tiles && trip.from.extent == trip.to.extent &&
      trip.from.stride == trip.to.stride && trip.from.box == trip.to.box &&
      trip.from.type == trip.to.type && trip.from.base_offset == trip.to.base_offset;
  if (trip.in_place && (!same_boxes || trip.work == TileWork::thread_copy))
    throw Error("tile round trip: in place, each tile goes back where it came from");
}

Bytes source_of(const TileRoundTrip& trip) {
  Bytes source(trip_allocation_bytes(trip.from));
  for (std::uint64_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::uint8_t>(trip_source_word(trip, i / 4) >> (8 * (i % 4)));
  return source;
}

// The element at `bytes` after the threads have added `amount`.
void add(std::uint8_t* bytes, DataType type, std::uint32_t amount) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes, 4);
  word = type == DataType::f32
             ? std::bit_cast<std::uint32_t>(std::bit_cast<float>(word) + static_cast<float>(amount))
             : word + amount;
  std::memcpy(bytes, &word, 4);
}

// The 16 bytes at `place` of the window when tile `tile` has been worked on.
Piece piece_at(const TileRoundTrip& trip, const Bytes& source, const TileLoad& load,
               std::uint32_t place) {
  Piece piece{};  // zero where the tensor ends
  const std::uint32_t size = element_bytes(trip.from.type);
  const std::uint32_t first = unswizzled_byte(load, place);
  for (std::uint32_t byte = 0; byte < kPiece; byte += size) {
    const TilePlace from = element_at(load, first + byte);
    if (from.inside) std::memcpy(&piece[byte], &source[from.source_offset], size);
    if (trip.work == TileWork::add_one) add(&piece[byte], trip.from.type, 1);
    if (trip.work == TileWork::add_index) add(&piece[byte], trip.from.type, (first + byte) / size);
  }
  return piece;
}

// Where byte `linear` of the unswizzled box lies in the window.
std::uint32_t place_of(const TileLoad& box, std::uint32_t linear) {
  const std::uint32_t row = (tile_start(box) + linear) / 128 * 128;
  for (std::uint32_t place = row; place < row + 128; place += kPiece)
    if (unswizzled_byte(box, place) == linear) return place;
  throw Error(fmt::format("no place holds byte {} of the box", linear));
}

// Which tile is stored over element `g` of the destination, and which byte of its box that is.
struct StoredFrom {
  std::uint32_t tile = 0;
  std::uint32_t linear = 0;
};

std::optional<StoredFrom> stored_at(const TileRoundTrip& trip, const Index& g) {
  StoredFrom from;
  std::uint32_t tiles = 1, elements = 1;
  for (std::uint32_t i = 0; i < trip.to.rank; ++i) {
    const std::int64_t distance = g[i] - trip.store.at[i];
    if (distance < 0) return {};
    const std::int64_t last = trip.store.tiles[i] - 1;
    const std::int64_t index = last == 0 ? 0 : std::min(distance / trip.store.step[i], last);
    const std::int64_t x = distance - index * (last == 0 ? 0 : trip.store.step[i]);
    if (x >= trip.to.box[i]) return {};
    from.tile += static_cast<std::uint32_t>(index) * tiles;
    from.linear += static_cast<std::uint32_t>(x) * elements;
    tiles *= trip.store.tiles[i];
    elements *= trip.to.box[i];
  }
  from.linear *= element_bytes(trip.to.type);
  return from;
}

// Pulls every 16 bytes of the destination tensor that a store reaches.
void pull_destination(const TileRoundTrip& trip, const Bytes& source, Bytes& bytes) {
  const TensorMapSpec& map = trip.to;
  const std::uint32_t size = element_bytes(map.type);
  std::uint64_t rows = 1;
  for (std::uint32_t i = 1; i < map.rank; ++i) rows *= map.extent[i];
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t x = 0; x < map.extent[0]; x += kPiece / size) {
      Index g{};
      g[0] = static_cast<std::int64_t>(x);
      std::uint64_t offset = kGuardBytes + map.base_offset + x * size, rest = row;
      for (std::uint32_t i = 1; i < map.rank; ++i) {
        g[i] = static_cast<std::int64_t>(rest % map.extent[i]);
        offset += rest % map.extent[i] * map.stride[i - 1];
        rest /= map.extent[i];
      }
      const auto from = stored_at(trip, g);
      if (!from) continue;
      const std::uint32_t place = place_of(box_in_stage(trip, map, from->tile), from->linear);
      const Piece piece = piece_at(trip, source, load_of_tile(trip, from->tile), place);
      std::copy(piece.begin(), piece.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    }
}

// What block `block` has in its window at the end: in each stage the last tile that came through.
Bytes window_of(const TileRoundTrip& trip, const Bytes& source, std::uint32_t block) {
  Bytes window(trip_window_bytes(trip));
  for (std::uint32_t i = 0; i < window.size(); ++i) window[i] = poison_byte(trip.payload, i);
  for (std::uint32_t stage = 0; stage < trip.stages; ++stage) {
    std::optional<std::uint32_t> last;
    for (std::uint32_t i = stage; block + i * trip.ctas < tiles_of(trip.load); i += trip.stages)
      last = block + i * trip.ctas;
    if (!last) continue;
    const TileLoad load = load_of_tile(trip, *last);
    for (std::uint32_t i = 0; i < tile_bytes(trip.from); i += kPiece) {
      const std::uint32_t place = tile_start(load) + i;
      const Piece piece = piece_at(trip, source, load, place);
      std::copy(piece.begin(), piece.end(), window.begin() + place);
    }
  }
  return window;
}

std::vector<Region> regions_of(const TileRoundTrip& trip) {
  const std::size_t tensor = kGuardBytes + trip.to.base_offset;
  const std::size_t behind = tensor + tensor_bytes(trip.to);
  const std::size_t end = trip_allocation_bytes(trip.to);
  std::vector<Region> regions{
      {.what = "guard", .name = "memory before the destination", .begin = 0, .end = tensor},
      {.what = "byte", .name = "destination", .begin = tensor, .end = behind},
      {.what = "guard", .name = "memory behind the destination", .begin = behind, .end = end}};
  for (std::uint32_t block = 0; block < trip.ctas; ++block)
    for (std::uint32_t i = 0; i < trip_windows(trip); ++i) {
      const std::size_t at = regions.back().end;
      regions.push_back({.what = "window",
                         .name = fmt::format("window {} of block {}", i, block),
                         .begin = at,
                         .end = at + trip_window_bytes(trip)});
    }
  return regions;
}

}  // namespace

Expectation predict(const TileRoundTrip& trip) {
  refuse_the_undocumented(trip);
  Expectation expectation;
  expectation.surroundings = source_of(trip);
  const Bytes& source = expectation.surroundings;
  Bytes& bytes = expectation.bytes;
  if (trip.in_place) {
    bytes = source;
  } else {
    bytes.resize(trip_allocation_bytes(trip.to));
    for (std::uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = poison_byte(trip.payload, i);
  }
  pull_destination(trip, source, bytes);
  for (std::uint32_t block = 0; block < trip.ctas; ++block) {
    const Bytes window = window_of(trip, source, block);
    // What the threads place is what the engine placed, byte for byte.
    for (std::uint32_t i = 0; i < trip_windows(trip); ++i)
      bytes.insert(bytes.end(), window.begin(), window.end());
  }
  expectation.ledger.complete = true;
  expectation.ledger.announced = std::uint64_t{tiles_of(trip.load)} * tile_bytes(trip.from);
  if (trip.in_place) expectation.surroundings.clear();
  return expectation;
}

std::vector<Miscompare> compare(const TileRoundTrip& trip, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found =
      compare_regions(regions_of(trip), expected.bytes, result.bytes, row);
  const auto source = compare_regions(
      {{.what = "source", .name = "source", .begin = 0, .end = expected.surroundings.size()}},
      expected.surroundings, result.surroundings, row);
  found.insert(found.end(), source.begin(), source.end());
  compare_ledger(expected.ledger, result.ledger, row, found);
  return found;
}

}  // namespace tidemark::suite
