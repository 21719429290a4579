// CSV of a report, as Python's reader takes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/foreign_reader.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/slowed_report.hpp"

namespace tidemark {
namespace {

/// What a Python program says that has the lines of the report's CSV in `rows`.
std::string said_of(const Report& report, const std::string& program) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("a.csv")) << show(report, {}, "csv");
  std::ofstream(scratch.file("read.py")) << "import csv\nrows = list(csv.reader(open('"
                                         << scratch.file("a.csv") << "', newline='')))\n"
                                         << program;
  return output_of(fmt::format("python3 {} 2>&1", scratch.file("read.py")));
}

TEST(ShowCsv, HasALineAResultAndALineAMetric) {
  if (first_program({"python3"}).empty()) GTEST_SKIP() << "no python3: a reader was not tried";
  EXPECT_EQ(said_of(example(), R"(
print(len(rows), {len(row) for row in rows})
table = [dict(zip(rows[0], row)) for row in rows[1:]]
for row in (row for row in table if row["kind"] != "sm"):
    print(row["result_id"], row["case"], row["node"], row["gpu"], row["verdict"], row["rows_run"],
          row["reason"], row["metric"], row["median"], row["unit"], row["sm_mhz"], row["n"])
)"),
            "11 {31}\n"
            "0 load.tile.2d node07.acme.example 0 pass 12      \n"
            "1 load.tile.2d node07.acme.example 1 pass 12      \n"
            "2 zfill.corner node07.acme.example 0 pass 12      \n"
            "3 zfill.corner node07.acme.example 1 fail 12 1 of 12 rows moved wrong bytes     \n"
            "4 gemm.distributed.speed node07.acme.example 0 pass 12  rate 701 TFLOP/s 1710 3\n"
            "5 gemm.distributed.speed node07.acme.example 1 pass 12  rate 691 TFLOP/s 1710 3\n");
}

TEST(ShowCsv, EveryLineOfACaseSlowedOnPurposeSaysSo) {
  const std::string text = show(slowed_report(), {}, "csv");
  std::size_t named = 0;
  for (std::size_t at = 0; (at = text.find(",3%,\n", at)) != std::string::npos; ++at) ++named;
  EXPECT_EQ(named, 2U) << text;
}

TEST(ShowCsv, AVirtualDeviceIsNamedInEveryLine) {
  Report report = example();
  report.launch.is_virtual = true;
  const std::string text = show(report, {}, "csv");
  std::size_t named = 0;
  for (std::size_t at = 0; (at = text.find(",VIRTUAL,", at)) != std::string::npos; ++at) ++named;
  EXPECT_EQ(named, 10U) << "six results and four SMs";
}

TEST(ShowCsv, NothingHostileBecomesAFieldALineOrAFormula) {
  if (first_program({"python3"}).empty()) GTEST_SKIP() << "no python3: a reader was not tried";
  const std::string formula = "=cmd|' /C calc'!A0,\",\"\r\n@x\x1b[31m";
  EXPECT_EQ(said_of(hostile_report(formula), R"(
print(len(rows), {len(row) for row in rows})
fields = [field for row in rows for field in row]
print([f for f in fields if f.lstrip()[:1] in ("=", "+", "-", "@")])
print(all(" " <= c <= "~" for field in fields for c in field))
print(any("cmd|" in field for field in fields))
)"),
            "11 {31}\n[]\nTrue\nTrue\n");
}

}  // namespace
}  // namespace tidemark
