// Every case that all GPUs run together, over the relay, by 1 to 8 ranks: a supervisor and a worker
// each as threads of this process, with delays drawn from a seed wherever one leaves something for
// another. Twenty seeds a number of ranks.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "harness/relay/relay.hpp"
#include "kernels/device.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kSeeds = 12;
constexpr std::uint64_t kAtOnce = 6;
constexpr std::uint32_t kFirstWorker = 1000;  // among those who draw delays

/// One rank: a supervisor that moves panels until the worker is done with its cases.
class Rank {
 public:
  Rank(Link link, const std::vector<std::uint32_t>& rank_of_slot, std::uint64_t seed)
      : mesh_(std::move(link)),
        mover_(mesh_, rank_of_slot, HandOverDelays(seed, mesh_.rank())),
        seed_(seed) {
    mover_.begin_epoch(1);
  }

  /// Runs the cases and hands panels on until `all` ranks have run theirs.
  void run(std::atomic<std::uint32_t>& done, std::uint32_t all) {
    std::jthread worker([&] {
      work();
      ++done;
    });
    while (done < all) {
      mesh_.pump();
      if (!mover_.step()) rest();
    }
  }

  std::string wrong;  // what the worker's cases found; empty when all pass

 private:
  void work() {
    RelayTransport transport(mover_.segment_fd(mesh_.rank()), mesh_.rank(),
                             HandOverDelays(seed_, kFirstWorker + mesh_.rank()));
    const std::unique_ptr<Device> device = make_device(DeviceKind::virtual_device);
    for (const Case& which : all_cases()) {
      if (which.scope != CaseScope::all_gpus || which.kind != CaseKind::conformance ||
          which.rows == nullptr || mesh_.ranks() < which.fewest_gpus) {
        continue;  // without rows: what other tests of this program register
      }
      const Outcome outcome = run_case(which, *device,
                                       {.seed = case_seed(seed_, which.name),
                                        .rank = mesh_.rank(),
                                        .ranks = mesh_.ranks(),
                                        .transport = mesh_.ranks() > 1 ? &transport : nullptr,
                                        .routes = {PanelRoute::relay}});
      if (outcome.judgement == Judgement::pass) continue;
      wrong = fmt::format("rank {}: {}: {} {}", mesh_.rank(), which.name, outcome.reason,
                          outcome.miscompares.empty() ? "" : outcome.miscompares.front().text);
      return;  // the others are at this case still, and must not meet us at the next
    }
  }

  Mesh mesh_;
  RelayMover mover_;
  std::uint64_t seed_;
};

/// What the ranks found; empty when all cases pass on all of them.
std::string run_ranks(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<std::uint32_t> rank_of_slot;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) rank_of_slot.push_back(rank);
  std::vector<std::unique_ptr<Rank>> all;
  for (Link& link : local_links(ranks)) {
    all.push_back(std::make_unique<Rank>(std::move(link), rank_of_slot, seed));
  }
  std::atomic<std::uint32_t> done = 0;
  {
    std::vector<std::jthread> threads;
    for (const std::unique_ptr<Rank>& rank : all) {
      threads.emplace_back([&rank, &done, ranks] { rank->run(done, ranks); });
    }
  }
  std::string wrong;
  for (const std::unique_ptr<Rank>& rank : all) {
    if (!rank->wrong.empty()) wrong += rank->wrong + "\n";
  }
  return wrong;
}

class RelayCases : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RelayCases, pass_whatever_is_late) {
  // Most of a run is delays, so several seeds run at once.
  for (std::uint64_t first = 1; first <= kSeeds; first += kAtOnce) {
    std::array<std::string, kAtOnce> wrong;
    {
      std::vector<std::jthread> runs;
      for (std::uint64_t i = 0; i < kAtOnce; ++i) {
        runs.emplace_back([&wrong, i, first] { wrong[i] = run_ranks(GetParam(), first + i); });
      }
    }
    for (std::uint64_t i = 0; i < kAtOnce; ++i) ASSERT_EQ(wrong[i], "") << "seed " << first + i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, RelayCases, testing::Range(1U, 9U));

}  // namespace
}  // namespace tidemark
