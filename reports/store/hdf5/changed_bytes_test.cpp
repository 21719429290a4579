// Reports of which the disk changed a byte of the rows.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "reports/base/error.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/example_launch.hpp"

namespace tidemark {
namespace {

/// Where the packed rows of a table stand in the file.
std::pair<std::size_t, std::size_t> place_of_chunk(std::string image, std::string_view table) {
  const H5Id file = memory_file("image", image);
  const H5Id dataset(H5Dopen2(file, std::string(table).c_str(), H5P_DEFAULT), H5Dclose, "no table");
  const hsize_t first = 0;
  unsigned mask = 0;
  haddr_t address = 0;
  hsize_t bytes = 0;
  h5_check(H5Dget_chunk_info_by_coord(dataset, &first, &mask, &address, &bytes), "no chunk");
  return {address, bytes};
}

TEST(ChangedBytes, AnyByteOfTheRowsChangedGivesAReportOrOneLine) {
  const std::string whole = image_of(example(), "whole");
  std::mt19937_64 random(7);
  int refused = 0;
  for (const char* table : {"gpus", "cases", "results", "metrics", "string_index", "strings"}) {
    const auto [address, bytes] = place_of_chunk(whole, table);
    for (int i = 0; i < 100; ++i) {
      std::string changed = whole;
      changed[address + random() % bytes] = static_cast<char>(random());
      try {
        report_of(changed, "changed");
      } catch (const ReportError& error) {
        ++refused;
        EXPECT_TRUE(std::string_view(error.what()).starts_with("changed: ")) << error.what();
      }
    }
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace tidemark
