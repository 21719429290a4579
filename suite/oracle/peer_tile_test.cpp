// The oracle of copies between neighbours, and over threads as ranks that the device agrees with
// it.
#include <gtest/gtest.h>

#include <thread>

#include "suite/oracle/peer_tile.hpp"
#include "suite/testing/thread_transport.hpp"

namespace tidemark {
namespace {

PeerTile small_row(PeerWay way, std::uint32_t rank, std::uint32_t ranks) {
  return {.map = {.extent = {64, 5}, .stride = {80}, .box = {32, 3}},
          .at = {32, 2},
          .shared_offset = 128,
          .way = way,
          .seed = 77,
          .rank = rank,
          .ranks = ranks,
          .deadline_s = 30};
}

std::uint8_t byte_of_rank(std::uint32_t rank, std::uint64_t offset) {
  return source_byte({.seed = splitmix64(77 + rank + 1)}, offset);
}

std::vector<std::uint8_t> snapshots(const ProgramExpectation& expected) {
  std::vector<std::uint8_t> bytes;
  for (const ExpectedSnapshot& snapshot : expected.snapshots)
    bytes.insert(bytes.end(), snapshot.window.bytes.begin(), snapshot.window.bytes.end());
  return bytes;
}

TEST(PeerTileOracle, ALoadHoldsTheNeighboursBytesAndLeavesItsOwn) {
  const PeerExpectation expected = predict(small_row(PeerWay::load, 2, 3));
  EXPECT_EQ(snapshots(expected.copy)[1024 + 128], byte_of_rank(0, 1024 + 2 * 80 + 32));
  EXPECT_EQ(expected.memory.regions[1024], byte_of_rank(2, 1024));
}

TEST(PeerTileOracle, AStoreIsThatOfTheRankBefore) {
  const PeerExpectation expected = predict(small_row(PeerWay::store, 0, 3));
  EXPECT_EQ(expected.memory.regions[1024 + 2 * 80 + 32], byte_of_rank(2, 1024 + 128));
  EXPECT_EQ(snapshots(expected.copy)[1024 + 128], byte_of_rank(0, 1024 + 128));
}

RunResult right_result(const PeerExpectation& expected) {
  RunResult result;
  for (const ExpectedTrace& trace : expected.copy.trace) result.trace.push_back(trace.value);
  result.bytes = snapshots(expected.copy);
  result.surroundings = expected.memory.regions;
  return result;
}

TEST(ComparePeerTile, ComplainsAboutOneBitOfEachPart) {
  for (const PeerWay way : {PeerWay::load, PeerWay::store}) {
    const PeerTile op = small_row(way, 0, 2);
    const PeerExpectation expected = predict(op);
    ASSERT_TRUE(compare(op, expected, right_result(expected), 0).empty());
    RunResult wrong = right_result(expected);
    wrong.bytes[1024 + 128] ^= 1;
    EXPECT_FALSE(compare(op, expected, wrong, 0).empty());
    wrong = right_result(expected);
    wrong.surroundings[1024 + 2 * 80 + 32] ^= 1;
    ASSERT_EQ(compare(op, expected, wrong, 0).size(), 1U);
    EXPECT_EQ(compare(op, expected, wrong, 0)[0].what, way == PeerWay::load ? "source" : "byte");
  }
}

TEST(ComparePeerTile, NamesOnesOwnMemory) {
  const PeerTile load = small_row(PeerWay::load, 0, 2);
  RunResult wrong = right_result(predict(load));
  PeerTile own = load;  // rank 1 reads what rank 0 holds
  own.rank = 1;
  wrong.bytes = snapshots(predict(own).copy);
  const auto loaded = compare(load, predict(load), wrong, 0);
  ASSERT_FALSE(loaded.empty());
  EXPECT_NE(loaded[0].text.find("it is what this rank's own memory holds"), std::string::npos)
      << loaded[0].text;

  const PeerTile store = small_row(PeerWay::store, 0, 2);
  wrong = right_result(predict(store));
  wrong.surroundings = predict(store).copy.regions;
  const auto stored = compare(store, predict(store), wrong, 0);
  ASSERT_FALSE(stored.empty());
  EXPECT_NE(stored[0].text.find("it is what this rank itself stored"), std::string::npos)
      << stored[0].text;
}

TEST(PeerTile, RanksOverATransportGetWhatTheOraclePredicts) {
  for (const PeerWay way : {PeerWay::load, PeerWay::store})
    for (const std::uint32_t ranks : {2U, 3U}) {
      Exchange exchange;
      std::vector<ThreadTransport> transports;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) transports.emplace_back(exchange, rank);
      std::vector<std::vector<Miscompare>> found(ranks);
      std::vector<DeviceFault> faults(ranks, DeviceFault::timeout);
      {
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
          threads.emplace_back([&, rank] {
            PeerTile op = small_row(way, rank, ranks);
            op.transport = &transports[rank];
            const RunResult result = make_device(DeviceKind::virtual_device)->run(op);
            faults[rank] = result.fault;
            found[rank] = compare(op, predict(op), result, 0);
          });
      }
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(faults[rank], DeviceFault::none) << rank << " of " << ranks;
        EXPECT_TRUE(found[rank].empty()) << rank << " of " << ranks << ": " << found[rank][0].text;
      }
    }
}

// The other rank never comes.
struct Alone : Transport {
  void start(const PanelBuffer&) override {}
  bool ready(std::uint32_t, std::size_t) override { return false; }
  void abort() noexcept override { ++aborts; }
  int aborts = 0;
};

TEST(PeerTile, ANeighbourThatDoesNotComeIsLateInOneLine) {
  Alone alone;
  PeerTile op = small_row(PeerWay::load, 0, 2);
  op.transport = &alone;
  op.deadline_s = 0.01;
  const RunResult result = make_device(DeviceKind::virtual_device)->run(op);
  EXPECT_EQ(result.fault, DeviceFault::others_late);
  EXPECT_EQ(result.note,
            "waits for GPU 1: peer memory, shard 1 (rows 1 to 2) not ready within 0.01 s");
  EXPECT_EQ(alone.aborts, 1);
}

}  // namespace
}  // namespace tidemark
