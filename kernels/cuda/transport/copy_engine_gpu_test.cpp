// Panels by copy engines between processes: four ranks in a grid of 2 x 2, on as many GPUs as there
// are. Each rank is this program once more, with one test and its number in the environment.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/cuda/transport/copy_engine.hpp"

namespace tidemark::kernels {
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

  void abort() noexcept override {}

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

Gemm share(std::uint32_t rank, Transport& transport) {
  Gemm gemm{.m = 2048, .n = 3000, .k = 1024, .inputs = GemmInputs::normal};
  const std::uint32_t row = rank / 2;
  const std::uint32_t column = rank % 2;
  gemm.rows = {row * 1024, 1024};
  gemm.cols = {column * 1500, 1500};
  gemm.output = GemmOutput::bf16;
  gemm.seed = 3;
  gemm.transport = &transport;
  gemm.route = PanelRoute::copy_engine;
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

class CopyEngineRanks : public GpuTest {};

// Skipped but in the processes that the test below starts.
TEST_F(CopyEngineRanks, Member) {
  const char* const number = std::getenv("TIDEMARK_TEST_RANK");
  const char* const memory = std::getenv("TIDEMARK_TEST_MEMORY");
  if (number == nullptr || memory == nullptr) GTEST_SKIP() << "a rank of another test";
  const auto rank = static_cast<std::uint32_t>(std::atoi(number));
  void* const mapped =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(memory), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const shared = static_cast<Shared*>(mapped);
  auto control = std::make_unique<SharedTransport>(*shared, rank);
  auto words = std::make_unique<PeerWords>(rank, kRanks);
  ASSERT_EQ(open_words(*control, *words, rank, kRanks, 60), "");
  CopyEngineTransport transport(std::move(control), std::move(words), rank, kRanks);
  const Gemm gemm = share(rank, transport);
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

TEST_F(CopyEngineRanks, OfAGridOf2x2GetTheProductOfOne) {
  const std::size_t gpus = visible_gpus().size();
  const int memory = ::memfd_create("tidemark-test", 0);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(::ftruncate(memory, sizeof(Shared)), 0);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const std::string number = "TIDEMARK_TEST_RANK=" + std::to_string(rank);
    const std::string mapped = "TIDEMARK_TEST_MEMORY=" + std::to_string(memory);
    const std::string gpu = "CUDA_VISIBLE_DEVICES=" + std::to_string(rank % gpus);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {  // nothing of CUDA before the exec: what the parent has of it is not its
      std::vector<char*> environment;
      for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::strncmp(*entry, "CUDA_VISIBLE_DEVICES=", 21) != 0) environment.push_back(*entry);
      for (const std::string* entry : {&number, &mapped, &gpu})
        environment.push_back(const_cast<char*>(entry->c_str()));
      environment.push_back(nullptr);
      char program[] = "/proc/self/exe";
      char filter[] = "--gtest_filter=CopyEngineRanks.Member";
      char* arguments[] = {program, filter, nullptr};
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

}  // namespace
}  // namespace tidemark::kernels
