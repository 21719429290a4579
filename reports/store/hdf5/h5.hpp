// An HDF5 identifier that closes itself, and the HDF5 types of the schema's tables.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "reports/schema/tables.hpp"

namespace tidemark {

/// Owns one HDF5 identifier.
class H5Id {
 public:
  using Close = herr_t (*)(hid_t);

  /// Throws ReportError with `failure` when `id` is not one.
  H5Id(hid_t id, Close close, const std::string& failure) : id_(id), close_(close) {
    if (id_ < 0) throw ReportError(failure);
  }
  H5Id(H5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  H5Id& operator=(H5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~H5Id() {
    if (id_ >= 0) close_(id_);
  }

  operator hid_t() const { return id_; }  // as the C interface takes it everywhere

 private:
  hid_t id_;
  Close close_;
};

/// Throws ReportError with `failure` when an HDF5 call says that it failed.
inline void h5_check(herr_t status, const std::string& failure) {
  if (status < 0) throw ReportError(failure);
}

/// Whose layout a type has: packed little-endian in the file, the row struct's in memory.
enum class Side { file, memory };

/// A text of exactly this many bytes, padded with NUL.
H5Id text_type(std::size_t bytes);

/// The type of one column, of one row of a table.
H5Id column_type(const Column& column, Side side);
H5Id row_type(const Table& table, Side side);

/// Bytes of a row in the file.
std::size_t packed_bytes(const Table& table);

/// A file held in memory only: HDF5 itself never touches the disk. `image` makes it read-only.
H5Id memory_file(const std::string& name);
H5Id memory_file(const std::string& name, std::string& image);

/// HDF5 says nothing on stderr; what failed is in our own line.
void silence_hdf5();

}  // namespace tidemark
