// A report read by a program that shares nothing with ours: Python with h5py.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/foreign_reader.hpp"

namespace tidemark {
namespace {

TEST(H5py, ReadsTablesEnumsUnitsAndText) {
  const std::string python = interpreter_with("h5py");
  if (python.empty()) GTEST_SKIP() << "no python3 with h5py: a foreign reader was not tried";
  const ScratchFolder scratch;
  write_report(example(), scratch.file("a.h5"));
  EXPECT_EQ(output_of(fmt::format("{} {} {} 2>&1", python, TIDEMARK_READ_WITH_H5PY,
                                  scratch.file("a.h5"))),
            "launch 3f1c0000-0000-4000-8000-000000000001 2026-09-01T00:00:00Z\n"
            "complete 1 seed 0xfedcba9876543210\n"
            "tables answers cases events gpus metrics miscompares nodes provenance results samples "
            "sms string_index strings\n"
            "unit of seconds s\n"
            "load.tile.2d on GPU-5f1c2d3e-0000-1111-2222-333344445555 pass \n"
            "load.tile.2d on GPU-77aa88bb-0000-1111-2222-333344445555 pass \n"
            "zfill.corner on GPU-5f1c2d3e-0000-1111-2222-333344445555 pass \n"
            "zfill.corner on GPU-77aa88bb-0000-1111-2222-333344445555 fail 1 of 12 rows moved "
            "wrong bytes\n"
            "gemm.distributed.speed on GPU-5f1c2d3e-0000-1111-2222-333344445555 pass \n"
            "gemm.distributed.speed on GPU-77aa88bb-0000-1111-2222-333344445555 pass \n"
            "rate 701.0 TFLOP/s of 3 samples\n"
            "rate 691.0 TFLOP/s of 3 samples\n");
}

TEST(H5py, ItsScriptsCanBeStarted) {
  EXPECT_EQ(::access(TIDEMARK_READ_WITH_H5PY, X_OK), 0);
  EXPECT_EQ(::access(TIDEMARK_READ_WITH_PANDAS, X_OK), 0);
}

}  // namespace
}  // namespace tidemark
