// A report as the bytes of an HDF5 file. Times of objects, padding of structs and fill values stay
// out of it, so that equal reports are equal files.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reports/store/hdf5/dataset.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

constexpr hsize_t kChunkRows = 8192;
constexpr hsize_t kChunkBytes = 1u << 18;  // of the text
constexpr unsigned kDeflateLevel = 4;

void write_attribute(hid_t object, std::string_view name, hid_t type, hid_t space,
                     const void* value) {
  const std::string failure = fmt::format("attribute '{}' cannot be made", name);
  const H5Id attribute(
      H5Acreate2(object, std::string(name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, failure);
  h5_check(H5Awrite(attribute, type, value), failure);
}

H5Id scalar_space() { return {H5Screate(H5S_SCALAR), H5Sclose, "no scalar space"}; }

void write_text(hid_t object, std::string_view name, std::string_view text) {
  std::string padded(text);
  if (padded.empty()) padded.push_back('\0');  // HDF5 has no text of no bytes
  write_attribute(object, name, text_type(padded.size()), scalar_space(), padded.data());
}

template <class Number>
void write_number(hid_t object, std::string_view name, Number value) {
  write_attribute(object, name, attribute_type<Number>(), scalar_space(), &value);
}

/// One text for each column, all of the longest one's size.
void write_texts(hid_t object, std::string_view name, const std::vector<Column>& columns,
                 std::string_view Column::*member) {
  std::size_t longest = 1;
  for (const Column& column : columns) longest = std::max(longest, (column.*member).size());
  std::string padded;
  for (const Column& column : columns) {
    padded += column.*member;
    padded.append(longest - (column.*member).size(), '\0');
  }
  const hsize_t count = columns.size();
  const H5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose, "no space");
  write_attribute(object, name, text_type(longest), space, padded.data());
}

/// How a dataset of this many elements is laid out; an empty one cannot have chunks.
H5Id creation_list(hsize_t elements, hsize_t chunk) {
  H5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "no property list");
  h5_check(H5Pset_obj_track_times(list, false), "times cannot be left out");
  h5_check(H5Pset_fill_time(list, H5D_FILL_TIME_NEVER), "fill time cannot be set");
  if (elements == 0) return list;
  const hsize_t rows = std::min(elements, chunk);
  h5_check(H5Pset_chunk(list, 1, &rows), "chunks cannot be set");
  h5_check(H5Pset_shuffle(list), "shuffle cannot be set");
  h5_check(H5Pset_deflate(list, kDeflateLevel), "deflate cannot be set");
  return list;
}

H5Id write_dataset(hid_t file, std::string_view name, hid_t file_type, hid_t memory_type,
                   hsize_t elements, hsize_t chunk, const void* data) {
  const std::string failure = fmt::format("dataset '{}' cannot be written", name);
  const H5Id space(H5Screate_simple(1, &elements, nullptr), H5Sclose, failure);
  H5Id dataset(H5Dcreate2(file, std::string(name).c_str(), file_type, space, H5P_DEFAULT,
                          creation_list(elements, chunk), H5P_DEFAULT),
               H5Dclose, failure);
  if (elements > 0) {
    h5_check(H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), failure);
  }
  return dataset;
}

template <class Row>
void write_table(hid_t file, const Table& table, const std::vector<Row>& rows) {
  const H5Id dataset =
      write_dataset(file, table.name, row_type(table, Side::file), row_type(table, Side::memory),
                    rows.size(), kChunkRows, rows.data());
  write_text(dataset, "description", table.meaning);
  write_texts(dataset, "columns", table.columns, &Column::name);
  write_texts(dataset, "units", table.columns, &Column::unit);
  write_texts(dataset, "meaning", table.columns, &Column::meaning);
  write_texts(dataset, "refers_to", table.columns, &Column::refers);
}

void write_strings(hid_t file, const std::vector<std::string>& strings) {
  std::vector<StringIndexRow> rows;
  std::string bytes;
  for (const std::string& text : strings) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw ReportError("a text of more than 4 GiB cannot be kept");
    }
    rows.push_back({.offset = bytes.size(), .length = static_cast<std::uint32_t>(text.size())});
    bytes += text;
  }
  const H5Id dataset = write_dataset(file, kStringBytes, H5T_STD_U8LE, H5T_NATIVE_UINT8,
                                     bytes.size(), kChunkBytes, bytes.data());
  write_text(dataset, "description", "all text of the report, UTF-8, one after the other");
  write_table(file, table_of<StringIndexRow>(), rows);
}

void write_attributes(hid_t file, const LaunchRow& launch, const std::string& name) {
  const H5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "no root group");
  write_text(root, "format", kReportFormat);
  write_number(root, "schema_major", kSchemaMajor);
  write_number(root, "schema_minor", kSchemaMinor);
  for (const auto& [attribute, of, meaning, disclosure] : launch_attributes()) {
    const auto write = [&launch, &root, attribute = attribute](auto member) {
      const auto& value = launch.*member;
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, std::string>) {
        write_text(root, attribute, value);
      } else {  // a bool is a byte
        using Stored = std::conditional_t<std::is_same_v<Value, bool>, std::uint8_t, Value>;
        write_number(root, attribute, static_cast<Stored>(value));
      }
    };
    std::visit(write, of);
  }
  const Source source{.name = name, .file_bytes = 0, .bytes_left = 0};
  write_number(root, kChecksum, checksum_of_attributes(source, root));
}

std::string bytes_of(hid_t file) {
  h5_check(H5Fflush(file, H5F_SCOPE_GLOBAL), "HDF5 cannot flush");
  const ssize_t bytes = H5Fget_file_image(file, nullptr, 0);
  if (bytes <= 0) throw ReportError("HDF5 gives no image");
  std::string image(static_cast<std::size_t>(bytes), '\0');
  if (H5Fget_file_image(file, image.data(), image.size()) != bytes) {
    throw ReportError("HDF5 gives no image");
  }
  return image;
}

}  // namespace

std::string image_of(const Report& report, const std::string& name) {
  silence_hdf5();
  try {
    const H5Id file = memory_file(name);
    write_attributes(file, report.launch, name);
    for_each_table(
        report, [&file](const Table& table, const auto& rows) { write_table(file, table, rows); });
    write_strings(file, report.strings);
    return bytes_of(file);
  } catch (const ReportError& error) {
    throw ReportError(fmt::format("{}: the report cannot be made: {}; this is an error of tidemark",
                                  name, error.what()));
  }
}

}  // namespace tidemark
