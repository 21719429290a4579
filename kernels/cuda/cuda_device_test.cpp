// The GPUs that CUDA shows, by their UUIDs.
#include "kernels/cuda/cuda_device.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(UuidText, ReadsAsNvidiaSmiPrintsIt) {
  EXPECT_EQ(uuid_text("GPU", {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x00, 0x11, 0x22,
                              0x33, 0x44, 0x55, 0x66, 0x77}),
            "GPU-01234567-89ab-cdef-0011-223344556677");
}

TEST(UuidText, ASliceSaysSo) {
  EXPECT_EQ(uuid_text("MIG", {}), "MIG-00000000-0000-0000-0000-000000000000");
}

}  // namespace

}  // namespace tidemark
