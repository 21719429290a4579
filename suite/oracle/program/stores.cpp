// Pulls each chunk of a region from the window, and keeps who waited for what. Written from the PTX
// ISA and cuda.h, apart from every device.
#include "suite/oracle/program/stores.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/place/im2col_place.hpp"
#include "suite/oracle/place/interleave.hpp"
#include "suite/oracle/reduction.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kChunk = 16;
constexpr std::uint64_t kLongestExtent = std::uint64_t{1} << 31;

void refuse_map(const TensorMapSpec& map, HeldTo held_to) {
  if (map.rank < 1 || map.rank > kMaxRank)
    throw Error(fmt::format("store: rank {} has no prediction; take 1 to 5", map.rank));
  refuse_interleave(map, held_to);
  std::uint64_t below = map.extent[0] * bytes_counted(map);  // bytes one index steps over
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (map.extent[i] == 0 || (!map.im2col && (map.box[i] < 1 || map.box[i] > 256)))
      throw Error(fmt::format(
          "store: extent {} with box {} in dimension {} has no prediction; take an extent of 1 or "
          "more and a box of 1 to 256",
          map.extent[i], map.box[i], i));
    if (map.extent[i] > kLongestExtent)
      throw Error(fmt::format(
          "store: extent {} of dimension {}; take up to 2^31, beyond which H200s end the process",
          map.extent[i], i));
    if (map.interleave != Interleave::none && map.element_stride[i] != 1)
      throw Error(fmt::format(
          "store: element stride {} of an interleaved map, which is not measured; take 1",
          map.element_stride[i]));
    if (map.element_stride[i] < 1 || map.element_stride[i] > 8)
      throw Error(fmt::format("store: element stride {} in dimension {}; take 1 to 8",
                              map.element_stride[i], i));
    if (i == 0) continue;
    if (map.element_stride[i] != 1 && held_to != HeldTo::measurement)
      throw Error(fmt::format(
          "store: cuda.h speaks of element strides (here {}) only where it speaks of loads; take "
          "1, or hold the store to what was measured",
          map.element_stride[i]));
    if (map.stride[i - 1] < below)
      throw Error(fmt::format(
          "store: a stride of {} bytes in dimension {}, where {} lie below it: which of two stores "
          "to one address lands last is not documented",
          map.stride[i - 1], i, below));
    below = map.stride[i - 1] * map.extent[i];
  }
  const std::uint32_t inner = map.box[0] * element_bytes(map.type);
  if (inner % kChunk != 0)
    throw Error(fmt::format("store: an inner box row of {} bytes; take a multiple of 16", inner));
  if (map.interleave == Interleave::none && map.swizzle != Swizzle::none &&
      inner != swizzle_bytes(map.swizzle))
    throw Error(fmt::format(
        "store: how a {}-byte inner box row lies under a {}-byte swizzle is not documented; make "
        "them equal",
        inner, swizzle_bytes(map.swizzle)));
}

// Whether a box reaches the end of rows that end off 16 bytes: what becomes of the bytes up to the
// next 16 is promised by nobody.
bool reaches_ragged_end(const StoreBox& box) {
  const std::int64_t size = element_bytes(box.map.type);
  const auto exact = static_cast<std::int64_t>(box.map.extent[0]) * size;
  const std::int64_t whole_chunks = exact / kChunk * kChunk;
  const std::int64_t begin = box.at[0] * size, end = begin + box.map.box[0] * size;
  return exact != whole_chunks && begin < exact && end > whole_chunks;
}

// Whether it does not matter which of the two lands first: each element is reduced by an atomic
// operation (PTX ISA 9.0, 9.7.9.25.5.3). A wait that covers the younger covers the older.
bool is_joined(const StoredBox& older, const StoredBox& younger) {
  return older.reduction == younger.reduction &&
         commutes(younger.reduction, younger.box.map.type) && older.issuer == younger.issuer &&
         older.box.map.type == younger.box.map.type;
}

// Where the documents stop, there is nothing to predict: a guess would become a verdict.
void refuse_the_undocumented(const StoreBox& box, HeldTo held_to) {
  if (box.map.bulk) return;  // what is sound is documented: PTX ISA 9.0, 9.7.9.25.4
  refuse_map(box.map, held_to);
  refuse_part_of_swizzle(box.map, box.offset, tile_span(box.map));
  if (box.map.im2col) refuse_undocumented_pixels({.map = box.map, .at = box.at, .payload = {}});
  for (std::uint32_t i = 0; box.map.im2col && i < spatial_of(box.map); ++i)
    if (box.map.lower_corner[i] < 0 || box.map.upper_corner[i] > 0)
      throw Error("store: a bounding box that is not wholly in its image");
  for (std::uint32_t i = 0; i < box.map.rank; ++i)
    if (box.at[i] < 0)
      throw Error(fmt::format(
          "store: coordinate {} of dimension {}; a store may not start at a negative one",
          box.at[i], i));
  if (std::int64_t{box.at[0]} * bytes_counted(box.map) % kChunk != 0)
    throw Error(fmt::format("store: inner coordinate {} is off 16 bytes, which faults", box.at[0]));
  if (box.offset % 128 != 0)
    throw Error(
        fmt::format("store: from byte {} of the window; take a multiple of 128", box.offset));
  if (held_to != HeldTo::measurement && reaches_ragged_end(box))
    throw Error(
        "store: the box reaches the end of rows that end off 16 bytes, behind which no document "
        "says what is written; take rows of whole 16 bytes");
}

// Calls `each` with the address, and the place in memory, of each chunk in the range that has
// memory.
template <class Each>
void for_each_chunk(std::span<const Island> islands, const StoreRange& range, const Each& each) {
  const Island whole{.at = 0, .bytes = range.end};
  std::uint64_t held = 0;
  for (const Island& island : islands.empty() ? std::span(&whole, 1) : islands) {
    const std::uint64_t end = std::min(range.end, island.at + island.bytes);
    for (std::uint64_t at = std::max(range.begin, island.at); at < end; at += kChunk)
      each(at, held + at - island.at);
    held += island.bytes;
  }
}

}  // namespace

Stores::Stores(const Program& program) : program_(program), covered_(program.regions.size()) {}

void Stores::issue(const Step& step, Issuer issuer, const std::vector<std::uint8_t>& window,
                   std::vector<std::uint8_t>& memory) {
  const Map& map = program_.maps[step.map];
  const StoreBox box{.map = map.spec, .at = step.at, .offset = step.offset};
  refuse_the_undocumented(box, program_.held_to);
  if (map.spec.interleave != Interleave::none && step.reduction != Reduction::none)
    throw Error("store: a reduction by an interleaved map, which is not measured");
  groups_[issuer].open.push_back(boxes_.size());
  boxes_.push_back({.box = box,
                    .region = map.region,
                    .map = step.map,
                    .reduction = step.reduction,
                    .issuer = issuer});
  auto& covered = covered_[map.region];
  covered.resize(memory.size() / kChunk);
  // By chunks: rows of tensor and box begin on 16 bytes, so that a chunk is of one row, and stored
  // whole or not at all.
  for_each_chunk(
      program_.regions[map.region].islands, store_range(box),
      [&](std::uint64_t address, std::uint64_t at) {
        const StorePlace place = store_place(box, address);
        if (!place.stored) return;
        std::uint32_t& owner = covered[at / kChunk];
        if (owner != 0 && !boxes_[owner - 1].complete &&
            !is_joined(boxes_[owner - 1], boxes_.back()))
          throw Error("store: which of two stores to one address lands last is not documented");
        owner = static_cast<std::uint32_t>(boxes_.size());
        if (step.reduction == Reduction::none)
          std::memcpy(&memory[at], &window[place.window_offset], kChunk);
        else
          reduce_chunk(step.reduction, box.map.type, &window[place.window_offset], &memory[at]);
      });
}

void Stores::commit(Issuer issuer) {
  Groups& groups = groups_[issuer];
  groups.closed.push_back(std::exchange(groups.open, {}));
}

void Stores::wait(Issuer issuer, std::uint32_t pending, bool complete) {
  const Groups& groups = groups_[issuer];
  for (std::size_t i = 0; i + pending < groups.closed.size(); ++i)
    for (const std::size_t box : groups.closed[i]) {
      boxes_[box].read = true;
      boxes_[box].complete = boxes_[box].complete || complete;
    }
}

bool Stores::reads(std::uint32_t cta, std::uint32_t offset, std::uint32_t bytes) const {
  for (const StoredBox& stored : boxes_) {
    const std::uint32_t begin = stored.box.offset, end = begin + tile_span(stored.box.map);
    if (!stored.read && stored.issuer.cta == cta && begin < offset + bytes && offset < end)
      return true;
  }
  return false;
}

bool Stores::reads_map(std::uint8_t place) const {
  return std::any_of(boxes_.begin(), boxes_.end(), [&](const StoredBox& stored) {
    return !stored.read && place_of_map(program_, stored.map) == place;
  });
}

bool Stores::may_write(std::uint8_t region, const TileLoad& load) const {
  for (const StoredBox& stored : boxes_)
    if (stored.region == region && !stored.complete && may_overlap(load, stored.box)) return true;
  return false;
}

// The box that was stored there last, or null.
const StoredBox* Stores::owner_of(std::uint8_t region, std::uint64_t byte) const {
  const auto& covered = covered_[region];
  const std::uint32_t owner = covered.empty() ? 0 : covered[byte / kChunk];
  return owner == 0 ? nullptr : &boxes_[owner - 1];
}

bool Stores::is_certain(Issuer reader, std::uint8_t region, std::uint64_t byte) const {
  const StoredBox* const owner = owner_of(region, byte);
  return owner == nullptr || (owner->complete && owner->issuer == reader);
}

bool Stores::is_of_last(std::uint8_t region, std::uint64_t byte) const {
  return !boxes_.empty() && owner_of(region, byte) == &boxes_.back();
}

bool Stores::has_landed(std::uint8_t region, std::uint64_t byte) const {
  const StoredBox* const owner = owner_of(region, byte);
  return owner == nullptr || owner->complete;
}

}  // namespace tidemark::suite
