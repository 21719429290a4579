// Panels that processes read from each other, by copy engines and by TMA, on as many GPUs as there
// are: four ranks in a grid of 2 x 2, and two that send each other a million chunks. Each rank is
// this program once more, with one test and its number in the environment.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/cuda/testing/chunk_check.hpp"
#include "kernels/cuda/transport/peer_transport.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kIds = 128;         // of panels
constexpr std::size_t kRowBytes = 4 << 10;  // of a rank's part of a panel

/// What all ranks of the test have mapped.
struct Shared {
  std::atomic<std::uint32_t> posted[kIds][kRanks];
  std::byte rows[kIds][kRanks][2][kRowBytes];
};

/// Gathers small panels through memory that the processes share; enough for handles and barriers.
class SharedTransport final : public Transport {
 public:
  SharedTransport(Shared& shared, std::uint32_t rank) : shared_(shared), rank_(rank) {}

  void start(const PanelBuffer& panel) override {
    panels_[panel.id] = panel;
    const std::uint32_t round = ++rounds_[panel.id];
    for (const Shard& shard : panel.shards)
      if (shard.owner == rank_)
        cuda_check(cudaMemcpy(row(panel.id, rank_, round), panel.base + at(panel, shard),
                              shard.rows * panel.row_bytes, cudaMemcpyDeviceToHost),
                   "post a row");
    shared_.posted[panel.id][rank_].store(round, std::memory_order_release);
  }

  bool ready(std::uint32_t id, std::size_t index) override {
    const PanelBuffer& panel = panels_[id];
    const Shard& shard = panel.shards.at(index);
    if (shared_.posted[id][shard.owner].load(std::memory_order_acquire) < rounds_[id]) return false;
    if (shard.owner != rank_)
      cuda_check(cudaMemcpy(panel.base + at(panel, shard), row(id, shard.owner, rounds_[id]),
                            shard.rows * panel.row_bytes, cudaMemcpyHostToDevice),
                 "take a row");
    // The copy returns when the bytes have been taken from here; others read them there.
    cuda_check(cudaStreamSynchronize(nullptr), "take a row");
    return true;
  }

  /// As that of a communicator, which frees memory: waits for all streams of this GPU.
  void abort() noexcept override { static_cast<void>(cudaDeviceSynchronize()); }

 private:
  static std::uint64_t at(const PanelBuffer& panel, const Shard& shard) {
    return shard.first_row * panel.row_bytes;
  }
  /// Of two: no rank posts the next but one before all have taken this one.
  std::byte* row(std::uint32_t id, std::uint32_t rank, std::uint32_t round) {
    return shared_.rows[id][rank][round % 2];
  }

  Shared& shared_;
  std::uint32_t rank_;
  std::array<PanelBuffer, kIds> panels_{};
  std::array<std::uint32_t, kIds> rounds_{};
};

/// Two shards for each of two owners.
std::vector<Shard> panel_of(std::uint64_t rows, std::uint32_t first, std::uint32_t second) {
  const std::uint64_t part = rows / 4;
  return {{first, 0, part},
          {first, part, part},
          {second, 2 * part, part},
          {second, 3 * part, rows - 3 * part}};
}

Gemm share(std::uint32_t rank, Transport& transport, PanelRoute route) {
  Gemm gemm{.m = 2048, .n = 3000, .k = 1024, .inputs = GemmInputs::normal};
  const std::uint32_t row = rank / 2;
  const std::uint32_t column = rank % 2;
  gemm.rows = {row * 1024, 1024};
  gemm.cols = {column * 1500, 1500};
  gemm.output = GemmOutput::bf16;
  gemm.seed = 3;
  gemm.transport = &transport;
  gemm.route = route;
  gemm.rank = rank;
  gemm.a_shards = panel_of(1024, 2 * row, 2 * row + 1);
  gemm.b_shards = panel_of(1500, column, column + 2);
  for (std::uint32_t i = 0; i < kRanks; ++i) gemm.everybody.push_back({i, i, 1});
  return gemm;
}

Gemm alone(Gemm gemm) {
  gemm.transport = nullptr;
  return gemm;
}

/// A rank that another test has started: this process.
class Rank {
 public:
  Rank(const char* number, const char* memory)
      : number_(static_cast<std::uint32_t>(std::atoi(number))),
        mapped_(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                       std::atoi(memory), 0)) {}

  std::uint32_t number() const { return number_; }
  /// Null where a rank cannot open the memory of the others.
  std::unique_ptr<PeerTransport> transport(std::uint32_t ranks) const {
    EXPECT_NE(mapped_, MAP_FAILED);
    auto control = std::make_unique<SharedTransport>(*static_cast<Shared*>(mapped_), number_);
    auto words = std::make_unique<PeerWords>(number_, ranks);
    const std::string cannot = open_words(*control, *words, number_, ranks, 60);
    EXPECT_EQ(cannot, "");
    if (!cannot.empty()) return nullptr;
    return std::make_unique<PeerTransport>(std::move(control), std::move(words), number_, ranks);
  }

 private:
  std::uint32_t number_;
  void* mapped_;
};

/// This process, where it is a rank of another test.
std::optional<Rank> this_rank() {
  const char* const number = std::getenv("TIDEMARK_TEST_RANK");
  const char* const memory = std::getenv("TIDEMARK_TEST_MEMORY");
  if (number == nullptr || memory == nullptr) return {};
  return Rank(number, memory);
}

/// Runs the test of that name in `ranks` processes, on one GPU after the other.
/// With few queues, as in a process that asks for none, no product is queued before its barrier.
void run_ranks(std::uint32_t ranks, const std::string& test, std::uint32_t queues = kEnoughQueues) {
  const std::size_t gpus = visible_gpus().size();
  const int memory = ::memfd_create("tidemark-test", 0);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(::ftruncate(memory, sizeof(Shared)), 0);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string number = "TIDEMARK_TEST_RANK=" + std::to_string(rank);
    const std::string mapped = "TIDEMARK_TEST_MEMORY=" + std::to_string(memory);
    const std::string gpu = "CUDA_VISIBLE_DEVICES=" + std::to_string(rank % gpus);
    const std::string connections = "CUDA_DEVICE_MAX_CONNECTIONS=" + std::to_string(queues);
    std::string filter = "--gtest_filter=PeerTransportRanks." + test;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {  // nothing of CUDA before the exec: what the parent has of it is not its
      std::vector<char*> environment;
      for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "CUDA_VISIBLE_DEVICES=", 21) != 0 &&
            std::strncmp(*entry, "CUDA_DEVICE_MAX_CONNECTIONS=", 28) != 0)
          environment.push_back(*entry);
      for (const std::string* entry : {&number, &mapped, &gpu, &connections})
        environment.push_back(const_cast<char*>(entry->c_str()));
      environment.push_back(nullptr);
      ::alarm(150);  // also ends a rank that waits within CUDA
      char program[] = "/proc/self/exe";
      char* arguments[] = {program, filter.data(), nullptr};
      ::execve(program, arguments, environment.data());
      ::_exit(127);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  ::close(memory);
}

class PeerTransportRanks : public GpuTest {};

// Skipped but in the processes that the test below starts.
TEST_F(PeerTransportRanks, Member) {
  const std::optional<Rank> rank = this_rank();
  if (!rank) GTEST_SKIP() << "a rank of another test";
  const auto transport = rank->transport(kRanks);
  ASSERT_NE(transport, nullptr);
  const Gemm gemm = share(rank->number(), *transport, PanelRoute::copy_engine);
  const RunResult expected = run_gemm(alone(gemm));
  for (int round = 0; round < 3; ++round) {
    const RunResult result = run_gemm(gemm);
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    ASSERT_EQ(result.bytes == expected.bytes, true) << "round " << round;
  }
  const Measurement measured = measure_gemm(gemm, {.warmups = 2, .samples = 8});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  EXPECT_EQ(measured.last.bytes == expected.bytes, true);
  EXPECT_EQ(measured.last.digests.size(), kRanks);
}

TEST_F(PeerTransportRanks, OfAGridOf2x2GetTheProductOfOne) { run_ranks(kRanks, "Member"); }

TEST_F(PeerTransportRanks, ThatQueueBeforeTheirBarrierGetTheProductOfOne) {
  run_ranks(kRanks, "Member", kQueuesToHold);
}

/// A panel of two ranks, whose rows, of 2 KiB, are shards of one and the other by turns.
struct ChunkPanel {
  static constexpr std::uint32_t kRows = 512, kRowWords = 512;

  DeviceBuffer rows, arrived, counts, begin;
  Stream stream;

  ChunkPanel() {
    grow_for_peers(rows, std::size_t{kRows} * kRowWords * 4);
    grow(arrived, kRows * sizeof(std::uint32_t));
    grow(counts, sizeof(ChunkCounts));
    cuda_check(cudaMemset(arrived.data(), 0, arrived.size()), "clear the words of the rows");
    cuda_check(cudaMemset(counts.data(), 0, counts.size()), "clear the counts");
    grow(begin, sizeof(std::uint32_t));
    cuda_check(cudaMemset(begin.data(), 0, begin.size()), "clear a word");
    cuda_check(cudaDeviceSynchronize(), "clear the counts");
  }
  ChunkRows of(std::uint32_t owner, std::uint32_t epoch) {
    return {.rows = rows.as<std::uint32_t>(),
            .row_words = kRowWords,
            .first = owner,
            .step = 2,
            .count = kRows / 2,
            .epoch = epoch};
  }
  PanelBuffer buffer(std::uint32_t epoch, bool last) {
    PanelBuffer panel{.id = 0,
                      .base = rows.data(),
                      .row_bytes = kRowWords * 4,
                      .shards = {},
                      .arrived = arrived.as<std::uint32_t>(),
                      .epoch = epoch,
                      .last = last,
                      .route = PanelRoute::copy_engine};
    for (std::uint32_t row = 0; row < kRows; ++row) panel.shards.push_back({row % 2, row, 1});
    return panel;
  }
  /// Rows of `owner` whose word is `epoch`.
  std::size_t arrived_of(std::uint32_t owner, std::uint32_t epoch) {
    std::vector<std::uint32_t> words(kRows);
    cuda_check(cudaMemcpyAsync(words.data(), arrived.data(), kRows * sizeof(std::uint32_t),
                               cudaMemcpyDeviceToHost, stream.get()),
               "read the words of the rows");
    EXPECT_TRUE(wait_for_stream(stream.get(), 20));
    std::size_t count = 0;
    for (std::uint32_t row = owner; row < kRows; row += 2) count += words[row] == epoch ? 1 : 0;
    return count;
  }
  ChunkCounts counted() {
    ChunkCounts found;
    cuda_check(cudaMemcpy(&found, counts.data(), sizeof(found), cudaMemcpyDeviceToHost),
               "read the counts");
    return found;
  }
};

// Whether all shards of the panel get ready in time.
bool all_ready(Transport& transport) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (std::uint32_t row = 0; row < ChunkPanel::kRows; ++row)
    while (!transport.ready(0, row))
      if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

// Skipped but in the processes that the test below starts.
TEST_F(PeerTransportRanks, Sender) {
  const std::optional<Rank> rank = this_rank();
  if (!rank) GTEST_SKIP() << "a rank of another test";
  // Of one GPU two processes take turns, milliseconds each.
  const char* const gathers = std::getenv("TIDEMARK_TEST_GATHERS");
  ASSERT_NE(gathers, nullptr);
  const auto last = static_cast<std::uint32_t>(std::atoi(gathers));
  const auto transport = rank->transport(2);
  ASSERT_NE(transport, nullptr);
  ChunkPanel panel;
  for (std::uint32_t epoch = 1; epoch <= last; ++epoch) {
    fill_chunks(panel.of(rank->number(), epoch), panel.stream.get());
    ASSERT_TRUE(wait_for_stream(panel.stream.get(), 20));
    transport->start(panel.buffer(epoch, epoch == last));
    // Memory is opened for the first one, which may wait for kernels.
    if (epoch == 1) {
      ASSERT_TRUE(all_ready(*transport));
    }
    check_chunks(panel.of(1 - rank->number(), epoch), panel.arrived.as<std::uint32_t>(),
                 panel.counts.as<ChunkCounts>(), panel.stream.get());
    ASSERT_TRUE(all_ready(*transport)) << "gather " << epoch;
    ASSERT_TRUE(wait_for_stream(panel.stream.get(), 20)) << "gather " << epoch;
  }
  const ChunkCounts counted = panel.counted();
  EXPECT_EQ(counted.seen, std::uint64_t{last} * ChunkPanel::kRows / 2);
  EXPECT_EQ(counted.stale, 0U);
}

TEST_F(PeerTransportRanks, SendAMillionChunksAndNoneIsStaleWhereItsWordHasCome) {
  ASSERT_EQ(::setenv("TIDEMARK_TEST_GATHERS", visible_gpus().size() > 1 ? "4000" : "20", 1), 0);
  run_ranks(2, "Sender");
  ::unsetenv("TIDEMARK_TEST_GATHERS");
}

// Skipped but in the processes that the test below starts.
TEST_F(PeerTransportRanks, Holder) {
  const std::optional<Rank> rank = this_rank();
  if (!rank) GTEST_SKIP() << "a rank of another test";
  const auto transport = rank->transport(2);
  ASSERT_NE(transport, nullptr);
  ChunkPanel panel;
  const std::uint32_t other = 1 - rank->number();
  transport->start(panel.buffer(1, false));
  ASSERT_TRUE(all_ready(*transport));
  PinnedBuffer word(sizeof(std::uint32_t));
  *word.as<volatile std::uint32_t>() = 0;
  PanelBuffer held = panel.buffer(2, true);
  held.begin = word.as<std::uint32_t>();
  held.begin_value = 1;
  transport->start(held);
  EXPECT_FALSE(transport->ready(0, other));  // all of it is queued now
  // One begins 500 ms before the other: neither gets rows of one that has not, nor before it has.
  if (rank->number() == 0) *word.as<volatile std::uint32_t>() = 1;
  std::this_thread::sleep_for(std::chrono::milliseconds(rank->number() == 0 ? 100 : 500));
  EXPECT_EQ(panel.arrived_of(other, 2), 0U);
  *word.as<volatile std::uint32_t>() = 1;
  ASSERT_TRUE(all_ready(*transport));
  EXPECT_EQ(panel.arrived_of(other, 2), std::size_t{ChunkPanel::kRows} / 2);
}

TEST_F(PeerTransportRanks, ThatHaveNotBegunGetAndGiveNothing) {
  run_ranks(2, "Holder", kQueuesToHold);
}

// Skipped but in the processes that the test below starts.
TEST_F(PeerTransportRanks, Quitter) {
  const std::optional<Rank> rank = this_rank();
  if (!rank) GTEST_SKIP() << "a rank of another test";
  const auto transport = rank->transport(2);
  ASSERT_NE(transport, nullptr);
  ChunkPanel panel;
  transport->start(panel.buffer(1, false));
  ASSERT_TRUE(all_ready(*transport));
  if (rank->number() == 1) {  // does not come to the second one, and keeps its memory meanwhile
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return;
  }
  transport->start(panel.buffer(2, false));
  EXPECT_FALSE(transport->ready(0, 1));  // copies that wait for the other rank are queued
  transport->abort();
  EXPECT_TRUE(wait_for_stream(panel.stream.get(), 20));
}

TEST_F(PeerTransportRanks, GiveUpCopiesBeforeWhatTheyAreToldBy) { run_ranks(2, "Quitter"); }

TEST_F(PeerTransportRanks, AFirstGatherCannotBeHeld) {
  class Nobody final : public Transport {
    void start(const PanelBuffer& /*panel*/) override {}
    bool ready(std::uint32_t /*id*/, std::size_t /*index*/) override { return true; }
    void abort() noexcept override {}
  };
  PeerTransport transport(std::make_unique<Nobody>(), std::make_unique<PeerWords>(0, 2), 0, 2);
  ChunkPanel panel;
  PanelBuffer held = panel.buffer(1, false);
  held.route = PanelRoute::copy_engine;
  held.begin = panel.begin.as<std::uint32_t>();
  EXPECT_THROW(transport.start(held), Error);
}

TEST_F(PeerTransportRanks, AChunkWhoseWordCameBeforeItIsStale) {
  ChunkPanel panel;
  fill_chunks(panel.of(1, 1), panel.stream.get());
  const std::vector<std::uint32_t> second(ChunkPanel::kRows, 2);
  cuda_check(
      cudaMemcpyAsync(panel.arrived.data(), second.data(), second.size() * sizeof(std::uint32_t),
                      cudaMemcpyHostToDevice, panel.stream.get()),
      "write words too early");
  check_chunks(panel.of(1, 2), panel.arrived.as<std::uint32_t>(), panel.counts.as<ChunkCounts>(),
               panel.stream.get());
  ASSERT_TRUE(wait_for_stream(panel.stream.get(), 20));
  EXPECT_EQ(panel.counted().stale, std::uint64_t{ChunkPanel::kRows} / 2 * ChunkPanel::kRowWords);
}

}  // namespace
}  // namespace tidemark
