// Test suites as JUnit XML, for the CI systems that read it.
#pragma once

#include <string>
#include <vector>

#include "reports/document/test_suites.hpp"

namespace tidemark::reports {

/// The document. Text is escaped here and may hold anything.
std::string junit_of(const std::string& name, const std::vector<TestSuite>& suites);

}  // namespace tidemark::reports
