// A report as the bytes of its HDF5 file and back, without a file.
#pragma once

#include <cstdint>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark {

/// The bytes of the file; equal reports give equal bytes. `name` is for error lines.
std::string image_of(const Report& report, const std::string& name);

/// The report in these bytes, of which nothing is trusted. Throws ReportError with one line that
/// starts with `name`.
Report report_of(std::string& image, const std::string& name);

/// Throws ReportError where a row refers to a row or text that is not there, a verdict is none, or
/// a table does not hold what the plan says.
void check_references(const Report& report, const std::string& name);

/// Column by column and byte by byte: NaN equals NaN, and padding does not count.
bool same_rows(const Report& a, const Report& b);

/// Limits of a reader, far above any real report.
inline constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMostTableBytes = std::uint64_t{4} << 30;  // all tables together
inline constexpr std::uint64_t kMostChunkBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostAttributeBytes = 1u << 16;
inline constexpr std::uint64_t kMostRootLinks = 64;

}  // namespace tidemark
