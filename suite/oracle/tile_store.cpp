// Predicts tile stores by asking, for each place of the destination, which byte of shared memory
// belongs there. Written from the PTX ISA and cuda.h, apart from every device.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/store_place.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kChunk = 16;

void refuse_map(const TileStore& store) {
  const TensorMapSpec& map = store.map;
  if (map.rank < 1 || map.rank > kMaxRank)
    throw Error(fmt::format("tile store: rank {} has no prediction; take 1 to 5", map.rank));
  std::uint64_t below = map.extent[0] * element_bytes(map.type);  // bytes one index steps over
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (map.extent[i] == 0 || map.box[i] < 1 || map.box[i] > 256)
      throw Error(fmt::format(
          "tile store: extent {} with box {} in dimension {} has no prediction; take an extent of "
          "1 or more and a box of 1 to 256",
          map.extent[i], map.box[i], i));
    if (map.element_stride[i] < 1 || map.element_stride[i] > 8)
      throw Error(fmt::format("tile store: element stride {} in dimension {}; take 1 to 8",
                              map.element_stride[i], i));
    if (i == 0) continue;
    if (map.element_stride[i] != 1 && store.held_to != HeldTo::measurement)
      throw Error(fmt::format(
          "tile store: cuda.h speaks of element strides (here {}) only where it speaks of loads; "
          "take 1, or hold the store to what was measured",
          map.element_stride[i]));
    if (map.stride[i - 1] < below)
      throw Error(fmt::format(
          "tile store: a stride of {} bytes in dimension {}, where {} lie below it: which of two "
          "stores to one address lands last is not documented",
          map.stride[i - 1], i, below));
    below = map.stride[i - 1] * map.extent[i];
  }
  const std::uint32_t inner = map.box[0] * element_bytes(map.type);
  if (inner % kChunk != 0)
    throw Error(
        fmt::format("tile store: an inner box row of {} bytes; take a multiple of 16", inner));
  if (map.swizzle != Swizzle::none && inner != swizzle_bytes(map.swizzle))
    throw Error(fmt::format(
        "tile store: how a {}-byte inner box row lies under a {}-byte swizzle is not documented; "
        "make them equal",
        inner, swizzle_bytes(map.swizzle)));
}

// Whether a box reaches the end of rows that end off 16 bytes: what becomes of the bytes up to the
// next 16 is promised by nobody.
bool reaches_ragged_end(const TileStore& store) {
  const TensorMapSpec& map = store.map;
  const auto exact = static_cast<std::int64_t>(map.extent[0] * element_bytes(map.type));
  const std::int64_t whole_chunks = exact / kChunk * kChunk;
  const std::int64_t boxes = map.rank == 1 ? store.stores : 1;
  const std::int64_t begin = std::int64_t{store.at[0]} * element_bytes(map.type);
  const std::int64_t end = begin + boxes * map.box[0] * element_bytes(map.type);
  return exact != whole_chunks && begin < exact && end > whole_chunks;
}

// Where the documents stop, there is nothing to predict: a guess would become a verdict.
void refuse_the_undocumented(const TileStore& store) {
  refuse_map(store);
  for (std::uint32_t i = 0; i < store.map.rank; ++i)
    if (store.at[i] < 0)
      throw Error(
          fmt::format("tile store: coordinate {} of dimension {}; a store may not start at "
                      "a negative one",
                      store.at[i], i));
  if (std::int64_t{store.at[0]} * element_bytes(store.map.type) % kChunk != 0)
    throw Error(
        fmt::format("tile store: inner coordinate {} is off 16 bytes, which faults", store.at[0]));
  if (store.source_offset % 128 != 0)
    throw Error(
        fmt::format("tile store: source offset {}; take a multiple of 128", store.source_offset));
  if (store.stores < 1 || store.stores > kMaxStores)
    throw Error(fmt::format("tile store: {} stores; take 1 to {}", store.stores, kMaxStores));
  if (ends_unwaited(store) && store.held_to != HeldTo::record)
    throw Error(
        "tile store: the kernel ends without the wait for its stores, and no document says that "
        "they land; have what becomes of the boxes recorded");
  if (store.held_to != HeldTo::measurement && reaches_ragged_end(store))
    throw Error(
        "tile store: the box reaches the end of rows that end off 16 bytes, behind which no "
        "document says what is written; take rows of whole 16 bytes");
}

std::vector<std::uint8_t> source_window(const TileStore& store) {
  std::vector<std::uint8_t> window(window_bytes(store));
  for (std::uint32_t i = 0; i < window.size() / 4; ++i) {
    const std::uint32_t word = source_window_word(store, i);
    std::memcpy(&window[std::size_t{4} * i], &word, 4);
  }
  return window;
}

// Every bit of every tile is another one once its source has been read.
std::vector<std::uint8_t> window_at_the_end(const TileStore& store,
                                            const std::vector<std::uint8_t>& source) {
  std::vector<std::uint8_t> window = source;
  if (store.wait != StoreWait::read) return window;
  for (std::uint32_t group = 0; group < store.stores; ++group)
    for (std::uint32_t i = 0; i < tile_bytes(store.map); ++i) {
      std::uint8_t& byte = window[tile_offset(store, group) + i];
      byte = static_cast<std::uint8_t>(~byte);
    }
  return window;
}

StoreLedger ledger_of(const TileStore& store, const std::vector<std::uint8_t>& destination) {
  StoreLedger ledger;
  if (ends_unwaited(store)) return ledger;  // nobody waits, so nobody reads
  for (std::uint32_t group = 0; group < kMaxStores; ++group)
    for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
      const std::uint64_t offset = probe_offset(store, group, probe);
      if (offset != kNowhere)
        std::memcpy(ledger.read[group][probe].data(), &destination[offset], kChunk);
    }
  return ledger;
}

}  // namespace

Expectation predict(const TileStore& store) {
  refuse_the_undocumented(store);
  const std::vector<std::uint8_t> source = source_window(store);
  Expectation expectation;
  expectation.bytes.resize(destination_allocation_bytes(store));
  const bool recorded = store.held_to == HeldTo::record;
  if (recorded) expectation.compare.assign(expectation.bytes.size(), Compare::exact);
  for (std::uint64_t i = 0; i < expectation.bytes.size(); ++i)
    expectation.bytes[i] = poison_byte(store.payload, i);
  // By chunks: rows of tensor and box begin on 16 bytes, so that a chunk is of one row, and stored
  // whole or not at all.
  for (std::uint64_t at = 0; at < expectation.bytes.size(); at += kChunk) {
    const StorePlace place = store_place(store, at);
    if (!place.stored) continue;
    std::memcpy(&expectation.bytes[at], &source[place.window_offset], kChunk);
    if (recorded) std::fill_n(&expectation.compare[at], kChunk, Compare::recorded);
  }
  expectation.surroundings = window_at_the_end(store, source);
  expectation.stored = ledger_of(store, expectation.bytes);
  return expectation;
}

}  // namespace tidemark::suite
