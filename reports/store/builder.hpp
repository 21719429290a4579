// Puts a report together from its parts as they come, whoever sends them: nothing is believed but
// the sizes this side has counted itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark::reports {

/// Collects one report. Its parts are the tables in the order of the schema, then the bytes of the
/// text. Everything throws ReportError with one line that starts with `name`.
class ReportBuilder {
 public:
  /// `most_bytes`: what all parts together may take in memory.
  ReportBuilder(std::string name, std::uint64_t most_bytes);

  void launch(const LaunchRow& launch);

  /// Starts the next part; the one before must be whole.
  void begin(std::size_t part, std::uint64_t elements);

  /// Where the next bytes of the part belong, as row structs; the caller fills all of them.
  std::span<char> room(std::uint64_t bytes);

  /// The report, once every part is whole and its rows refer to what is there.
  Report finish();

 private:
  [[noreturn]] void refuse() const;
  void cut_strings();

  std::string name_;
  std::uint64_t bytes_left_;
  Report report_;
  std::vector<StringIndexRow> string_index_;
  std::string text_;
  bool launched_ = false;
  std::size_t next_part_ = 0;
  char* place_ = nullptr;   // in the part that has begun
  std::uint64_t open_ = 0;  // bytes of it that are still to come
};

}  // namespace tidemark::reports
