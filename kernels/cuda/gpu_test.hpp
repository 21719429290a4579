// What every test on a GPU starts with.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "kernels/cuda/buffer.hpp"
#include "kernels/device.hpp"

namespace tidemark {

/// Skips its tests where there is no GPU, and fails them there under TIDEMARK_REQUIRE_GPU=1.
class GpuTest : public testing::Test {
 protected:
  /// As a worker has it, and before CUDA is asked for anything.
  static void SetUpTestSuite() {
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(kQueuesToHold).c_str(), 0);
  }
  void SetUp() override {
    if (!visible_gpus().empty()) return;
    const char* const required = std::getenv("TIDEMARK_REQUIRE_GPU");
    if (required != nullptr && std::string_view(required) == "1")
      FAIL() << "CUDA shows this process no GPU, and TIDEMARK_REQUIRE_GPU=1 asks for one";
    GTEST_SKIP() << "CUDA shows this process no GPU: run on a machine with a Hopper GPU";
  }
};

}  // namespace tidemark
