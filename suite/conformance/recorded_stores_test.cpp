// The recording cases of stores say which of the things that a GPU may do it did: each is played
// here by hand.
#include <gtest/gtest.h>

#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

// A box of 16 x 5 bytes at (0, 1) of a tensor of 16 x 8.
TileStore small() {
  return {
      .map = {.type = DataType::u8, .rank = 2, .extent = {16, 8}, .stride = {16}, .box = {16, 5}},
      .at = {0, 1},
      .held_to = HeldTo::record,
      .payload = {.seed = 3}};
}

// The destination with rows of the tile in rows of the tensor: {{row of the tensor, of the tile}}.
RunResult with_rows(const TileStore& store, const std::vector<std::pair<int, int>>& rows) {
  RunResult result;
  result.surroundings.resize(destination_allocation_bytes(store));
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    result.surroundings[i] = poison_byte(store.payload, i);
  for (const auto& [to, from] : rows)
    for (std::size_t x = 0; x < 16; ++x)
      result.surroundings[1024 + 16 * static_cast<std::size_t>(to) + x] =
          source_byte(store.payload, 1024 + 16 * static_cast<std::size_t>(from) + x);
  return result;
}

std::string said_of(std::string_view name, const TileStore& store, const RunResult& result) {
  return case_named(name)->observed(store, result);
}

TileStore unwaited() {
  TileStore store = small();
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
  TileStore store = small();
  store.bystander = true;
  store.held_to = HeldTo::documents;
  RunResult result;
  const Program program = checked_program(store);
  for (const Step& step : program.steps) {
    const bool first = step.word == probe_offset(store, 0, 0);
    const bool late = step.verb == Verb::look && !(first ? first_landed : last_landed);
    result.trace.push_back(late ? 9 : first ? 1 : 2);
  }
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
