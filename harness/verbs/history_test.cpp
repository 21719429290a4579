// The verbs history and export: what they say, return and write.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

/// Eight nights; the last four have another driver and a first case that is 10 % slower.
void write_nights(const ScratchFolder& folder) {
  const SyntheticFleet fleet = {.gpus = 8, .cases = 2, .seed = 3};
  for (std::uint32_t i = 0; i < 8; ++i) {
    Report report = synthetic_launch(fleet, i, i >= 4, {.first_case = -0.105});
    report.launch.created_unix_s = 1788220800 + 86400.0 * i;
    write_report(report, folder.file("night-" + std::to_string(i) + ".h5"));
  }
}

std::ptrdiff_t lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(HistoryVerb, TellsAChangeOfAFolderAndIsStill0) {
  const ScratchFolder folder;
  write_nights(folder);
  const Ran ran = run_binary({"history", folder.path()});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "HISTORY: 8 launches")) << ran.out;
  EXPECT_TRUE(has(ran.out, "worse  -9.8 %")) << ran.out;
  EXPECT_TRUE(has(ran.out, "driver 580.105.08 -> 590.44.01")) << ran.out;
}

TEST(HistoryVerb, WhatIsNoReportIsALineAndCountedAndTheRestIsRead) {
  const ScratchFolder folder;
  write_nights(folder);
  std::ofstream(folder.file("broken.h5")) << "no report";
  std::ofstream(folder.file("notes.txt")) << "not looked at";
  std::filesystem::copy_file(folder.file("night-0.h5"), folder.file("copy.h5"));
  const Ran ran = run_binary({"history", folder.path(), "--json"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(lines_in(ran.err), 2) << ran.err;
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json.at("launches").size(), 8U);
  EXPECT_EQ(json.at("refused").size(), 2U);
}

TEST(HistoryVerb, ALaunchAheadOfTheClockIsRefused) {
  const ScratchFolder folder;
  write_nights(folder);
  Report future = synthetic_launch({.gpus = 8, .cases = 2, .seed = 3}, 9, true, {});
  future.launch.created_unix_s = 5e9;
  write_report(future, folder.file("future.h5"));
  const Ran ran = run_binary({"history", folder.path(), "--junit"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(has(ran.err, "future.h5: its time, 2128-06-11T08:53:20Z, is ahead of this machine's"))
      << ran.err;
  const std::size_t at = ran.out.find("name=\"every report can be read\"");
  ASSERT_NE(at, std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("future.h5", at), std::string::npos) << ran.out;
}

TEST(HistoryVerb, TakesFilesAndSeveralFoldersAndWritesAPageAndATable) {
  const ScratchFolder folder;
  write_nights(folder);
  std::filesystem::create_directory(folder.file("later"));
  std::filesystem::rename(folder.file("night-7.h5"), folder.file("later/night-7.h5"));
  const std::vector<std::string> places = {"history", folder.file("night-0.h5"),
                                           folder.file("later"), "--pair", "number"};
  auto with = [&](const std::string& option) {
    std::vector<std::string> all = places;
    all.push_back(option);
    return run_binary(all);
  };
  EXPECT_TRUE(with("--html").out.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(with("--md").out.starts_with("## tidemark history\n"));
  EXPECT_TRUE(with("--junit").out.starts_with("<?xml version=\"1.0\""));
  // A heading; 2 launches x 2 metrics x (8 GPUs and the typical one); 2 launches x 2 cases.
  EXPECT_EQ(lines_in(with("--csv").out), 1 + 2 * 2 * 9 + 2 * 2);
}

TEST(HistoryVerb, TakesAStoreOfNightsAndNoNightTwice) {
  const ScratchFolder folder;
  write_nights(folder);
  for (const char* night : {"20260901T010000Z-580", "20260902T010000Z-580", ".tmp-abc"}) {
    std::filesystem::create_directory(folder.file(night));
  }
  std::filesystem::rename(folder.file("night-0.h5"),
                          folder.file("20260901T010000Z-580/launch-1.h5"));
  std::filesystem::rename(folder.file("night-1.h5"),
                          folder.file("20260902T010000Z-580/launch-1.h5"));
  std::filesystem::rename(folder.file("night-2.h5"), folder.file(".tmp-abc/launch-1.h5"));
  std::filesystem::create_directory_symlink("20260901T010000Z-580", folder.file("baseline"));
  const Ran ran = run_binary({"history", folder.path()});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(has(ran.out, "HISTORY: 7 launches")) << ran.out;
}

TEST(HistoryVerb, RefusesWhatHoldsNoReportWithOneLine) {
  const ScratchFolder folder;
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"history", folder.path()},
        {"history", folder.file("none")},
        {"history"},
        {"history", TIDEMARK_BASELINE, "--floor", "0"},
        {"history", TIDEMARK_BASELINE, "--pair", "name"},
        {"history", TIDEMARK_BASELINE, "--csv", "--json"}}) {
    const Ran ran = run_binary(wrong);
    EXPECT_EQ(ran.exit, 2) << wrong.back();
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(lines_in(ran.err), 1) << ran.err;
  }
}

TEST(ExportVerb, WritesBothFormatsToStdout) {
  const Ran prometheus = run_binary({"export", TIDEMARK_BASELINE, "--format", "prometheus"});
  EXPECT_EQ(prometheus.exit, 0) << prometheus.err;
  EXPECT_TRUE(has(prometheus.out, "\ntidemark_results{verdict=\"pass\",level=\"quick\","));
  const Ran ocp = run_binary({"export", TIDEMARK_BASELINE, "--format", "ocp"});
  EXPECT_EQ(ocp.exit, 0) << ocp.err;
  EXPECT_TRUE(ocp.out.starts_with("{\"schemaVersion\":{\"major\":2,\"minor\":0},"));
}

TEST(ExportVerb, ADrainListWithoutAGpuOfNoUsableNameEndsWith4) {
  const ScratchFolder folder;
  Report report = synthetic_launch({.gpus = 8, .cases = 2, .seed = 3}, 0, false, {});
  report.launch.is_virtual = false;
  for (ResultRow& result : report.results) result.verdict = Verdict::gpu_lost;
  report.gpus[0].uuid = FixedText<48>::of("GPU-\x1b;x");
  write_report(report, folder.file("x.h5"));
  const Ran ran = run_binary({"export", folder.file("x.h5"), "--format", "drain"});
  EXPECT_EQ(ran.exit, 4) << ran.err;
  EXPECT_EQ(lines_in(ran.out), 7) << ran.out;
  EXPECT_EQ(lines_in(ran.err), 1) << ran.err;
  EXPECT_TRUE(has(ran.err, "GPU 0: 'GPU-?;x' on '")) << ran.err;
}

TEST(ExportVerb, TheReferencesThatAreCarriedAreThoseOfTheUsualReports) {
  const std::filesystem::path folder = std::filesystem::path(TIDEMARK_BASELINE).parent_path();
  std::vector<std::string> words = {"export", "--format", "references"};
  std::ifstream usual(folder / "usual.txt");
  for (std::string name; std::getline(usual, name);) words.push_back(folder / name);
  const Ran ran = run_binary(words);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  std::ifstream file(folder / "../../reports/compare/speed/references.json");
  const std::string carried{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(ran.out == carried) << "write reports/compare/speed/references.json anew";
}

TEST(ExportVerb, ReplacesAFileInOneStep) {
  const ScratchFolder folder;
  std::ofstream(folder.file("x.prom")) << "old";
  const Ran ran = run_binary(
      {"export", TIDEMARK_BASELINE, "--format", "prometheus", "--out", folder.file("x.prom")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  std::ifstream file(folder.file("x.prom"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(text.starts_with("# HELP tidemark_report_info")) << text.substr(0, 100);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(ExportVerb, PutsNothingInThePlaceOfTheReportOrOfWhatIsNoPlainFile) {
  const ScratchFolder folder;
  const std::string report = folder.file("night.h5"), pipe = folder.file("pipe"),
                    link = folder.file("link");
  std::filesystem::copy_file(TIDEMARK_BASELINE, report);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(folder.file("elsewhere"), link);
  for (const std::string& out : {report, pipe, link}) {
    const Ran ran = run_binary({"export", report, "--format", "ocp", "--out", out});
    EXPECT_EQ(ran.exit, 2) << out;
    EXPECT_EQ(lines_in(ran.err), 1) << ran.err;
  }
  EXPECT_EQ(std::filesystem::file_size(report), std::filesystem::file_size(TIDEMARK_BASELINE));
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(ExportVerb, RefusesWhatItCannotDoWithOneLineAndWritesNothing) {
  const ScratchFolder folder;
  std::ofstream(folder.file("no_report.h5")) << "x";
  const std::string out = folder.file("x.prom");
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"export", TIDEMARK_BASELINE, "--format", "promethus"},
        {"export", TIDEMARK_BASELINE},
        {"export", folder.file("no_report.h5"), "--format", "ocp", "--out", out},
        {"export", TIDEMARK_BASELINE, "--format", "ocp", "--out", folder.file("none/x")},
        {"export", TIDEMARK_BASELINE, "--format", "ocp", "--out", folder.path()}}) {
    const Ran ran = run_binary(wrong);
    EXPECT_EQ(ran.exit, 2) << wrong.back();
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(lines_in(ran.err), 1) << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace tidemark
