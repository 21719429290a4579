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

Outcome outcome_of(std::string_view name, Fault fault, bool first = true) {
  const auto device = make_device(DeviceKind::virtual_device, fault);
  return run_case(*case_named(name), *device, RunContext{.first = first});
}

/// Answers of one run that are not those of the other.
std::size_t different(const Outcome& one, const Outcome& other) {
  std::size_t made = 0;
  for (std::size_t i = 0; i < one.answers.size(); ++i)
    made += one.answers[i].answer != other.answers[i].answer ||
                    one.answers[i].map != other.answers[i].map
                ? 1
                : 0;
  return made;
}

/// A change of the driver that no document forbids: every case passes, and the report has it.
void expect_recorded(std::string_view name, std::string_view fault, std::size_t answers) {
  const Outcome sound = outcome_of(name, kNoFault);
  const Outcome changed = outcome_of(name, fault_named(fault));
  EXPECT_EQ(changed.judgement, Judgement::pass) << changed.reason;
  ASSERT_EQ(changed.answers.size(), sound.answers.size());
  EXPECT_EQ(different(sound, changed), answers);
}

TEST(DriverAnswers, ABitOfSomeMapsIsRecorded) {
  const Outcome sound = outcome_of("encode.tiled", kNoFault);
  const auto maps = std::ranges::count_if(sound.answers, [](const DriverAnswer& answer) {
    return answer.subject == "tiled, f32, rank 3, swizzle 0" ||
           answer.subject == "units of 16, f32, rank 3, swizzle 0";
  });
  expect_recorded("encode.tiled", "encode_other_map_bit", static_cast<std::size_t>(maps));
}

TEST(DriverAnswers, AnAnswerThatIsOpenIsRecorded) {
  const Outcome changed =
      outcome_of("behaviour.encode.tiled", fault_named("encode_other_open_answer"));
  EXPECT_EQ(changed.judgement, Judgement::pass) << changed.reason;
  EXPECT_GT(different(outcome_of("behaviour.encode.tiled", kNoFault), changed), 0U);
}

TEST(DriverAnswers, OneRegisterMoreIsRecorded) {
  expect_recorded("behaviour.compiled", "compiled_more_registers", 1);
}

TEST(DriverAnswers, AnAttributeThatNoDocumentHasIsRecorded) {
  expect_recorded("behaviour.limits", "driver_other_attribute", 1);
}

TEST(DriverAnswers, OfTheEncoderAreThoseOfTheFirstGpu) {
  EXPECT_GT(outcome_of("encode.im2col", kNoFault, true).answers.size(), 1000U);
  EXPECT_EQ(outcome_of("encode.im2col", kNoFault, false).answers.size(), 0U);
  EXPECT_GT(outcome_of("behaviour.limits", kNoFault, false).answers.size(), 0U);
}

}  // namespace
}  // namespace tidemark
