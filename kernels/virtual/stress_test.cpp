// Boxes that the virtual device copies by coordinates are what stress_chunk() expects, and what is
// spoiled is found where it is.
#include "kernels/virtual/stress.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

Stress stress_of(StressBoxes boxes) { return {.boxes = boxes, .memory_bytes = 1 << 20, .seed = 7}; }

RunResult result_of(const Stress& op, Fault fault = kNoFault) {
  return run_virtual_stress(op, fault).last;
}

/// Parameter: which boxes are drawn.
class AllBoxes : public testing::TestWithParam<StressBoxes> {};

TEST_P(AllBoxes, are_what_their_coordinates_say) {
  const RunResult result = result_of(stress_of(GetParam()));
  EXPECT_EQ(result.stress.size(), 4U);
  EXPECT_EQ(sum_of(result.stress).boxes, 400U);
  EXPECT_EQ(sum_of(result.stress).wrong_words, 0U);
  EXPECT_TRUE(result.wrong_words.empty());
}

TEST_P(AllBoxes, are_found_on_the_sm_that_spoils_them) {
  Stress op = stress_of(GetParam());
  op.spoiled = {.sm = 3, .every = 10};
  const RunResult result = result_of(op);
  ASSERT_FALSE(result.wrong_words.empty());
  for (const WrongWord& word : result.wrong_words) {
    EXPECT_EQ(word.sm, 3U);
    EXPECT_EQ(stress_key(word.seed, word.cta, word.iteration) % 10, 0U);
    EXPECT_EQ(word.expected ^ word.actual, 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Stress, AllBoxes,
                         testing::Values(StressBoxes::bulk, StressBoxes::swizzled,
                                         StressBoxes::mixed));

TEST(Stress, finds_one_wrong_bit_in_each_spoiled_box) {
  const StressSm sick = result_of(stress_of(StressBoxes::bulk), kFaultStressBit).stress[2];
  EXPECT_EQ(sick.boxes, 100U);
  EXPECT_EQ(sick.wrong_boxes, 4U);
  EXPECT_EQ(sick.wrong_words, 4U);
}

TEST(Stress, finds_boxes_taken_from_elsewhere) {
  const RunResult result = result_of(stress_of(StressBoxes::swizzled), kFaultStressAddress);
  EXPECT_EQ(result.stress[2].wrong_boxes, 4U);
  EXPECT_EQ(sum_of(result.stress).wrong_boxes, 4U);
}

TEST(Stress, finds_what_is_written_behind_a_slot) {
  const RunResult result = result_of(stress_of(StressBoxes::bulk), kFaultStressOverrun);
  ASSERT_FALSE(result.wrong_words.empty());
  EXPECT_EQ(result.wrong_words[0].offset, kGuardWord | kGuardBehind);
  EXPECT_EQ(result.wrong_words[0].expected, stress_guard_word(0));
  EXPECT_EQ(result.wrong_words[0].in_memory, stress_guard_word(0));
}

TEST(Stress, finds_what_is_written_before_a_slot) {
  const RunResult result = result_of(stress_of(StressBoxes::bulk), kFaultStressUnderrun);
  ASSERT_FALSE(result.wrong_words.empty());
  EXPECT_EQ(result.wrong_words[0].offset, kGuardWord | (kStressGuardBytes - 16));
  EXPECT_EQ(result.stress[2].wrong_boxes, 4U);
}

TEST(Stress, finds_what_a_box_left_in_its_slot) {
  const StressSm sick = result_of(stress_of(StressBoxes::swizzled), kFaultStressStale).stress[2];
  EXPECT_EQ(sick.wrong_boxes, 4U);
  EXPECT_EQ(sick.wrong_words, 16U);
}

TEST(Stress, names_the_lost_box_and_counts_those_before_it) {
  const StressSm sick = result_of(stress_of(StressBoxes::mixed), kFaultStressLost).stress[2];
  EXPECT_EQ(sick.lost, 1U);
  EXPECT_EQ(sick.lost_iteration, 24U);
  EXPECT_EQ(sick.boxes, 24U);
}

Stress written_by(StressCopy copy, StressBoxes boxes = StressBoxes::mixed) {
  return {.boxes = boxes, .copy = copy, .memory_bytes = 32 << 20, .seed = 7};
}

TEST(Stress, stores_are_read_back_and_leave_no_other_word) {
  const RunResult result = result_of(written_by(StressCopy::store));
  EXPECT_EQ(sum_of(result.stress).boxes, 4U * 96);
  EXPECT_TRUE(result.wrong_words.empty());
}

TEST(Stress, sums_are_taken_off_again_to_the_last_word) {
  const RunResult result = result_of(written_by(StressCopy::reduce));
  EXPECT_EQ(sum_of(result.stress).boxes, 4U * 96);
  EXPECT_TRUE(result.wrong_words.empty());
}

TEST(Stress, names_the_sm_whose_store_was_lost) {
  const RunResult result = result_of(written_by(StressCopy::store), kFaultStressWriteLost);
  EXPECT_EQ(result.stress[2].wrong_boxes, 3U);
  EXPECT_EQ(sum_of(result.stress).wrong_boxes, 3U);
}

TEST(Stress, names_the_sm_whose_own_sum_is_wrong) {
  const RunResult result = result_of(written_by(StressCopy::reduce), kFaultStressWriteLost);
  ASSERT_FALSE(result.wrong_words.empty());
  for (const WrongWord& word : result.wrong_words) {
    EXPECT_EQ(word.sm, 2U);
    EXPECT_NE(word.iteration & kOfMemory, 0U);
  }
}

TEST(Stress, finds_sums_that_are_wrong_alike_each_time) {
  const RunResult result = result_of(written_by(StressCopy::reduce), kFaultStressClip);
  EXPECT_GT(result.stress[2].wrong_words, 0U);
  EXPECT_EQ(result.stress[1].wrong_words, 0U);
}

// Each bit of a word that CTA 1 stored as the 77th of its group.
TEST(Stress, accepts_no_stored_word_of_which_a_bit_is_wrong) {
  const std::uint32_t filled = stress_word(12'345, 7);
  const std::uint32_t stored = stress_word(12'345, stored_seed(7, 76 * kStressGroups));
  EXPECT_TRUE(stress_may_leave(StressCopy::store, filled, stored, 77));
  EXPECT_FALSE(stress_may_leave(StressCopy::store, filled, stored, 76));
  for (std::uint32_t bit = 0; bit < 32; ++bit)
    EXPECT_FALSE(stress_may_leave(StressCopy::store, filled, stored ^ (1U << bit), 100'000)) << bit;
}

TEST(Stress, names_no_sm_where_a_sum_of_all_is_wrong) {
  const RunResult result = result_of(written_by(StressCopy::reduce), kFaultStressSum);
  ASSERT_FALSE(result.wrong_words.empty());
  for (const WrongWord& word : result.wrong_words) EXPECT_EQ(word.sm, kNoSm);
  EXPECT_EQ(sum_of(result.stress).wrong_words, 0U);
}

TEST(Stress, finds_a_store_to_where_no_sm_stores) {
  const RunResult result = result_of(written_by(StressCopy::store), kFaultStressStray);
  ASSERT_EQ(result.wrong_words.size(), 1U);
  EXPECT_EQ(result.wrong_words[0].iteration, kOfMemory | ((32 << 20) / 4 - 4));
}

TEST(Stress, finds_a_spoiled_word_in_what_is_added) {
  Stress op = written_by(StressCopy::reduce);
  op.spoiled = {.sm = 3, .every = 5};
  EXPECT_GT(result_of(op).stress[3].wrong_words, 0U);
}

TEST(Stress, finds_the_cta_that_a_multicast_left_out) {
  Stress op = stress_of(StressBoxes::swizzled);
  op.copy = StressCopy::multicast;
  op.cluster = 2;
  EXPECT_EQ(sum_of(result_of(op).stress).wrong_words, 0U);
  const RunResult result = result_of(op, kFaultStressMulticast);
  EXPECT_EQ(result.stress[2].wrong_boxes, 4U);
  EXPECT_EQ(sum_of(result.stress).wrong_boxes, 4U);
}

TEST(Stress, names_the_sm_that_multiplies_otherwise) {
  Stress op = stress_of(StressBoxes::bulk);
  op.products = true;
  EXPECT_EQ(sum_of(result_of(op).stress).wrong_products, 0U);
  const RunResult result = result_of(op, kFaultStressProduct);
  EXPECT_EQ(result.stress[2].wrong_products, 1U);
  EXPECT_EQ(sum_of(result.stress).wrong_products, 1U);
}

TEST(Stress, refuses_memory_that_has_no_part_for_each_sm) {
  EXPECT_THROW((void)stress_maps({.copy = StressCopy::store, .memory_bytes = 1 << 20}, 4), Error);
}

TEST(Stress, draws_boxes_across_each_edge_of_their_tensors) {
  const Stress op = stress_of(StressBoxes::mixed);
  const std::vector<StressShape> shapes = stress_shapes(stress_maps(op));
  std::uint32_t before = 0, behind = 0, inside = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const StressBox box = stress_draw(shapes.data(), static_cast<std::uint32_t>(shapes.size()),
                                      op.memory_bytes, {}, stress_key(op.seed, 1, i));
    const StressShape& shape = shapes[box.map];
    if (!box.outside) ++inside;
    for (std::uint32_t d = 0; d < shape.rank; ++d) {
      before += box.at[d] < 0 ? 1 : 0;
      behind += box.at[d] + static_cast<std::int64_t>(shape.span[d]) > shape.extent[d] ? 1 : 0;
    }
  }
  EXPECT_GT(before, 500U);
  EXPECT_GT(behind, 500U);
  EXPECT_GT(inside, 15'000U);
}

TEST(Stress, refuses_memory_that_its_boxes_do_not_fit) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 16,
                                    (std::uint64_t{1} << 20) + 4096, std::uint64_t{9} << 30})
    EXPECT_THROW((void)stress_maps({.memory_bytes = bytes}), Error) << bytes;
}

}  // namespace
}  // namespace tidemark
