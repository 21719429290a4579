// The checksum over the root attributes: HDF5 has none for them.
#pragma once

#include <cstdint>
#include <string_view>

#include "reports/store/hdf5/dataset.hpp"
#include "reports/store/hdf5/h5.hpp"

namespace tidemark::reports {

inline constexpr std::string_view kChecksum = "attributes_crc32";

/// CRC-32 (zlib) over every root attribute but `attributes_crc32`, in the order of their names'
/// bytes: the name, a NUL, the bytes of the value as they are stored. Those of a later minor
/// version count too, known or not. Refuses attributes that reports do not have.
std::uint32_t checksum_of_attributes(const Source& source, hid_t root);

}  // namespace tidemark::reports
