// Changes a written report as the next versions of the schema may.
#include "reports/testing/newer_report.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "reports/store/hdf5/dataset.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"

namespace tidemark {
namespace {

constexpr const char* kFailure = "a newer report cannot be made";

H5Id open_to_change(std::string& image) {
  const H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, kFailure);
  h5_check(H5Pset_fapl_core(access, image.size(), /*backing_store=*/0), kFailure);
  h5_check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), kFailure);
  h5_check(H5Pset_file_image(access, image.data(), image.size()), kFailure);
  return {H5Fopen("/dev/null/newer", H5F_ACC_RDWR, access), H5Fclose, kFailure};
}

void put_number(hid_t root, std::string_view name, std::uint32_t value) {
  const H5Id attribute(H5Aopen(root, std::string(name).c_str(), H5P_DEFAULT), H5Aclose, kFailure);
  h5_check(H5Awrite(attribute, H5T_NATIVE_UINT32, &value), kFailure);
}

void put_table(hid_t root, const char* name, hid_t type, hsize_t rows, const void* data) {
  const H5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, kFailure);
  h5_check(H5Pset_obj_track_times(list, false), kFailure);
  h5_check(H5Pset_chunk(list, 1, &rows), kFailure);
  const H5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose, kFailure);
  const H5Id dataset(H5Dcreate2(root, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose,
                     kFailure);
  h5_check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), kFailure);
}

void add_attribute(hid_t root) {
  const H5Id scalar(H5Screate(H5S_SCALAR), H5Sclose, kFailure);
  const H5Id made(
      H5Acreate2(root, "newer_attribute", H5T_STD_U32LE, scalar, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, kFailure);
  put_number(root, "newer_attribute", 7);
}

void add_table(hid_t root) {
  const H5Id type(H5Tcreate(H5T_COMPOUND, 2 * sizeof(double)), H5Tclose, kFailure);
  h5_check(H5Tinsert(type, "first", 0, H5T_IEEE_F64LE), kFailure);
  h5_check(H5Tinsert(type, "second", sizeof(double), H5T_IEEE_F64LE), kFailure);
  const std::array<double, 4> rows = {1, 2, 3, 4};
  put_table(root, "newer_table", type, 2, rows.data());
}

/// Writes `results` again with one column more, in front of the others.
void widen_results(hid_t root, std::size_t rows) {
  constexpr std::size_t kMore = sizeof(double);
  const Table& table = table_of<ResultRow>();
  const std::size_t packed = packed_bytes(table);
  std::vector<char> before(rows * packed), after(rows * (packed + kMore));
  {
    const H5Id dataset(H5Dopen2(root, "results", H5P_DEFAULT), H5Dclose, kFailure);
    h5_check(
        H5Dread(dataset, row_type(table, Side::file), H5S_ALL, H5S_ALL, H5P_DEFAULT, before.data()),
        kFailure);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    std::memcpy(&after[i * (packed + kMore) + kMore], &before[i * packed], packed);
  }
  const H5Id type(H5Tcreate(H5T_COMPOUND, packed + kMore), H5Tclose, kFailure);
  h5_check(H5Tinsert(type, "newer_column", 0, H5T_IEEE_F64LE), kFailure);
  std::size_t offset = kMore;
  for (const Column& column : table.columns) {
    const H5Id member = column_type(column, Side::file);
    h5_check(H5Tinsert(type, std::string(column.name).c_str(), offset, member), kFailure);
    offset += H5Tget_size(member);
  }
  h5_check(H5Ldelete(root, "results", H5P_DEFAULT), kFailure);
  put_table(root, "results", type, rows, after.data());
}

}  // namespace

std::string image_of_another_version(const Report& report, std::uint32_t major,
                                     std::uint32_t minor) {
  std::string image = image_of(report, "newer");
  const H5Id file = open_to_change(image);
  const H5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, kFailure);
  put_number(root, "schema_major", major);
  put_number(root, "schema_minor", minor);
  add_attribute(root);
  add_table(root);
  widen_results(root, report.results.size());
  const std::string name = "newer";
  const Source source{.name = name, .file_bytes = 0, .bytes_left = 0};
  put_number(root, kChecksum, checksum_of_attributes(source, root));
  h5_check(H5Fflush(file, H5F_SCOPE_GLOBAL), kFailure);
  const ssize_t bytes = H5Fget_file_image(file, nullptr, 0);
  std::string made(bytes > 0 ? static_cast<std::size_t>(bytes) : 0, '\0');
  if (H5Fget_file_image(file, made.data(), made.size()) != bytes || bytes <= 0) {
    throw ReportError(kFailure);
  }
  return made;
}

}  // namespace tidemark
