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

}  // namespace
}  // namespace tidemark
