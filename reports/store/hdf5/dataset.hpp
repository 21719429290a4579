// Datasets and attributes of a report in HDF5.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reports/schema/tables.hpp"
#include "reports/store/hdf5/h5.hpp"

namespace tidemark {

// Datasets of a file that is not trusted: what HDF5 is asked before anything is read.

inline constexpr std::string_view kBroken =
    "it was damaged or made by another program; copy it again or make it again";

/// The file an error is about, and how many bytes its tables may still take.
struct Source {
  const std::string& name;
  std::uint64_t file_bytes = 0;
  std::uint64_t bytes_left = 0;
  std::uint32_t minor = kSchemaMinor;  // of the file's schema

  [[noreturn]] void refuse(const std::string& what, std::string_view hint = kBroken) const;
};

/// Opens a dataset of one dimension and says how many elements it has. Refuses types that reports
/// do not have, storage outside the file, filters, and sizes beyond `bytes_left`.
H5Id open_dataset(Source& source, hid_t root, std::string_view name, std::size_t memory_bytes,
                  std::size_t& elements);

/// In place of an offset: a column that came later than the file.
inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

/// Where each column of the table stands in a row of the file, in the order of the description.
/// Refuses a dataset that lacks a column of its version, has it in another type, or has one that a
/// schema of its version does not know.
std::vector<std::size_t> column_offsets(const Source& source, const Table& table, hid_t dataset);

/// Rows of a chunk in the file's type: byte b of row i is bytes[b * byte_stride + i * row_stride].
/// Of shuffled rows the first bytes of all stand together, then the second ones, and so on.
struct StoredRows {
  const char* bytes = nullptr;
  std::size_t rows = 0, byte_stride = 1, row_stride = 1;
};

/// Calls `take` with the rows as they are stored, unpacked, chunk by chunk. HDF5's own unpacking is
/// not used: it copies a whole chunk however few bytes came out of the filters.
void for_each_chunk(const Source& source, std::string_view name, hid_t dataset,
                    std::size_t elements, const std::function<void(const StoredRows& rows)>& take);

/// Puts these rows into row structs: `offsets` are those of column_offsets. Bytes of `rows` between
/// columns, and those of columns that are not there, stay as they are.
void copy_columns(const Table& table, const std::vector<std::size_t>& offsets,
                  const StoredRows& stored, char* rows);

// The root attributes.

/// In the file, of a number that a LaunchRow has.
template <class Number>
hid_t attribute_type() {
  if constexpr (std::is_same_v<Number, double>) return H5T_IEEE_F64LE;
  if constexpr (std::is_same_v<Number, std::uint64_t>) return H5T_STD_U64LE;
  return std::is_same_v<Number, std::uint32_t> ? H5T_STD_U32LE : H5T_STD_U8LE;
}

// The checksum over the root attributes: HDF5 has none for them.

inline constexpr std::string_view kChecksum = "attributes_crc32";

/// CRC-32 (zlib) over every root attribute but `attributes_crc32`, in the order of their names'
/// bytes: the name, a NUL, the bytes of the value as they are stored. Those of a later minor
/// version count too, known or not. Refuses attributes that reports do not have.
std::uint32_t checksum_of_attributes(const Source& source, hid_t root);

// Deflate, as zlib wraps it, undone.

/// Puts what `packed` unpacks to into `made`: of at most `most` bytes, and checked against its
/// Adler-32. Empties it where that is damaged or longer. By libdeflate where the build found it,
/// which takes an eighth of the time for rows of large reports.
void inflate(std::string_view packed, std::string& made, std::size_t most);

/// The same by zlib alone.
void inflate_by_zlib(std::string_view packed, std::string& made, std::size_t most);

}  // namespace tidemark
