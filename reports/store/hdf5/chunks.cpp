// Unpacks what is stored of a dataset, but for HDF5's shuffle (first all first bytes of the rows,
// then all second ones, ...), which is undone where columns are copied. In a damaged file a chunk
// may unpack to fewer bytes than its rows have, or claim that its filters were left out; each step
// here gives exactly one chunk or none.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <vector>

#ifdef TIDEMARK_LIBDEFLATE
#include <libdeflate.h>

#include <memory>
#endif

#include "reports/store/hdf5/dataset.hpp"

namespace tidemark {

// Two libraries that do the same: one is everywhere, the other fast.

void inflate_by_zlib(std::string_view packed, std::string& made, std::size_t most) {
  made.resize(most);
  uLongf bytes = most;
  const int status =
      uncompress(reinterpret_cast<Bytef*>(made.data()), &bytes,
                 reinterpret_cast<const Bytef*>(packed.data()), static_cast<uLong>(packed.size()));
  made.resize(status == Z_OK ? bytes : 0);
}

#ifdef TIDEMARK_LIBDEFLATE
void inflate(std::string_view packed, std::string& made, std::size_t most) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> state(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (state == nullptr) return inflate_by_zlib(packed, made, most);
  made.resize(most);
  std::size_t bytes = 0;
  const libdeflate_result result = libdeflate_zlib_decompress(
      state.get(), packed.data(), packed.size(), made.data(), made.size(), &bytes);
  made.resize(result == LIBDEFLATE_SUCCESS ? bytes : 0);
}
#else
void inflate(std::string_view packed, std::string& made, std::size_t most) {
  inflate_by_zlib(packed, made, most);
}
#endif

namespace {

static_assert(std::endian::native == std::endian::little, "rows are copied as the file has them");

/// How a chunk is packed: the filters in the order they were applied.
struct Packing {
  std::size_t element_bytes = 0, chunk_rows = 0;
  std::vector<H5Z_filter_t> filters = {};

  std::size_t chunk_bytes() const { return element_bytes * chunk_rows; }
};

Packing packing_of(const Source& source, std::string_view name, hid_t list,
                   std::size_t element_bytes) {
  hsize_t chunk_rows = 0;
  if (H5Pget_chunk(list, 1, &chunk_rows) != 1) {
    source.refuse(fmt::format("'{}' has no chunks of rows", name));
  }
  Packing packing{.element_bytes = element_bytes, .chunk_rows = chunk_rows};
  for (int i = 0; i < H5Pget_nfilters(list); ++i) {
    unsigned flags = 0, config = 0, value = 0;
    std::size_t values = 1;
    const H5Z_filter_t filter = H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &values,
                                               &value, 0, nullptr, &config);
    if (filter == H5Z_FILTER_SHUFFLE && value != element_bytes) {
      source.refuse(fmt::format("'{}' is shuffled in another size than its rows have", name));
    }
    packing.filters.push_back(filter);
  }
  return packing;
}

/// A chunk while it is unpacked. Kept from chunk to chunk: a block of this size goes back to the
/// system when it is freed, and getting every page of it anew costs as much as unpacking it.
struct Unpacked {
  std::string bytes, other;
  bool shuffled = false;  // the last step is left to whoever copies the columns
};

/// Unpacks the chunk that starts at this row; false when its rows are not all there.
bool unpack_chunk(const Source& source, const Packing& packing, hid_t dataset, hsize_t row,
                  Unpacked& chunk) {
  hsize_t stored_bytes = 0;
  if (H5Dget_chunk_storage_size(dataset, &row, &stored_bytes) < 0 || stored_bytes == 0 ||
      stored_bytes > source.file_bytes) {
    return false;
  }
  chunk.bytes.resize(stored_bytes);
  chunk.shuffled = false;
  std::uint32_t left_out = 0;  // bit i: filter i was not applied to this chunk
  if (H5Dread_chunk(dataset, H5P_DEFAULT, &row, &left_out, chunk.bytes.data()) < 0) return false;
  for (std::size_t i = packing.filters.size(); i-- > 0;) {
    if ((left_out >> i & 1u) != 0) continue;
    if (packing.filters[i] == H5Z_FILTER_SHUFFLE) {
      if (i > 0) return false;  // what another filter made are no rows
      chunk.shuffled = true;
    } else {
      inflate(chunk.bytes, chunk.other, packing.chunk_bytes());
      chunk.bytes.swap(chunk.other);
    }
  }
  return chunk.bytes.size() == packing.chunk_bytes();
}

}  // namespace

void for_each_chunk(const Source& source, std::string_view name, hid_t dataset,
                    std::size_t elements, const std::function<void(const StoredRows& rows)>& take) {
  const H5Id type(H5Dget_type(dataset), H5Tclose, source.name + ": a table without a type");
  const H5Id list(H5Dget_create_plist(dataset), H5Pclose, source.name + ": no property list");
  const std::size_t element_bytes = H5Tget_size(type);
  if (elements == 0) return;
  const std::string missing = fmt::format("rows of '{}' are missing or cannot be unpacked", name);
  if (H5Pget_layout(list) != H5D_CHUNKED) {  // contiguous or compact
    std::string rows(elements * element_bytes, '\0');
    const bool whole = H5Dget_storage_size(dataset) == rows.size();
    if (!whole || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
      source.refuse(missing);
    }
    return take({.bytes = rows.data(), .rows = elements, .row_stride = element_bytes});
  }
  const Packing packing = packing_of(source, name, list, element_bytes);
  const std::size_t chunks = (elements - 1) / packing.chunk_rows + 1;
  if (chunks > source.file_bytes) source.refuse(missing);
  Unpacked chunk;
  for (std::size_t row = 0; row < elements; row += packing.chunk_rows) {
    if (!unpack_chunk(source, packing, dataset, row, chunk)) source.refuse(missing);
    take({.bytes = chunk.bytes.data(),
          .rows = std::min(packing.chunk_rows, elements - row),
          .byte_stride = chunk.shuffled ? packing.chunk_rows : 1,
          .row_stride = chunk.shuffled ? 1 : element_bytes});
  }
}

}  // namespace tidemark
