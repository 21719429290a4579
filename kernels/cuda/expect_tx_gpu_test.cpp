// Mismatched announcements on a real GPU, each against what was written out here; after every one
// an ordinary copy has to work.
#include "kernels/ops/expect_tx.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// 128 x 64 bytes out of rows of 256: 8192 bytes.
ExpectTx box(std::uint32_t announced) {
  ExpectTx op;
  op.load.map.extent = {256, 80};
  op.load.map.stride = {256};
  op.load.map.box = {128, 64};
  op.load.at = {32, 7};
  op.load.payload.seed = 21;
  op.announced = announced;
  return op;
}

Bytes landed_window(const ExpectTx& op) {
  Bytes window(1024 + 8192 + 1024);
  for (std::uint32_t i = 0; i < window.size(); ++i) window[i] = poison_byte(op.load.payload, i);
  for (std::uint32_t y = 0; y < 64; ++y)
    for (std::uint32_t x = 0; x < 128; ++x)
      window[1024 + 128 * y + x] = source_byte(op.load.payload, 1024 + 256 * (7 + y) + 32 + x);
  return window;
}

class ExpectTxOnGpu : public GpuTest {
 protected:
  /// Runs `op`, then an exact load on the same device: no mismatch may cost the GPU.
  RunResult run(const ExpectTx& op) {
    const std::unique_ptr<Device> device = make_cuda_device();
    const RunResult result = device->run(op);
    const RunResult after = device->run(op.load);
    EXPECT_EQ(after.fault, DeviceFault::none) << after.note;
    EXPECT_EQ(after.bytes, landed_window(op));
    return result;
  }
};

/// What every mismatch has in common: no fault, all data there, each barrier brought back.
void expect_landed_and_recovered(const ExpectTx& op, const RunResult& result) {
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  const Bytes expected = landed_window(op);
  ASSERT_GE(result.bytes.size(), expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), result.bytes.begin()));
  for (const TransactionLedger& barrier : result.transactions) {
    EXPECT_FALSE(barrier.complete_before);
    EXPECT_TRUE(barrier.settled);
    EXPECT_FALSE(barrier.next_complete_early);
  }
  EXPECT_TRUE(result.transactions.at(0).next_complete);
}

TEST_F(ExpectTxOnGpu, ExactCompletesAndOwesNothing) {
  const ExpectTx op = box(8192);
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_TRUE(result.transactions[0].waited);
  EXPECT_TRUE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, 0);
  EXPECT_EQ(result.transactions[0].pieces_missing, 0U);
  EXPECT_EQ(result.transactions[1].residue, 0);
}

TEST_F(ExpectTxOnGpu, OverBySixteenDoesNotCompleteThoughAllHasLanded) {
  const ExpectTx op = box(8208);
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_FALSE(result.transactions[0].waited);
  EXPECT_FALSE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, 16);
}

TEST_F(ExpectTxOnGpu, OverToTheLimitOfTheCountIsMeteredExactly) {
  const ExpectTx op = box(1048575);
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_EQ(result.transactions[0].residue, 1048575 - 8192);
}

// Whether it completes early is a race (suite/conformance/behaviour_expect_tx/under.cpp).
TEST_F(ExpectTxOnGpu, UnderByHalfOwesTheRestEitherWay) {
  const ExpectTx op = box(4096);
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_EQ(result.transactions[0].residue, -4096);
}

TEST_F(ExpectTxOnGpu, UnderBySixteenOwesTheRestEitherWay) {
  const ExpectTx op = box(8176);
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_EQ(result.transactions[0].residue, -16);
}

TEST_F(ExpectTxOnGpu, ZeroCompletesWithTheArrivalAndOwesTheCopy) {
  const ExpectTx op = box(0);
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_TRUE(result.transactions[0].waited);
  EXPECT_EQ(result.transactions[0].residue, -8192);
}

TEST_F(ExpectTxOnGpu, ZeroAfterTheLandingDoesNotComplete) {
  ExpectTx op = box(0);
  op.order = IssueOrder::landed_first;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_FALSE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, -8192);
}

TEST_F(ExpectTxOnGpu, AnnouncedAfterTheLandingCompletes) {
  ExpectTx op = box(8192);
  op.order = IssueOrder::landed_first;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_TRUE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, 0);
}

TEST_F(ExpectTxOnGpu, TwiceOwesItOnceMore) {
  ExpectTx op = box(8192);
  op.announcements = 2;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_FALSE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, 8192);
}

TEST_F(ExpectTxOnGpu, MissingArrivalIsMadeGoodByAPlainOne) {
  ExpectTx op = box(8192);
  op.arrival = Arrival::missing;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_FALSE(result.transactions[0].complete);
  EXPECT_EQ(result.transactions[0].residue, 0);
}

TEST_F(ExpectTxOnGpu, WrongBarrierOwesThereAndIsOwedHere) {
  ExpectTx op = box(8192);
  op.on = AnnouncedOn::other_barrier;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_FALSE(result.transactions[0].waited);
  EXPECT_EQ(result.transactions[0].residue, -8192);
  EXPECT_EQ(result.transactions[1].residue, 8192);
}

TEST_F(ExpectTxOnGpu, WrongBlockOwesThereAndLandsHere) {
  ExpectTx op = box(8192);
  op.on = AnnouncedOn::peer;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  ASSERT_EQ(result.transactions.size(), 4U);
  EXPECT_EQ(result.transactions[0].residue, -8192);
  EXPECT_EQ(result.transactions[1].residue, 0);
  EXPECT_EQ(result.transactions[2].residue, 8192);
  EXPECT_EQ(result.transactions[3].residue, 0);
  ASSERT_EQ(result.bytes.size(), 2U * 10240);
  for (std::uint32_t i = 0; i < 10240; ++i)
    ASSERT_EQ(result.bytes[10240 + i], poison_byte(op.load.payload, i)) << i;
}

TEST_F(ExpectTxOnGpu, WrongBlockByAnnouncementsAloneOwesTheSame) {
  ExpectTx op = box(4096);
  op.on = AnnouncedOn::peer;
  op.announcements = 2;
  op.arrival = Arrival::missing;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  ASSERT_EQ(result.transactions.size(), 4U);
  EXPECT_EQ(result.transactions[2].residue, 8192);
}

TEST_F(ExpectTxOnGpu, OldParityReturnsWhileThePhaseIsOpen) {
  ExpectTx op = box(8208);
  op.parity = 1;
  const RunResult result = run(op);
  expect_landed_and_recovered(op, result);
  EXPECT_TRUE(result.transactions[0].waited);
  EXPECT_FALSE(result.transactions[0].complete);
}

TEST_F(ExpectTxOnGpu, SimulatedCreditReachesBothEndsOfTheRange) {
  ExpectTx op = box(1048575);
  op.simulated = {1048575, 0};
  op.order = IssueOrder::landed_first;
  const RunResult result = run(op);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_TRUE(result.transactions.at(0).complete);
  EXPECT_EQ(result.transactions.at(0).residue, 0);
  EXPECT_TRUE(result.transactions.at(0).next_complete);
}

TEST_F(ExpectTxOnGpu, BytesBeyondTheRangeAreRefusedInWords) {
  EXPECT_THROW((void)make_cuda_device()->run(box(1048576)), Error);
}

}  // namespace
}  // namespace tidemark::kernels
