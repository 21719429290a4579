// What CUDA says of the GPUs of this machine.
#include "kernels/cuda/cuda_device.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/gpu_test.hpp"

namespace tidemark {
namespace {

class VisibleGpus : public GpuTest {};

TEST_F(VisibleGpus, CarryTheNamesThatNvidiaSmiUses) {
  const GpuProperties gpu = visible_gpus().front();

  EXPECT_TRUE(gpu.uuid.starts_with("GPU-") || gpu.uuid.starts_with("MIG-")) << gpu.uuid;
  EXPECT_EQ(gpu.uuid.size(), 40U) << gpu.uuid;
  EXPECT_EQ(gpu.pci.size(), 12U) << gpu.pci;
  EXPECT_TRUE(gpu.pci.ends_with(".0")) << gpu.pci;
}

TEST_F(VisibleGpus, AreDifferent) {
  const std::vector<GpuProperties> gpus = visible_gpus();

  for (std::size_t i = 1; i < gpus.size(); ++i) EXPECT_NE(gpus[i].uuid, gpus[0].uuid);
}

TEST_F(VisibleGpus, TellWhatTheHardwareIs) {
  const GpuProperties gpu = visible_gpus().front();

  EXPECT_EQ(gpu.compute_capability, 90U);
  EXPECT_GT(gpu.sm_count, 0U);
  EXPECT_GT(gpu.memory_bytes, 1ULL << 30);
  EXPECT_GE(gpu.driver_version, gpu.runtime_version / 1000 * 1000);
}

}  // namespace
}  // namespace tidemark
