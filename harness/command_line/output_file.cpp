// Looks at what an output would replace.
#include "harness/command_line/output_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "harness/errors.hpp"

namespace tidemark::harness {

void check_replaceable(const std::string& path, std::string_view otherwise,
                       std::string_view option) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return;
  if (!std::filesystem::is_regular_file(status))
    throw UsageError(fmt::format("{} '{}': is no plain file, and would be replaced; give {}",
                                 option, path, otherwise));
}

}  // namespace tidemark::harness
