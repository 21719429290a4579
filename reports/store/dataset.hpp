// Datasets of a file that is not trusted: what HDF5 is asked before anything is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/schema/tables.hpp"
#include "reports/store/h5.hpp"

namespace tidemark {

inline constexpr std::string_view kBroken =
    "it was damaged or made by another program; copy it again or make it again";

/// The file an error is about, and how many bytes its tables may still take.
struct Source {
  const std::string& name;
  std::uint64_t file_bytes;
  std::uint64_t bytes_left;

  [[noreturn]] void refuse(const std::string& what, std::string_view hint = kBroken) const;
};

/// Opens a dataset of one dimension and says how many elements it has. Refuses types that reports
/// do not have, storage outside the file, filters, and sizes beyond `bytes_left`.
H5Id open_dataset(Source& source, hid_t root, std::string_view name, std::size_t memory_bytes,
                  std::size_t& elements);

/// Where each column of the table stands in a row of the file, in the order of the description.
/// Refuses a dataset that lacks a column or has it in another type.
std::vector<std::size_t> column_offsets(const Source& source, const Table& table, hid_t dataset);

/// The rows as they are stored, unpacked; `element_bytes` of the file's type each. HDF5's own
/// unpacking is not used: it copies a whole chunk however few bytes came out of the filters.
std::string stored_rows(const Source& source, std::string_view name, hid_t dataset,
                        std::size_t elements, std::size_t& element_bytes);

}  // namespace tidemark
