// Who sends what to whom, and that both ends of a message agree.
#include "kernels/cuda/transport/exchange.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

TEST(Exchange, SendsOwnShardsToAllOthersAndReceivesTheirs) {
  const PanelBuffer panel{.id = 0,
                          .row_bytes = 64,
                          .shards = {{.owner = 2, .first_row = 0, .rows = 10},
                                     {.owner = 5, .first_row = 10, .rows = 20},
                                     {.owner = 7, .first_row = 30, .rows = 1}}};

  const std::vector<Transfer> expected = {
      {.send = false, .peer = 2, .offset = 0, .bytes = 640, .shard = 0},
      {.send = true, .peer = 2, .offset = 640, .bytes = 1280, .shard = 1},
      {.send = true, .peer = 7, .offset = 640, .bytes = 1280, .shard = 1},
      {.send = false, .peer = 7, .offset = 1920, .bytes = 64, .shard = 2},
  };
  EXPECT_EQ(transfers_of(panel, 5), expected);
}

TEST(Exchange, AnEmptyShardMovesNothingButItsOwnerReceives) {
  const PanelBuffer panel{
      .id = 0,
      .row_bytes = 16,
      .shards = {{.owner = 0, .first_row = 0, .rows = 3}, {.owner = 1, .first_row = 3, .rows = 0}}};

  const std::vector<Transfer> of_owner = {{.send = true, .peer = 1, .offset = 0, .bytes = 48}};
  const std::vector<Transfer> of_other = {{.send = false, .peer = 0, .offset = 0, .bytes = 48}};
  EXPECT_EQ(transfers_of(panel, 0), of_owner);
  EXPECT_EQ(transfers_of(panel, 1), of_other);
}

TEST(Exchange, TwoRanksAgreeOnTheOrderOfTheirMessages) {
  const PanelBuffer panel{.id = 0,
                          .row_bytes = 1,
                          .shards = {{.owner = 0, .first_row = 8, .rows = 4},
                                     {.owner = 1, .first_row = 4, .rows = 4},
                                     {.owner = 0, .first_row = 0, .rows = 4}}};

  const std::vector<Transfer> of_sender = {
      {.send = true, .peer = 1, .offset = 8, .bytes = 4, .shard = 0},
      {.send = false, .peer = 1, .offset = 4, .bytes = 4, .shard = 1},
      {.send = true, .peer = 1, .offset = 0, .bytes = 4, .shard = 2}};
  const std::vector<Transfer> of_receiver = {
      {.send = false, .peer = 0, .offset = 8, .bytes = 4, .shard = 0},
      {.send = true, .peer = 0, .offset = 4, .bytes = 4, .shard = 1},
      {.send = false, .peer = 0, .offset = 0, .bytes = 4, .shard = 2}};
  EXPECT_EQ(transfers_of(panel, 0), of_sender);
  EXPECT_EQ(transfers_of(panel, 1), of_receiver);
}

TEST(Exchange, InEachStepEveryOwnerSendsItsNextShard) {
  const PanelBuffer panel{.shards = {{.owner = 4, .first_row = 0, .rows = 2},
                                     {.owner = 4, .first_row = 2, .rows = 2},
                                     {.owner = 1, .first_row = 4, .rows = 0},
                                     {.owner = 1, .first_row = 4, .rows = 3},
                                     {.owner = 4, .first_row = 7, .rows = 1},
                                     {.owner = 1, .first_row = 8, .rows = 1}}};

  EXPECT_EQ(steps_of(panel), (std::vector<std::uint32_t>{0, 1, 0, 0, 2, 1}));
}

TEST(Exchange, ARankOutsideTheListHasNoPart) {
  const PanelBuffer panel{
      .id = 0,
      .row_bytes = 8,
      .shards = {{.owner = 0, .first_row = 0, .rows = 1}, {.owner = 1, .first_row = 1, .rows = 1}}};

  EXPECT_TRUE(transfers_of(panel, 2).empty());
}

TEST(Exchange, ARankOutsideTheListMayNotStartThePanel) {
  const PanelBuffer panel{.id = 7, .shards = {{.owner = 0, .first_row = 0, .rows = 0}}};

  EXPECT_NO_THROW(require_members(panel, 0, 2));
  EXPECT_THROW(require_members(panel, 1, 2), Error);
}

TEST(Exchange, AnOwnerBeyondTheRanksIsAnError) {
  const PanelBuffer panel{
      .shards = {{.owner = 0, .first_row = 0, .rows = 1}, {.owner = 2, .first_row = 1, .rows = 1}}};

  EXPECT_NO_THROW(require_members(panel, 0, 3));
  EXPECT_THROW(require_members(panel, 0, 2), Error);
}

TEST(Exchange, ALoneMemberMovesNothing) {
  const PanelBuffer panel{
      .id = 0, .row_bytes = 8, .shards = {{.owner = 3, .first_row = 0, .rows = 100}}};

  EXPECT_TRUE(transfers_of(panel, 3).empty());
}

}  // namespace
}  // namespace tidemark
