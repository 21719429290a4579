// Every fault of a mismatched announcement must change what some row leaves, and none may change an
// operation that it does not belong to.
#include "kernels/virtual/expect_tx_faults.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/virtual/expect_tx.hpp"
#include "kernels/virtual/tile_load_faults.hpp"

namespace tidemark::kernels {
namespace {

/// 64 x 8 bytes with `announced` of them announced.
ExpectTx row(std::uint32_t announced, AnnouncedOn on = AnnouncedOn::copys_barrier,
             Arrival arrival = Arrival::with_announcement) {
  ExpectTx op;
  op.load.map.extent = {64, 8};
  op.load.map.stride = {64};
  op.load.map.box = {64, 8};
  op.load.payload.seed = 3;
  op.announced = announced;
  op.on = on;
  op.arrival = arrival;
  return op;
}

std::vector<ExpectTx> rows() {
  ExpectTx twice = row(512);
  twice.announcements = 2;
  ExpectTx landed = row(496);
  landed.order = IssueOrder::landed_first;
  return {row(512),
          row(513),
          row(1536),
          row(1040000),
          row(0),
          twice,
          landed,
          row(512, AnnouncedOn::other_barrier),
          row(512, AnnouncedOn::peer),
          row(512, AnnouncedOn::copys_barrier, Arrival::missing)};
}

bool is_visible(Fault fault, const ExpectTx& op) {
  const RunResult right = run_virtual_expect_tx(op, kNoFault);
  const RunResult wrong = run_virtual_expect_tx(op, fault);
  return right.bytes != wrong.bytes || right.transactions != wrong.transactions;
}

TEST(ExpectTxFaults, EachShowsOnSomeRow) {
  for (const FaultInfo& info : expect_tx_faults()) {
    bool visible = false;
    for (const ExpectTx& op : rows()) visible = visible || is_visible(info.fault, op);
    EXPECT_TRUE(visible) << info.name;
  }
}

TEST(ExpectTxFaults, ValuesAscendFrom500To599) {
  std::uint32_t before = 499;
  for (const FaultInfo& info : expect_tx_faults()) {
    const auto value = static_cast<std::uint32_t>(info.fault);
    EXPECT_GT(value, before) << info.name;
    EXPECT_LT(value, 600U) << info.name;
    EXPECT_EQ(info.op, OpKind::expect_tx) << info.name;
    EXPECT_EQ(info.name.substr(0, 7), "expect_") << info.name;
    before = value;
  }
}

TEST(ExpectTxFaults, RemoteOnesNeedAPeer) {
  for (const Fault fault :
       {kFaultExpectRemoteLost, kFaultExpectRemoteLocal, kFaultExpectPeerWritten}) {
    EXPECT_FALSE(is_visible(fault, row(512, AnnouncedOn::other_barrier)));
    EXPECT_TRUE(is_visible(fault, row(512, AnnouncedOn::peer)));
  }
}

TEST(ExpectTxFaults, SurplusForgivenNeedsASurplus) {
  EXPECT_FALSE(is_visible(kFaultExpectSurplusForgiven, row(512)));
  EXPECT_TRUE(is_visible(kFaultExpectSurplusForgiven, row(528)));
}

TEST(ExpectTxFaults, FaultsOfTheTileLoadShowToo) {
  EXPECT_TRUE(is_visible(kFaultChunkDropped, row(528)));
  EXPECT_TRUE(is_visible(kFaultCreditShort, row(528)));
}

}  // namespace
}  // namespace tidemark::kernels
