// Errors of CUDA, and waits that end.
#include "kernels/cuda/check.hpp"

#include <gtest/gtest.h>
#include <string>

namespace tidemark {
namespace {

TEST(CudaCheck, SuccessPasses) { EXPECT_NO_THROW(cuda_check(cudaSuccess, "do nothing")); }

TEST(CudaCheck, NamesWhatWasTriedAndTheError) {
  try {
    cuda_check(cudaErrorMemoryAllocation, "allocate the source");
    FAIL() << "an error passed";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "allocate the source: cudaErrorMemoryAllocation (2): out of memory");
    EXPECT_NE(std::string(error.where().file).find("check_test.cpp"), std::string::npos);
  }
}

TEST(CudaCheck, IllegalInstructionIsStickyAndKeepsItsCode) {
  try {
    cuda_check(cudaErrorIllegalInstruction, "run a row");
    FAIL() << "an error passed";
  } catch (const StickyError& error) {
    EXPECT_EQ(error.code, cudaErrorIllegalInstruction);
  }
}

TEST(CudaCheck, OutOfMemoryIsNotSticky) {
  EXPECT_FALSE(is_sticky(cudaErrorMemoryAllocation));
  EXPECT_FALSE(is_sticky(cudaErrorInvalidValue));
  EXPECT_FALSE(is_sticky(cudaErrorNotReady));
}

TEST(CudaCheck, DeviceFaultsAreSticky) {
  EXPECT_TRUE(is_sticky(cudaErrorIllegalAddress));
  EXPECT_TRUE(is_sticky(cudaErrorLaunchTimeout));
  EXPECT_TRUE(is_sticky(cudaErrorIllegalInstruction));
  EXPECT_TRUE(is_sticky(cudaErrorMisalignedAddress));
  EXPECT_TRUE(is_sticky(cudaErrorLaunchFailure));
  EXPECT_TRUE(is_sticky(cudaErrorECCUncorrectable));
}

}  // namespace

}  // namespace tidemark
