// Each call of the encoder is of the kind that its case says.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "suite/case.hpp"
#include "suite/oracle/encoder_rules.hpp"
#include "suite/outcome.hpp"

namespace tidemark {
namespace {

/// Of the rows of the case that are not answered so: the first, and how many.
std::string otherwise(std::string_view name, DocumentedAnswer answer) {
  std::size_t wrong = 0;
  std::string first;
  for (const Op& op : case_named(name)->rows(RunContext{})) {
    if (documented_answer(std::get<Encode>(op)) == answer) continue;
    if (wrong++ == 0) first = parameters_of(op);
  }
  return wrong == 0 ? "" : std::to_string(wrong) + ", first " + first;
}

std::size_t rows_of(std::string_view name) { return case_named(name)->rows(RunContext{}).size(); }

TEST(EncodeCases, SoundCallsAreDocumentedAsAccepted) {
  EXPECT_EQ(otherwise("encode.tiled", DocumentedAnswer::accepted), "");
  EXPECT_EQ(otherwise("encode.im2col", DocumentedAnswer::accepted), "");
}

TEST(EncodeCases, ForbiddenCallsAreDocumentedAsRefused) {
  EXPECT_EQ(otherwise("encode.tiled.refused", DocumentedAnswer::refused), "");
  EXPECT_EQ(otherwise("encode.im2col.refused", DocumentedAnswer::refused), "");
}

// The controls are two changes of each sound call.
TEST(EncodeCases, NobodyDocumentsTheOthers) {
  for (const std::string_view name : {"behaviour.encode.tiled", "behaviour.encode.im2col"}) {
    std::size_t open = 0, refused = 0;
    for (const Op& op : case_named(name)->rows(RunContext{})) {
      const DocumentedAnswer answer = documented_answer(std::get<Encode>(op));
      open += answer == DocumentedAnswer::open ? 1 : 0;
      refused += answer == DocumentedAnswer::refused ? 1 : 0;
    }
    EXPECT_GT(open, rows_of(name) / 2) << name;
    EXPECT_EQ(refused, 0U) << name;
  }
}

TEST(EncodeCases, AreFiveThousandCallsAndMore) {
  EXPECT_GE(rows_of("encode.tiled") + rows_of("encode.tiled.refused") + rows_of("encode.im2col") +
                rows_of("encode.im2col.refused"),
            5000U);
}

TEST(EncodeCases, NoteEachAnswerThatIsOpen) {
  const auto device = make_device(DeviceKind::virtual_device);
  for (const std::string_view name : {"behaviour.encode.tiled", "behaviour.encode.im2col"}) {
    const Outcome outcome = run_case(*case_named(name), *device, RunContext{});
    EXPECT_EQ(outcome.judgement, Judgement::pass) << outcome.reason;
    EXPECT_LT(outcome.notes.size(), kKeptNotes) << name;  // none was cut
    EXPECT_TRUE(std::ranges::any_of(outcome.notes, [](const std::string& note) {
      return note.starts_with("a stride of 0: accepted");
    })) << name;
  }
}

}  // namespace
}  // namespace tidemark
