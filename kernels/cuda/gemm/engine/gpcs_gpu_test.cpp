// What the device tells of its GPCs.
#include "kernels/cuda/gemm/engine/placement.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda/gpu_test.hpp"

namespace tidemark {
namespace {

class Gpcs : public GpuTest {};

std::vector<std::uint32_t> sizes_of(const std::vector<std::uint32_t>& gpcs) {
  if (gpcs.empty()) return {0};
  std::vector<std::uint32_t> sizes(1 + *std::max_element(gpcs.begin(), gpcs.end()));
  for (const std::uint32_t gpc : gpcs) ++sizes[gpc];
  return sizes;
}

TEST_F(Gpcs, HaveEverySm) {
  int sms = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(gpcs_of_device(2).of_sm.size(), static_cast<std::size_t>(sms));
}

// A GPC of this chip has up to nine TPCs of two SMs.
TEST_F(Gpcs, AreOfEightToEighteenSmsButForAFew) {
  const std::vector<std::uint32_t> sizes = sizes_of(gpcs_of_device(2).of_sm);
  EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 18U);
  EXPECT_GE(std::count_if(sizes.begin(), sizes.end(), [](auto size) { return size >= 8; }), 6);
}

TEST_F(Gpcs, HoldAClusterOfTwoForEveryTwoSms) {
  const GpcsOfDevice gpcs = gpcs_of_device(2);
  const std::vector<std::uint32_t> sms = sizes_of(gpcs.of_sm);
  const std::vector<std::uint32_t> clusters = sizes_of(gpcs.of_cluster);
  ASSERT_EQ(clusters.size(), sms.size());
  for (std::size_t gpc = 0; gpc < sms.size(); ++gpc) EXPECT_EQ(2 * clusters[gpc], sms[gpc]) << gpc;
}

}  // namespace
}  // namespace tidemark
