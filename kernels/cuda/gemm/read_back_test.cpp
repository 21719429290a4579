// Rows that come in pieces through two halves of a buffer must all come, in order, and never be
// taken before they are there.
#include "kernels/cuda/gemm/product_steps.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tidemark {
namespace {

/// Copies only when it is waited for, as late as a GPU may; the other half keeps what it held.
struct LateCopies {
  std::vector<std::uint8_t> source;
  std::uint64_t row_bytes;
  std::array<std::vector<std::byte>, 2> halves;
  std::array<std::pair<std::uint64_t, std::uint64_t>, 2> under_way{};  // first row, rows

  LateCopies(std::uint64_t rows, std::uint64_t bytes, std::size_t half)
      : source(rows * bytes), row_bytes(bytes) {
    std::iota(source.begin(), source.end(), std::uint8_t{1});
    for (auto& buffer : halves) buffer.assign(half, std::byte{0});
  }

  std::vector<std::uint8_t> appended() {
    std::vector<std::uint8_t> to;
    append_rows(
        source.size() / row_bytes, row_bytes, {halves[0], halves[1]},
        [&](std::size_t half, std::uint64_t first, std::uint64_t count) {
          under_way[half] = {first, count};
        },
        [&](std::size_t half) {
          const auto [first, count] = under_way[half];
          const std::uint8_t* const from = source.data() + first * row_bytes;
          std::copy_n(reinterpret_cast<const std::byte*>(from), count * row_bytes,
                      halves[half].begin());
        },
        to);
    return to;
  }
};

TEST(AppendRows, BringsAllInManyPieces) {
  LateCopies copies(23, 7, 32);  // four rows a piece, three in the last
  EXPECT_EQ(copies.appended(), copies.source);
}

TEST(AppendRows, BringsPiecesThatEndWithTheRows) {
  LateCopies copies(24, 8, 32);
  EXPECT_EQ(copies.appended(), copies.source);
}

TEST(AppendRows, BringsRowsAsLongAsAHalf) {
  LateCopies copies(5, 32, 32);
  EXPECT_EQ(copies.appended(), copies.source);
}

TEST(AppendRows, BringsOnePiece) {
  LateCopies copies(2, 7, 32);
  EXPECT_EQ(copies.appended(), copies.source);
}

}  // namespace
}  // namespace tidemark
