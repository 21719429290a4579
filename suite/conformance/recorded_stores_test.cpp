// The recording cases of stores say which of the things that a GPU may do it did: each is played
// here by hand.
#include <gtest/gtest.h>

#include "suite/case.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark {
namespace {

// A box of 16 x 5 bytes at (0, 1) of a tensor of 16 x 8, every second row of it.
TileStore strided() {
  return {.map = {.type = DataType::u8,
                  .rank = 2,
                  .extent = {16, 8},
                  .stride = {16},
                  .box = {16, 5},
                  .element_stride = {1, 2, 1, 1, 1}},
          .at = {0, 1},
          .held_to = HeldTo::record,
          .payload = {.seed = 3}};
}

// The destination with rows of the tile in rows of the tensor: {{row of the tensor, of the tile}}.
RunResult with_rows(const TileStore& store, const std::vector<std::pair<int, int>>& rows) {
  RunResult result;
  result.bytes.resize(destination_allocation_bytes(store));
  for (std::size_t i = 0; i < result.bytes.size(); ++i)
    result.bytes[i] = poison_byte(store.payload, i);
  for (const auto& [to, from] : rows)
    for (std::size_t x = 0; x < 16; ++x)
      result.bytes[1024 + 16 * static_cast<std::size_t>(to) + x] =
          source_byte(store.payload, 1024 + 16 * static_cast<std::size_t>(from) + x);
  return result;
}

std::string said_of(std::string_view name, const TileStore& store, const RunResult& result) {
  return case_named(name)->observed(store, result);
}

std::string strides_said(const std::vector<std::pair<int, int>>& rows) {
  return said_of("behaviour.store.element_stride", strided(), with_rows(strided(), rows));
}

TEST(RecordedStores, StridesTakenAsLoadsTakeThem) {
  EXPECT_EQ(strides_said({{1, 0}, {3, 1}, {5, 2}}),
            "element strides on a store: as loads have it: packed in shared memory, a stride apart "
            "in the tensor, nothing between them written");
}

TEST(RecordedStores, StridesIgnored) {
  EXPECT_EQ(strides_said({{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}}),
            "element strides on a store: ignored: every element of the box is written");
}

TEST(RecordedStores, StridesThatOnlyCount) {
  EXPECT_EQ(strides_said({{1, 0}, {2, 1}, {3, 2}}),
            "element strides on a store: as many elements as a load would take, written side by "
            "side to the start of the box");
}

TEST(RecordedStores, StridesInSharedMemoryToo) {
  EXPECT_EQ(strides_said({{1, 0}, {3, 2}, {5, 4}}),
            "element strides on a store: the box lies whole in shared memory, and of it the "
            "elements a stride apart are written");
}

TEST(RecordedStores, StridesUnlikeEveryReadingSayHowMuchWasWritten) {
  EXPECT_EQ(strides_said({}).find("element strides on a store: unlike each of 4 readings ("), 0U);
  EXPECT_NE(strides_said({}).find("of 80 in the box, of which 0 are not poison; strides 1 2"),
            std::string::npos)
      << strides_said({});
}

TileStore unwaited() {
  TileStore store = strided();
  store.map.element_stride[1] = 1;
  store.wait = StoreWait::none;
  return store;
}

std::string unwaited_said(const RunResult& result) {
  return said_of("behaviour.store.unwaited", unwaited(), result);
}

TEST(RecordedStores, AnUnwaitedStoreThatIsThere) {
  EXPECT_EQ(unwaited_said(with_rows(unwaited(), {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}})),
            "kernel ended without any wait: all that it stored was there");
}

TEST(RecordedStores, AnUnwaitedStoreThatIsThereInPart) {
  EXPECT_EQ(unwaited_said(with_rows(unwaited(), {{1, 0}, {5, 4}})),
            "kernel ended without any wait: a part of what it stored was not there");
}

TEST(RecordedStores, AnUnwaitedStoreOfOtherBytes) {
  EXPECT_EQ(unwaited_said(with_rows(unwaited(), {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 30}})),
            "kernel ended without any wait: other bytes than it stored were there");
}

// One box of 16 x 5: its first and its last chunk are looked at.
std::string other_thread_said(bool first_landed, bool last_landed) {
  TileStore store = strided();
  store.map.element_stride[1] = 1;
  store.bystander = true;
  store.held_to = HeldTo::documents;
  RunResult result;
  result.stored.read[0][0].fill(1);
  result.stored.read[0][1].fill(2);
  result.stored.by_other = result.stored.read;
  if (!first_landed) result.stored.by_other[0][0].fill(9);
  if (!last_landed) result.stored.by_other[0][1].fill(9);
  return said_of("store.tile.other_thread", store, result);
}

TEST(RecordedStores, WhatAnotherThreadFound) {
  const std::string words = "the wait of a thread that committed nothing returned when ";
  EXPECT_EQ(other_thread_said(false, false), words + "none of the chunks looked at had landed");
  EXPECT_EQ(other_thread_said(true, false), words + "some of the chunks looked at had landed");
  EXPECT_EQ(other_thread_said(true, true), words + "all of the chunks looked at had landed");
}

}  // namespace
}  // namespace tidemark
