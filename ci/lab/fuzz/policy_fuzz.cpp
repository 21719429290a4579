// Fuzz target: the JSON of a policy.
#include "reports/policy/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "reports/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tidemark::policy_of(std::string(reinterpret_cast<const char*>(data), size), "fuzzed");
  } catch (const tidemark::ReportError&) {
  }
  return 0;
}
