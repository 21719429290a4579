// The NCCL transport between real GPUs: one rank a thread, each with a GPU of its own.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/cuda/transport/nccl.hpp"
#include "kernels/transport.hpp"

namespace tidemark {
namespace {

class NcclOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    try {
      id_ = make_nccl_id();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  NcclId id_{};
};

using Bytes = std::vector<std::uint8_t>;

/// Polls until all shards are there, or gives up after 20 s.
bool wait_for_panel(Transport& transport, const PanelBuffer& panel) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (std::size_t shard = 0; shard < panel.shards.size(); ++shard)
    while (!transport.ready(panel.id, shard)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  return true;
}

TEST_F(NcclOnGpu, OneRankHasItsPanelAtOnceAndMayStartItAgain) {
  const DeviceBuffer memory(256);
  const PanelBuffer panel{.id = 0,
                          .base = memory.data(),
                          .row_bytes = 16,
                          .shards = {{.owner = 0, .first_row = 0, .rows = 16}}};
  const auto transport = join_nccl(id_, 0, 1, 30);

  transport->start(panel);
  EXPECT_TRUE(transport->ready(0, 0));
  transport->start(panel);
  EXPECT_TRUE(transport->ready(0, 0));
}

TEST_F(NcclOnGpu, AMissingRankEndsTheJoinInAnError) {
  EXPECT_THROW((void)join_nccl(id_, 0, 2, 0.5), Error);
}

/// Gathers two panels `rounds` times as `rank` of two on GPU `rank`, and gives back the last bytes
/// of both. Row r of panel p holds 16 * p + r in every byte before the gathering, 255 elsewhere.
std::vector<Bytes> gather_two_panels(const NcclId& id, std::uint32_t rank, int rounds) {
  cuda_check(cudaSetDevice(static_cast<int>(rank)), "take a GPU");
  const auto transport = join_nccl(id, rank, 2, 60);
  const std::vector<Shard> shards = {{.owner = 0, .first_row = 0, .rows = 3},
                                     {.owner = 1, .first_row = 3, .rows = 5},
                                     {.owner = 0, .first_row = 8, .rows = 0}};
  constexpr std::size_t kRow = 1 << 20;
  std::vector<DeviceBuffer> memory(2);
  std::vector<PanelBuffer> panels(2);
  for (std::uint32_t p = 0; p < 2; ++p) {
    memory[p] = DeviceBuffer(8 * kRow);
    panels[p] = {.id = p, .base = memory[p].data(), .row_bytes = kRow, .shards = shards};
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t p = 0; p < 2; ++p) {
      cuda_check(cudaMemset(memory[p].data(), 255, memory[p].size()), "clear a panel");
      for (std::uint64_t r = shards[rank].first_row; r < shards[rank].first_row + shards[rank].rows;
           ++r)
        cuda_check(cudaMemset(memory[p].data() + r * kRow, static_cast<int>(16 * p + r), kRow),
                   "fill a row");
    }
    cuda_check(cudaDeviceSynchronize(), "fill the panels");
    transport->start(panels[0]);
    transport->start(panels[1]);
    if (!wait_for_panel(*transport, panels[0]) || !wait_for_panel(*transport, panels[1])) return {};
  }
  std::vector<Bytes> got(2, Bytes(8 * kRow));
  for (std::uint32_t p = 0; p < 2; ++p)
    cuda_check(
        cudaMemcpy(got[p].data(), memory[p].data(), memory[p].size(), cudaMemcpyDeviceToHost),
        "read a panel");
  return got;
}

TEST_F(NcclOnGpu, TwoRanksGetEachOthersRows) {
  if (visible_gpus().size() < 2) GTEST_SKIP() << "needs two GPUs";
  std::vector<Bytes> expected(2);
  for (std::uint32_t p = 0; p < 2; ++p)
    for (std::uint32_t r = 0; r < 8; ++r)
      expected[p].insert(expected[p].end(), 1 << 20, static_cast<std::uint8_t>(16 * p + r));

  auto other = std::async(std::launch::async, gather_two_panels, id_, 1U, 5);
  const std::vector<Bytes> mine = gather_two_panels(id_, 0, 5);

  EXPECT_TRUE(mine == expected);
  EXPECT_TRUE(other.get() == expected);
}

/// Gathers one panel of three shards an owner shard by shard, as `rank` of two on GPU `rank`, twice
/// over. The bytes of the last gather, row r all r + 1, and behind them the words of the shards.
Bytes gather_with_words(const NcclId& id, std::uint32_t rank) {
  cuda_check(cudaSetDevice(static_cast<int>(rank)), "take a GPU");
  const auto transport = join_nccl(id, rank, 2, 60, sms_of(PanelRoute::nccl_overlap));
  constexpr std::size_t kRow = 3 << 20;
  const DeviceBuffer memory(6 * kRow);
  const DeviceBuffer words(6 * sizeof(std::uint32_t));
  cuda_check(cudaMemset(words.data(), 0, words.size()), "clear the words");
  PanelBuffer panel{.id = 0,
                    .base = memory.data(),
                    .row_bytes = kRow,
                    .shards = {},
                    .arrived = words.as<std::uint32_t>(),
                    .route = PanelRoute::nccl_overlap};
  for (std::uint32_t row = 0; row < 6; ++row) panel.shards.push_back({row / 3, row, 1});
  for (panel.epoch = 1; panel.epoch <= 2; ++panel.epoch) {
    cuda_check(cudaMemset(memory.data(), 255, memory.size()), "clear the panel");
    for (std::uint32_t row = 3 * rank; row < 3 * rank + 3; ++row)
      cuda_check(cudaMemset(memory.data() + row * kRow, static_cast<int>(row + 1), kRow),
                 "fill a row");
    cuda_check(cudaDeviceSynchronize(), "fill the panel");
    transport->start(panel);
    if (!wait_for_panel(*transport, panel)) return {};
  }
  Bytes got(memory.size() + words.size());
  cuda_check(cudaMemcpy(got.data(), memory.data(), memory.size(), cudaMemcpyDeviceToHost),
             "read the panel");
  cuda_check(
      cudaMemcpy(got.data() + memory.size(), words.data(), words.size(), cudaMemcpyDeviceToHost),
      "read the words");
  return got;
}

TEST_F(NcclOnGpu, ShardsOfOthersGetTheWordOfTheirEpoch) {
  if (visible_gpus().size() < 2) GTEST_SKIP() << "needs two GPUs";
  Bytes expected;
  for (std::uint8_t row = 1; row <= 6; ++row) expected.insert(expected.end(), 3 << 20, row);
  Bytes of_second = expected;
  for (std::uint32_t shard = 0; shard < 6; ++shard) {
    const Bytes epoch = {2, 0, 0, 0}, none = {0, 0, 0, 0};
    const Bytes& mine = shard < 3 ? none : epoch;
    const Bytes& theirs = shard < 3 ? epoch : none;
    expected.insert(expected.end(), mine.begin(), mine.end());
    of_second.insert(of_second.end(), theirs.begin(), theirs.end());
  }

  auto other = std::async(std::launch::async, gather_with_words, id_, 1U);
  const Bytes mine = gather_with_words(id_, 0);

  EXPECT_TRUE(mine == expected);
  EXPECT_TRUE(other.get() == of_second);
}

/// Rank `rank` of two, given up from another thread while a panel waits for a peer that never
/// starts it. What ready() or start() said, or nothing where neither ever complained.
std::optional<std::string> abort_while_waiting(const NcclId& id, std::uint32_t rank) {
  cuda_check(cudaSetDevice(static_cast<int>(rank)), "take a GPU");
  const auto transport = join_nccl(id, rank, 2, 60);
  if (rank == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    transport->abort();
    return "gone";
  }
  const DeviceBuffer memory(32);
  auto aborter = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    transport->abort();
  });
  try {
    const PanelBuffer panel{.id = 0,
                            .base = memory.data(),
                            .row_bytes = 16,
                            .shards = {{.owner = 0, .first_row = 0, .rows = 1},
                                       {.owner = 1, .first_row = 1, .rows = 1}}};
    transport->start(panel);
    (void)wait_for_panel(*transport, panel);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

TEST_F(NcclOnGpu, AnAbortEndsTheWaitForAPeerThatNeverStarts) {
  if (visible_gpus().size() < 2) GTEST_SKIP() << "needs two GPUs";

  auto other = std::async(std::launch::async, abort_while_waiting, id_, 1U);
  const std::optional<std::string> words = abort_while_waiting(id_, 0);

  EXPECT_EQ(words.value_or("nothing"), "the NCCL transport was aborted");
  EXPECT_EQ(other.get().value_or("nothing"), "gone");
}

}  // namespace
}  // namespace tidemark
