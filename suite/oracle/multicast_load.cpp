// Predicts and judges a multicast block by block: the box of a tile load in each block of the mask,
// and nothing at all in the others.
#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/difference.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/tile_place.hpp"

namespace tidemark::suite {
namespace {

// The window of a block that is served: the box, between guards with the poison of this rank.
Bytes served_window(const MulticastLoad& multicast, const Expectation& box, std::uint32_t rank) {
  Bytes window = box.bytes;
  const std::size_t begin = tile_start(multicast.load);
  const std::size_t end = begin + tile_bytes(multicast.load.map);
  for (std::size_t i = 0; i < window.size(); ++i)
    if (i < begin || i >= end) window[i] = cluster_poison_byte(multicast.load.payload, rank, i);
  return window;
}

Bytes canary_window(const MulticastLoad& multicast, std::uint32_t rank) {
  Bytes window(window_bytes(multicast.load));
  for (std::size_t i = 0; i < window.size(); ++i)
    window[i] = cluster_poison_byte(multicast.load.payload, rank, i);
  return window;
}

BarrierLedger served_ledger(const MulticastLoad& multicast) {
  const std::uint64_t bytes = tile_bytes(multicast.load.map);
  return {.complete_before_issue = false,
          .complete = true,
          .next_complete_early = false,
          .next_complete = true,
          .announced = bytes,
          .credited = bytes};
}

// Phase 0 stays open, with one arrival and no byte to come: the arrival completes it.
constexpr BarrierLedger kCanaryLedger{.complete_before_issue = false,
                                      .complete = false,
                                      .next_complete_early = false,
                                      .next_complete = true,
                                      .announced = 0,
                                      .credited = 0};

Bytes window_of(const Bytes& all, std::size_t window, std::uint32_t rank) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(window * rank);
  return {begin, begin + static_cast<std::ptrdiff_t>(window)};
}

// What was expected of one block, as if it had been a tile load of its own.
Expectation expected_of(const MulticastLoad& multicast, const Expectation& all,
                        std::uint32_t rank) {
  const std::size_t window = window_bytes(multicast.load);
  Expectation one{.bytes = window_of(all.bytes, window, rank),
                  .compare = {},
                  .surroundings = all.surroundings,
                  .ledger = all.cta_ledgers[rank],
                  .cta_ledgers = {},
                  .poison_twist = cluster_poison_twist(rank)};
  if (!all.compare.empty()) {
    const auto begin = all.compare.begin() + static_cast<std::ptrdiff_t>(window * rank);
    one.compare.assign(begin, begin + static_cast<std::ptrdiff_t>(window));
  }
  return one;
}

// A window that nothing may have touched. Returns where it was touched, and turns the bytes into
// those expected, so that what is compared next looks at the ledger alone.
std::vector<Miscompare> touched_canary(const MulticastLoad& multicast, const Bytes& expected,
                                       Bytes& actual, std::uint32_t row) {
  const auto difference = exact_difference(expected, actual, 0, expected.size());
  if (!difference) return {};
  Miscompare miscompare = wrong_byte("canary", *difference, expected, actual, row);
  const auto from_tile =
      static_cast<std::int64_t>(miscompare.first_offset) - tile_start(multicast.load);
  miscompare.text = fmt::format(
      "outside the mask and written to: byte {} from where the tile would be: expected 0x{:02x}, "
      "got 0x{:02x}; {} bytes are wrong",
      from_tile, miscompare.expected, miscompare.actual, miscompare.wrong_bytes);
  actual = expected;
  return {miscompare};
}

std::vector<Miscompare> compare_block(const MulticastLoad& multicast, const Expectation& expected,
                                      const RunResult& result, std::uint32_t rank,
                                      std::uint32_t row) {
  const std::size_t window = window_bytes(multicast.load);
  const Expectation wanted = expected_of(multicast, expected, rank);
  RunResult seen;
  seen.bytes = window_of(result.bytes, window, rank);
  seen.ledger = result.cta_ledgers[rank];
  seen.surroundings = rank == 0 ? result.surroundings : wanted.surroundings;
  std::vector<Miscompare> found;
  if (!is_masked(multicast, rank)) found = touched_canary(multicast, wanted.bytes, seen.bytes, row);
  for (Miscompare& miscompare : compare(multicast.load, wanted, seen, row))
    found.push_back(std::move(miscompare));
  for (Miscompare& miscompare : found) {
    if (miscompare.what == "source") continue;
    const bool is_barrier = miscompare.what.starts_with("barrier");
    if (!is_barrier) miscompare.first_offset += window * rank;
    miscompare.text =
        fmt::format("block {} of {}{}: {}", rank, cluster_size(multicast),
                    is_masked(multicast, rank) ? "" : " (not in the mask)", miscompare.text);
  }
  return found;
}

}  // namespace

Expectation predict(const MulticastLoad& multicast) {
  if (const char* why = refusal_of(multicast); why != nullptr)
    throw Error(fmt::format("multicast load: {}: it has no prediction", why));
  const Expectation box = predict(multicast.load);
  const std::size_t window = box.bytes.size();
  Expectation all{.bytes = {},
                  .compare = {},
                  .surroundings = box.surroundings,
                  .ledger = {},
                  .cta_ledgers = {}};
  for (std::uint32_t rank = 0; rank < cluster_size(multicast); ++rank) {
    const bool served = is_masked(multicast, rank);
    const Bytes bytes =
        served ? served_window(multicast, box, rank) : canary_window(multicast, rank);
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
    all.cta_ledgers.push_back(served ? served_ledger(multicast) : kCanaryLedger);
    if (box.compare.empty()) continue;
    all.compare.resize(window * rank, Compare::exact);
    if (served) all.compare.insert(all.compare.end(), box.compare.begin(), box.compare.end());
  }
  if (!box.compare.empty()) all.compare.resize(all.bytes.size(), Compare::exact);
  return all;
}

std::vector<Miscompare> compare(const MulticastLoad& multicast, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  if (result.bytes.size() != expected.bytes.size())
    return {wrong_size("byte", "windows of all blocks", expected.bytes.size(), result.bytes.size(),
                       row)};
  if (result.cta_ledgers.size() != expected.cta_ledgers.size()) {
    std::vector<Miscompare> found;
    compare_line("count", "ledgers of blocks", expected.cta_ledgers.size(),
                 result.cta_ledgers.size(), row, found);
    return found;
  }
  std::vector<Miscompare> found;
  for (std::uint32_t rank = 0; rank < cluster_size(multicast); ++rank)
    for (Miscompare& miscompare : compare_block(multicast, expected, result, rank, row))
      found.push_back(std::move(miscompare));
  return found;
}

}  // namespace tidemark::suite
