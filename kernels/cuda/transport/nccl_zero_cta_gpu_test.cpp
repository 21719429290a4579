// NCCL's copy engines between real GPUs: one rank a thread, each with a GPU of its own.
#include "kernels/cuda/transport/nccl_zero_cta.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gpu_test.hpp"

namespace tidemark::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;

class NcclZeroCtaOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (visible_gpus().size() < 2) GTEST_SKIP() << "needs two GPUs";
    try {
      if (!nccl_api().has_zero_cta()) GTEST_SKIP() << "needs NCCL 2.28";
      id_ = make_nccl_id();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  NcclId id_{};
};

/// A rank of two on a GPU of its own.
struct Member {
  Member(const NcclId& id, std::uint32_t rank) {
    cuda_check(cudaSetDevice(static_cast<int>(rank)), "take a GPU");
    auto whole = std::make_unique<NcclCommunicator>(nccl_api(), id, rank, 2,
                                                    NcclMeans{.copy_engines = true});
    transport = std::make_unique<NcclZeroCtaTransport>(nccl_api(), std::move(whole), rank, 2);
  }

  std::unique_ptr<NcclZeroCtaTransport> transport;
};

TEST_F(NcclZeroCtaOnGpu, BringsBytesWhileAKernelHasAllSms) {
  const auto tried = [this](std::uint32_t rank) {
    const Member member(id_, rank);
    return member.transport->needs_no_sm(20);
  };
  auto other = std::async(std::launch::async, tried, 1U);

  EXPECT_TRUE(tried(0));
  EXPECT_TRUE(other.get());
}

constexpr std::size_t kRow = 7 << 20;  // no multiple of a slot
constexpr std::uint32_t kRows = 9;

/// Shards of 1 to 4 rows, and of other numbers of them; rows 0 to 4 are rank 0's.
std::vector<Shard> uneven_shards() {
  return {{0, 0, 1}, {0, 1, 4}, {1, 5, 3}, {1, 8, 1}, {1, 9, 0}};
}

/// Gathers a panel twice as `rank`. The bytes of the last gather, row r all r + 1, and behind them
/// the words of the shards.
Bytes gather_twice(const NcclId& id, std::uint32_t rank) {
  const Member member(id, rank);
  const DeviceBuffer memory(kRows * kRow);
  const DeviceBuffer words(5 * sizeof(std::uint32_t));
  cuda_check(cudaMemset(words.data(), 0, words.size()), "clear the words");
  PanelBuffer panel{.id = 0,
                    .base = memory.data(),
                    .row_bytes = kRow,
                    .shards = uneven_shards(),
                    .arrived = words.as<std::uint32_t>(),
                    .route = PanelRoute::nccl_zero_cta};
  const std::uint32_t first = rank == 0 ? 0 : 5, beyond = rank == 0 ? 5 : kRows;
  for (panel.epoch = 1; panel.epoch <= 2; ++panel.epoch) {
    cuda_check(cudaMemset(memory.data(), 255, memory.size()), "clear the panel");
    for (std::uint32_t row = first; row < beyond; ++row)
      cuda_check(cudaMemset(memory.data() + row * kRow, static_cast<int>(row + 1), kRow),
                 "fill a row");
    cuda_check(cudaDeviceSynchronize(), "fill the panel");
    member.transport->start(panel);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (std::size_t shard = 0; shard < panel.shards.size(); ++shard)
      while (!member.transport->ready(0, shard))
        if (std::chrono::steady_clock::now() > deadline) return {};
  }
  Bytes got(memory.size() + words.size());
  cuda_check(cudaMemcpy(got.data(), memory.data(), memory.size(), cudaMemcpyDeviceToHost),
             "read the panel");
  cuda_check(
      cudaMemcpy(got.data() + memory.size(), words.data(), words.size(), cudaMemcpyDeviceToHost),
      "read the words");
  return got;
}

TEST_F(NcclZeroCtaOnGpu, UnevenShardsComeWholeWithTheWordsOfTheirEpoch) {
  Bytes expected;
  for (std::uint8_t row = 1; row <= kRows; ++row) expected.insert(expected.end(), kRow, row);
  Bytes of_second = expected;
  const Bytes words = {0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0};
  const Bytes words_of_second = {2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  expected.insert(expected.end(), words.begin(), words.end());
  of_second.insert(of_second.end(), words_of_second.begin(), words_of_second.end());

  auto other = std::async(std::launch::async, gather_twice, id_, 1U);
  const Bytes mine = gather_twice(id_, 0);

  EXPECT_TRUE(mine == expected);
  EXPECT_TRUE(other.get() == of_second);
}

TEST_F(NcclZeroCtaOnGpu, AnAbortEndsTheWaitForAPeerThatNeverStarts) {
  auto other = std::async(std::launch::async, [this] {
    const Member member(id_, 1);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    member.transport->abort();
  });
  const Member member(id_, 0);
  auto aborter = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
    member.transport->abort();
  });
  const DeviceBuffer memory(32);
  const DeviceBuffer words(8);
  const PanelBuffer panel{.id = 0,
                          .base = memory.data(),
                          .row_bytes = 16,
                          .shards = {{0, 0, 1}, {1, 1, 1}},
                          .arrived = words.as<std::uint32_t>(),
                          .epoch = 1,
                          .route = PanelRoute::nccl_zero_cta};
  try {
    member.transport->start(panel);
    ADD_FAILURE() << "it was started without its peer";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the NCCL transport was aborted");
  }
  other.get();
}

}  // namespace
}  // namespace tidemark::kernels
