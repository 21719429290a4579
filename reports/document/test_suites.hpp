// What a verb found, as tests: for CI systems.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::reports {

enum class TestOutcome : std::uint8_t { passed, failed, error, skipped };

struct TestCase {
  std::string class_name, name;
  double seconds = 0;  // NaN and less than 0 are written as 0: readers want a number
  TestOutcome outcome = TestOutcome::passed;
  std::string type;     // of what is not passed: "hang"
  std::string message;  // the same: one line
  std::string text;     // the same: lines, for failed and error
};

struct TestSuite {
  std::string name, hostname, timestamp;  // ISO 8601 without a zone
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<TestCase> cases;
};

/// Nothing of the virtual device is a pass of a GPU, and nothing of it fails.
void skip_virtual(TestCase& made);

}  // namespace tidemark::reports
