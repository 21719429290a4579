// Puts each chunk of a box where its element is, and keeps who waited for what. Written from the
// PTX ISA and cuda.h, apart from every device.
#include "suite/oracle/program/stores.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/contents.hpp"
#include "suite/oracle/encoder_rules.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/place.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kChunk = 16;

// What cuda.h allows and no document, or no measurement, says what comes of.
void refuse_map(const TensorMapSpec& map, HeldTo held_to) {
  refuse_illegal_map(map);
  refuse_interleave(map, held_to);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (map.element_stride[i] == 1) continue;
    if (map.interleave != Interleave::none)
      throw Error(
          fmt::format("element stride {} of an interleaved map, which is not measured; take 1",
                      map.element_stride[i]));
    if (i > 0 && held_to != HeldTo::measurement)
      throw Error(fmt::format(
          "cuda.h speaks of element strides (here {}) only where it speaks of loads; take 1, or "
          "hold the store to what was measured",
          map.element_stride[i]));
  }
  const std::uint32_t inner = map.box[0] * element_bytes(map.type);
  if (map.interleave == Interleave::none && map.swizzle != Swizzle::none &&
      inner != swizzle_bytes(map.swizzle))
    throw Error(fmt::format(
        "how a {}-byte inner box row lies under a {}-byte swizzle is not documented; make them "
        "equal",
        inner, swizzle_bytes(map.swizzle)));
}

// Whether a box reaches the end of rows that end off 16 bytes: what becomes of the bytes up to the
// next 16 is promised by nobody.
bool reaches_ragged_end(const StoreTarget& box) {
  const std::int64_t size = element_bytes(box.map.type);
  const auto exact = static_cast<std::int64_t>(box.map.extent[0]) * size;
  const std::int64_t whole_chunks = exact / kChunk * kChunk;
  const std::int64_t begin = box.at[0] * size, end = begin + box.map.box[0] * size;
  return exact != whole_chunks && begin < exact && end > whole_chunks;
}

// Whether it does not matter which of two lands first: each element is reduced by an atomic
// operation (PTX ISA 9.0, 9.7.9.25.5.3), or both put the same there.
bool add_up(const StoredBox& older, const StoredBox& younger, bool same_bytes) {
  if (older.reduction != younger.reduction) return false;
  if (younger.reduction == Reduction::none) return same_bytes;
  return older.box.map.type == younger.box.map.type &&
         commutes(younger.reduction, younger.box.map.type);
}

// Where the documents stop, there is nothing to predict: a guess would become a verdict.
void refuse_the_undocumented(const StoreTarget& box, HeldTo held_to) {
  if (box.map.bulk) return;  // what is sound is documented: PTX ISA 9.0, 9.7.9.25.4
  refuse_map(box.map, held_to);
  refuse_part_of_swizzle(box.map, box.offset, tile_span(box.map));
  if (box.map.im2col) refuse_undocumented_pixels({.map = box.map, .at = box.at, .payload = {}});
  for (std::uint32_t i = 0; box.map.im2col && i < spatial_of(box.map); ++i)
    if (box.map.lower_corner[i] < 0 || box.map.upper_corner[i] > 0)
      throw Error("a bounding box that is not wholly in its image");
  for (std::uint32_t i = 0; i < box.map.rank; ++i)
    if (box.at[i] < 0)
      throw Error(fmt::format(
          "coordinate {} of dimension {}; a store may not start at a negative one", box.at[i], i));
  if (std::int64_t{box.at[0]} * bytes_counted(box.map) % kChunk != 0)
    throw Error(fmt::format("inner coordinate {} is off 16 bytes, which faults", box.at[0]));
  if (box.offset % 128 != 0)
    throw Error(fmt::format("offset {}; take a multiple of 128", box.offset));
  if (held_to != HeldTo::measurement && reaches_ragged_end(box))
    throw Error(
        "the box reaches the end of rows that end off 16 bytes, behind which no document "
        "says what is written; take rows of whole 16 bytes");
}

}  // namespace

Stores::Stores(const Program& program) : program_(program), covered_(program.regions.size()) {}

void Stores::issue(const Step& step, Issuer issuer, const std::vector<std::uint8_t>& window,
                   std::vector<std::uint8_t>& memory) {
  const Map& map = program_.maps[step.map];
  const StoreTarget box{.map = map.spec, .at = step.at, .offset = step.offset};
  refuse_the_undocumented(box, program_.held_to);
  if (map.spec.interleave != Interleave::none && step.reduction != Reduction::none)
    throw Error("a reduction by an interleaved map, which is not measured");
  groups_[issuer].open.push_back(boxes_.size());
  boxes_.push_back({.box = box,
                    .region = map.region,
                    .map = step.map,
                    .reduction = step.reduction,
                    .issuer = issuer});
  auto& covered = covered_[map.region];
  covered.resize(memory.size() / kChunk);
  for (const StoredChunk& chunk : stored_chunks(box)) {
    const std::uint64_t at = held_byte(program_.regions[map.region].islands, chunk.address);
    const std::uint8_t* const from = &window[chunk.window_offset];
    std::uint32_t& owner = covered[at / kChunk];
    if (owner != 0 && !has_completed(boxes_[owner - 1])) {
      if (!add_up(boxes_[owner - 1], boxes_.back(), std::memcmp(&memory[at], from, kChunk) == 0))
        throw Error(fmt::format(
            "a second element for byte {} of region {}, and no document says which lands last; {}",
            chunk.address, map.region,
            owner == boxes_.size() ? "take longer strides" : "wait for the first store"));
      join(owner - 1);
    }
    owner = static_cast<std::uint32_t>(boxes_.size());
    if (step.reduction == Reduction::none)
      std::memcpy(&memory[at], from, kChunk);
    else
      reduce_chunk(step.reduction, box.map.type, from, &memory[at]);
  }
}

// The last box comes to where the older one may still come, too, and others with that. A wait of a
// thread that covers the younger of its boxes covers the older.
void Stores::join(std::size_t older) {
  StoredBox& box = boxes_.back();
  std::map<Issuer, std::size_t> others = boxes_[older].others;
  others.insert_or_assign(boxes_[older].issuer, older);
  others.erase(box.issuer);
  for (const auto& [issuer, other] : others) {
    std::size_t& youngest = box.others.try_emplace(issuer, other).first->second;
    youngest = std::max(youngest, other);
  }
}

bool Stores::has_completed(const StoredBox& box) const {
  return box.complete && std::all_of(box.others.begin(), box.others.end(), [&](const auto& other) {
           return boxes_[other.second].complete;
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

std::uint32_t Stores::owner_number(std::uint8_t region, std::uint64_t byte) const {
  const auto& covered = covered_[region];
  return covered.empty() ? 0 : covered[byte / kChunk];
}

// The box that was stored there last, or null.
const StoredBox* Stores::owner_of(std::uint8_t region, std::uint64_t byte) const {
  const std::uint32_t owner = owner_number(region, byte);
  return owner == 0 ? nullptr : &boxes_[owner - 1];
}

bool Stores::is_certain(Issuer reader, std::uint8_t region, std::uint64_t byte) const {
  const StoredBox* const owner = owner_of(region, byte);
  return owner == nullptr || (owner->complete && owner->issuer == reader && owner->others.empty());
}

bool Stores::is_of_last(std::uint8_t region, std::uint64_t byte) const {
  return !boxes_.empty() && owner_of(region, byte) == &boxes_.back();
}

bool Stores::has_landed(std::uint8_t region, std::uint64_t byte) const {
  const StoredBox* const owner = owner_of(region, byte);
  return owner == nullptr || has_completed(*owner);
}

}  // namespace tidemark
