// A report as the bytes of its HDF5 file and back, without a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "reports/store/report.hpp"

namespace tidemark {

/// The bytes of the file; equal reports give equal bytes. `name` is for error lines.
std::string image_of(const Report& report, const std::string& name);

/// The report in these bytes, of which nothing is trusted. Throws ReportError with one line that
/// starts with `name`.
Report report_of(std::string image, const std::string& name);

/// Where the parts of a report go while it is read: the tables in the order of the schema, then the
/// bytes of the text.
struct RowSink {
  std::function<void(const LaunchRow&)> launch;
  std::function<void(std::size_t part, std::uint64_t elements)> begin;
  std::function<void(std::string_view bytes)> append;  // of the part that was begun, as row structs
};

/// Reads the bytes of a report, of which nothing is trusted, part by part. Whether rows refer to
/// what is there is left to who collects them. Throws ReportError as report_of does.
void stream_report(std::string image, const std::string& name, const RowSink& sink);

/// What the tables of a file of so many bytes may take in memory.
std::uint64_t most_table_bytes(std::uint64_t file_bytes);

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
