// Test suites as JUnit XML, for the CI systems that read it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::reports {

enum class JunitOutcome : std::uint8_t { passed, failed, error, skipped };

struct JunitCase {
  std::string class_name, name;
  double seconds = 0;  // NaN and less than 0 are written as 0: readers want a number
  JunitOutcome outcome = JunitOutcome::passed;
  std::string type;     // of what is not passed: "hang"
  std::string message;  // the same: one line
  std::string text;     // the same: lines, for failed and error
};

struct JunitSuite {
  std::string name, hostname, timestamp;  // ISO 8601 without a zone
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<JunitCase> cases;
};

/// The document. Text is escaped here and may hold anything.
std::string junit_of(const std::string& name, const std::vector<JunitSuite>& suites);

}  // namespace tidemark::reports
