// The description of the tables against the row structs and against README.md.
#include "reports/schema/tables.hpp"
#include "reports/testing/said.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace tidemark {
namespace {

std::string readme() {
  std::ifstream file(TIDEMARK_REPORTS_README);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Tables, EveryMemberOfARowIsAColumn) {
  for (const Table* table : tables()) {
    std::size_t end = 0;
    for (const Column& column : table->columns) {
      const std::size_t alignment =
          column.type == ColumnType::text ? 1 : bytes_of(column) / column.count;
      ASSERT_GE(column.offset, end) << table->name << "." << column.name << " overlaps";
      // A larger gap than alignment needs is a member that the description leaves out.
      EXPECT_LT(column.offset - end, alignment) << table->name << " before " << column.name;
      end = column.offset + bytes_of(column);
    }
    EXPECT_LT(table->row_bytes - end, 8U) << table->name << " at its end";
  }
}

TEST(Tables, EveryReferenceIsAnIndexIntoAKnownTable) {
  for (const Table* table : tables()) {
    for (const Column& column : table->columns) {
      if (column.refers.empty()) continue;
      bool known = column.refers == "strings";
      for (const Table* other : tables()) known = known || other->name == column.refers;
      EXPECT_TRUE(known) << table->name << "." << column.name << " refers to " << column.refers;
      EXPECT_EQ(column.type, ColumnType::u32) << table->name << "." << column.name;
    }
  }
}

TEST(Tables, EveryColumnHasAMeaning) {
  for (const Table* table : tables()) {
    for (const Column& column : table->columns) EXPECT_NE(column.meaning, "") << column.name;
  }
}

TEST(Tables, TheReadmeTellsEveryTableColumnAndAttribute) {
  const std::string text = readme();
  for (const Table* table : tables()) {
    std::string line = fmt::format("| `{}` |", table->name);
    for (const Column& column : table->columns) line.append(" ").append(column.name);
    EXPECT_TRUE(has(text, line)) << "README.md lacks the line\n" << line;
  }
  for (const LaunchAttribute& attribute : launch_attributes()) {
    const std::string quoted = fmt::format("`{}`", attribute.name);
    EXPECT_TRUE(has(text, quoted)) << "README.md lacks " << quoted;
  }
}

TEST(Tables, EveryFactHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Table* table : tables()) {
    for (const Column& column : table->columns) {
      if (column.fact.empty()) continue;
      EXPECT_TRUE(names.insert(column.fact).second) << "two facts are named " << column.fact;
    }
  }
}

TEST(FixedText, RefusesWhatDoesNotFit) {
  EXPECT_EQ(FixedText<4>::of("abcd").view(), "abcd");
  EXPECT_THROW(FixedText<4>::of("abcde"), ReportError);
}

}  // namespace
}  // namespace tidemark
