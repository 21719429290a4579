// Products that fit to the byte, and those that do not.
#include "harness/supervisor/opening.hpp"

#include <gtest/gtest.h>

#include "harness/base/errors.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kContext = 2 * kGiB;

ProductOptions square(std::uint64_t edge) { return {.shape = {.m = edge, .n = edge, .k = edge}}; }

std::vector<SlotMemory> one_machine(std::size_t slots, std::uint64_t gpu, std::uint64_t free) {
  return std::vector<SlotMemory>(
      slots, {.machine = "boot-1", .host = "node07", .gpu_bytes = gpu, .machine_free = free});
}

std::string refusal(const ProductOptions& product, DeviceKind device,
                    const std::vector<SlotMemory>& slots) {
  try {
    check_product_memory(product, device, slots);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ProductMemory, IsNotAskedForWithoutSizes) {
  EXPECT_EQ(refusal({.grid = {.rows = 1, .cols = 2}}, DeviceKind::cuda, one_machine(2, 1, 1)), "");
}

TEST(ProductMemory, HoldsWhatFitsToTheByte) {
  const std::uint64_t needed = memory_of(square(65536), 0, 2).device + kContext;
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, one_machine(2, needed, 0)), "");
  EXPECT_NE(refusal(square(65536), DeviceKind::cuda, one_machine(2, needed - 1, 0)), "");
}

TEST(ProductMemory, NamesTheGpuThatIsTooSmall) {
  // On 2 x 4 a rank has half of A, a quarter of B and an eighth of C in fp32: 2 x 400000^2 bytes.
  std::vector<SlotMemory> slots = one_machine(8, 400 * kGiB, 0);
  slots[5].gpu_bytes = 139 * kGiB;
  EXPECT_EQ(refusal(square(400000), DeviceKind::cuda, slots),
            "--n 400000: 300.1 GiB per GPU, 2.0 GiB of it for CUDA and NCCL, but GPU 5 has 139.0 "
            "GiB; give a smaller product or more ranks");
}

TEST(ProductMemory, NamesAllSizesOfWhatIsNoSquare) {
  const ProductOptions product{.shape = {.m = 1048576, .n = 1048576, .k = 64}};
  EXPECT_EQ(refusal(product, DeviceKind::cuda, one_machine(1, 80 * kGiB, 0))
                .rfind("--m 1048576 --n 1048576 --k 64: 4098.3 GiB per GPU, ", 0),
            0U);
}

TEST(ProductMemory, AddsUpWhatTheRanksOfAMachineNeedOfIt) {
  // C of 65536 x 65536 is 8 GiB in bf16 and 16 GiB in fp32, all of it on one machine.
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, one_machine(4, 0, 24 * kGiB)), "");
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, one_machine(4, 0, 24 * kGiB - 1)),
            "--n 65536: 24.0 GiB of host memory, but node07 has 23.9 GiB free; give a smaller "
            "product or more machines");
  std::vector<SlotMemory> two = one_machine(4, 0, 12 * kGiB);
  two[2].machine = two[3].machine = "boot-2";
  EXPECT_EQ(refusal(square(65536), DeviceKind::cuda, two), "");
}

TEST(ProductMemory, OfVirtualDevicesIsTheHosts) {
  const ProductMemory needs = memory_of(square(1024), 0, 1);
  EXPECT_EQ(refusal(square(1024), DeviceKind::virtual_device,
                    one_machine(1, 1, needs.device + needs.host)),
            "");
  EXPECT_NE(refusal(square(1024), DeviceKind::virtual_device,
                    one_machine(1, 1, needs.device + needs.host - 1)),
            "");
}

}  // namespace
}  // namespace tidemark
