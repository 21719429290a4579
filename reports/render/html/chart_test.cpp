// Plots and maps where their data is at its limits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reports/render/html/svg.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

StripPlot plot_of_samples(std::vector<double> samples) {
  return {.title = "rate",
          .unit = "ms",
          .rows = {{.label = "GPU 0", .samples = std::move(samples), .dots = {}}}};
}

std::size_t times(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

TEST(StripPlot, ValuesStandWhereTheAxisHasThem) {
  const std::string svg = svg_of(plot_of_samples({0, 100}));
  // The axis has 3 % to spare on each side: 180 + 840 * 3 / 106 and 180 + 840 * 103 / 106.
  EXPECT_TRUE(has(svg, "d=\"M203.8 13v12M996.2 13v12\"")) << svg;
  EXPECT_TRUE(has(svg, "x=\"203.8\" y=\"46\" text-anchor=\"middle\">0</text>")) << svg;
  EXPECT_TRUE(has(svg, "x=\"996.2\" y=\"46\" text-anchor=\"middle\">100</text>")) << svg;
}

TEST(StripPlot, IsNotThereWithoutAFiniteValue) {
  EXPECT_EQ(svg_of(plot_of_samples({})), "");
  EXPECT_EQ(svg_of(plot_of_samples({kNaN, HUGE_VAL})), "");
  EXPECT_EQ(svg_of(plot_of_samples({-0.87e308, 0.87e308})), "");
}

TEST(StripPlot, NumbersThatAreAllTheSameOrVerySmallHaveAnAxisToo) {
  for (const double value : {0.0, 5.0, -1e300, 5e-324, 1e17}) {
    const std::string svg = svg_of(plot_of_samples({value, value}));
    EXPECT_NE(svg, "") << value;
    EXPECT_FALSE(has(svg, "nan")) << svg;
    EXPECT_FALSE(has(svg, "inf")) << svg;
  }
}

TEST(StripPlot, OfVeryManyDotsTheOutermostAndThoseThatDoNotCountSayWhatTheyAre) {
  StripRow row{.label = "all GPUs", .samples = {}, .dots = {}};
  for (int i = 0; i < 1000; ++i) row.dots.push_back({.value = 1.0 * i, .label = "GPU"});
  row.dots[500].counts = false;
  const std::string svg = svg_of(StripPlot{.title = "rate", .unit = "ms", .rows = {row}});
  EXPECT_EQ(times(svg, "<title>"), 2 * kStripOutermost + 1);
  EXPECT_EQ(times(svg, "class=\"dot void\""), 1U);
  EXPECT_EQ(times(svg, "h0"), 1000 - 2 * kStripOutermost - 1);
  EXPECT_TRUE(has(svg, "cx=\"203.8\"")) << svg;  // the least
  EXPECT_TRUE(has(svg, "cx=\"996.2\"")) << svg;  // the greatest
}

TEST(StripPlot, OfVeryManyDotsThatDoNotCountFewSayWhatTheyAre) {
  StripRow row{.label = "all GPUs", .samples = {}, .dots = {}};
  for (int i = 0; i < 1000; ++i) {
    row.dots.push_back({.value = 1.0 * i, .label = "GPU", .counts = false});
  }
  const std::string svg = svg_of(StripPlot{.title = "rate", .unit = "ms", .rows = {row}});
  EXPECT_EQ(times(svg, "<title>"), kStripOutermost);
  EXPECT_EQ(times(svg, "class=\"crowd void\""), 1U);
  EXPECT_EQ(times(svg, "class=\"crowd\""), 0U);
}

TEST(StripPlot, OfFewDotsEachSaysWhatItIs) {
  StripRow row{.label = "n07", .samples = {}, .dots = {}};
  for (int i = 0; i < 128; ++i) row.dots.push_back({.value = 1.0 * i, .label = "GPU"});
  const std::string svg = svg_of(StripPlot{.title = "rate", .unit = "ms", .rows = {row}});
  EXPECT_EQ(times(svg, "<title>"), 128U);
  EXPECT_EQ(times(svg, "crowd"), 0U);
}

TEST(StripPlot, OfManySamplesTheLeastAndTheGreatestAreDrawn) {
  std::vector<double> samples;
  for (int i = 0; i <= 10'000; ++i) samples.push_back(i);
  const std::string svg = svg_of(plot_of_samples(samples));
  EXPECT_EQ(times(svg, "v12"), kStripSamples);
  EXPECT_TRUE(has(svg, "\"M203.8 13v12")) << svg;
  EXPECT_TRUE(has(svg, "M996.2 13v12\"")) << svg;
}

TEST(HeatMap, ACellHasItsColourItsLetterAndItsWords) {
  const std::string svg =
      svg_of(HeatMap{.title = "m",
                     .rows = {"node07"},
                     .columns = {"zfill.side", "load.tile"},
                     .cells = {{{.kind = HeatKind::bad, .mark = 'H', .label = "hang <there>"},
                                {.kind = HeatKind::good, .shade = -0.5}}}});
  EXPECT_TRUE(has(svg, "class=\"cell-bad\""));
  EXPECT_TRUE(has(svg, ">H</text>"));
  EXPECT_TRUE(has(svg, "<title>hang &lt;there&gt;</title>"));
  EXPECT_TRUE(has(svg, "class=\"slower\""));
  EXPECT_TRUE(has(svg, "fill-opacity=\"0.50\""));
}

TEST(HeatMap, NamesThatAreCutSayIt) {
  const std::string svg = svg_of(HeatMap{.title = "m",
                                         .rows = {std::string(60, 'n')},
                                         .columns = {std::string(60, 'c')},
                                         .cells = {{{}}}});
  EXPECT_TRUE(has(svg, ">" + std::string(26, 'n') + "..<")) << svg;
  EXPECT_TRUE(has(svg, ">" + std::string(38, 'c') + "..<")) << svg;
}

TEST(HeatMap, IsNotThereWithoutCells) {
  EXPECT_EQ(svg_of(HeatMap{.title = "m", .rows = {}, .columns = {"a"}, .cells = {}}), "");
}

}  // namespace
}  // namespace tidemark
