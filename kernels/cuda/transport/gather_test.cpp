// A gather ends: with all shards, or with the name of one that is missing and an aborted transport.
#include "kernels/cuda/transport/gather.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/testing/scripted_transport.hpp"

namespace tidemark {
namespace {

TEST(GemmGather, AllReadyIsNoTroubleAndNoAbort) {
  ScriptedTransport transport;
  const NamedPanel panels[] = {{{.id = 0, .shards = {{0, 0, 4}, {1, 4, 4}}}, "panel A"},
                               {{.id = 1, .shards = {{0, 0, 8}}}, "panel B"}};
  EXPECT_EQ(gather_or_abort(transport, panels, 0, 5), "");
  EXPECT_EQ(transport.started, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(transport.aborts, 0);
}

TEST(GemmGather, NamesTheShardThatNeverComesAndAborts) {
  ScriptedTransport transport;
  transport.withheld_panel = 1;
  transport.withheld_shard = 2;
  const NamedPanel panels[] = {{{.id = 0, .shards = {{0, 0, 4}}}, "panel A"},
                               {{.id = 1, .shards = {{0, 0, 4}, {1, 4, 4}, {3, 8, 2}}}, "panel B"}};
  EXPECT_EQ(gather_or_abort(transport, panels, 0, 0.1),
            "waits for GPU 3: panel B, shard 2 (rows 8 to 10) not ready within 0.1 s");
  EXPECT_EQ(transport.aborts, 1);
}

TEST(GemmGather, AbortsWhatIsInFlightWhenAPanelCannotStart) {
  ScriptedTransport transport;
  transport.refused_panel = 1;
  const NamedPanel panels[] = {{{.id = 0, .shards = {{0, 0, 4}}}, "panel A"},
                               {{.id = 1, .shards = {{0, 0, 4}}}, "panel B"}};
  EXPECT_THROW(gather_or_abort(transport, panels, 0, 5), Error);
  EXPECT_EQ(transport.aborts, 1);
}

TEST(GemmGather, SaysBeforeItAborts) {
  ScriptedTransport transport;
  transport.withheld_panel = 0;
  const NamedPanel panels[] = {{{.id = 0, .shards = {{1, 0, 4}}}, "panel A"}};
  int aborts_then = -1;
  EXPECT_NE(gather_or_abort(transport, panels, 0, 0.1, [&] { aborts_then = transport.aborts; }),
            "");
  EXPECT_EQ(aborts_then, 0);
  EXPECT_EQ(transport.aborts, 1);
}

TEST(GemmGather, OfWhatWasHeldSecondsCountFromItsStart) {
  ScriptedTransport transport;
  transport.withheld_panel = 0;
  const NamedPanel panels[] = {{{.id = 0, .shards = {{1, 0, 4}}}, "panel A"}};
  Gather held(transport, panels, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  held.count_from_now();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_NE(held.wait(0.2), "");
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(200));
}

TEST(GemmGather, SaysNothingWhereAllIsReady) {
  ScriptedTransport transport;
  const NamedPanel panels[] = {{{.id = 0, .shards = {{1, 0, 4}}}, "panel A"}};
  bool said = false;
  EXPECT_EQ(gather_or_abort(transport, panels, 0, 5, [&] { said = true; }), "");
  EXPECT_FALSE(said);
}

// Who sends what to whom, and that both ends of a message agree.

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
