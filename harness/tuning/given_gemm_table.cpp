// Reads what --gemm-table names, and turns what is wrong with it into the one line of a usage
// error.
#include "harness/tuning/given_gemm_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/errors.hpp"
#include "kernels/error.hpp"

namespace tidemark::harness {
namespace {

/// Of a path, bytes: it goes to workers in one write to a pipe (PIPE_BUF is 4096).
constexpr std::size_t kLongestPath = 2000;

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

GemmTable given_gemm_table(const std::string& path) {
  if (path.empty()) return embedded_gemm_table();
  if (path.size() > kLongestPath || !is_utf8(path))
    throw UsageError(
        fmt::format("--gemm-table {}...: the path has more than {} bytes or is no UTF-8; take "
                    "another",
                    path.substr(0, 40), kLongestPath));
  try {
    return read_gemm_table(path);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--gemm-table {}", error.what()));
  }
}

}  // namespace tidemark::harness
