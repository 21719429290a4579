// The guide to failures against what it must agree with.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "reports/journal/hardware_events.hpp"

namespace tidemark {
namespace {

/// The rows of its table of Xids.
std::vector<std::string> rows_in_guide() {
  std::ifstream guide(TIDEMARK_GUIDE_FAILED);
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(guide, line);) {
    if (inside && line.empty()) break;
    if (inside) rows.push_back(line);
    inside = inside || line == "|--:|---|---|";
  }
  return rows;
}

TEST(GuideToFailures, ListsEveryXidWithItsAction) {
  std::vector<std::string> rows;
  for (const Xid& xid : kXids)
    rows.push_back(fmt::format("| {} | {} | {} |", xid.code, xid.meaning, xid.action));
  EXPECT_EQ(rows_in_guide(), rows);
}

}  // namespace
}  // namespace tidemark
