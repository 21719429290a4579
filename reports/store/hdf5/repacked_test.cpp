// Reports that another tool wrote anew, in layouts of later versions of HDF5 than ours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/foreign_reader.hpp"

namespace tidemark {
namespace {

/// The example report after `h5repack <options>`, and whether it reads as before.
bool reads_the_same_after(const std::string& options) {
  const ScratchFolder scratch;
  const Report report = example();
  write_report(report, scratch.file("a.h5"));
  output_of(
      fmt::format("h5repack {} {} {} 2>&1", options, scratch.file("a.h5"), scratch.file("b.h5")));
  return same_rows(report, read_report(scratch.file("b.h5")));
}

class Repacked : public testing::TestWithParam<const char*> {};

TEST_P(Repacked, IsTheSameReport) {
  if (first_program({"h5repack"}).empty()) GTEST_SKIP() << "no h5repack: nothing was repacked";
  EXPECT_TRUE(reads_the_same_after(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(ByH5repack, Repacked,
                         testing::Values("-L", "-L -S PAGE", "--low=2 --high=2",
                                         "-L -f NONE -l CONTI", "-L -f NONE -l COMPA"));

TEST(Userblock, IsPassedOver) {
  const Report report = example();
  EXPECT_TRUE(same_rows(report, report_of(std::string(1024, 'u') + image_of(report, "a"), "b")));
}

}  // namespace
}  // namespace tidemark
