// A covering array: every legal pair of values of seven properties of a load meets in some row.
// Greedy, after Cohen, Dalal, Fredman, Patton: "The AETG system", IEEE TSE 23 (1997).
#include <array>
#include <bitset>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// The properties, and how many values each has.
enum Property : std::uint32_t {
  kRank,
  kType,
  kSwizzle,
  kPhase,
  kStride,
  kSide,
  kFill,
  kProperties
};
constexpr std::array<std::uint32_t, kProperties> kValues{5, 13, 4, 8, 8, 12, 2};
constexpr std::uint32_t kMostValues = 13;

// Values of kSide: 0 inside; 1 + 2 i and 2 + 2 i the low and the high side of dimension i; all.
constexpr std::uint32_t kInside = 0, kAllSides = 11;

// One value of one property, numbered through.
struct Value {
  std::uint32_t property = 0;
  std::uint32_t value = 0;
};

// Whether rank `rank` (0 for rank 1) can have the value.
bool rank_allows(std::uint32_t rank, const Value& other) {
  if (other.property == kStride) return other.value == 0 || rank > 0;
  if (other.property != kSide || other.value == kInside) return true;
  return other.value == kAllSides ? rank > 0 : (other.value - 1) / 2 <= rank;
}

bool is_legal(const Value& a, const Value& b) {
  if (a.property == kRank) return rank_allows(a.value, b);
  if (b.property == kRank) return rank_allows(b.value, a);
  const bool type_and_fill = a.property == kType && b.property == kFill;
  if (type_and_fill) return b.value == 0 || is_floating(static_cast<DataType>(a.value));
  if (a.property == kFill && b.property == kType) return is_legal(b, a);
  return true;
}

// The pairs that no row has yet.
class OpenPairs {
 public:
  OpenPairs() {
    for (std::uint32_t p = 0; p < kProperties; ++p)
      for (std::uint32_t q = p + 1; q < kProperties; ++q)
        for (std::uint32_t v = 0; v < kValues[p]; ++v)
          for (std::uint32_t w = 0; w < kValues[q]; ++w)
            if (is_legal({p, v}, {q, w})) open_.set(place({p, v}, {q, w}));
  }
  bool has(const Value& a, const Value& b) const {
    return open_.test(a.property < b.property ? place(a, b) : place(b, a));
  }
  void close(const Value& a, const Value& b) { open_.reset(place(a, b)); }

  // Some open pair, drawn; false where none is left.
  bool draw(Draws& draws, Value& a, Value& b) const {
    if (open_.none()) return false;
    std::size_t at = draws.below(static_cast<std::uint32_t>(open_.size()));
    while (!open_.test(at)) at = (at + 1) % open_.size();
    const auto first = static_cast<std::uint32_t>(at / kAll);
    const auto second = static_cast<std::uint32_t>(at % kAll);
    a = {first / kMostValues, first % kMostValues};
    b = {second / kMostValues, second % kMostValues};
    return true;
  }

 private:
  static constexpr std::size_t kAll = std::size_t{kProperties} * kMostValues;
  static std::size_t place(const Value& a, const Value& b) {
    return (a.property * kMostValues + a.value) * kAll + b.property * kMostValues + b.value;
  }
  std::bitset<kAll * kAll> open_;
};

// The legal value of `property` that makes the most open pairs with `chosen`; the first of equals,
// counted from a drawn one.
Value best_value(std::uint32_t property, const std::vector<Value>& chosen, const OpenPairs& open,
                 Draws& draws) {
  Value best{property, 0};
  std::int32_t most = -1;
  const std::uint32_t start = draws.below(kValues[property]);
  for (std::uint32_t i = 0; i < kValues[property]; ++i) {
    const Value value{property, (start + i) % kValues[property]};
    std::int32_t made = 0;
    for (const Value& other : chosen) {
      if (!is_legal(value, other)) made = -1000;
      made += open.has(value, other) ? 1 : 0;
    }
    if (made <= most) continue;
    most = made;
    best = value;
  }
  return best;
}

using Choice = std::array<std::uint32_t, kProperties>;

Choice choose(const Value& a, const Value& b, OpenPairs& open, Draws& draws) {
  std::vector<Value> chosen{a, b};
  const std::uint32_t start = draws.below(kProperties);
  for (std::uint32_t i = 0; i < kProperties; ++i) {
    const std::uint32_t property = (start + i) % kProperties;
    if (property != a.property && property != b.property)
      chosen.push_back(best_value(property, chosen, open, draws));
  }
  Choice choice{};
  for (const Value& value : chosen) choice[value.property] = value.value;
  for (std::uint32_t p = 0; p < kProperties; ++p)
    for (std::uint32_t q = p + 1; q < kProperties; ++q) open.close({p, choice[p]}, {q, choice[q]});
  return choice;
}

// Puts the box along dimension i before (low), behind (high) or into the tensor.
enum class Place : std::uint8_t { inside, low, high };

std::int32_t position(const TileLoad& load, std::uint32_t i, Place place, Draws& draws) {
  const auto extent = static_cast<std::int32_t>(load.map.extent[i]);
  if (i == 0) {  // in steps of 16 bytes
    const std::int32_t step = step_of(load, 0);
    const std::int32_t last = highest_inside(load, 0) / step * step;
    if (place == Place::inside) return draws.below(2) == 0 ? 0 : last;
    return place == Place::low ? -step : last + step;
  }
  const auto step = static_cast<std::int32_t>(load.map.element_stride[i]);
  const std::int32_t span = (static_cast<std::int32_t>(tile_extent(load.map, i)) - 1) * step;
  const auto some = static_cast<std::int32_t>(draws.below(load.map.element_stride[i]));
  // One of the elements taken is outside, all others are inside.
  if (place == Place::low) return -1 - some;
  if (place == Place::high) return extent - span + some;
  return static_cast<std::int32_t>(draws.below(static_cast<std::uint32_t>(extent - span)));
}

Place place_along(std::uint32_t i, std::uint32_t side, Draws& draws) {
  if (side == kAllSides) return draws.below(2) == 0 ? Place::low : Place::high;
  if (side == 1 + 2 * i) return Place::low;
  return side == 2 + 2 * i ? Place::high : Place::inside;
}

TileLoad load_of(const Choice& choice, Draws& draws) {
  const auto type = static_cast<DataType>(choice[kType]);
  const auto swizzle = static_cast<Swizzle>(choice[kSwizzle]);
  const std::uint32_t rank = choice[kRank] + 1, step = choice[kStride] + 1;
  const std::uint32_t inner =
      swizzle == Swizzle::none ? 16 * draws.between(2, 6) : swizzle_bytes(swizzle);
  std::vector<std::uint32_t> box{elements_in(inner, type)};
  std::vector<std::uint64_t> extent{box[0] + draws.below(2 * elements_in(16, type))};
  std::array<std::uint32_t, kMaxRank> steps{1, 1, 1, 1, 1};
  const std::uint32_t strided = rank == 1 ? 0 : draws.between(1, rank - 1);
  for (std::uint32_t i = 1; i < rank; ++i) {
    if (i == strided) steps[i] = step;
    // Two or three elements, the last of them not always a whole step before the end of the box.
    const std::uint32_t count = draws.between(2, 3);
    box.push_back((count - 1) * steps[i] + draws.between(1, steps[i]));
    extent.push_back(box.back() + draws.below(3));
  }
  TileLoad load = tile(type, extent, box);
  load.map.element_stride = steps;
  load.map.swizzle = swizzle;
  load.map.fill = static_cast<Fill>(choice[kFill]);
  load.destination_offset = 128 * choice[kPhase];
  for (std::uint32_t i = 0; i < rank; ++i)
    load.at[i] = position(load, i, place_along(i, choice[kSide], draws), draws);
  load.hint = static_cast<CacheHint>(draws.below(4));
  load.source = static_cast<MemorySource>(draws.below(4));
  return load;
}

std::vector<Op> pairs_rows(const RunContext& context) {
  constexpr std::uint32_t kArrays[] = {1, 16, 64};  // by level; each covers all pairs anew
  std::vector<Op> rows;
  for (std::uint32_t array = 0; array < kArrays[static_cast<std::size_t>(context.level)]; ++array) {
    Draws draws(splitmix64(context.seed + array));
    OpenPairs open;
    for (Value a, b; open.draw(draws, a, b);)
      rows.emplace_back(load_of(choose(a, b, open, draws), draws));
  }
  return rows;
}

const Register kPairs{{
    .name = "load.tile.pairs",
    .claim = "no two of rank, type, swizzle, phase of the destination, element stride, side "
             "outside and fill spoil each other, in any pair of their values",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor and 5.5; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = pairs_rows,
}};

}  // namespace
}  // namespace tidemark
