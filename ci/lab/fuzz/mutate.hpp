// Changes to the bytes and rows of a report, drawn from a number: the same number, the same change.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark {

/// A real report that changed ones are made of.
struct Seed {
  std::string path, image;
  Report report;
  std::vector<std::size_t> headers;  // offsets of blocks that are no packed rows
};

/// Reads it; throws ReportError when it is none.
Seed seed_of(const std::string& path);

/// The bytes of a changed report. One in 64 has changed rows and headers that fit, so that what
/// checks rows is reached; all others have changed bytes.
std::string mutated(const std::vector<Seed>& seeds, std::uint64_t number);

}  // namespace tidemark
