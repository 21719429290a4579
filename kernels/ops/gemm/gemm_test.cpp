// A GEMM as data: its problem, and the digests of its result.
#include "kernels/ops/gemm/gemm.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <numeric>

namespace tidemark {
namespace {

constexpr std::uint64_t kRows = 300, kCols = 520;

std::vector<std::uint8_t> counting() {
  std::vector<std::uint8_t> bytes(kRows * kCols * 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return bytes;
}

Gemm whole() {
  Gemm gemm = whole_product({kRows, kCols, 8}, GemmInputs::normal);
  gemm.output = GemmOutput::bf16;
  return gemm;
}

std::uint64_t sum(const std::vector<std::uint64_t>& digests) {
  return std::accumulate(digests.begin(), digests.end(), std::uint64_t{0});
}

TEST(GemmDigest, OneAWholeTileAndOneAnEdge) {
  EXPECT_EQ(tile_digests(whole(), counting()).size(), 2U * 3U);
}

TEST(GemmDigest, OneBitChangesItsTileAlone) {
  const std::vector<std::uint64_t> right = tile_digests(whole(), counting());
  std::vector<std::uint8_t> bytes = counting();
  bytes[(299 * kCols + 519) * 2] ^= 1;
  const std::vector<std::uint64_t> wrong = tile_digests(whole(), bytes);
  for (std::size_t tile = 0; tile < 5; ++tile) EXPECT_EQ(wrong[tile], right[tile]) << tile;
  EXPECT_NE(wrong[5], right[5]);
}

TEST(GemmDigest, ElementsInEachOthersPlacesChangeIt) {
  std::vector<std::uint8_t> bytes = counting();
  std::swap_ranges(bytes.begin(), bytes.begin() + 2, bytes.begin() + 2);
  EXPECT_NE(tile_digests(whole(), bytes)[0], tile_digests(whole(), counting())[0]);
}

TEST(GemmDigest, SumOverRanksIsThatOfOne) {
  const std::vector<std::uint8_t> bytes = counting();
  Gemm left = whole();
  left.cols = {0, 100};
  Gemm right = whole();
  right.cols = {100, kCols - 100};
  std::vector<std::uint8_t> left_bytes, right_bytes;
  for (std::size_t row = 0; row < kRows; ++row) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(row * kCols * 2);
    left_bytes.insert(left_bytes.end(), at, at + 200);
    right_bytes.insert(right_bytes.end(), at + 200, at + static_cast<std::ptrdiff_t>(kCols * 2));
  }
  EXPECT_EQ(sum(tile_digests(left, left_bytes)) + sum(tile_digests(right, right_bytes)),
            sum(tile_digests(whole(), bytes)));
}

TEST(GemmDigest, ToldIsOneWordButWhereRanksVote) {
  Gemm gemm = whole();
  EXPECT_EQ(told_digests(gemm, counting()),
            (std::vector<std::uint64_t>{sum(tile_digests(gemm, counting()))}));
  gemm.vote = true;
  EXPECT_EQ(told_digests(gemm, counting()), tile_digests(gemm, counting()));
}

}  // namespace

}  // namespace tidemark
