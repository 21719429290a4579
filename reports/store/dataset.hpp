// Datasets of a file that is not trusted: what HDF5 is asked before anything is read.
#pragma once

#include <cstdint>
#include <functional>
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
  std::uint64_t file_bytes = 0;
  std::uint64_t bytes_left = 0;
  std::uint32_t minor = kSchemaMinor;  // of the file's schema

  [[noreturn]] void refuse(const std::string& what, std::string_view hint = kBroken) const;
};

/// Opens a dataset of one dimension and says how many elements it has. Refuses types that reports
/// do not have, storage outside the file, filters, and sizes beyond `bytes_left`.
H5Id open_dataset(Source& source, hid_t root, std::string_view name, std::size_t memory_bytes,
                  std::size_t& elements);

/// Where each column of the table stands in a row of the file, in the order of the description.
/// Refuses a dataset that lacks a column, has it in another type, or has one that a schema of its
/// version does not know.
std::vector<std::size_t> column_offsets(const Source& source, const Table& table, hid_t dataset);

/// Calls `take` with the rows as they are stored, unpacked, chunk by chunk; each of the file's
/// type. HDF5's own unpacking is not used: it copies a whole chunk however few bytes came out of
/// the filters.
void for_each_chunk(const Source& source, std::string_view name, hid_t dataset,
                    std::size_t elements, const std::function<void(std::string_view rows)>& take);

}  // namespace tidemark
