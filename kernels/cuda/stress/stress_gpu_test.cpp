// Boxes at full rate on a GPU: right, found where they are spoiled, on all SMs.
#include "kernels/cuda/stress/stress.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "kernels/cuda/gpu_test.hpp"

namespace tidemark {
namespace {

class StressOnGpu : public GpuTest {
 protected:
  static Measurement measure(const Stress& op) {
    RowWorkspace workspace;
    return measure_stress(workspace, op);
  }
};

TEST_F(StressOnGpu, EachBoxOfEachKindIsRightOnAllSms) {
  int sms = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  for (const std::uint64_t bytes : {std::uint64_t{24} << 20, std::uint64_t{8} << 30})
    for (const StressBoxes boxes : {StressBoxes::bulk, StressBoxes::swizzled, StressBoxes::mixed}) {
      const RunResult result =
          measure({.boxes = boxes, .memory_bytes = bytes, .seconds = 0.3, .seed = 11}).last;
      EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
      EXPECT_EQ(result.stress.size(), static_cast<std::size_t>(sms));
      for (const StressSm& sm : result.stress) {
        EXPECT_GT(sm.boxes, 1000U) << sm.sm;
        EXPECT_EQ(sm.lost, 0U) << sm.sm;
      }
      ASSERT_TRUE(result.wrong_words.empty())
          << static_cast<int>(boxes) << ' ' << bytes << ": SM " << result.wrong_words[0].sm
          << " iteration " << result.wrong_words[0].iteration << " offset "
          << result.wrong_words[0].offset;
    }
}

// One launch of a tenth of a second, so that the boxes that a CTA drew are 0 to boxes - 1.
TEST_F(StressOnGpu, EachSpoiledBoxIsFoundOnItsSmAndNoOther) {
  const Stress op{.boxes = StressBoxes::swizzled,
                  .memory_bytes = 24 << 20,
                  .seconds = 0.1,
                  .spoiled = {.sm = 5, .every = 1000},
                  .seed = 3};
  const RunResult result = measure(op).last;
  ASSERT_FALSE(result.wrong_words.empty());
  const std::uint32_t cta = result.wrong_words[0].cta;
  for (const StressSm& sm : result.stress) {
    std::uint64_t spoiled = 0;
    for (std::uint64_t i = 0; sm.sm == 5 && i < sm.boxes; ++i)
      if (is_spoiled(op.spoiled, 5, stress_key(stress_launch_seed(op, 0), cta, i))) ++spoiled;
    EXPECT_EQ(sm.wrong_boxes, spoiled) << sm.sm;
    EXPECT_EQ(sm.wrong_words, spoiled) << sm.sm;
  }
  for (const WrongWord& word : result.wrong_words) EXPECT_EQ(word.in_memory, word.expected);
}

/// Which of the SMs are wrong.
std::vector<std::uint32_t> wrong_sms(const RunResult& result) {
  std::vector<std::uint32_t> wrong;
  for (const StressSm& sm : result.stress)
    if (is_wrong(sm)) wrong.push_back(sm.sm);
  return wrong;
}

TEST_F(StressOnGpu, WritesAreRightAndAWordThatIsSpoiledNamesItsSm) {
  for (const StressCopy copy : {StressCopy::store, StressCopy::reduce}) {
    Stress op{.boxes = StressBoxes::mixed,
              .copy = copy,
              .memory_bytes = std::uint64_t{2} << 30,
              .seconds = 0.3,
              .seed = 5};
    const RunResult right = measure(op).last;
    EXPECT_EQ(right.fault, DeviceFault::none) << right.note;
    EXPECT_TRUE(right.wrong_words.empty()) << name_of(copy);
    op.spoiled = {.sm = 9, .every = 3000};
    EXPECT_EQ(wrong_sms(measure(op).last), std::vector<std::uint32_t>{9}) << name_of(copy);
  }
}

TEST_F(StressOnGpu, MulticastsBringEveryByteInClustersOfAllSizes) {
  for (const std::uint32_t cluster : {2U, 3U, 5U, 6U, 7U, 8U, 16U}) {
    const RunResult result = measure({.boxes = StressBoxes::mixed,
                                      .copy = StressCopy::multicast,
                                      .cluster = cluster,
                                      .memory_bytes = 24 << 20,
                                      .seconds = 0.2,
                                      .seed = 5})
                                 .last;
    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(wrong_sms(result), std::vector<std::uint32_t>{}) << cluster;
    EXPECT_GT(sum_of(result.stress).boxes, 1000U) << cluster;
  }
}

TEST_F(StressOnGpu, ProductsBesideLoadsAreTheSameOnAllSmsButTheSpoiledOne) {
  Stress op{.boxes = StressBoxes::swizzled,
            .products = true,
            .memory_bytes = 24 << 20,
            .seconds = 0.3,
            .seed = 5};
  const RunResult right = measure(op).last;
  EXPECT_EQ(wrong_sms(right), std::vector<std::uint32_t>{});
  EXPECT_GT(sum_of(right.stress).products, 1000U);
  op.spoiled = {.sm = 9, .every = 500};
  const RunResult spoiled = measure(op).last;
  EXPECT_EQ(wrong_sms(spoiled), std::vector<std::uint32_t>{9});
  EXPECT_GT(sum_of(spoiled.stress).wrong_products, 0U);
}

TEST_F(StressOnGpu, SamplesHaveARateAndARoofAndALatency) {
  const Measurement measurement =
      measure({.boxes = StressBoxes::bulk, .memory_bytes = 1 << 30, .seconds = 0.5, .seed = 3});
  EXPECT_EQ(measurement.samples.size(), 4U);
  for (const TimedSample& sample : measurement.samples) {
    EXPECT_GT(sample.bytes, 0);
    EXPECT_GT(sample.plain_bytes_per_s, 0);
    EXPECT_GT(sample.cycles, 100);
  }
  for (const StressSm& sm : measurement.last.stress) {
    EXPECT_GT(sm.latency, 100U) << sm.sm;
    EXPECT_LT(sm.latency, 2000U) << sm.sm;
  }
}

}  // namespace
}  // namespace tidemark
