// Fuzz target: the JSON of a table of GEMM configurations. What is read writes itself back as it
// was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernels/cuda/gemm/tuning/gemm_table.hpp"
#include "kernels/error.hpp"

using namespace tidemark::kernels;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const GemmTable table = parse_gemm_table({reinterpret_cast<const char*>(data), size}, "fuzzed");
    const GemmTable again = parse_gemm_table(json_of(table), "fuzzed");
    if (hash_of(again) != hash_of(table) || again.measured != table.measured) std::abort();
    nearest_choice(table, {.m = 4096, .n = 4096, .k = 4096});
  } catch (const Error&) {
  }
  return 0;
}
