// The verb predict: what it prints, and one line for wrong input.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

using Words = std::vector<std::string>;

Ran predicted(const Words& words) {
  Words all = {"predict"};
  all.insert(all.end(), words.begin(), words.end());
  return run_binary(all);
}

nlohmann::json json_of(Words words) {
  words.emplace_back("--json");
  const Ran ran = predicted(words);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  return nlohmann::json::parse(ran.out);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(PredictVerb, SaysTimeRateEfficiencyBottleneckAndWhereNumbersAreFrom) {
  const Ran ran = predicted({"--n", "16384", "--rate", "790", "--link", "370"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out,
            "C = A B, 16384 x 16384 x 16384 (m x n x k), bf16, on 8 GPUs, 1 node, grid 2 x 4\n"
            "time        1.412 ms\n"
            "rate        6230 TFLOP/s\n"
            "efficiency  98.6 %\n"
            "bottleneck  product\n"
            "busy: product 1.392 ms, link 0.7255 ms, network 0 ms, fixed cost 0.02 ms; waiting "
            "for panels 0 ms\n"
            "from\n"
            "  790 TFLOP/s a GPU: --rate\n"
            "  370 GB/s a GPU from its node: --link\n"
            "  20 us fixed cost: default, not measured\n");
}

TEST(PredictVerb, TakesRatesFromAReport) {
  const nlohmann::json json =
      json_of({"--n", "8192", "--gpus-per-node", "4", "--report", TIDEMARK_BASELINE});
  EXPECT_NEAR(json.at("flops_per_gpu").at("value"), 798.9e12, 0.1e12);
  EXPECT_EQ(json.at("flops_per_gpu").at("from"),
            "rate and efficiency at 8192 of gemm.distributed.speed");
  EXPECT_NEAR(json.at("link_bytes_per_s").at("value"), 270.0e9, 0.1e9);
  const nlohmann::json& only = json.at("predictions").at(0);
  EXPECT_EQ(only.at("gpus"), 4);
  EXPECT_EQ(only.at("grid"), nlohmann::json({2, 2}));
  EXPECT_EQ(only.at("bottleneck"), "product");
}

TEST(PredictVerb, OptionsCountBeforeTheReport) {
  const nlohmann::json json =
      json_of({"--n", "8192", "--report", TIDEMARK_BASELINE, "--rate", "500", "--fixed-us", "0"});
  EXPECT_EQ(json.at("flops_per_gpu").at("value"), 500e12);
  EXPECT_EQ(json.at("flops_per_gpu").at("from"), "--rate");
  EXPECT_EQ(json.at("fixed_s"), 0);
  EXPECT_EQ(json.at("link_bytes_per_s").at("from"), "exchange at 8192 of gemm.distributed.speed");
}

TEST(PredictVerb, JsonHasWhatTheTextHas) {
  const nlohmann::json json =
      json_of({"--n", "4096", "--m", "8192", "--k", "1024", "--rate", "700", "--link", "300"});
  EXPECT_EQ(json.at("m"), 8192);
  EXPECT_EQ(json.at("n"), 4096);
  EXPECT_EQ(json.at("k"), 1024);
  EXPECT_EQ(json.at("network_bytes_per_s"), nullptr);
  const nlohmann::json& only = json.at("predictions").at(0);
  const double seconds = only.at("seconds");
  EXPECT_DOUBLE_EQ(only.at("flops"), 2.0 * 8192 * 4096 * 1024 / seconds);
  EXPECT_NEAR(seconds,
              only.at("product_s").get<double>() + only.at("wait_s").get<double>() +
                  only.at("fixed_s").get<double>(),
              1e-12);
}

TEST(PredictVerb, OneGpuNeedsNoLink) {
  const nlohmann::json json = json_of({"--n", "8192", "--rate", "700", "--gpus-per-node", "1"});
  EXPECT_EQ(json.at("predictions").at(0).at("efficiency"), 1);
}

TEST(PredictVerb, OneGpuANodeNeedsNoLinkAndWaitsForItsNetwork) {
  const Words words = {"--n", "16384",  "--nodes", "8",         "--gpus-per-node",
                       "1",   "--rate", "700",     "--network", "5"};
  Words with_link = words;
  with_link.insert(with_link.end(), {"--link", "450"});
  const nlohmann::json json = json_of(words);
  EXPECT_EQ(json.at("predictions"), json_of(with_link).at("predictions"));
  const nlohmann::json& only = json.at("predictions").at(0);
  EXPECT_GT(only.at("seconds").get<double>(), only.at("network_s").get<double>());
  EXPECT_EQ(only.at("link_s"), 0);
}

TEST(PredictVerb, RefusesAReportThatWasSlowedOnPurpose) {
  const ScratchFolder folder;
  const std::string report = folder.file("slowed.h5");
  Report slowed = read_report(TIDEMARK_BASELINE);
  slowed.strings.insert(slowed.strings.end(), {"slow.gemm.local.speed", "3 %"});
  const auto end = static_cast<std::uint32_t>(slowed.strings.size());
  slowed.provenance.push_back({.key = end - 2, .value = end - 1});
  write_report(slowed, report);
  const Ran ran = predicted({"--n", "8192", "--report", report});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "slowed on purpose")) << ran.err;
}

TEST(PredictVerb, TableGoesFrom8To1024Gpus) {
  const Words words = {"--n",    "65536", "--table",   "--rate", "790",
                       "--link", "370",   "--network", "46"};
  const Ran ran = predicted(words);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 2 + 8 + 5) << ran.out;
  EXPECT_TRUE(has(ran.out, "\n    8      1    2 x 4 ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "\n 1024    128  32 x 32 ")) << ran.out;
  const nlohmann::json rows = json_of(words).at("predictions");
  ASSERT_EQ(rows.size(), 8U);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i)
    EXPECT_GE(rows[i].at("seconds").get<double>() * (1 + 1e-9),
              rows[i + 1].at("seconds").get<double>());
}

TEST(PredictVerb, RefusesAReportOfTheVirtualDevice) {
  const ScratchFolder folder;
  const std::string report = folder.file("virtual.h5");
  ASSERT_EQ(run_binary({"run", "--device", "virtual", "--gpus", "1", "--cases",
                        "scenario.mojo.add_one", "--out", report})
                .exit,
            0);
  const Ran ran = predicted({"--n", "8192", "--report", report});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "made on the virtual device")) << ran.err;
}

TEST(PredictVerb, RefusesWhatItCannotReckonWithByOneLine) {
  for (const auto& [words, part] : std::vector<std::pair<Words, std::string>>{
           {{}, "--n is required"},
           {{"--n", "0", "--rate", "1"}, "--n '0': give a whole number, 1 to 16777216"},
           {{"--n", "8192", "--k", "1.5"}, "--k '1.5'"},
           {{"--n", "8192"}, "no rate of one GPU; give --rate TFLOPS"},
           {{"--n", "8192", "--rate", "-1"}, "--rate '-1': give TFLOP/s, above 0"},
           {{"--n", "8192", "--rate", "1"}, "no rate of a link within one node; give --link GB/s"},
           {{"--n", "8192", "--rate", "1", "--link", "inf"}, "--link 'inf'"},
           {{"--n", "8192", "--rate", "1", "--link", "1", "--nodes", "2"},
            "16 GPUs, 8 a node, need a network; give --network GB/s"},
           {{"--n", "8192", "--report", TIDEMARK_BASELINE, "--table"}, "give --network GB/s"},
           {{"--n", "8192", "--rate", "1", "--link", "1", "--nodes", "513"},
            "--nodes '513': 4104 GPUs, 8 a node; give at most 4096 GPUs"},
           {{"--n", "8192", "--nodes", "2", "--table"}, "excludes"},
           {{"--n", "8192", "--rate", "1", "--fixed-us", "-1"}, "--fixed-us '-1'"},
           {{"--n", "8192", "--report", "/etc/os-release"}, "/etc/os-release"},
           {{"--n", "8192", "--report", "/none.h5"}, "/none.h5"},
           {{"--n", "8192", "--rates", "1"}, "did you mean '--rate'"}}) {
    const Ran ran = predicted(words);
    EXPECT_EQ(ran.exit, 2) << part;
    EXPECT_EQ(ran.out, "") << part;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_TRUE(has(ran.err, part)) << ran.err;
  }
}

}  // namespace
}  // namespace tidemark
