// Where boxes, tiles and probes of a tile store lie.
#include "kernels/ops/tile_store.hpp"

#include <gtest/gtest.h>

namespace tidemark::kernels {
namespace {

// u16, 40 x 9, rows 96 bytes apart; boxes of 16 x 3 from (8, 1), two of them.
TileStore two_boxes() {
  return {.map = {.type = DataType::u16,
                  .rank = 2,
                  .extent = {40, 9},
                  .stride = {96},
                  .box = {16, 3},
                  .base_offset = 48},
          .at = {8, 1},
          .source_offset = 256,
          .stores = 2};
}

TEST(TileStoreOp, BoxesFollowEachOtherAlongTheLastDimension) {
  EXPECT_EQ(box_at(two_boxes(), 0)[1], 1);
  EXPECT_EQ(box_at(two_boxes(), 1)[0], 8);
  EXPECT_EQ(box_at(two_boxes(), 1)[1], 4);
}

TEST(TileStoreOp, EachTileStartsOn128Bytes) {
  EXPECT_EQ(tile_offset(two_boxes(), 0), 1024U + 256);
  EXPECT_EQ(tile_offset(two_boxes(), 1), 1024U + 256 + 128);  // of which the tile takes 96
  EXPECT_EQ(window_bytes(two_boxes()), 1024U + 256 + 2 * 128 + 1024);
}

TEST(TileStoreOp, DestinationHasAGuardOnEitherSide) {
  EXPECT_EQ(destination_allocation_bytes(two_boxes()), 1024U + 48 + 96 * 8 + 80 + 1024);
}

TEST(TileStoreOp, ProbesAreTheFirstAndTheLastChunkInside) {
  EXPECT_EQ(probe_offset(two_boxes(), 0, 0), 1024U + 48 + 96 * 1 + 16);
  EXPECT_EQ(probe_offset(two_boxes(), 0, 1), 1024U + 48 + 96 * 3 + 32);  // elements 16..23
  EXPECT_EQ(probe_offset(two_boxes(), 1, 0), 1024U + 48 + 96 * 4 + 16);
}

TEST(TileStoreOp, ProbesStayInsideATensorThatEndsInTheBox) {
  TileStore store = two_boxes();
  store.at = {32, 4};  // 8 columns and, of the second box, 2 rows are inside
  EXPECT_EQ(probe_offset(store, 1, 1), 1024U + 48 + 96 * 8 + 64);
}

TEST(TileStoreOp, NothingIsProbedOutsideTheTensorOrBehindTheLastStore) {
  TileStore store = two_boxes();
  EXPECT_EQ(probe_offset(store, 2, 0), kNowhere);
  store.at[0] = 40;
  EXPECT_EQ(probe_offset(store, 0, 0), kNowhere);
  EXPECT_EQ(probe_offset(store, 0, 1), kNowhere);
}

TEST(TileStoreOp, OverwritingFlipsEachBitOfTheSource) {
  const TileStore store = two_boxes();
  EXPECT_EQ(source_window_word(store, 300) ^ overwritten_word(store, 300), 0xffffffffU);
}

TEST(TileStoreOp, EmptyGroupsCountAmongThoseBehind) {
  TileStore store = two_boxes();
  EXPECT_EQ(groups_behind(store, 0), 1U);
  store.empty_groups = 0b111;  // in front of each, and behind the last
  EXPECT_EQ(groups_behind(store, 0), 3U);
  EXPECT_EQ(groups_behind(store, 1), 1U);
  store.empty_groups = 0b001;  // in front of both
  EXPECT_EQ(groups_behind(store, 0), 1U);
}

TEST(TileStoreOp, ElementStridesLeaveRoomForAWholeBox) {
  TileStore store = two_boxes();
  store.map.box[1] = 9;
  store.map.element_stride[1] = 3;
  EXPECT_EQ(tile_bytes(store.map), 96U);
  EXPECT_EQ(tile_pitch(store), 384U);  // of which the box takes 288
}

}  // namespace
}  // namespace tidemark::kernels
