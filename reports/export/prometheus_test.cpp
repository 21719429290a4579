// The text format, read by the rules of its specification and by nothing of ours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "reports/export/export.hpp"
#include "reports/journal/record.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/slowed_report.hpp"

namespace tidemark {
namespace {

struct Parsed {
  std::map<std::string, std::string> samples;  // name and labels as they stand: value
  std::set<std::string> families;
  std::string error;  // the first line that breaks a rule
};

bool is_name(const std::string& text, bool colons) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && !(colons && c == ':')) {
      return false;
    }
  }
  return true;
}

/// The end of `{label="value",...}` that starts at `at`; npos where it breaks a rule.
std::size_t end_of_labels(const std::string& line, std::size_t at) {
  std::set<std::string> labels;
  while (true) {
    const std::size_t equals = line.find('=', at + 1);
    if (equals == std::string::npos) return equals;
    const std::string label = line.substr(at + 1, equals - at - 1);
    if (!is_name(label, false) || label.starts_with("__") || !labels.insert(label).second ||
        line[equals + 1] != '"') {
      return std::string::npos;
    }
    at = equals + 2;
    for (; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] != '\\') continue;
      ++at;
      if (at >= line.size() || std::string("\\\"n").find(line[at]) == std::string::npos) {
        return std::string::npos;
      }
    }
    if (++at >= line.size()) return std::string::npos;
    if (line[at] == '}') return at + 1;
    if (line[at] != ',') return std::string::npos;
  }
}

bool is_number(const std::string& text) {
  if (text == "NaN" || text == "+Inf" || text == "-Inf") return true;
  std::size_t used = 0;
  try {
    std::stod(text, &used);
  } catch (const std::exception&) {
    return false;
  }
  return used == text.size() && !text.empty();
}

Parsed parsed(const std::string& text) {
  Parsed made;
  if (text.empty() || text.back() != '\n') made.error = "no newline at the end";
  std::istringstream lines(text);
  std::string family, help;
  for (std::string line; std::getline(lines, line) && made.error.empty();) {
    std::istringstream words(line);
    std::string hash, keyword, name, type;
    if (line.starts_with("# HELP ")) {
      words >> hash >> keyword >> help;
      if (!is_name(help, true)) made.error = line;
    } else if (line.starts_with("# TYPE ")) {
      words >> hash >> keyword >> family >> type;
      // Of one family once, behind its HELP, before its samples.
      if (type != "gauge" || family != help || !made.families.insert(family).second) {
        made.error = line;
      }
    } else {
      const std::size_t end = line.find_first_of("{ ");
      const std::size_t labels =
          end != std::string::npos && line[end] == '{' ? end_of_labels(line, end) : end;
      if (labels == std::string::npos || line.substr(0, end) != family || line[labels] != ' ' ||
          !is_number(line.substr(labels + 1)) ||
          !made.samples.emplace(line.substr(0, labels), line.substr(labels + 1)).second) {
        made.error = line;
      }
    }
  }
  return made;
}

const char* const kGpu1 =
    "gpu=\"1\",node=\"node07.acme.example\",uuid=\"GPU-77aa88bb-0000-1111-2222-333344445555\"";

/// What says of each sample which report it is of.
const std::string kReport = "level=\"quick\",first_node=\"node07.acme.example\",launch=\"2\"}";

TEST(Prometheus, IsWhatItsFormatAllows) {
  const Parsed made = parsed(prometheus_of(example()));
  EXPECT_EQ(made.error, "");
  EXPECT_TRUE(made.families.contains("tidemark_report_info"));
}

TEST(Prometheus, IsWhatItsFormatAllowsInFull) {
  EXPECT_EQ(parsed(all_prometheus_of(example())).error, "");
}

TEST(Prometheus, SumsAreThoseOfTheCases) {
  const Report report = example();
  const auto few = parsed(prometheus_of(report)).samples;
  double failed = 0;
  for (const auto& [name, value] : parsed(all_prometheus_of(report)).samples)
    if (name.starts_with("tidemark_case_rows_failed")) failed += std::stod(value);
  for (const auto& [name, value] : few)
    if (name.starts_with("tidemark_gpu_rows_failed")) failed -= std::stod(value);
  EXPECT_EQ(failed, 0);
}

TEST(Prometheus, SaysTheVerdictOfEachCaseAndGpu) {
  const auto samples = parsed(prometheus_of(example())).samples;
  const std::string labels = fmt::format("{{case=\"zfill.corner\",{},{}", kGpu1, kReport);
  EXPECT_EQ(samples.at("tidemark_case_verdict" + labels), "1");
  EXPECT_EQ(samples.at("tidemark_case_failed" + labels), "1");
  EXPECT_EQ(samples.at("tidemark_case_rows_failed" + labels), "1");
  const std::string passed =
      fmt::format("tidemark_case_failed{{case=\"load.tile.2d\",{},{}", kGpu1, kReport);
  EXPECT_EQ(samples.count(passed), 0U);
  EXPECT_EQ(parsed(all_prometheus_of(example())).samples.at(passed), "0");
  EXPECT_EQ(samples.at(fmt::format("tidemark_gpu_cases_failed{{{},{}", kGpu1, kReport)), "1");
  EXPECT_EQ(samples.at("tidemark_results{verdict=\"pass\"," + kReport), "5");
  EXPECT_EQ(samples.at("tidemark_results{verdict=\"fail\"," + kReport), "1");
  EXPECT_EQ(samples.at("tidemark_results{verdict=\"not_run\"," + kReport), "0");
}

TEST(Prometheus, WhatDidNotRunHasFailedAndWhatWasSkippedHasNot) {
  Report report = example();
  report.results[0].verdict = Verdict::not_run;
  report.results[1].verdict = Verdict::skip;
  std::size_t failed = 0;
  for (const auto& [name, value] : parsed(prometheus_of(report)).samples) {
    failed += name.starts_with("tidemark_case_failed") && value == "1" ? 1U : 0U;
  }
  EXPECT_EQ(failed, 2U);  // and zfill.corner on GPU 1
}

TEST(Prometheus, HasNoSeriesOfWhatNvmlRefused) {
  Report report = example();
  GpuRow& gpu = report.gpus[1];
  gpu.power_limit_w = NAN;
  gpu.nvlinks_up = gpu.remapped_rows_pending = 0xffffffff;
  gpu.ecc_uncorrected = ~std::uint64_t{};
  const auto samples = parsed(prometheus_of(report)).samples;
  for (const char* name :
       {"power_limit_watts", "nvlinks_up", "ecc_uncorrected", "remapped_rows_pending"})
    EXPECT_FALSE(samples.contains(fmt::format("tidemark_gpu_{}{{{}}}", name, kGpu1))) << name;
}

TEST(Prometheus, NamesWhatWasLeftOut) {
  Report report = example();
  report.strings.insert(report.strings.end(),
                        {std::string(kLeftOut), "rank 1 on host node08 has no NVIDIA device"});
  const auto last = static_cast<std::uint32_t>(report.strings.size() - 1);
  for (int i = 0; i < 2; ++i)  // twice is one sample
    report.events.push_back({.gpu_id = kNoRow, .source = last - 1, .text = last});
  EXPECT_EQ(parsed(prometheus_of(report))
                .samples.at("tidemark_left_out{reason=\"rank 1 on host node08 has no NVIDIA "
                            "device\"," +
                            kReport),
            "1");
}

TEST(Prometheus, HasMediansOfPassesAlone) {
  Report report = example();
  const std::string name = fmt::format(
      "tidemark_metric_median{{case=\"gemm.distributed.speed\",metric=\"rate\",unit=\"TFLOP/"
      "s\",{},{}",
      kGpu1, kReport);
  EXPECT_EQ(parsed(prometheus_of(report)).samples.at(name), "691");
  for (ResultRow& result : report.results) result.verdict = Verdict::fail;
  EXPECT_EQ(parsed(prometheus_of(report)).samples.count(name), 0U);
}

TEST(Prometheus, EveryNumberThatWasSlowedOnPurposeSaysSo) {
  const Parsed made = parsed(all_prometheus_of(slowed_report()));
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.samples.at("tidemark_case_slowed{case=\"gemm.distributed.speed\",share=\"3%\"," +
                            kReport),
            "1");
  std::size_t numbers = 0;
  for (const auto& [name, value] : made.samples) {
    if (!name.starts_with("tidemark_metric_")) continue;
    EXPECT_TRUE(name.ends_with("slowed=\"3%\"," + kReport)) << name;
    ++numbers;
  }
  EXPECT_EQ(numbers, 6U);
}

TEST(Prometheus, EverySampleOfAVirtualRunSaysSo) {
  Report report = example();
  report.launch.is_virtual = true;
  const Parsed made = parsed(prometheus_of(report));
  EXPECT_EQ(made.error, "");
  for (const auto& [name, value] : made.samples) {
    EXPECT_TRUE(name.ends_with("virtual=\"1\"}")) << name;
  }
  for (const auto& [name, value] : parsed(prometheus_of(example())).samples) {
    EXPECT_FALSE(has(name, "virtual=")) << name;
  }
}

/// Samples that two files of one folder would both have: one of them would be lost.
std::size_t shared_samples(const Report& one, const Report& other) {
  const auto others = parsed(prometheus_of(other)).samples;
  std::size_t shared = 0;
  for (const auto& [name, value] : parsed(prometheus_of(one)).samples) shared += others.count(name);
  return shared;
}

TEST(Prometheus, ReportsOfTwoLevelsShareNoSample) {
  Report night = example();
  night.launch.level = "nightly";
  EXPECT_EQ(shared_samples(example(), night), 0U);
}

TEST(Prometheus, ReportsOfTwoPoolsShareNoSample) {
  Report pool = example();
  pool.strings[pool.nodes.at(0).hostname] = "node99";
  EXPECT_EQ(shared_samples(example(), pool), 0U);
}

TEST(Prometheus, HostileTextStaysInItsLabel) {
  const Parsed made = parsed(prometheus_of(hostile_report()));
  EXPECT_EQ(made.error, "");
  const Parsed backslashes = parsed(prometheus_of(hostile_report("\\\n\"{}=,\\\"\\")));
  EXPECT_EQ(backslashes.error, "");
}

TEST(Prometheus, OneThingTwiceIsRefused) {
  Report report = example();
  report.results[1].case_id = report.results[0].case_id;
  report.results[1].gpu_id = report.results[0].gpu_id;
  EXPECT_THROW(all_prometheus_of(report), ReportError);
}

}  // namespace
}  // namespace tidemark
