// A report as a later tidemark might write it, for what has to be read or refused by this one.
#pragma once

#include <cstdint>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark {

/// The bytes of the report under another version of the schema, with one more root attribute, one
/// more table, and one more column in front of those of `results`. Equal reports give equal bytes.
std::string image_of_another_version(const Report& report, std::uint32_t major,
                                     std::uint32_t minor);

}  // namespace tidemark
