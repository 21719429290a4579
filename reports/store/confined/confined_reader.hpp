// Reads a report in a process of its own that can do nothing else, so that a file made to break
// HDF5 breaks only that process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "reports/store/confined/confine.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

struct ReaderLimits {
  Confinement confinement;
  std::chrono::milliseconds patience{0};  // after it the process is killed
  std::uint64_t table_bytes = 0;          // that are taken from it
};

/// What reading a file of this size may need, many times over.
ReaderLimits limits_of(std::uint64_t file_bytes);

/// What the process does: it reads `file` and gives what it finds to the sink, or throws.
using ReadFrom = std::function<void(int file, const RowSink& sink)>;

/// Forks, confines the child to `file`, and collects what it sends. Nothing it sends is believed:
/// sizes, order and references are checked on this side. Throws ReportError with one line that
/// starts with `name` when the child refuses the file, dies, sends nonsense or takes too long; no
/// child is left behind. Can be called from several threads.
Report read_confined(const std::string& name, int file, const ReaderLimits& limits,
                     const ReadFrom& read, Protection& protection);

}  // namespace tidemark::reports
