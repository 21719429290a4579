// A product is tuned on the GPU, as quickly as it can be, and what came of it is read back.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/cuda/gemm/tuning/gemm_tuning.hpp"
#include "kernels/cuda/gpu_test.hpp"

namespace tidemark::kernels {
namespace {

class TuningGpuTest : public GpuTest {};

constexpr GemmShape kProduct{.m = 256, .n = 256, .k = 256};
constexpr TuningEffort kLittle{.warm_s = 0,
                               .race_rounds = 1,
                               .finalists = 1,
                               .pairs = 3,
                               .settle_s = 0.02,
                               .sample_s = 0.02,
                               .rest_s = 0.01};

TEST_F(TuningGpuTest, EveryConfigurationIsTriedAndExactOrRefused) {
  const TriedProduct tried = try_configurations(kProduct, kLittle, embedded_gemm_table());
  EXPECT_EQ(tried.fault, "");
  EXPECT_FALSE(tried.cut_short);
  ASSERT_EQ(tried.all.size(), gemm_configuration_names().size());
  for (const TriedConfiguration& one : tried.all)
    EXPECT_NE(one.standing, TriedConfiguration::Standing::wrong) << one.name << one.trouble;
}

TEST_F(TuningGpuTest, PresentOneAndTheFastestHaveAllTheirPairs) {
  const TriedProduct tried = try_configurations(kProduct, kLittle, embedded_gemm_table());
  EXPECT_EQ(tried.present, "64x128_1x1_s7_turn_m8_early");
  std::size_t with_pairs = 0;
  for (const TriedConfiguration& one : tried.all) {
    if (one.at_work.empty()) continue;
    ++with_pairs;
    EXPECT_EQ(one.at_work.size(), 3U) << one.name;
    EXPECT_EQ(one.rested.size(), 3U) << one.name;
    for (const PairTimes& pair : one.at_work) EXPECT_GT(pair.ours_ns, 0) << one.name;
  }
  EXPECT_GE(with_pairs, 1U);
  EXPECT_LE(with_pairs, 2U);
}

TEST_F(TuningGpuTest, BudgetThatIsOverLeavesNothingDecided) {
  TuningEffort none = kLittle;
  none.budget_s = 1e-9;
  const TriedProduct tried = try_configurations(kProduct, none, embedded_gemm_table());
  EXPECT_TRUE(tried.cut_short);
  EXPECT_EQ(verdict_of(tried).kind, TuningVerdict::Kind::undecided);
}

TEST_F(TuningGpuTest, ChoiceThatWasMadeIsReadBackFromItsFileAndTaken) {
  const TuningVerdict verdict =
      verdict_of(try_configurations(kProduct, kLittle, embedded_gemm_table()));
  ASSERT_NE(verdict.kind, TuningVerdict::Kind::broken) << verdict.reason;
  GemmTable table = embedded_gemm_table();
  const std::vector<std::string> names = gemm_configuration_names();
  const auto found = std::find(names.begin(), names.end(), verdict.configuration);
  ASSERT_NE(found, names.end()) << verdict.configuration;
  table.choices = {{.product = kProduct,
                    .configuration = verdict.configuration,
                    .number = static_cast<std::uint32_t>(found - names.begin()) + 1}};
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + ".tuned.json");
  std::ofstream(path) << json_of(table);
  const GemmTable read = read_gemm_table(path.string());
  EXPECT_EQ(name_of(chosen_configuration(read, kProduct.m, kProduct.n, kProduct.k)),
            verdict.configuration);
  EXPECT_EQ(hash_of(read), hash_of(table));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tidemark::kernels
