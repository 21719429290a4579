// Fuzz target: the journals of a launch, an empty line between two. CRCs are put right first, or no
// changed line would be read at all.
#include <fmt/format.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/base/error.hpp"
#include "reports/store/hdf5/image.hpp"

using namespace tidemark;

namespace {

std::string with_crc(std::string_view line) {
  line = line.substr(0, line.find(",\"crc\""));
  if (line.ends_with('}')) line.remove_suffix(1);
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(line.data()), line.size());
  return fmt::format("{},\"crc\":\"{:08x}\"}}\n", line, crc);
}

std::vector<std::string> journals_in(std::string_view text) {
  std::vector<std::string> journals(1);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (line.empty()) {
      journals.emplace_back();
    } else {
      journals.back() += with_crc(line);
    }
  }
  return journals;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Report report = assemble(journals_in({reinterpret_cast<const char*>(data), size}),
                                   {.anonymize = size % 2 == 0});
    check_references(report, "fuzzed");
  } catch (const ReportError&) {
  }
  return 0;
}
