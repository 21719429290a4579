// What can be known of packing without a GPU: which operands it takes, and how rows are cut
// into runs.
#include "kernels/cuda/gemm/engine/pack.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

std::byte* address(std::uintptr_t at) { return reinterpret_cast<std::byte*>(at); }

LocalGemm product(std::uint64_t pitch, std::uint64_t b_pitch, std::uint64_t ldc) {
  return {.a = address(0x1000),
          .b = address(0x2000),
          .c = address(0x3000),
          .pitch = pitch,
          .ldc = ldc,
          .m = 100,
          .n = 50,
          .k = 70,
          .output = GemmOutput::bf16,
          .b_pitch = b_pitch};
}

TEST(RowRuns, AreOfAboutOneLength) {
  const RowRuns runs = runs_of(4097);  // 2049 words: five runs of 512 would leave one of a word
  EXPECT_EQ(runs.words, 2049U);
  EXPECT_EQ(runs.runs, 5U);
  EXPECT_EQ(runs.run_words, 13U * 32);
}

TEST(RowRuns, CoverEveryLengthOfRowWithoutAnEmptyOne) {
  for (std::uint64_t elements = 1; elements < 20000; ++elements) {
    const RowRuns runs = runs_of(elements);
    ASSERT_GE(runs.words * 2, elements);
    ASSERT_LE(runs.words * 2, elements + 1);
    ASSERT_LE(runs.run_words, 32 * kRunSteps) << elements;
    ASSERT_GE(runs.runs * runs.run_words, runs.words) << elements;
    ASSERT_LT((runs.runs - 1) * runs.run_words, runs.words) << elements;
  }
}

TEST(PackedRows, AreNoneWhereRowsStartOnSixteenBytes) {
  const LocalGemm gemm = product(72, 80, 56);
  EXPECT_EQ(packed_rows(gemm, GemmOperand::a).rows, 0U);
  EXPECT_EQ(packed_rows(gemm, GemmOperand::b).rows, 0U);
  EXPECT_EQ(engine_workspace_bytes(gemm), 0U);
}

TEST(PackedRows, AreThoseOfTheOperandThatIsOff) {
  const LocalGemm gemm = product(72, 71, 56);
  EXPECT_EQ(packed_rows(gemm, GemmOperand::a).rows, 0U);
  const PackedRows b = packed_rows(gemm, GemmOperand::b);
  EXPECT_EQ(b.from, gemm.b);
  EXPECT_EQ(b.rows, 50U);
  EXPECT_EQ(b.elements, 70U);
  EXPECT_EQ(b.from_pitch, 71U);
  EXPECT_EQ(b.to_pitch, 128U);
  EXPECT_EQ(engine_workspace_bytes(gemm), 50U * 128 * 2);
}

TEST(PackedRows, AreThoseApartByHalfOfSixteenBytes) {
  EXPECT_EQ(packed_rows(product(76, 72, 56), GemmOperand::a).rows, 100U);
}

TEST(PackedRows, OfAnMnMajorOperandAreRowsOfItsIndices) {
  LocalGemm gemm = product(101, 72, 56);
  gemm.a_major = Major::mn;
  const PackedRows a = packed_rows(gemm, GemmOperand::a);
  EXPECT_EQ(a.rows, 70U);
  EXPECT_EQ(a.elements, 100U);
}

TEST(PackedRows, AreAllWhereTheFirstOneStartsOffSixteenBytes) {
  LocalGemm gemm = product(72, 72, 56);
  gemm.a = address(0x1002);
  EXPECT_EQ(packed_rows(gemm, GemmOperand::a).rows, 100U);
}

TEST(PackedRows, OfBWithoutAPitchOfItsOwnHaveThatOfA) {
  const LocalGemm gemm = product(71, 0, 56);
  EXPECT_EQ(packed_rows(gemm, GemmOperand::b).from_pitch, 71U);
  EXPECT_EQ(engine_workspace_bytes(gemm), (100U + 50) * 128 * 2);
}

TEST(PitchNote, NamesWhatIsPackedAndWhatIsStoredByRows) {
  EXPECT_EQ(pitch_note(product(72, 80, 56)), "");
  EXPECT_EQ(pitch_note(product(71, 80, 56)), "; rows of A packed");
  EXPECT_EQ(pitch_note(product(72, 71, 51)), "; rows of B packed; C stored row by row");
  EXPECT_EQ(pitch_note(product(71, 71, 56)), "; rows of A and B packed");
  EXPECT_EQ(pitch_note(product(72, 72, 50)), "; C stored row by row");
}

TEST(PreparedEngine, IsRefusedWithoutTheWorkspaceItNeeds) {
  const LocalGemm gemm = product(71, 72, 56);
  try {
    prepare_engine(chosen_configuration(embedded_gemm_table(), gemm), gemm);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "gemm: rows of A or B start off 16 bytes, and there is no workspace to pack them");
  }
}

}  // namespace
}  // namespace tidemark
