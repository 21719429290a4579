// Puts columns as they are stored into row structs. Reports of a large fleet have a hundred million
// fields, so a field is moved as one number and rows go by blocks that stay near the processor.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "reports/store/hdf5/dataset.hpp"

namespace tidemark::reports {
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

}  // namespace tidemark::reports
