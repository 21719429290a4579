// What a row came to, of what its device handed back or refused.
#include "suite/runner.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(FaultVerdict, AWaitForOtherGpusIsNoTimeoutOfThisOne) {
  EXPECT_EQ(fault_verdict(DeviceFault::others_late, 0, "", 0).judgement, Judgement::others_late);
  EXPECT_EQ(fault_verdict(DeviceFault::timeout, 0, "", 0).judgement, Judgement::timeout);
}

TEST(FaultVerdict, AWaitForOtherGpusEndsTheCase) {
  EXPECT_FALSE(fault_verdict(DeviceFault::others_late, 0, "", 0).usable);
}

TEST(FaultVerdict, AWaitForOtherGpusNamesTheRowAndTheGpu) {
  EXPECT_EQ(fault_verdict(DeviceFault::others_late, 0, "waits for GPU 3", 2).reason,
            "row 2: a bounded wait for other GPUs ended by its bound: waits for GPU 3");
}

TEST(FaultVerdict, ACodeOfTheDriverIsSaid) {
  EXPECT_EQ(fault_verdict(DeviceFault::encode_refused, 1, "CUDA_ERROR_INVALID_VALUE", 0).reason,
            "row 0: the driver refused a legal tensor map (code 1): CUDA_ERROR_INVALID_VALUE");
}

}  // namespace

}  // namespace tidemark
