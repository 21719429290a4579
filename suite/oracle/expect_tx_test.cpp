// What a program of a mismatched announcement was seen to do, in the words of the mismatch.
#include "suite/oracle/expect_tx.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

/// A box of 128 x 64 bytes, 8192 in all.
ExpectTx box(std::uint32_t announced) {
  ExpectTx op;
  op.load.map.extent = {128, 64};
  op.load.map.stride = {128};
  op.load.map.box = {128, 64};
  op.announced = announced;
  return op;
}

MismatchSeen seen(bool complete, bool waited = false) {
  return {.complete = complete, .open = false, .waited = waited};
}

/// Where it is open whether the phase completes early.
MismatchSeen early_or_not(bool complete) { return {.complete = complete, .open = true}; }

TEST(MismatchWords, ExactAnnouncementNeedsNone) {
  EXPECT_EQ(mismatch_words(box(8192), seen(true)), "");
}

TEST(MismatchWords, Over) {
  EXPECT_EQ(mismatch_words(box(8208), seen(false)),
            "over-announced by 16 of 8192 bytes: did not complete");
}

TEST(MismatchWords, UnderThatCompletedEarly) {
  EXPECT_EQ(mismatch_words(box(4096), seen(true)),
            "under-announced by 4096 of 8192 bytes: completed early with 4096 bytes to come");
}

TEST(MismatchWords, UnderThatDidNot) {
  EXPECT_EQ(mismatch_words(box(8176), seen(false)),
            "under-announced by 16 of 8192 bytes: did not complete");
}

TEST(MismatchWords, Twice) {
  ExpectTx op = box(8192);
  op.announcements = 2;
  EXPECT_EQ(mismatch_words(op, seen(false)),
            "over-announced by 8192 of 8192 bytes, announced twice: did not complete");
}

TEST(MismatchWords, NotAtAll) {
  ExpectTx op = box(0);
  op.announcements = 0;
  op.arrival = Arrival::separate;
  EXPECT_EQ(mismatch_words(op, seen(true)),
            "no announcement of 8192 bytes: completed early with 8192 bytes to come");
}

TEST(MismatchWords, WrongBarrierAndWrongBlock) {
  ExpectTx op = box(8192);
  op.on = AnnouncedOn::other_barrier;
  EXPECT_EQ(mismatch_words(op, seen(false)),
            "announced 8192 bytes on the wrong barrier: did not complete");
  op.on = AnnouncedOn::peer;
  EXPECT_EQ(mismatch_words(op, seen(false)),
            "announced 8192 bytes on the wrong block's barrier: did not complete");
}

TEST(MismatchWords, NoArrival) {
  ExpectTx op = box(8192);
  op.arrival = Arrival::missing;
  EXPECT_EQ(mismatch_words(op, seen(false)), "no arrival: did not complete");
}

TEST(MismatchWords, WrongParity) {
  ExpectTx op = box(8192);
  op.parity = 1;
  EXPECT_EQ(mismatch_words(op, seen(true, true)),
            "waited for the wrong phase, which returned at once: completed");
  MismatchSeen too_early = seen(true, true);
  too_early.missing = 32;
  EXPECT_EQ(mismatch_words(op, too_early),
            "waited for the wrong phase, which returned at once, before the data: completed");
  EXPECT_EQ(mismatch_words(op, seen(true)),
            "waited for the wrong phase, which did not return: completed");
}

TEST(EarlyCompletions, TellsEvenStepsInOneLine) {
  EarlyCompletions early;
  for (std::uint32_t announced = 16; announced < 8192; announced += 16)
    early.add(box(announced), early_or_not(announced % 1024 == 0));
  ASSERT_EQ(early.notes().size(), 1U);
  EXPECT_EQ(early.notes()[0],
            "8192-byte box under-announced: completed early at 7 of 511 announcements (1024 to "
            "7168 in steps of 1024), else never");
}

TEST(EarlyCompletions, ListsTheFirstOfUnevenOnes) {
  EarlyCompletions early;
  for (const std::uint32_t announced : {16U, 48U, 160U, 192U})
    early.add(box(announced), early_or_not(true));
  EXPECT_EQ(early.notes()[0],
            "8192-byte box under-announced: completed early at 4 of 4 announcements (16, 48, 160, "
            "192), else never");
}

TEST(EarlyCompletions, SaysWhereItDependsOnTheRun) {
  EarlyCompletions early;
  early.add(box(4096), early_or_not(true));
  early.add(box(4096), early_or_not(false));
  EXPECT_EQ(
      early.notes()[0],
      "8192-byte box under-announced: completed early at 1 of 1 announcements (4096), at 1 of "
      "them not every time, else never");
}

TEST(EarlyCompletions, LeavesOutWhatIsCertain) {
  EarlyCompletions early;
  early.add(box(8192), seen(true));
  early.add(box(8208), seen(false));
  EXPECT_TRUE(early.notes().empty());
}

}  // namespace

}  // namespace tidemark
