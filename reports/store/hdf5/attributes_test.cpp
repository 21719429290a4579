// Root attributes that someone has changed, down to one bit.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstdint>
#include <string>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/example_launch.hpp"

namespace tidemark::reports {
namespace {

std::string error_of_image(std::string image) {
  try {
    report_of(image, "image");
  } catch (const ReportError& error) {
    return error.what();
  }
  return "no error";
}

/// What a reader says of a report after `change` of its root.
template <class Change>
std::string error_after(Change change) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("a.h5");
  write_report(assemble(example_journals(), {}), path);
  {
    const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "no file");
    change(static_cast<hid_t>(file));
  }
  try {
    read_report(path);
  } catch (const ReportError& error) {
    return error.what();
  }
  return "no error";
}

/// Turns the lowest bit of the first byte of a root attribute.
void flip(hid_t file, const std::string& name) {
  const H5Id attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose, "no attribute");
  const H5Id type(H5Aget_type(attribute), H5Tclose, "no type");
  std::string value(H5Tget_size(type), '\0');
  h5_check(H5Aread(attribute, type, value.data()), "not read");
  value[0] = static_cast<char>(value[0] ^ 1);
  h5_check(H5Awrite(attribute, type, value.data()), "not written");
}

constexpr std::string_view kDamaged = "its root attributes are damaged";

TEST(Attributes, OneBitOfAnyRootAttributeIsSeen) {
  for (const LaunchAttribute& attribute : launch_attributes()) {
    const std::string name(attribute.name);
    const std::string error = error_after([&](hid_t file) { flip(file, name); });
    EXPECT_NE(error.find(kDamaged), std::string::npos) << name << ": " << error;
  }
}

TEST(Attributes, OneMoreRootAttributeIsSeen) {
  const std::string error = error_after([](hid_t file) {
    const H5Id space(H5Screate(H5S_SCALAR), H5Sclose, "no space");
    const H5Id more(H5Acreate2(file, "more", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose, "none");
    const std::uint8_t value = 1;
    h5_check(H5Awrite(more, H5T_STD_U8LE, &value), "not written");
  });
  EXPECT_NE(error.find(kDamaged), std::string::npos) << error;
}

TEST(Attributes, AByteOfTheFileChangedInTheLevelIsSeen) {
  std::string image = image_of(assemble(example_journals(), {}), "image");
  const std::size_t at = image.find("quick");
  ASSERT_NE(at, std::string::npos);
  image.replace(at, 5, "quibk");
  EXPECT_NE(error_of_image(image).find(kDamaged), std::string::npos) << error_of_image(image);
}

TEST(Attributes, AnUnknownLevelOrDeviceIsRefused) {
  Report report = assemble(example_journals(), {});
  report.launch.level = "quibk";
  EXPECT_TRUE(error_of_image(image_of(report, "image"))
                  .starts_with("image: attribute 'level' is not quick, nightly or soak; "));
  report = assemble(example_journals(), {});
  report.launch.device = "cudb";
  EXPECT_TRUE(error_of_image(image_of(report, "image"))
                  .starts_with("image: attribute 'device' is not cuda or virtual; "));
}

}  // namespace
}  // namespace tidemark::reports
