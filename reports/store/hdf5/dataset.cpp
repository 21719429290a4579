// Datasets and attributes of a report in HDF5.
#include "reports/store/hdf5/dataset.hpp"

#include <zlib.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "reports/store/hdf5/image.hpp"

namespace tidemark {

// Asks HDF5 about a dataset before reading it.

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
  std::ranges::replace_if(
      clean, [](char c) { return c < ' ' || c > '~'; }, '?');
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
  const auto known = std::ranges::count_if(
      table.columns, [&source](const Column& column) { return column.since <= source.minor; });
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

// Puts columns as they are stored into row structs. Reports of a large fleet have a hundred million
// fields, so a field is moved as one number and rows go by blocks that stay near the processor.

namespace {

constexpr std::size_t kBlockRows = 256;

/// One number column of at most kBlockRows shuffled rows: `from` is its first byte in the first
/// row.
template <class Number>
void gather(const char* from, std::size_t byte_stride, std::size_t rows, char* to,
            std::size_t row_bytes) {
  std::array<Number, kBlockRows> values{};
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
    const auto* const plane = reinterpret_cast<const unsigned char*>(from + byte * byte_stride);
    for (std::size_t i = 0; i < rows; ++i) {
      values[i] = static_cast<Number>(values[i] | Number{plane[i]} << (8 * byte));
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    std::memcpy(to + i * row_bytes, &values[i], sizeof(Number));
  }
}

void copy_shuffled(const char* from, std::size_t byte_stride, std::size_t rows, std::size_t bytes,
                   char* to, std::size_t row_bytes) {
  while (bytes > 0) {
    std::size_t moved = sizeof(std::uint8_t);
    if (bytes >= sizeof(std::uint64_t)) {
      moved = sizeof(std::uint64_t);
      gather<std::uint64_t>(from, byte_stride, rows, to, row_bytes);
    } else if (bytes >= sizeof(std::uint32_t)) {
      moved = sizeof(std::uint32_t);
      gather<std::uint32_t>(from, byte_stride, rows, to, row_bytes);
    } else {
      gather<std::uint8_t>(from, byte_stride, rows, to, row_bytes);
    }
    bytes -= moved;
    from += moved * byte_stride;
    to += moved;
  }
}

}  // namespace

void copy_columns(const Table& table, const std::vector<std::size_t>& offsets,
                  const StoredRows& stored, char* rows) {
  const bool shuffled = stored.row_stride == 1;
  for (std::size_t first = 0; first < stored.rows; first += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, stored.rows - first);
    for (std::size_t c = 0; c < offsets.size(); ++c) {
      if (offsets[c] == kNoColumn) continue;
      const std::size_t bytes = bytes_of(table.columns[c]);
      char* const to = rows + first * table.row_bytes + table.columns[c].offset;
      const char* const from =
          stored.bytes + offsets[c] * stored.byte_stride + first * stored.row_stride;
      if (shuffled) {
        copy_shuffled(from, stored.byte_stride, count, bytes, to, table.row_bytes);
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(to + i * table.row_bytes, from + i * stored.row_stride, bytes);
      }
    }
  }
}

// Reads every root attribute as bytes, whatever it means.

namespace {

constexpr std::size_t kMostAttributes = 256;

/// Called by HDF5's C code, which no exception may cross.
herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* into) {
  try {
    auto& names = *static_cast<std::vector<std::string>*>(into);
    if (names.size() >= kMostAttributes) return -1;
    names.emplace_back(name);
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

/// The value as it is stored: memory and file have one type, so nothing is converted.
std::string stored_bytes(const Source& source, hid_t root, const std::string& name) {
  const auto refuse = [&] {
    source.refuse(fmt::format("attribute '{}' is no number and no short text", name));
  };
  const H5Id attribute(H5Aopen(root, name.c_str(), H5P_DEFAULT), H5Aclose,
                       source.name + ": an attribute cannot be opened");
  const H5Id space(H5Aget_space(attribute), H5Sclose, source.name + ": an attribute has no space");
  const H5Id type(H5Aget_type(attribute), H5Tclose, source.name + ": an attribute has no type");
  const H5T_class_t kind = H5Tget_class(type);
  const bool text = kind == H5T_STRING && H5Tis_variable_str(type) == 0;
  const bool number = kind == H5T_INTEGER || kind == H5T_FLOAT;
  const std::size_t bytes = H5Tget_size(type);
  if (H5Sget_simple_extent_type(space) != H5S_SCALAR || !(text || number)) refuse();
  if (bytes == 0 || bytes > kMostAttributeBytes) refuse();
  std::string value(bytes, '\0');
  if (H5Aread(attribute, type, value.data()) < 0) refuse();
  return value;
}

}  // namespace

std::uint32_t checksum_of_attributes(const Source& source, hid_t root) {
  std::vector<std::string> names;
  if (H5Aiterate2(root, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names) < 0) {
    source.refuse("its list of attributes cannot be read, or is longer than any report's");
  }
  std::ranges::sort(names);
  uLong crc = crc32_z(0, nullptr, 0);
  for (const std::string& name : names) {
    if (name == kChecksum) continue;
    const std::string all = name + '\0' + stored_bytes(source, root, name);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(all.data()), all.size());
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace tidemark
