// Boxes drawn at random all over a large memory, copied as fast as the GPU can, every byte checked
// where it lands: what is drawn, and what has to be there. Devices and the suite share it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

/// Which boxes are drawn.
enum class StressBoxes : std::uint8_t {
  bulk,      // cp.async.bulk of 16 KiB from any 128 bytes on
  swizzled,  // rows of 128 bytes with the 128-byte swizzle, 16 KiB a box, one behind the other
  // Maps of all ranks, element sizes and swizzles, boxes of 2 to 16 KiB, one in eight partly
  // outside of its tensor; and bulk copies of 16 and 4,112 bytes from any 16 bytes on.
  mixed,
};

constexpr std::string_view name_of(StressBoxes boxes) {
  constexpr std::string_view kNames[] = {"bulk", "swizzled", "mixed"};
  return kNames[static_cast<std::size_t>(boxes)];
}

/// What is done with a box.
enum class StressCopy : std::uint8_t {
  load,
  multicast,  // loaded by one CTA of a cluster, in turn, to all of it
  // Words of the SM's own, others for each box, stored to a part of the memory that no other
  // CTA writes, and read back by another load or by threads, in turn.
  store,
  // Words added to what memory holds, and by the next copy taken off again: three times where only
  // this SM does it, once where all do. At the end memory is as it was.
  reduce,
};

constexpr std::string_view name_of(StressCopy copy) {
  constexpr std::string_view kNames[] = {"load", "multicast", "store", "reduce"};
  return kNames[static_cast<std::size_t>(copy)];
}
constexpr bool is_write(StressCopy copy) { return copy >= StressCopy::store; }

/// Boxes that are spoiled on purpose, so that anyone can see them found: on SM `sm` one bit of one
/// word, in each box whose key is a multiple of `every`; and in each product whose number is, one
/// bit of a sum. 0: none.
struct SpoiledBoxes {
  std::uint32_t sm = 0;
  std::uint64_t every = 0;
};

/// One CTA on each SM copies boxes between the memory and a ring of slots in its shared memory, for
/// `seconds`. All bytes that come are compared with stress_word(), and guards before and behind
/// their slot; of a writing copy all of the memory, too, behind each launch. A box stands at one
/// end of its slot, up to 127 bytes from the guard behind it; nothing else of the slot is compared.
/// Iteration i of CTA c is the box of stress_key(.., c, i) whatever other CTAs do, so that a wrong
/// one can be named and made again.
struct Stress {
  StressBoxes boxes = StressBoxes::bulk;
  StressCopy copy = StressCopy::load;
  std::uint32_t cluster = 1;       // CTAs of one; only multicast has some
  bool products = false;           // beside it all tensor cores multiply: power and heat
  std::uint64_t memory_bytes = 0;  // that boxes are drawn from, a multiple of 64 KiB, at most 8 GiB
  double seconds = 1;              // in all
  SpoiledBoxes spoiled{};
  std::uint64_t seed = 0;
};

/// What one SM did.
struct StressSm {
  std::uint32_t sm = 0;
  std::uint32_t lost = 0;  // boxes that did not come within a bounded wait; the SM stops with one
  std::uint64_t boxes = 0, bytes = 0;  // that came, or were written
  std::uint64_t wrong_boxes = 0, wrong_words = 0;
  std::uint64_t ns = 0, cycles = 0;  // from its first draw until its last box was compared
  // Cycles of a load of 16 bytes alone on its SM, the mean over kLatencyLoads places; of launches
  // the fewest; 0: unknown.
  std::uint32_t latency = 0;
  std::uint64_t lost_seed = 0, lost_iteration = 0;  // of stress_key(): the lost box
  std::uint32_t lost_cta = 0;
  std::uint32_t digest = 0;  // of the first product; 0: none
  // Of one warp: 16 x 128 sums. And those that differ from the first.
  std::uint64_t products = 0, wrong_products = 0;

  friend bool operator==(const StressSm&, const StressSm&) = default;
};

inline constexpr std::uint32_t kLatencyLoads = 256;
/// StressSm::lost_iteration of the load whose latency is measured.
inline constexpr std::uint64_t kLoneLoad = ~std::uint64_t{0};
/// WrongWord::sm of words that all SMs write or none does: no SM can be named.
inline constexpr std::uint32_t kNoSm = ~0U;

/// A word that is not what it has to be. Of each SM those of the first launch that had some, at
/// most kKeptWrongWords.
struct WrongWord {
  // Of stress_key(). Or, of a word that was wrong in memory at the end, kOfMemory and its index.
  std::uint64_t seed = 0, iteration = 0;
  std::uint32_t cta = 0, sm = 0;
  std::uint32_t offset = 0;  // bytes from where the box begins in shared memory; or kGuardWord,
                             // with kGuardBehind where it is behind the box, and bytes of the guard
  std::uint32_t expected = 0, actual = 0;
  std::uint32_t in_memory = 0;  // what global memory holds there; `expected` where that is no copy

  friend bool operator==(const WrongWord&, const WrongWord&) = default;
};
inline constexpr std::uint32_t kKeptWrongWords = 64;
inline constexpr std::uint64_t kOfMemory = std::uint64_t{1} << 63;
inline constexpr std::uint32_t kGuardWord = 1U << 31, kGuardBehind = 1U << 30;

inline constexpr std::uint64_t kStressL2Bytes = 24 << 20;   // half of what the L2 of an H100 holds
inline constexpr std::uint32_t kStressMaps = 12;            // at most
inline constexpr std::uint32_t kStressBoxBytes = 16 << 10;  // of a box, at most; a slot has as many
inline constexpr std::uint32_t kStressGuardBytes = 2 << 10;  // between slots
inline constexpr std::uint32_t kStressSlots = 12;            // boxes in flight of one SM: 218 KiB
inline constexpr std::uint32_t kStressGroups = 6;            // of threads; each has every sixth box

/// Odd: no two words of the memory are equal, and an address that is wrong by any one bit is seen.
inline constexpr std::uint32_t kStressFactor = 2654435761U;

/// Word `index` of the memory, modulo 2^32.
constexpr std::uint32_t stress_word(std::uint32_t index, std::uint32_t seed) {
  return index * kStressFactor + seed;
}

/// The index of the word that is `word`.
constexpr std::uint32_t stress_index(std::uint32_t word, std::uint32_t seed) {
  constexpr std::uint32_t kInverse = 244002641U;
  static_assert(kInverse * kStressFactor == 1);
  return (word - seed) * kInverse;
}

/// Word `index` of a guard.
constexpr std::uint32_t stress_guard_word(std::uint32_t index) { return 0xa5c3965aU ^ index; }

/// A map as draws and checks need it. Counts are of elements unless they say otherwise.
struct StressShape {
  std::uint32_t rank = 0;       // 0: bulk copies
  std::uint32_t bytes = 0;      // of a box, a multiple of 16
  std::uint32_t element = 1;    // bytes of one; of bulk copies: that they begin at multiples of
  std::uint32_t swizzle = 0;    // this of the address, in units of 128 bytes, is XORed to its 16ths
  std::uint32_t row_words = 0;  // of the tensor, 4 bytes each
  std::array<std::uint32_t, kMaxRank> extent{}, span{}, step{};
  std::array<std::uint32_t, kMaxRank> taken{};    // indices; [0]: 16-byte chunks of a row
  std::array<std::uint32_t, kMaxRank> inverse{};  // of `taken`: kInverseUnit / taken, rounded up
  // From one index to the next; [0] is not used.
  std::array<std::uint32_t, kMaxRank> stride_words{};
};

/// n / d is n * inverse / kInverseUnit for n and d up to 1024: the chunks of a box.
inline constexpr std::uint32_t kInverseUnit = 1U << 20;

struct StressBox {
  std::uint32_t map = 0;
  std::uint32_t offset = 0;      // where it begins in its slot, bytes
  std::uint32_t first_word = 0;  // of the memory, modulo 2^32: the box's first
  std::uint64_t address = 0;     // of a bulk copy, bytes
  std::array<std::int32_t, kMaxRank> at{};
  bool outside = false;  // a part of it is, of its tensor
};

/// The part of the memory that a box lies in. `bytes` 0: all of it.
struct StressPart {
  std::uint64_t begin = 0, bytes = 0;
};
inline constexpr std::uint32_t kStressPartBytes = 5 << 18;  // what each box of a writing copy fits

/// Where the box of this iteration lies: no two that are in flight at once write the same words but
/// in part 0, to which all add.
constexpr StressPart stress_part(StressCopy copy, std::uint32_t cta, std::uint64_t iteration) {
  if (!is_write(copy)) return {};
  std::uint64_t part = cta * kStressGroups + iteration % kStressGroups;
  if (copy == StressCopy::reduce) part = iteration / (2 * kStressGroups) % 4 == 3 ? 0 : 1 + cta;
  return {.begin = part * kStressPartBytes, .bytes = kStressPartBytes};
}

/// The CTA that writes word `index`; kNoSm of words that all do.
constexpr std::uint32_t stress_writer(StressCopy copy, std::uint32_t index) {
  const std::uint32_t part = index / (kStressPartBytes / 4);
  return copy == StressCopy::store ? part / kStressGroups : part == 0 ? kNoSm : part - 1;
}

/// Odd: a stored word that one bit is wrong of is not one of another box.
inline constexpr std::uint32_t kStoredFactor = 2246822519U;

/// What stress_word() takes beside the index for the words of a stored box: by its number among
/// those of its group of threads, from 1 on.
constexpr std::uint32_t stored_seed(std::uint32_t seed, std::uint64_t iteration) {
  return seed + kStoredFactor * (1 + static_cast<std::uint32_t>(iteration / kStressGroups));
}

/// Whether a word of the memory, `filled` at first, can be `word` when its writer has done `boxes`.
constexpr bool stress_may_leave(StressCopy copy, std::uint32_t filled, std::uint32_t word,
                                std::uint64_t boxes) {
  constexpr std::uint32_t kInverse = 3066638151U;
  static_assert(kInverse * kStoredFactor == 1);
  if (copy == StressCopy::store) return (word - filled) * kInverse <= boxes;
  return word == filled;
}

/// Whether threads take off what this reduction's group added with the one before: a copy that is
/// wrong each time alike takes its own faults off again.
constexpr bool is_taken_off_by_threads(std::uint64_t iteration) {
  return iteration / kStressGroups % 8 == 1;  // in the part of the CTA, one time in three
}

/// The number of the box that a reduction adds and the next one of its group takes off again.
constexpr std::uint64_t reduced_iteration(std::uint64_t iteration) {
  return iteration - iteration / kStressGroups % 2 * kStressGroups;
}

/// A number below `count` from 32 random bits.
constexpr std::uint32_t stress_below(std::uint64_t bits, std::uint32_t count) {
  return static_cast<std::uint32_t>(((bits & 0xffffffffU) * count) >> 32);
}

/// The random number that iteration `iteration` of CTA `cta` is drawn from; all of a cluster draw
/// for its first.
constexpr std::uint64_t stress_key(std::uint64_t seed, std::uint32_t cta, std::uint64_t iteration) {
  return splitmix64(splitmix64(seed + cta) + iteration);
}

/// The seed of launch `number`: each draws others.
constexpr std::uint64_t stress_launch_seed(const Stress& op, std::uint32_t number) {
  return splitmix64(op.seed + number + 1);
}

constexpr bool is_spoiled(const SpoiledBoxes& spoiled, std::uint32_t sm, std::uint64_t key) {
  return spoiled.every != 0 && spoiled.sm == sm && key % spoiled.every == 0;
}

/// Draws where the box lies along a dimension: inside, or, where `over`, across one of the edges.
constexpr std::int32_t draw_along(std::uint32_t extent, std::uint32_t span, std::uint64_t bits,
                                  bool over) {
  if (!over || span == 1) return static_cast<std::int32_t>(stress_below(bits, extent - span + 1));
  const std::uint32_t across = 1 + stress_below(bits, span - 1);
  return (bits >> 32 & 1U) != 0 ? -static_cast<std::int32_t>(across)
                                : static_cast<std::int32_t>(extent - span + across);
}

/// The box of this key, of one of `count` maps over `memory_bytes`, in `part` of them.
constexpr StressBox stress_draw(const StressShape* shapes, std::uint32_t count,
                                std::uint64_t memory_bytes, const StressPart& part,
                                std::uint64_t key) {
  StressBox box;
  std::uint64_t bits = splitmix64(key + 1);
  box.map = stress_below(bits, count);
  const StressShape& shape = shapes[box.map];
  const std::uint32_t alignment = shape.rank == 0 ? 16 : 128;  // PTX ISA 9.0, 5.5 and 9.7.9.25.4
  // One end stands at a guard.
  if ((bits >> 32 & 1U) != 0) box.offset = (kStressBoxBytes - shape.bytes) / alignment * alignment;
  std::int64_t first = 0;
  if (shape.rank == 0) {
    bits = splitmix64(bits);
    const std::uint64_t bytes = part.bytes == 0 ? memory_bytes : part.bytes;
    const std::uint64_t places = (bytes - shape.bytes) / shape.element + 1;
    box.address =
        part.begin +
        std::uint64_t{stress_below(bits, static_cast<std::uint32_t>(places))} * shape.element;
    first = static_cast<std::int64_t>(box.address);
  } else {
    const bool over = (bits >> 33 & 7U) == 0;
    std::uint32_t across = over ? static_cast<std::uint32_t>(bits >> 36) : 0;  // bit i: dimension i
    for (std::uint32_t i = 0; i < shape.rank; ++i) {
      bits = splitmix64(bits);
      std::uint32_t extent = shape.extent[i], begin = 0;
      bool across_this = (across >> i & 1U) != 0 && shape.span[i] > 1;
      if (part.bytes != 0 && i + 1 == shape.rank) {  // the indices that are all in the part
        const std::uint64_t pitch =
            i == 0 ? shape.element : 4 * std::uint64_t{shape.stride_words[i]};
        begin = static_cast<std::uint32_t>((part.begin + pitch - 1) / pitch);
        extent = static_cast<std::uint32_t>((part.begin + part.bytes) / pitch) - begin;
        across_this = false;
      }
      // A store may lie across an upper edge alone: a negative coordinate is error 715 (H100).
      if (part.bytes != 0) bits &= 0xffffffff;
      box.outside = box.outside || across_this;
      box.at[i] =
          static_cast<std::int32_t>(begin) + draw_along(extent, shape.span[i], bits, across_this);
    }
    // Of dimension 0 a copy takes multiples of 16 bytes alone: PTX ISA 9.0, 5.5.3.1.
    box.at[0] &= ~static_cast<std::int32_t>(16 / shape.element - 1);
    first = box.at[0] * std::int64_t{shape.element};
    for (std::uint32_t i = 1; i < shape.rank; ++i)
      first += 4 * static_cast<std::int64_t>(box.at[i]) * std::int64_t{shape.stride_words[i]};
  }
  box.first_word = static_cast<std::uint32_t>(first / 4);
  return box;
}

/// What the four words have to be that stand 16 * `chunk` bytes behind where the box begins.
/// `kRank` and `kOutside` are the shape's and the box's: the loop over chunks is compiled for each.
template <std::uint32_t kRank, bool kOutside>
constexpr std::array<std::uint32_t, 4> stress_chunk(const StressShape& shape, const StressBox& box,
                                                    std::uint32_t seed, std::uint32_t chunk) {
  // Swizzles permute the chunks of a row by the address in shared memory.
  const std::uint32_t begin = box.offset / 16, stands = begin + chunk;
  const std::uint32_t of_box =
      kRank == 0 ? chunk : (stands ^ (stands >> 3 & shape.swizzle)) - begin;
  std::uint32_t row = kRank < 2 ? 0 : of_box * shape.inverse[0] / kInverseUnit;
  const std::uint32_t in_row = of_box - row * shape.taken[0];
  std::uint32_t word = box.first_word + 4 * in_row;
  bool inside = true;
  constexpr std::uint32_t kDimensions = kRank == 0 ? 1 : kRank;
  for (std::uint32_t i = 1; i < kDimensions; ++i) {
    const std::uint32_t rest = i + 1 < kDimensions ? row * shape.inverse[i] / kInverseUnit : 0;
    const std::uint32_t moved = (row - rest * shape.taken[i]) * shape.step[i];
    row = rest;
    word += moved * shape.stride_words[i];
    if constexpr (kOutside)
      inside = inside && static_cast<std::uint32_t>(box.at[i]) + moved < shape.extent[i];
  }
  std::array<std::uint32_t, 4> words{};
  for (std::uint32_t j = 0; j < 4; ++j) words[j] = stress_word(word + j, seed);
  if constexpr (kOutside) {
    // Zeros outside of the tensor, whose rows end with a whole word. PTX ISA 9.0, 5.5.3.
    const auto first =
        static_cast<std::uint32_t>(box.at[0] * std::int64_t{shape.element} / 4) + 4 * in_row;
    for (std::uint32_t j = 0; j < 4; ++j)
      if (!inside || first + j >= shape.row_words) words[j] = 0;
  }
  return words;
}

/// Calls `use` with the rank as a constant.
template <class Use>
constexpr void with_rank(std::uint32_t rank, const Use& use) {
  switch (rank) {
    case 0:
      return use(std::integral_constant<std::uint32_t, 0>{});
    case 1:
      return use(std::integral_constant<std::uint32_t, 1>{});
    case 2:
      return use(std::integral_constant<std::uint32_t, 2>{});
    case 3:
      return use(std::integral_constant<std::uint32_t, 3>{});
    case 4:
      return use(std::integral_constant<std::uint32_t, 4>{});
    default:
      return use(std::integral_constant<std::uint32_t, 5>{});
  }
}

/// Calls `use` with stress_chunk of the box's rank.
template <class Use>
constexpr void with_chunks(const StressShape& shape, const StressBox& box, const Use& use) {
  with_rank(shape.rank, [&](auto rank) {
    constexpr std::uint32_t kRank = decltype(rank)::value;
    if (box.outside)
      use([&](std::uint32_t seed, std::uint32_t chunk) {
        return stress_chunk<kRank, true>(shape, box, seed, chunk);
      });
    else
      use([&](std::uint32_t seed, std::uint32_t chunk) {
        return stress_chunk<kRank, false>(shape, box, seed, chunk);
      });
  });
}

/// SMs that a GPU has, at most: the highest number of an SM, and one.
inline constexpr std::uint32_t kStressSms = 256;

/// Adds what the same SM did in another launch.
constexpr void add_to(StressSm& all, const StressSm& more) {
  if (all.lost == 0) {
    all.lost_seed = more.lost_seed;
    all.lost_iteration = more.lost_iteration;
    all.lost_cta = more.lost_cta;
  }
  if (all.digest == 0) all.digest = more.digest;
  all.products += more.products;
  all.wrong_products += more.wrong_products;
  all.sm = more.sm;
  all.lost += more.lost;
  all.boxes += more.boxes;
  all.bytes += more.bytes;
  all.wrong_boxes += more.wrong_boxes;
  all.wrong_words += more.wrong_words;
  if (all.latency == 0 || (more.latency != 0 && more.latency < all.latency))
    all.latency = more.latency;
  all.ns += more.ns;
  all.cycles += more.cycles;
}

StressSm sum_of(const std::vector<StressSm>& sms);

constexpr bool is_wrong(const StressSm& sm) {
  return sm.wrong_words > 0 || sm.lost > 0 || sm.wrong_products > 0;
}

/// Counts a product as wrong on each SM whose first was not what it was on most.
void compare_digests(std::vector<StressSm>& sms);

/// "27778816 boxes; 32.3 GB/s (SM 7) to 42.1 GB/s, 1979 MHz".
std::string stress_note(const std::vector<StressSm>& sms);

/// The maps that boxes are drawn from, over `memory_bytes`: at most kStressMaps. Throws Error where
/// the memory is too small for them and for what `ctas` write, above 8 GiB or no multiple of 64
/// KiB.
std::vector<TensorMapSpec> stress_maps(const Stress& op, std::uint32_t ctas = 1);
StressShape stress_shape(const TensorMapSpec& map);
std::vector<StressShape> stress_shapes(const std::vector<TensorMapSpec>& maps);

}  // namespace tidemark
