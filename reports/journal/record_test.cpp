// Records as lines: what is written comes back, and what is damaged is counted, not believed.
#include "reports/journal/record.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "reports/journal/record_fields.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

template <class R>
R read_back(const R& record) {
  const JournalText journal = parse_journal(to_line(record));
  if (journal.records.size() != 1) throw std::runtime_error("not one record");
  return std::get<R>(journal.records[0]);
}

/// A line of any text with the CRC that belongs to it.
std::string with_crc(const std::string& covered) {
  char crc[16];
  const auto* bytes = reinterpret_cast<const Bytef*>(covered.data());
  std::snprintf(crc, sizeof crc, "%08lx", crc32_z(0, bytes, covered.size()));
  return covered + ",\"crc\":\"" + crc + "\"}\n";
}

TEST(Record, TheLineIsOneJsonObjectWithTypeFirstAndCrcLast) {
  const std::string line = to_line(EndRecord{.rank = 7, .at_unix_s = 2.5});
  EXPECT_EQ(line, with_crc(R"({"type":"end","rank":7,"at":2.5,"complete":true,"reason":"")"));
}

TEST(Record, ALaterFieldIsLeftOutOnlyWhereItIsUnknown) {
  FieldWriter<void> writer;
  writer.later("ecc", 0, -1);
  writer.later("mig", -1, -1);
  writer.later("links", 0U);
  EXPECT_EQ(writer.json.dump(), R"({"ecc":0})");
}

TEST(Record, ALaunchComesBackWhole) {
  const LaunchRecord launch = read_back(example_launch(1));
  EXPECT_EQ(launch.rank, 1U);
  EXPECT_EQ(launch.seed, 0xfedcba9876543210);
  EXPECT_EQ(launch.created_unix_s, 1788220800.25);
  EXPECT_EQ(launch.arguments, example_launch(1).arguments);
  EXPECT_EQ(launch.environment, example_launch(1).environment);
  ASSERT_EQ(launch.cases.size(), 3U);
  EXPECT_EQ(launch.cases[2].name, "gemm.distributed.speed");
  EXPECT_EQ(launch.cases[2].scope, "all_gpus");
}

TEST(Record, AFieldThatCameLaterIsReadAndMayBeMissing) {
  LaunchRecord launch = example_launch(1);
  EXPECT_FALSE(has(to_line(launch), "gemm_table"));
  EXPECT_EQ(read_back(launch).gemm_table_hash, "");
  launch.gemm_table = "h200.json";
  launch.gemm_table_hash = "0123456789abcdef";
  EXPECT_EQ(read_back(launch).gemm_table, "h200.json");
  EXPECT_EQ(read_back(launch).gemm_table_hash, "0123456789abcdef");
}

TEST(Record, RowsBySmAreReadAndMayBeMissing) {
  OutcomeRecord outcome = example_failure(1, "zfill.corner");
  EXPECT_EQ(read_back(outcome).sm_rows_run, (std::vector<std::uint32_t>{12, 0, 4}));
  EXPECT_EQ(read_back(outcome).sm_rows_failed, (std::vector<std::uint32_t>{0, 0, 1}));
  outcome.sm_rows_run.clear(), outcome.sm_rows_failed.clear();
  EXPECT_FALSE(has(to_line(outcome), "sm_rows"));
  EXPECT_TRUE(read_back(outcome).sm_rows_run.empty());
}

TEST(Record, AnOutcomeComesBackWithItsMiscomparesAndSamples) {
  OutcomeRecord outcome = example_failure(1, "zfill.corner");
  outcome.metrics = example_speed(1, 690).metrics;
  outcome.notes = {"padded to 64", "second"};
  const OutcomeRecord back = read_back(outcome);
  EXPECT_EQ(back.verdict, Verdict::fail);
  EXPECT_EQ(back.notes, outcome.notes);
  ASSERT_EQ(back.miscompares.size(), 1U);
  EXPECT_EQ(back.miscompares[0].coordinate, (std::array<std::int64_t, 5>{3, 7, 0, 0, 0}));
  EXPECT_EQ(back.miscompares[0].actual, 0x5aU);
  ASSERT_EQ(back.metrics[0].samples.size(), 3U);
  EXPECT_EQ(back.metrics[0].samples[1].telemetry.sm_mhz, 1710.0F);
  EXPECT_EQ(back.metrics[0].samples[1].telemetry.throttle_reasons, 4U);
}

TEST(Record, NodeGpuStartAndEventComeBack) {
  EXPECT_EQ(read_back(example_node(1)).cpu, "Xeon 8480C");
  EXPECT_EQ(read_back(example_gpu(1)).serial, "1654922002222");
  EXPECT_EQ(read_back(example_gpu(1)).mig_enabled, -1);
  EXPECT_EQ(read_back(StartRecord{.gpu = 3, .case_name = "x", .attempt = 2}).attempt, 2U);
  EXPECT_EQ(read_back(EventRecord{.gpu = -1, .code = -9, .text = "t"}).code, -9);
}

TEST(Record, DoublesComeBackToTheLastBit) {
  EXPECT_EQ(read_back(EndRecord{.at_unix_s = 0.1 + 0.2}).at_unix_s, 0.1 + 0.2);
  EXPECT_EQ(read_back(EndRecord{.at_unix_s = 5e-324}).at_unix_s, 5e-324);
  EXPECT_EQ(read_back(EndRecord{.at_unix_s = 1788220800.1234567}).at_unix_s, 1788220800.1234567);
}

TEST(Record, NanIsNullAndComesBackAsNan) {
  const std::string line = to_line(EndRecord{.at_unix_s = std::nan("")});
  EXPECT_TRUE(has(line, "\"at\":null"));
  EXPECT_TRUE(std::isnan(std::get<EndRecord>(parse_journal(line).records.at(0)).at_unix_s));
}

TEST(Record, AnyBytesInATextBecomeValidUtf8) {
  const EndRecord back = read_back(EndRecord{.reason = "a\xff\xfe z\n\x1b"});
  EXPECT_EQ(back.reason, "a\xef\xbf\xbd\xef\xbf\xbd z\n\x1b");
}

TEST(Record, ALineWithAnyByteChangedIsCountedAsDamaged) {
  const std::string line = to_line(EndRecord{.rank = 7, .reason = "none"});
  for (std::size_t at = 0; at + 1 < line.size(); ++at) {
    std::string changed = line;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const JournalText journal = parse_journal(changed + line);
    EXPECT_EQ(journal.records.size(), 1U) << at;
    EXPECT_EQ(journal.damaged, changed[at] == '\n' ? 2U : 1U) << at;
  }
}

TEST(Record, ATornLastLineIsDroppedAndNotCounted) {
  const std::string line = to_line(EndRecord{.rank = 7});
  for (std::size_t kept = 0; kept + 1 < line.size(); ++kept) {
    const JournalText journal = parse_journal(line + line.substr(0, kept));
    EXPECT_EQ(journal.records.size(), 1U) << kept;
    EXPECT_EQ(journal.damaged, 0U) << kept;
  }
}

TEST(Record, ALastLineThatOnlyLacksItsNewlineIsKept) {
  std::string line = to_line(EndRecord{.rank = 7});
  line.pop_back();
  EXPECT_EQ(parse_journal(line).records.size(), 1U);
}

TEST(Record, RightCrcAroundWrongContentIsDamagedAndNeverThrows) {
  for (const char* covered : {
           R"({"type":"end","rank":-1,"at":2.5,"complete":true,"reason":"")",
           R"({"type":"end","rank":4294967296,"at":2.5,"complete":true,"reason":"")",
           R"({"type":"end","rank":1.5,"at":2.5,"complete":true,"reason":"")",
           R"({"type":"end","rank":1,"at":"x","complete":true,"reason":"")",
           R"({"type":"end","rank":1,"at":2.5,"complete":1,"reason":"")",
           R"({"type":"end","rank":1,"at":2.5,"complete":true,"reason":7)",
           R"({"type":"end","rank":1,"at":2.5,"complete":true)",
           R"({"type":"nothing known","rank":1)",
           R"({"type":7)",
           R"({"rank":7)",
           R"([1,2)",
           "\xff\xfe{",
           "",
       }) {
    const JournalText journal = parse_journal(with_crc(covered));
    EXPECT_EQ(journal.records.size(), 0U) << covered;
    EXPECT_EQ(journal.damaged, 1U) << covered;
  }
}

TEST(Record, AnUnknownVerdictIsDamaged) {
  std::string line = to_line(example_outcome(0, "load.tile.2d"));
  line.resize(line.rfind(",\"crc\""));
  const std::string known = "\"verdict\":\"pass\"";
  line.replace(line.find(known), known.size(), "\"verdict\":\"Pass\"");
  EXPECT_EQ(parse_journal(with_crc(line)).damaged, 1U);
}

TEST(Record, DeepNestingIsSurvived) {
  const std::string deep = "{\"type\":\"end\",\"rank\":" + std::string(1 << 20, '[');
  EXPECT_EQ(parse_journal(with_crc(deep)).damaged, 1U);
}

std::string example_journal() {
  return numbered_journal_of(1, {example_launch(1), example_outcome(1, "load.tile.2d"),
                                 example_outcome(1, "zfill.corner"), example_end(1)});
}

/// Without its line `number`.
std::string without_line(std::string text, int number) {
  std::size_t begin = 0;
  for (int i = 0; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.erase(begin, text.find('\n', begin) + 1 - begin);
}

TEST(Record, AWholeJournalLacksNothing) {
  const JournalText journal = parse_journal(example_journal());
  EXPECT_EQ(journal.records.size(), 4U);
  EXPECT_EQ(journal.damaged + journal.foreign + journal.missing, 0U);
  EXPECT_EQ(journal.run_id, example_launch(1).run_id);
}

TEST(Record, LinesOfAnotherRunOrRankOrOfNoneAreForeign) {
  const Record stray = example_outcome(1, "load.tile.2d");
  const JournalText journal = parse_journal(
      example_journal() + to_line(stray, LineOrigin{.run_id = "other", .rank = 1, .number = 4}) +
      to_line(stray, LineOrigin{.run_id = example_launch(1).run_id, .rank = 0, .number = 4}) +
      to_line(stray));
  EXPECT_EQ(journal.records.size(), 4U);
  EXPECT_EQ(journal.foreign, 3U);
}

TEST(Record, LinesThatWereTakenOutAreMissing) {
  const JournalText journal = parse_journal(without_line(without_line(example_journal(), 2), 1));
  EXPECT_EQ(journal.records.size(), 2U);
  EXPECT_EQ(journal.missing, 2U);
}

TEST(Record, ALostLaunchRecordIsMissing) {
  const JournalText journal = parse_journal(without_line(example_journal(), 0));
  EXPECT_EQ(journal.missing, 1U);
  EXPECT_EQ(journal.run_id, example_launch(1).run_id);
}

TEST(Record, ADamagedLineIsNotMissing) {
  std::string text = example_journal();
  text[text.find('\n') + 5] ^= 1;
  const JournalText journal = parse_journal(text);
  EXPECT_EQ(journal.damaged, 1U);
  EXPECT_EQ(journal.missing, 0U);
}

TEST(Record, ALineThatStandsTwiceIsReadOnce) {
  EXPECT_EQ(parse_journal(example_journal() + example_journal()).records.size(), 4U);
}

TEST(Record, AnyNumberOfALineIsSurvived) {
  const LineOrigin last{.run_id = example_launch(1).run_id,
                        .rank = 1,
                        .number = std::numeric_limits<std::uint64_t>::max()};
  EXPECT_GT(parse_journal(example_journal() + to_line(example_end(1), last)).missing, 0U);
}

}  // namespace
}  // namespace tidemark
