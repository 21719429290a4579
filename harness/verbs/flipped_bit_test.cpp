// A bit that is wrong on one GPU of several, in whole launches of the built program: the
// distributed GEMM names the GPU.
#include <gtest/gtest.h>

#include <string>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

/// Verdicts of a case of all four GPUs, in their order: "pass pass fail pass".
std::string verdicts_with(const std::string& fault, const std::string& name) {
  const ScratchFolder folder;
  run_binary(
      {"run", "--device", "virtual", "--gpus", "4", "--cases", name, "--out", folder.file("x.h5")},
      {{"TIDEMARK_TEST_HOOK", fault + "@" + name + "#2"}});
  std::string verdicts;
  for (const ResultRow& result : read_report(folder.file("x.h5")).results)
    verdicts += std::string(verdicts.empty() ? "" : " ") + std::string(name_of(result.verdict));
  return verdicts;
}

TEST(FlippedBit, OfAPanelIsFoundOnItsGpu) {
  EXPECT_EQ(verdicts_with("gemm_bit_flip", "gemm.distributed.integer"), "pass pass fail pass");
  EXPECT_EQ(verdicts_with("gemm_bit_flip", "gemm.distributed.normal"), "pass pass fail pass");
}

TEST(FlippedBit, OfAResultIsFoundOnItsGpu) {
  EXPECT_EQ(verdicts_with("gemm_ulp", "gemm.distributed.normal"), "pass pass fail pass");
  EXPECT_EQ(verdicts_with("gemm_ulp", "gemm.distributed.vote"), "pass pass fail pass");
}

}  // namespace
}  // namespace tidemark
