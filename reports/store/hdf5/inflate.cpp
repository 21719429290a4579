// Two libraries that do the same: one is everywhere, the other fast.
#include "reports/store/hdf5/inflate.hpp"

#include <zlib.h>

#ifdef TIDEMARK_LIBDEFLATE
#include <libdeflate.h>

#include <memory>
#endif

namespace tidemark::reports {

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

}  // namespace tidemark::reports
