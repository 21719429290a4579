// Which configuration of the GEMM engine a product gets: a table that is data, built in as
// kernels/cuda/gemm/tuning/table.json, or read from a file of the same form.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/gemm/gemm_shape.hpp"

namespace tidemark::kernels {

/// "8192 x 8192 x 1024"
std::string name_of(const GemmShape& product);

/// The largest size: coordinates of TMA are signed 32-bit numbers, and a cluster of tiles may reach
/// past the end of C.
inline constexpr std::uint64_t kMostGemmSize = (1ULL << 31) - 2048;

/// What one product gets.
struct GemmChoice {
  GemmShape product;
  std::string configuration;  // its name, as the engine gives it
  std::uint32_t number = 0;   // of it, from 1, as Gemm::configuration counts
  std::string note = {};      // what a person should know of it

  friend bool operator==(const GemmChoice&, const GemmChoice&) = default;
};

/// Where and when a table was measured. What is not known is empty.
struct GemmTableOrigin {
  std::string gpu = {};     // product name
  std::string driver = {};  // version
  std::string date = {};    // ISO 8601, UTC
  std::string git = {};     // of the program that measured
  std::string run = {};     // anything else that leads there

  friend bool operator==(const GemmTableOrigin&, const GemmTableOrigin&) = default;
};

struct GemmTable {
  std::string name;  // "embedded", or that of its file without folders
  GemmTableOrigin measured;
  std::vector<GemmChoice> choices;  // at least one; none twice
};

/// 16 hexadecimal digits, FNV-1a 64 over the lines "MxNxK CONFIGURATION\n" of all choices in order:
/// what a table decides, not what it says about itself.
std::string hash_of(const GemmTable& table);

/// The table that was built in; its name is "embedded".
const GemmTable& embedded_gemm_table();

/// Reads the JSON of a table and checks all of it. Throws Error, one line: `name`, where and what
/// is wrong, what to do.
GemmTable parse_gemm_table(std::string_view json, const std::string& name);

/// The same of a file. Throws Error also for what is no plain file or larger than any table.
GemmTable read_gemm_table(const std::string& path);

/// The JSON of a table, as parse_gemm_table() reads it: a choice a line.
std::string json_of(const GemmTable& table);

/// Names of all configurations that the engine has, in the order of their numbers.
std::vector<std::string> gemm_configuration_names();

/// What `table` has for the product most like this one: the sizes' ratios, an octave counting the
/// same in each; of two that are as like the first. Only of those that `suits` allows; nullptr
/// where there are none.
const GemmChoice* nearest_choice(
    const GemmTable& table, const GemmShape& product,
    const std::function<bool(const GemmChoice&)>& suits = [](const GemmChoice&) { return true; });

}  // namespace tidemark::kernels
