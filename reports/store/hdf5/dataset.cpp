// Asks HDF5 about a dataset before reading it.
#include "reports/store/hdf5/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/store/hdf5/image.hpp"

namespace tidemark::reports {
namespace {

constexpr hsize_t kMostRows = 100'000'000;
constexpr int kMostColumns = 256;

bool is_plain(hid_t type, int depth);

/// HDF5 believes the offsets in a file: a column beyond its row would be copied from beyond the
/// heap.
bool holds_plain_columns(hid_t type, int depth) {
  const int columns = H5Tget_nmembers(type);
  if (columns < 1 || columns > kMostColumns) return false;
  const std::size_t row_bytes = H5Tget_size(type);
  for (unsigned i = 0; i < static_cast<unsigned>(columns); ++i) {
    const H5Id member(H5Tget_member_type(type, i), H5Tclose, "a column without a type");
    const std::size_t offset = H5Tget_member_offset(type, i), bytes = H5Tget_size(member);
    if (bytes == 0 || bytes > row_bytes || offset > row_bytes - bytes) return false;
    if (!is_plain(member, depth + 1)) return false;
  }
  return true;
}

/// Numbers, enums, text of fixed size, and arrays or compounds of them.
bool is_plain(hid_t type, int depth) {
  constexpr int kDeepest = 3;
  if (depth > kDeepest) return false;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_ENUM:
      return true;
    case H5T_STRING:
      return H5Tis_variable_str(type) == 0;
    case H5T_ARRAY: {
      const H5Id element(H5Tget_super(type), H5Tclose, "an array without elements");
      return is_plain(element, depth + 1);
    }
    case H5T_COMPOUND:
      return holds_plain_columns(type, depth);
    default:
      return false;
  }
}

void check_storage(const Source& source, std::string_view name, hid_t dataset,
                   std::size_t element_bytes) {
  const H5Id list(H5Dget_create_plist(dataset), H5Pclose, source.name + ": no property list");
  const H5D_layout_t layout = H5Pget_layout(list);
  if (layout == H5D_VIRTUAL) {
    source.refuse(fmt::format("'{}' is a virtual dataset, of rows in other files", name),
                  "copy them into one file with h5repack -l CONTI");
  }
  if (H5Pget_external_count(list) != 0) {
    source.refuse(fmt::format("'{}' takes its data from another file", name));
  }
  const int filters = H5Pget_nfilters(list);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &values,
                                               nullptr, 0, nullptr, &config);
    if (filters > 2 || (filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_DEFLATE)) {
      source.refuse(fmt::format("'{}' is packed by a filter that reports do not use", name));
    }
  }
  hsize_t chunk = 0;
  if (layout == H5D_CHUNKED && (H5Pget_chunk(list, 1, &chunk) != 1 || chunk == 0 ||
                                chunk > kMostChunkBytes / element_bytes)) {
    source.refuse(fmt::format("'{}' has chunks beyond any report's", name));
  }
}

}  // namespace

void Source::refuse(const std::string& what, std::string_view hint) const {
  // A name out of the file may hold a line end, or what drives a terminal.
  std::string clean = what;
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  throw ReportError(fmt::format("{}: {}; {}", name, clean, hint));
}

H5Id open_dataset(Source& source, hid_t root, std::string_view name, std::size_t memory_bytes,
                  std::size_t& elements) {
  const std::string text(name);
  if (H5Lexists(root, text.c_str(), H5P_DEFAULT) <= 0) {
    source.refuse(fmt::format("the table '{}' is missing", name));
  }
  const std::string failure =
      fmt::format("{}: '{}' cannot be opened as a table; {}", source.name, name, kBroken);
  H5Id dataset(H5Dopen2(root, text.c_str(), H5P_DEFAULT), H5Dclose, failure);
  const H5Id space(H5Dget_space(dataset), H5Sclose, failure);
  const H5Id type(H5Dget_type(dataset), H5Tclose, failure);
  hsize_t rows = 0;
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space) != 1 ||
      H5Sget_simple_extent_dims(space, &rows, nullptr) != 1) {
    source.refuse(fmt::format("'{}' is not a list of rows", name));
  }
  if (!is_plain(type, 0)) {
    source.refuse(fmt::format("'{}' holds types that reports do not have", name));
  }
  const std::size_t element_bytes = std::max({H5Tget_size(type), memory_bytes, std::size_t{1}});
  check_storage(source, name, dataset, element_bytes);
  if (rows > kMostRows || rows > source.bytes_left / element_bytes) {
    source.refuse(fmt::format("'{}' claims {} rows, more than the file can hold", name, rows));
  }
  source.bytes_left -= rows * element_bytes;
  elements = rows;
  return dataset;
}

std::vector<std::size_t> column_offsets(const Source& source, const Table& table, hid_t dataset) {
  const H5Id type(H5Dget_type(dataset), H5Tclose, source.name + ": a table without a type");
  if (H5Tget_class(type) != H5T_COMPOUND) {
    source.refuse(fmt::format("'{}' has no columns", table.name));
  }
  // Only a later minor version may have columns that this one does not know; they stay unread.
  const auto known =
      std::count_if(table.columns.begin(), table.columns.end(),
                    [&source](const Column& column) { return column.since <= source.minor; });
  if (source.minor <= kSchemaMinor && H5Tget_nmembers(type) > known) {
    source.refuse(fmt::format("table '{}' has columns that no report has", table.name));
  }
  std::vector<std::size_t> offsets;
  for (const Column& column : table.columns) {
    const int index = H5Tget_member_index(type, std::string(column.name).c_str());
    if (index < 0 && column.since > source.minor) {
      offsets.push_back(kNoColumn);
      continue;
    }
    if (index < 0) {
      source.refuse(fmt::format("table '{}' has no column '{}'", table.name, column.name));
    }
    const H5Id member(H5Tget_member_type(type, static_cast<unsigned>(index)), H5Tclose,
                      source.name + ": a column without a type");
    if (H5Tequal(member, column_type(column, Side::file)) <= 0) {
      source.refuse(fmt::format("column '{}' of table '{}' is not {}", column.name, table.name,
                                name_of(column.type)));
    }
    offsets.push_back(H5Tget_member_offset(type, static_cast<unsigned>(index)));
  }
  return offsets;
}

}  // namespace tidemark::reports
