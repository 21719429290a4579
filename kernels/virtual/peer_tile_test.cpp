// Tiles in the memory of another GPU, and their faults.
#include "kernels/virtual/peer_tile.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

// u8, 32 x 4, packed; the box is its last two rows. Rank 1 of 3: it loads from rank 2.
PeerTile last_rows(PeerWay way) {
  return {.map = {.extent = {32, 4}, .stride = {32}, .box = {32, 2}},
          .at = {0, 2},
          .way = way,
          .seed = 9,
          .rank = 1,
          .ranks = 3};
}

// Byte `offset` of what a rank fills its allocation, or its shared window, with.
std::uint8_t byte_of_rank(std::uint32_t rank, std::uint64_t offset) {
  return source_byte({.seed = splitmix64(9 + rank + 1)}, offset);
}

TEST(VirtualPeerTile, LoadsWhatTheNextRankWrote) {
  const RunResult result = run_virtual_peer_tile(last_rows(PeerWay::load), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(result.bytes[1024 + i], byte_of_rank(2, 1024 + 64 + i)) << i;
}

TEST(VirtualPeerTile, HandsBackItsOwnMemoryBesideALoad) {
  const RunResult result = run_virtual_peer_tile(last_rows(PeerWay::load), kNoFault);
  ASSERT_EQ(result.surroundings.size(), 2 * 1024U + 128);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], byte_of_rank(1, i)) << i;
}

TEST(VirtualPeerTile, FindsWhatTheRankBeforeStored) {
  const RunResult result = run_virtual_peer_tile(last_rows(PeerWay::store), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.surroundings[1024 + 63], poison_byte({}, 1024 + 63));
  for (std::uint32_t i = 0; i < 64; ++i)
    ASSERT_EQ(result.surroundings[1024 + 64 + i], byte_of_rank(0, 1024 + i)) << i;
  EXPECT_EQ(result.surroundings[1024 + 128], poison_byte({}, 1024 + 128));
}

TEST(VirtualPeerTile, StoresFromItsOwnWindow) {
  const RunResult result = run_virtual_peer_tile(last_rows(PeerWay::store), kNoFault);
  EXPECT_EQ(result.bytes[1024], byte_of_rank(1, 1024));
  const std::vector<Step> steps = peer_program(last_rows(PeerWay::store)).steps;
  const auto wait = std::find_if(steps.begin(), steps.end(),
                                 [](const Step& step) { return step.verb == Verb::wait_group; });
  // What it reads then is in the neighbour's memory.
  const auto read = result.trace[static_cast<std::size_t>(wait - steps.begin())];
  EXPECT_EQ(read & 0xffU, byte_of_rank(1, 1024));
}

TEST(VirtualPeerTile, OneRankHasNoNeighbour) {
  PeerTile op = last_rows(PeerWay::load);
  op.rank = 0;
  op.ranks = 1;
  const RunResult result = run_virtual_peer_tile(op, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::unsupported);
  EXPECT_EQ(result.note, "one GPU alone has no neighbour: start two ranks or more");
}

TEST(VirtualPeerTile, ARankThatDoesNotExistIsAnError) {
  PeerTile op = last_rows(PeerWay::load);
  op.rank = 3;
  EXPECT_THROW((void)run_virtual_peer_tile(op, kNoFault), Error);
}

TEST(PeerTileFaults, OwnMemoryIsThatOfThisRank) {
  const RunResult load = run_virtual_peer_tile(last_rows(PeerWay::load), kFaultPeerOwnMemory);
  EXPECT_EQ(load.bytes[1024], byte_of_rank(1, 1024 + 64));
  const RunResult store = run_virtual_peer_tile(last_rows(PeerWay::store), kFaultPeerOwnMemory);
  EXPECT_EQ(store.surroundings[1024 + 64], byte_of_rank(1, 1024));
}

TEST(PeerTileFaults, AStaleTailIsTheLast16BytesOfTheTensor) {
  const RunResult load = run_virtual_peer_tile(last_rows(PeerWay::load), kFaultPeerTailStale);
  EXPECT_EQ(load.bytes[1024 + 47], byte_of_rank(2, 1024 + 64 + 47));
  EXPECT_EQ(load.bytes[1024 + 48], poison_byte({}, 1024 + 64 + 48));
  const RunResult store = run_virtual_peer_tile(last_rows(PeerWay::store), kFaultPeerTailStale);
  EXPECT_EQ(store.surroundings[1024 + 64 + 47], byte_of_rank(0, 1024 + 47));
  EXPECT_EQ(store.surroundings[1024 + 64 + 48], poison_byte({}, 1024 + 64 + 48));
}

TEST(PeerTileFaults, AllStaleIsPoisonThroughout) {
  const RunResult load = run_virtual_peer_tile(last_rows(PeerWay::load), kFaultPeerAllStale);
  EXPECT_EQ(load.bytes[1024], poison_byte({}, 1024 + 64));
  const RunResult store = run_virtual_peer_tile(last_rows(PeerWay::store), kFaultPeerAllStale);
  for (std::size_t i = 0; i < store.surroundings.size(); ++i)
    ASSERT_EQ(store.surroundings[i], poison_byte({}, i)) << i;
}

TEST(PeerTileFaults, ASkippedGuardMovesAllByItsLength) {
  const RunResult load = run_virtual_peer_tile(last_rows(PeerWay::load), kFaultPeerGuardSkipped);
  EXPECT_EQ(load.bytes[1024], byte_of_rank(2, 2048 + 64));
}

}  // namespace

}  // namespace tidemark
