// Lists on the command line, however they are divided.
#include "harness/command_line/items.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"

namespace tidemark::harness {
namespace {

using Items = std::vector<std::string>;

TEST(Items, are_divided_by_commas_and_spaces) {
  EXPECT_EQ(items_of("--cases", {"a,b", "c d", " e ,\tf, "}),
            (Items{"a", "b", "c", "d", "e", "f"}));
}

TEST(Items, of_nothing_are_none) { EXPECT_EQ(items_of("--cases", {}), Items{}); }

TEST(Items, an_argument_without_one_is_refused) {
  try {
    (void)items_of("--cases", {"a", ", "});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--cases ', ': names nothing; give a name, or leave --cases out");
  }
}

}  // namespace
}  // namespace tidemark::harness
