// What is timed multiplies one copy of a small product after the other, also where its launches are
// recorded.
#include "ci/lab/gemm/series.hpp"

#include "ci/lab/gemm/exact.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/cuda/gpu_test.hpp"

namespace tidemark {
namespace {

constexpr Shape kSmall{.m = 256, .n = 256, .k = 256};
constexpr double kShortNs = 1e3, kLongNs = 1e6;

class SeriesGpuTest : public GpuTest {};

/// A small product, and which copies of C are what the reference engine makes of it.
class Small {
 public:
  const Product& product() const { return product_; }
  const Launch& launch() const { return launch_; }
  void poison() const {
    cuda_check(cudaMemsetAsync(product_.c.data(), 0xff, product_.c.size(), product_.stream.get()),
               "poison C");
  }
  int wrong_copies() const {
    int wrong = 0;
    for (std::uint64_t i = 0; i < product_.copies; ++i)
      if (count_differences(product_.copy(i).c, expected_.data(), kSmall.m * product_.local.ldc,
                            product_.stream.get()) != 0)
        ++wrong;
    return wrong;
  }

 private:
  const Product product_ = make_product(kSmall, GemmInputs::small_integers);
  const DeviceBuffer expected_ = expected_integers(product_);
  const Launch launch_ =
      launch_of(product_, chosen_configuration(embedded_gemm_table(), product_.local));
};

TEST_F(SeriesGpuTest, AsManyLaunchesAsThereAreCopiesMultiplyAllOfThem) {
  const Small small;
  ASSERT_GT(small.product().copies, 1U);
  EXPECT_NE(small.product().copy(1).a, small.product().local.a);
  EXPECT_NE(small.product().copy(1).b, small.product().local.b);
  small.poison();
  for (std::uint64_t i = 1; i < small.product().copies; ++i) small.launch()();
  EXPECT_EQ(small.wrong_copies(), 1);
  small.launch()();
  EXPECT_EQ(small.wrong_copies(), 0);
  EXPECT_EQ(take_timed_out(small.product()), 0U);
}

TEST_F(SeriesGpuTest, ShortLaunchesAreRecordedAndRunWhenTheyAreStarted) {
  const Small small;
  small.launch()();  // a kernel's first launch also loads it
  small.poison();
  const Series series(small.product(), small.launch(), kShortNs);
  EXPECT_EQ(series.launches() % small.product().copies, 0U);
  EXPECT_EQ(series.launches() % 2, 0);
  EXPECT_EQ(small.wrong_copies(),
            static_cast<int>(small.product().copies));  // recording runs nothing
  series.start();
  EXPECT_EQ(small.wrong_copies(), 0);
  EXPECT_EQ(take_timed_out(small.product()), 0U);
}

TEST_F(SeriesGpuTest, LongLaunchesAreStartedOneByOne) {
  const Small small;
  const Series series(small.product(), small.launch(), kLongNs);
  EXPECT_EQ(series.launches(), 1);
  small.poison();
  series.start();
  EXPECT_EQ(small.wrong_copies(), static_cast<int>(small.product().copies) - 1);
}

}  // namespace
}  // namespace tidemark
