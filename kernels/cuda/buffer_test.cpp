// What the environment says of the queues of streams.
#include "kernels/cuda/buffer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tidemark {
namespace {

class StreamQueues : public testing::Test {
 protected:
  void SetUp() override { forget(); }
  void TearDown() override { forget(); }

  static void forget() {
    for (const char* name :
         {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_LAUNCH_BLOCKING", "CUDA_INJECTION64_PATH"})
      unsetenv(name);
  }
};

TEST_F(StreamQueues, AreEightWhereNothingIsSaid) { EXPECT_EQ(queues_by_environment(), 8U); }

TEST_F(StreamQueues, AreAsManyAsConnections) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  EXPECT_EQ(queues_by_environment(), 32U);
}

TEST_F(StreamQueues, CountAsOneWhereALaunchWaitsForItsKernel) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  EXPECT_EQ(queues_by_environment(), 1U);
  setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
  EXPECT_EQ(queues_by_environment(), 32U);
}

TEST_F(StreamQueues, CountAsOneUnderAProfiler) {
  setenv("CUDA_INJECTION64_PATH", "/opt/profiler/injection.so", 1);
  EXPECT_EQ(queues_by_environment(), 1U);
}

}  // namespace
}  // namespace tidemark
