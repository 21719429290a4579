// What memory holds before a program changes it, and what ordinary accesses of threads make of it.
#include "suite/oracle/contents.hpp"

#include <gtest/gtest.h>
#include <cstring>
#include <string>

#include "kernels/error.hpp"
#include "kernels/ops/tile_store.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

// Two tiles of 8 x 4 elements, 32-byte rows, through one stage.
TileRoundTrip two(DataType type) {
  const TensorMapSpec map{
      .type = type, .extent = {8, 8}, .stride = {32}, .box = {8, 4}, .swizzle = Swizzle::b32};
  const TileWalk walk{.at = {}, .step = {0, 4}, .tiles = {1, 2, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = Numbers::counting,
          .in_place = true,
          .payload = {}};
}

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, &bytes[1024 + 4 * index], 4);
  return value;
}

std::string refusal(const Program& program) {
  try {
    (void)predict(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The number of the `nth` step of `verb`, counted from 0.
std::size_t find(const Program& program, Verb verb, std::size_t nth = 0) {
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb && nth-- == 0) return i;
  return program.steps.size();
}

Program without(Program program, Verb verb, std::size_t nth = 0) {
  program.steps.erase(program.steps.begin() +
                      static_cast<std::ptrdiff_t>(find(program, verb, nth)));
  return program;
}

TEST(ThreadWork, AddsTheIndexUnderASwizzle) {
  const ProgramExpectation expected = predict(program_of(two(DataType::s32)));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(word(expected.regions, i), i + i % 32) << i;
}

TEST(ThreadWork, AddsInF32) {
  const ProgramExpectation expected = predict(program_of(two(DataType::f32)));
  EXPECT_EQ(word(expected.regions, 40), 0x42400000U);  // 40 + 8
}

TEST(ThreadWork, RefusesASumThatIsRounded) {
  TileRoundTrip trip = two(DataType::f32);
  trip.numbers = Numbers::hash;
  EXPECT_NE(refusal(program_of(trip)).find("is rounded"), std::string::npos);
}

TEST(ThreadWork, CopiesWhatALoadWouldBring) {
  TileRoundTrip trip = two(DataType::u32);
  trip.work = TileWork::thread_copy;
  trip.in_place = false;
  const ProgramExpectation expected = predict(program_of(trip));
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(word(expected.regions, (2048 + 256) / 4 + i), i) << i;
}

TEST(ThreadWork, RefusesToLoadOverWhatAStoreMayRead) {
  const Program program = without(program_of(two(DataType::u32)), Verb::wait_group_read);
  EXPECT_NE(refusal(program).find("(load): a store may still read what is overwritten"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToWorkOnWhatALoadMayStillWrite) {
  const Program program = without(program_of(two(DataType::u32)), Verb::wait);
  EXPECT_NE(refusal(program).find("(add): a load may still write what is taken here"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToStoreWhatALoadMayStillWrite) {
  Program program = without(without(program_of(two(DataType::u32)), Verb::wait), Verb::add);
  EXPECT_NE(refusal(program).find("(store): a load may still write what is taken here"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToLoadWhatAStoreMayStillWrite) {
  Program program = program_of(two(DataType::u32));
  program.steps[find(program, Verb::load, 1)].at[1] = 3;  // one row is in the box stored before
  EXPECT_NE(refusal(program).find("(load): a store may still write what is read here"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToStoreWhereALoadMayStillRead) {
  TileRoundTrip trip = two(DataType::u32);
  trip.stages = 2;
  Program program = program_of(trip);
  program.steps[find(program, Verb::store)].at[1] = 1;  // three rows are in the box loaded next
  EXPECT_NE(refusal(program).find("(store): a load may still read what is stored to"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToCopyWhatAStoreMayStillWrite) {
  TileRoundTrip trip = two(DataType::u32);
  Program program = program_of(trip);
  const std::size_t store = find(program, Verb::store);
  program.window += 4096;
  program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(store) + 1,
                       {.verb = Verb::copy, .offset = 4096});
  EXPECT_NE(refusal(program).find("(copy): a store may still write what is read here"),
            std::string::npos)
      << refusal(program);
}

}  // namespace

}  // namespace tidemark
