// Verifies products: every element, samples, and the vote of all ranks.
#include "suite/gemm/verify.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <string>

#include "kernels/error.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/payload.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/elements.hpp"
#include "suite/gemm/loops.hpp"

namespace tidemark {

// Chooses the strictest check of a product that its size allows.

namespace {

constexpr std::uint64_t kExactProducts = std::uint64_t{1} << 31;  // about a second of one core
constexpr std::uint64_t kRealProducts = std::uint64_t{1} << 27;
constexpr std::uint64_t kBytesPerNs = 8;  // that a core looks through
constexpr std::uint8_t kPaddingByte = 0xff;
constexpr std::uint64_t kOperandElements = std::uint64_t{1} << 28;  // memory for A and B

std::uint64_t block_bytes(const Gemm& gemm) {
  return gemm.rows.count * gemm.cols.count * element_bytes(gemm.output);
}

bool host_computes_all(const Gemm& gemm) {
  // The other checks know C = A B of finite numbers only.
  if (gemm.alpha != 1 || gemm.beta != 0 || !gemm.planted.empty()) return true;
  const std::uint64_t limit = is_exact(gemm) ? kExactProducts : kRealProducts;
  return gemm.rows.count * gemm.cols.count * gemm.k <= limit &&
         (gemm.rows.count + gemm.cols.count) * gemm.k <= kOperandElements;
}

std::vector<Miscompare> wrong_size(const char* what, std::uint64_t expected, std::uint64_t actual,
                                   std::uint32_t row_index) {
  if (expected == actual) return {};
  Miscompare miscompare;
  miscompare.row = row_index;
  miscompare.what = what;
  miscompare.expected = expected;
  miscompare.actual = actual;
  miscompare.text =
      fmt::format("{}: the device handed back {} bytes where {} belong", what, actual, expected);
  return {miscompare};
}

std::vector<Miscompare> verify_guards(const Gemm& gemm, const RunResult& result,
                                      std::uint32_t row_index) {
  Miscompare miscompare;
  const std::uint64_t guards = std::min<std::uint64_t>(2 * kGuardBytes, result.surroundings.size());
  for (std::uint64_t i = 0; i < guards; ++i) {
    const std::uint8_t expected = poison_byte({.seed = gemm.seed}, i);
    if (result.surroundings[i] == expected) continue;
    if (miscompare.wrong_bytes == 0) {
      miscompare.first_offset = i;
      miscompare.expected = expected;
      miscompare.actual = result.surroundings[i];
    }
    ++miscompare.wrong_bytes;
  }
  if (miscompare.wrong_bytes == 0) return {};
  const std::uint64_t at = miscompare.first_offset;
  const std::string place = at < kGuardBytes
                                ? fmt::format("{} bytes before C", kGuardBytes - at)
                                : fmt::format("{} bytes behind the end of C", at - kGuardBytes);
  miscompare.row = row_index;
  miscompare.what = "guard";
  miscompare.text =
      fmt::format("written outside C, {}: expected 0x{:02x}, got 0x{:02x}; {} bytes", place,
                  miscompare.expected, miscompare.actual, miscompare.wrong_bytes);
  return {miscompare};
}

std::uint64_t surroundings_bytes(const Gemm& gemm) {
  return 2 * kGuardBytes + gemm.rows.count * c_padding_bytes(gemm);
}

/// Compares each byte with its neighbour: memcmp() is many times as fast as a loop.
bool all_are(std::uint8_t value, std::span<const std::uint8_t> bytes) {
  return bytes.empty() ||
         (bytes[0] == value && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

/// The bytes between the last column of a row and the next row, which only the poisoning may write.
std::vector<Miscompare> verify_padding(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index) {
  if (result.surroundings.size() != surroundings_bytes(gemm)) return {};  // said by its size
  const std::span<const std::uint8_t> bytes =
      std::span(result.surroundings).subspan(2 * kGuardBytes);
  if (all_are(kPaddingByte, bytes)) return {};
  Miscompare miscompare;
  for (std::uint64_t i = 2 * kGuardBytes; i < result.surroundings.size(); ++i) {
    if (result.surroundings[i] == kPaddingByte) continue;
    if (miscompare.wrong_bytes == 0) {
      miscompare.first_offset = i;
      miscompare.expected = kPaddingByte;
      miscompare.actual = result.surroundings[i];
    }
    ++miscompare.wrong_bytes;
  }
  const std::uint64_t padding = c_padding_bytes(gemm);
  const std::uint64_t at = miscompare.first_offset - 2 * kGuardBytes;
  const std::uint64_t end = gemm.cols.first + gemm.cols.count;  // of the block's columns
  const std::uint64_t row = gemm.rows.first + at / padding;
  const std::uint64_t column = end + at % padding / element_bytes(gemm.output);
  miscompare.row = row_index;
  miscompare.what = "padding";
  miscompare.coordinate = {static_cast<std::int64_t>(row), static_cast<std::int64_t>(column), 0, 0,
                           0};
  miscompare.text = fmt::format(
      "written into the padding of row {}, at column {} where the block ends before column {}: "
      "expected 0x{:02x}, got 0x{:02x}; {} bytes",
      row, column, end, miscompare.expected, miscompare.actual, miscompare.wrong_bytes);
  return {miscompare};
}

/// The wrong elements of the rows for which suspect(i) holds, each of which add_wrong(i, j, found)
/// looks at. Right rows, as nearly all are, cost one pass over their bytes.
template <class Suspect, class AddWrong>
WrongElements scan_rows(const Gemm& gemm, const Suspect& suspect, const AddWrong& add_wrong) {
  WrongElements wrong;
  std::mutex mutex;
  const std::uint64_t bytes = block_bytes(gemm);
  in_parallel(gemm.rows.count, bytes / kBytesPerNs, [&](std::uint64_t first, std::uint64_t last) {
    WrongElements found;
    for (std::uint64_t i = first; i < last; ++i)
      if (suspect(i))
        for (std::uint64_t j = 0; j < gemm.cols.count; ++j) add_wrong(i, j, found);
    const std::lock_guard lock(mutex);
    wrong.add(found);
  });
  return wrong;
}

std::vector<Miscompare> verify_finite(const Gemm& gemm, const RunResult& result,
                                      std::uint32_t row_index) {
  const WrongElements wrong = scan_rows(
      gemm,
      [&](std::uint64_t i) {
        return has_non_finite(gemm.output, row_bytes(gemm, result, i), gemm.cols.count);
      },
      [&](std::uint64_t i, std::uint64_t j, WrongElements& found) {
        const std::uint32_t bits = element_bits(gemm, result, i, j);
        if (!std::isfinite(element_value(gemm.output, bits))) found.add(i, j, 0, bits);
      });
  if (wrong.count == 0) return {};
  const bool poison = wrong.actual == (gemm.output == GemmOutput::f32 ? 0xffffffffU : 0xffffU);
  return {miscompare_of(
      gemm, wrong, row_index,
      fmt::format("C({}, {}) is {}: {}; {} of {} elements", gemm.rows.first + wrong.row,
                  gemm.cols.first + wrong.col, element_text(gemm.output, wrong.actual),
                  poison ? "still the poison, never written" : "computed from what was no input",
                  wrong.count, gemm.rows.count * gemm.cols.count))};
}

std::vector<Miscompare> verify_values(const Gemm& gemm, const RunResult& result,
                                      std::uint32_t row_index) {
  if (host_computes_all(gemm))
    return is_exact(gemm) ? verify_exactly(gemm, result, row_index)
                          : verify_within_bound(gemm, result, row_index);
  std::vector<Miscompare> found = verify_samples(gemm, result, row_index);
  if (found.empty()) found = verify_freivalds(gemm, result, row_index);
  return found;
}

/// Throws Error unless the reference engine handed back a block that can be compared with.
void check_reference(const Gemm& gemm, const RunResult& reference) {
  if (reference.fault != DeviceFault::none)
    throw Error(fmt::format("the engine to compare with gave no answer for {} x {} x {}: {}",
                            gemm.m, gemm.n, gemm.k, reference.note));
  if (reference.bytes.size() != block_bytes(gemm))
    throw Error(fmt::format("the engine to compare with handed back {} bytes where {} belong",
                            reference.bytes.size(), block_bytes(gemm)));
}

/// Every bit as the same engine gets it from panels that this GPU has made itself: whatever a
/// transport does wrong is seen at any size, a bit of the last place included.
std::vector<Miscompare> verify_by_one_gpu(const Gemm& gemm, const RunResult& result,
                                          std::uint32_t row_index, Device& device) {
  Gemm alone = gemm;
  alone.transport = nullptr;
  std::vector<Miscompare> found = verify_against(gemm, result, device.run(alone), row_index);
  for (Miscompare& miscompare : found) miscompare.text += ", unlike the product of one GPU";
  return found;
}

void append(std::vector<Miscompare>& to, std::vector<Miscompare> from) {
  for (Miscompare& miscompare : from) to.push_back(std::move(miscompare));
}

}  // namespace

std::vector<Miscompare> verify_gemm(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index) {
  const std::uint64_t size = block_bytes(gemm);
  std::vector<Miscompare> found = wrong_size("C", size, result.bytes.size(), row_index);
  append(found,
         wrong_size("guard", surroundings_bytes(gemm), result.surroundings.size(), row_index));
  append(found, verify_guards(gemm, result, row_index));
  append(found, verify_padding(gemm, result, row_index));
  if (result.bytes.size() != size) return found;
  if (!gemm.planted.empty()) {
    append(found, verify_planted(gemm, result, row_index));
    return found;
  }
  std::vector<Miscompare> values = verify_finite(gemm, result, row_index);
  // Sums over a row say nothing once one of its elements is not a number.
  if (values.empty()) values = verify_values(gemm, result, row_index);
  append(found, std::move(values));
  return found;
}

std::vector<Miscompare> verify_gemm(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index, Device& device) {
  std::vector<Miscompare> found = verify_gemm(gemm, result, row_index);
  if (gemm.vote) append(found, verify_vote(gemm, result, row_index));
  if (found.empty() && gemm.transport != nullptr && !gemm.vote)
    found = verify_by_one_gpu(gemm, result, row_index, device);
  if (!found.empty() || host_computes_all(gemm)) return found;
  Gemm alone = gemm;
  alone.engine = GemmEngine::reference;
  alone.transport = nullptr;
  if (!is_exact(gemm))
    alone.output = GemmOutput::f32;  // its rounding to bf16 would be a second one
  const RunResult reference = device.run(alone);
  check_reference(alone, reference);
  return is_exact(gemm) ? verify_against(gemm, result, reference, row_index)
                        : verify_near(gemm, result, reference, row_index);
}

std::vector<Miscompare> verify_against(const Gemm& gemm, const RunResult& result,
                                       const RunResult& reference, std::uint32_t row_index) {
  check_reference(gemm, reference);
  const std::uint64_t size = block_bytes(gemm);
  if (result.bytes.size() != size) return wrong_size("C", size, result.bytes.size(), row_index);
  const std::uint64_t row_size = gemm.cols.count * element_bytes(gemm.output);
  const WrongElements wrong = scan_rows(
      gemm,
      [&](std::uint64_t i) {
        return row_size != 0 && std::memcmp(row_bytes(gemm, result, i),
                                            row_bytes(gemm, reference, i), row_size) != 0;
      },
      [&](std::uint64_t i, std::uint64_t j, WrongElements& found) {
        const std::uint32_t expected = element_bits(gemm, reference, i, j);
        const std::uint32_t actual = element_bits(gemm, result, i, j);
        if (!same_element(gemm.output, expected, actual)) found.add(i, j, expected, actual);
      });
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

// Counts digests tile by tile.

namespace {

/// The digest of more than half of all ranks for a tile.
struct Majority {
  bool found = false;
  std::uint64_t digest = 0;
};

Majority majority_of(const RunResult& result, std::uint64_t tile, std::uint64_t tiles) {
  const std::size_t ranks = result.digests.size() / tiles;
  std::vector<std::uint64_t> votes;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    votes.push_back(result.digests[rank * tiles + tile]);
  std::sort(votes.begin(), votes.end());
  const std::uint64_t middle = votes[ranks / 2];
  const auto count = std::count(votes.begin(), votes.end(), middle);
  return {.found = 2 * static_cast<std::size_t>(count) > ranks, .digest = middle};
}

std::string place_of(const Gemm& gemm, std::uint64_t tile) {
  const std::uint64_t across = (gemm.cols.count + kDigestTile - 1) / kDigestTile;
  const std::uint64_t row = tile / across * kDigestTile;
  const std::uint64_t column = tile % across * kDigestTile;
  return fmt::format("rows {} to {}, columns {} to {}", row,
                     std::min(row + kDigestTile, gemm.rows.count) - 1, column,
                     std::min(column + kDigestTile, gemm.cols.count) - 1);
}

Miscompare miscompare_of(const Gemm& gemm, std::uint64_t tile, std::uint64_t expected,
                         std::uint64_t actual, std::uint32_t row_index, std::string text) {
  const std::uint64_t across = (gemm.cols.count + kDigestTile - 1) / kDigestTile;
  Miscompare miscompare;
  miscompare.row = row_index;
  miscompare.what = std::string("vote");
  miscompare.coordinate = {static_cast<std::int64_t>(tile / across * kDigestTile),
                           static_cast<std::int64_t>(tile % across * kDigestTile), 0, 0, 0};
  miscompare.expected = expected;
  miscompare.actual = actual;
  miscompare.text = std::move(text);
  return miscompare;
}

}  // namespace

std::vector<Miscompare> verify_vote(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index) {
  const std::uint64_t tiles = digest_tiles(gemm.rows.count, gemm.cols.count);
  if (tiles == 0 || (gemm.transport == nullptr && result.digests.empty())) return {};
  const std::uint64_t ranks =
      gemm.transport == nullptr ? result.digests.size() / tiles : gemm.everybody.size();
  if (result.digests.size() != ranks * tiles)
    return {miscompare_of(gemm, 0, ranks * tiles, result.digests.size(), row_index,
                          fmt::format("the ranks handed over {} digests where {} belong",
                                      result.digests.size(), ranks * tiles))};
  std::uint64_t outvoted = 0, first_outvoted = 0, open = 0, first_open = 0;
  std::uint64_t expected = 0;
  for (std::uint64_t tile = tiles; tile-- > 0;) {
    const Majority majority = majority_of(result, tile, tiles);
    if (!majority.found) {
      ++open;
      first_open = tile;
    } else if (result.digests[gemm.rank * tiles + tile] != majority.digest) {
      ++outvoted;
      first_outvoted = tile;
      expected = majority.digest;
    }
  }
  std::vector<Miscompare> found;
  if (outvoted > 0)
    found.push_back(miscompare_of(
        gemm, first_outvoted, expected, result.digests[gemm.rank * tiles + first_outvoted],
        row_index,
        fmt::format("this GPU, rank {}, differs from most of {} GPUs in {} of {} tiles of the same "
                    "C, first in {}",
                    gemm.rank, ranks, outvoted, tiles, place_of(gemm, first_outvoted))));
  if (open > 0)
    found.push_back(miscompare_of(
        gemm, first_open, 0, result.digests[gemm.rank * tiles + first_open], row_index,
        fmt::format("{} GPUs differ in {} of {} tiles of the same C, first in {}, and no more than "
                    "half agree: more GPUs would tell which is wrong",
                    ranks, open, tiles, place_of(gemm, first_open))));
  return found;
}

}  // namespace tidemark
