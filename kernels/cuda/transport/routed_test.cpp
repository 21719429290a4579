// Which of two transports a panel goes by.
#include "kernels/cuda/transport/routed.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tidemark {
namespace {

struct Calls {
  std::vector<std::uint32_t> started, asked;
  int aborts = 0;
};

class Counting final : public Transport {
 public:
  explicit Counting(Calls& calls) : calls_(calls) {}
  void start(const PanelBuffer& panel) override { calls_.started.push_back(panel.id); }
  bool ready(std::uint32_t id, std::size_t /*index*/) override {
    calls_.asked.push_back(id);
    return true;
  }
  void abort() noexcept override { ++calls_.aborts; }

 private:
  Calls& calls_;
};

class Routed : public testing::Test {
 protected:
  Calls usual_, own_;
  RoutedTransport routed_{std::make_unique<Counting>(usual_), PanelRoute::nccl_overlap,
                          std::make_unique<Counting>(own_)};
  std::uint32_t word_ = 0;
};

using Ids = std::vector<std::uint32_t>;

TEST_F(Routed, PanelsOfTheRouteGoByItsTransport) {
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::nccl_overlap});
  EXPECT_TRUE(routed_.ready(1, 0));
  EXPECT_EQ(own_.started, Ids{1});
  EXPECT_EQ(own_.asked, Ids{1});
  EXPECT_TRUE(usual_.started.empty());
}

TEST_F(Routed, PanelsOfOtherRoutesAndSmallOnesGoByTheUsual) {
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::copy_engine});
  routed_.start({.id = 2, .shards = {}, .arrived = nullptr, .route = PanelRoute::nccl_overlap});
  EXPECT_TRUE(routed_.ready(2, 0));
  EXPECT_EQ(usual_.started, (Ids{1, 2}));
  EXPECT_EQ(usual_.asked, Ids{2});
  EXPECT_TRUE(own_.started.empty());
}

TEST_F(Routed, IsAskedWhereThePanelWasStartedLast) {
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::nccl_overlap});
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::copy_engine});
  EXPECT_TRUE(routed_.ready(1, 0));
  EXPECT_EQ(usual_.asked, Ids{1});
  EXPECT_TRUE(own_.asked.empty());
}

TEST_F(Routed, AnAbortIsOneOfBoth) {
  routed_.abort();
  EXPECT_EQ(usual_.aborts, 1);
  EXPECT_EQ(own_.aborts, 1);
}

}  // namespace
}  // namespace tidemark
