// Fuzz target: the bytes of a report. HDF5 itself breaks on some, which costs `show` a confined
// process and this target its own: ci/fuzz tells those deaths from ours.
#include <cstddef>
#include <cstdint>
#include <string>

#include "reports/base/error.hpp"
#include "reports/store/hdf5/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tidemark::report_of(std::string(reinterpret_cast<const char*>(data), size), "fuzzed");
  } catch (const tidemark::ReportError&) {
  }
  return 0;
}
