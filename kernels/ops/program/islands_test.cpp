// Islands: which byte of memory stands where.
#include "kernels/ops/program/islands.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

const std::vector<Island> kTwo{{.at = 1024, .bytes = 64}, {.at = 4096, .bytes = 32}};

TEST(Islands, MemoryCountsThroughThem) {
  EXPECT_EQ(held_byte(kTwo, 1023), kNowhere);
  EXPECT_EQ(held_byte(kTwo, 1024), 0U);
  EXPECT_EQ(held_byte(kTwo, 1087), 63U);
  EXPECT_EQ(held_byte(kTwo, 1088), kNowhere);
  EXPECT_EQ(held_byte(kTwo, 4100), 68U);
  EXPECT_EQ(held_byte(kTwo, 4128), kNowhere);
}

TEST(Islands, EachByteOfMemoryHasItsAddress) {
  for (std::uint64_t held = 0; held < 96; ++held)
    EXPECT_EQ(held_byte(kTwo, address_of(kTwo, held)), held);
}

TEST(Islands, WithoutThemMemoryIsWhole) {
  EXPECT_EQ(held_byte({}, 77), 77U);
  EXPECT_EQ(address_of({}, 77), 77U);
}

TensorMapSpec far(std::uint64_t stride) {
  return {.extent = {64, 4}, .stride = {stride}, .box = {32, 2}};
}

TEST(Islands, StandAroundTheRowsOfABox) {
  const BoxStart at{16, 1};
  EXPECT_EQ(islands_around(far(1 << 20), {&at, 1}),
            (std::vector<Island>{{.at = (1 << 20) + 16, .bytes = 32 + 2048},
                                 {.at = (2 << 20) + 16, .bytes = 32 + 2048}}));
}

TEST(Islands, ThatTouchAreOne) {
  const BoxStart at{16, 1};
  EXPECT_EQ(islands_around(far(64), {&at, 1}),
            (std::vector<Island>{{.at = 64 + 16, .bytes = 64 + 32 + 2048}}));
}

TEST(Islands, HoldNothingOutsideTheTensor) {
  const BoxStart at{48, 3};  // half of a row, and a row behind the last
  EXPECT_EQ(islands_around(far(1 << 20), {&at, 1}),
            (std::vector<Island>{{.at = (3 << 20) + 48, .bytes = 16 + 2048}}));
}

TEST(Islands, MissingBytesAreNamed) {
  const BoxStart at{16, 1}, next{16, 2};
  const std::vector<Island> islands = islands_around(far(1 << 20), {&at, 1});
  EXPECT_EQ(missing_byte(islands, far(1 << 20), at), kNowhere);
  EXPECT_EQ(missing_byte(islands, far(1 << 20), next), 1024U + (3 << 20) + 16);
}

}  // namespace
}  // namespace tidemark
