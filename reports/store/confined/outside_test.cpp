// A reader looked at from outside: by strace, what it opens; and what it says of files that broke
// HDF5 when they were found.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

struct Said {
  std::string out;  // stdout and stderr
  int status = -1;  // as of waitpid
};

Said run(const std::string& command) {
  Said said;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return said;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) said.out += buffer.data();
  said.status = pclose(pipe);
  return said;
}

/// Puts a table in the place of `strings` whose bytes lie in a file of the system.
void take_strings_from_the_system(const std::string& path) {
  const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "no file");
  const H5Id layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "no list");
  h5_check(H5Pset_external(layout, "/etc/os-release", 0, 64), "no external storage");
  h5_check(H5Ldelete(file, "strings", H5P_DEFAULT), "not deleted");
  const hsize_t rows = 64;
  const H5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose, "no space");
  H5Id(H5Dcreate2(file, "strings", H5T_STD_U8LE, space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose,
       "no table");
}

/// The calls after the report was opened that opened, connected or started something.
std::string opened_after(const std::string& log, const std::string& report) {
  std::ifstream file(log);
  std::string line, found;
  bool after = false;
  while (std::getline(file, line)) {
    const bool failed = line.find(" = -1 ") != line.npos;
    const bool is_report = line.find("\"" + report + "\"") != line.npos;
    const bool opens = line.find("open") != line.npos || line.find("socket(") != line.npos ||
                       line.find("connect(") != line.npos || line.find("execve(") != line.npos;
    // The child reads how much memory it has before it confines itself.
    const bool own_size = line.find("\"/proc/self/statm\"") != line.npos;
    if (after && opens && !failed && !is_report && !own_size) found += line + "\n";
    after = after || (is_report && line.find("open") != line.npos && !failed);
  }
  return after ? found : "the report was never opened";
}

/// What reading the report opened, seen by strace.
std::string opened_by_reading(const ScratchFolder& scratch, const std::string& report) {
  const std::string log = scratch.file("log");
  const Said said =
      run(fmt::format("strace -f -qq -e trace=open,openat,creat,socket,connect,execve -o {} {} {}",
                      log, TIDEMARK_READ_ONCE, report));
  EXPECT_TRUE(said.out.ends_with("\n")) << said.out;
  return opened_after(log, report);
}

bool strace_works() { return run("strace -o /dev/null true").status == 0; }

TEST(ReaderSeenByStrace, OpensNothingAfterAWholeReport) {
  if (!strace_works()) GTEST_SKIP() << "no strace, or it may not trace here";
  const ScratchFolder scratch;
  write_report(example(), scratch.file("a.h5"));
  EXPECT_EQ(opened_by_reading(scratch, scratch.file("a.h5")), "");
}

TEST(ReaderSeenByStrace, OpensNothingThatAReportPointsTo) {
  if (!strace_works()) GTEST_SKIP() << "no strace, or it may not trace here";
  const ScratchFolder scratch;
  write_report(example(), scratch.file("a.h5"));
  take_strings_from_the_system(scratch.file("a.h5"));
  EXPECT_EQ(opened_by_reading(scratch, scratch.file("a.h5")), "");
}

TEST(ReaderFromOutside, GivesAReportOrOneLineOfWhatHasBrokenHdf5) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TIDEMARK_FOUND_REPORTS)) {
    const Said said = run(fmt::format("{} {}", TIDEMARK_READ_ONCE, entry.path().string()));
    const bool read = said.status == 0 && said.out.find(" results\n") != said.out.npos;
    const bool refused = WIFEXITED(said.status) && WEXITSTATUS(said.status) == 2 &&
                         said.out.starts_with("refused: " + entry.path().string() + ": ");
    EXPECT_TRUE(read || refused) << entry.path() << ": " << said.out;
    EXPECT_EQ(said.out.find('\n'), said.out.size() - 1) << said.out;
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(H5dump, PrintsVerdictsByName) {
  if (run("h5dump --version").status != 0) GTEST_SKIP() << "no h5dump: it was not tried";
  const ScratchFolder scratch;
  write_report(example(), scratch.file("a.h5"));
  // As in README.md.
  const Said said = run("h5dump -d /results -s 3 -c 1 -y " + scratch.file("a.h5"));
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_TRUE(has(said.out, "\n            fail,\n")) << said.out;
}

TEST(Pandas, ReadsResultsWithTheirText) {
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3", "/usr/local/bin/python3"}) {
    const std::string probe = fmt::format("{} -c 'import h5py, pandas'", candidate);
    if (python.empty() && run(probe).status == 0) python = candidate;
  }
  if (python.empty()) GTEST_SKIP() << "no python3 with h5py and pandas: it was not tried";
  const ScratchFolder scratch;
  write_report(example(), scratch.file("a.h5"));
  const Said said =
      run(fmt::format("{} {} {}", python, TIDEMARK_READ_WITH_PANDAS, scratch.file("a.h5")));
  EXPECT_EQ(said.out,
            "GPU-5f1c2d3e-0000-1111-2222-333344445555 load.tile.2d pass\n"
            "GPU-5f1c2d3e-0000-1111-2222-333344445555 zfill.corner pass\n"
            "GPU-5f1c2d3e-0000-1111-2222-333344445555 gemm.distributed.speed pass\n"
            "GPU-77aa88bb-0000-1111-2222-333344445555 load.tile.2d pass\n"
            "GPU-77aa88bb-0000-1111-2222-333344445555 zfill.corner fail: 1 of 12 rows moved wrong "
            "bytes\n"
            "GPU-77aa88bb-0000-1111-2222-333344445555 gemm.distributed.speed pass\n"
            "rate 701.0 TFLOP/s, median of 3\n"
            "rate 691.0 TFLOP/s, median of 3\n");
}

}  // namespace
}  // namespace tidemark
