// Reads every root attribute as bytes, whatever it means.
#include "reports/store/hdf5/attributes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "reports/store/hdf5/image.hpp"

namespace tidemark::reports {
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
  std::sort(names.begin(), names.end());
  uLong crc = crc32_z(0, nullptr, 0);
  for (const std::string& name : names) {
    if (name == kChecksum) continue;
    const std::string all = name + '\0' + stored_bytes(source, root, name);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(all.data()), all.size());
  }
  return static_cast<std::uint32_t>(crc);
}

}  // namespace tidemark::reports
