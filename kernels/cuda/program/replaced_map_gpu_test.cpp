// Tensor maps that a program on a real GPU changes, against expectations written out here; the
// suite's oracle has no part in it.
#include "kernels/ops/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/testing/box_program.hpp"

namespace tidemark {
namespace {

/// The box is loaded by map 0, and by map 1, which CTA `changer` makes of it or of zeros.
Program remapped(const TensorMapSpec& to, const Step& replace, bool zeroed = false,
                 std::uint32_t ctas = 1) {
  Program program = begun();
  program.cluster = {ctas, 1, 1};
  const auto add = [&](Step step) {
    if (step.verb != Verb::replace) step.ctas = all_ctas(program);
    program += step;
  };
  program.maps.push_back({.spec = to, .from = zeroed ? kZeroed : std::uint8_t{0}});
  program.steps.clear();
  add({.verb = Verb::poison, .bytes = program.window});
  add({.verb = Verb::init});
  for (std::uint8_t map = 0; map < 2; ++map) {
    add({.verb = Verb::cluster_sync});
    if (map == 1) add(replace);
    if (map == 1) add({.verb = Verb::cluster_sync});
    const Scope scope = map == 1 ? replace.scope : Scope::sys;
    if (map == 1 || !zeroed) add({.verb = Verb::acquire, .map = map, .scope = scope});
    add({.verb = Verb::poison, .bytes = program.window});
    add(announce(tile_bytes(program.maps[map].spec)));
    Step load = kLoad;
    load.map = map;
    add(load);
    add(kWait);
    add({.verb = Verb::snapshot});
  }
  return program;
}

/// 16 bytes further on, and the tensor ends within the box.
TensorMapSpec shifted() {
  TensorMapSpec spec = box().map;
  spec.base_offset = 16;
  spec.extent = {144, 70};
  return spec;
}

std::vector<std::uint8_t> shifted_window(std::uint32_t cta = 0) {
  std::vector<std::uint8_t> window = poisoned_window(cta);
  for (std::uint32_t y = 0; y < 64; ++y)
    for (std::uint32_t x = 0; x < 128; ++x)
      window[1024 + 128 * y + x] =
          32 + x < 144 && 7 + y < 70
              ? source_byte(box().payload, 1024 + 16 + 256 * (7 + y) + 32 + x)
              : std::uint8_t{0};
  return window;
}

/// The window of `cta` of `ctas` at the second of two snapshots.
std::vector<std::uint8_t> second_window(const RunResult& result, std::uint32_t cta = 0,
                                        std::uint32_t ctas = 1) {
  const auto begin = result.bytes.begin() + 10240 * (ctas + cta);
  return {begin, begin + 10240};
}

TEST_F(ProgramOnGpu, AMapThatWasReplacedIsUsedAtEveryScope) {
  for (const Scope scope : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys})
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(scope) << in_place);
      const Step replace{
          .verb = Verb::replace, .thread = 77, .map = 1, .scope = scope, .in_place = in_place};
      const RunResult result = run(remapped(shifted(), replace));
      ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
      EXPECT_EQ(std::vector<std::uint8_t>(result.bytes.begin(), result.bytes.begin() + 10240),
                landed_window());
      EXPECT_EQ(second_window(result), shifted_window());
    }
}

TEST_F(ProgramOnGpu, AMapIsMadeOfZeros) {
  const RunResult result = run(remapped(shifted(), {.verb = Verb::replace, .map = 1}, true));
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(second_window(result), shifted_window());
}

TEST_F(ProgramOnGpu, AMapThatAnotherCtaReplacedIsUsedByAll) {
  for (const bool in_place : {false, true}) {
    const Step replace{.verb = Verb::replace,
                       .ctas = 4,
                       .thread = 255,
                       .map = 1,
                       .scope = Scope::cluster,
                       .in_place = in_place};
    const RunResult result = run(remapped(shifted(), replace, false, 4));
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    for (std::uint32_t cta = 0; cta < 4; ++cta)
      EXPECT_EQ(second_window(result, cta, 4), shifted_window(cta)) << in_place << cta;
  }
}

/// Of the same memory, 64 rows of 128 bytes as elements of any type. tf32 changes what it loads.
TEST_F(ProgramOnGpu, EveryTypeIsReplacedByItsNumberOnDevices) {
  for (std::uint32_t type = 1; type < static_cast<std::uint32_t>(DataType::tf32); ++type) {
    TensorMapSpec spec = box().map;
    spec.type = static_cast<DataType>(type);
    const std::uint32_t size = element_bytes(spec.type);
    spec.extent[0] /= size;
    spec.box[0] /= size;
    Program program = remapped(spec, {.verb = Verb::replace, .map = 1});
    for (Step& step : program.steps)
      if (step.verb == Verb::load && step.map == 1)
        step.at[0] = 32 / static_cast<std::int32_t>(size);
    const RunResult result = run(program);
    ASSERT_EQ(result.fault, DeviceFault::none) << name_of(spec.type) << result.note;
    EXPECT_EQ(second_window(result), landed_window()) << name_of(spec.type);
  }
}

TEST_F(ProgramOnGpu, EveryFieldOfAMapIsReplacedAlone) {
  const auto expect_of = [&](const TensorMapSpec& spec, const auto& byte_at) {
    const RunResult result = run(remapped(spec, {.verb = Verb::replace, .map = 1}));
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    std::vector<std::uint8_t> window = poisoned_window();
    for (std::uint32_t i = 0; i < tile_bytes(spec); ++i) {
      const std::int64_t offset = byte_at(i);
      window[1024 + i] = offset < 0
                             ? std::uint8_t{0}
                             : source_byte(box().payload, static_cast<std::uint64_t>(offset));
    }
    EXPECT_EQ(second_window(result), window);
  };
  const auto at = [](std::int64_t x, std::int64_t y, std::int64_t pitch) {
    return 1024 + pitch * (7 + y) + 32 + x;
  };
  TensorMapSpec spec = box().map;
  spec.stride[0] = 192;
  expect_of(spec, [&](std::uint32_t i) { return at(i % 128, i / 128, 192); });
  spec = box().map;
  spec.box = {64, 64};
  expect_of(spec, [&](std::uint32_t i) { return at(i % 64, i / 64, 256); });
  spec = box().map;
  spec.box = {128, 31};
  expect_of(spec, [&](std::uint32_t i) { return at(i % 128, i / 128, 256); });
  spec = box().map;
  spec.element_stride[1] = 4;
  expect_of(spec, [&](std::uint32_t i) { return at(i % 128, 4 * (i / 128), 256); });
  spec = box().map;
  spec.extent[1] = 40;
  expect_of(spec, [&](std::uint32_t i) {
    return i / 128 + 7 < 40 ? at(i % 128, i / 128, 256) : std::int64_t{-1};
  });
  spec = box().map;
  spec.swizzle = Swizzle::b128;  // of the 16-byte pieces of row y, piece p is at p ^ y
  expect_of(spec,
            [&](std::uint32_t i) { return at((i ^ (i / 128 % 8) << 4) % 128, i / 128, 256); });
}

TEST_F(ProgramOnGpu, AMapOfRankTwoBecomesOneOfRankThreeAndBack) {
  TensorMapSpec deep = box().map;
  deep.rank = 3;
  deep.extent = {256, 40, 2};
  deep.stride = {256, 256 * 40};
  deep.box = {128, 32, 2};
  Program program = remapped(deep, {.verb = Verb::replace, .map = 1});
  const RunResult up = run(program);
  ASSERT_EQ(up.fault, DeviceFault::none) << up.note;
  std::vector<std::uint8_t> window = poisoned_window();
  for (std::uint32_t i = 0; i < 8192; ++i)
    window[1024 + i] = source_byte(
        box().payload, 1024 + 256 * (40 * (i / 4096) + 7 + i / 128 % 32) + 32 + i % 128);
  EXPECT_EQ(second_window(up), window);

  std::swap(program.maps[0].spec, program.maps[1].spec);
  const RunResult down = run(program);
  ASSERT_EQ(down.fault, DeviceFault::none) << down.note;
  EXPECT_EQ(second_window(down), landed_window());
}

TEST_F(ProgramOnGpu, AStoreGoesByTheReplacedMap) {
  Program program = begun();
  program.maps.push_back({.spec = shifted(), .from = 0});
  program += Step{.verb = Verb::replace, .thread = 32, .map = 1};
  program += Step{.verb = Verb::acquire, .map = 1};
  program += Step{.verb = Verb::fill, .offset = 1024, .bytes = 8192};
  program += Step{.verb = Verb::store, .map = 1, .offset = 1024, .at = {32, 7}};
  program += Step{.verb = Verb::commit};
  program += Step{.verb = Verb::wait_group};
  const RunResult result = run(program);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::vector<std::uint8_t> region(result.surroundings.size());
  for (std::size_t i = 0; i < region.size(); ++i) region[i] = source_byte(box().payload, i);
  for (std::uint32_t y = 0; y < 63; ++y)     // up to row 70
    for (std::uint32_t x = 0; x < 112; ++x)  // up to byte 144
      region[1024 + 16 + 256 * (7 + y) + 32 + x] = source_byte(box().payload, 1024 + 128 * y + x);
  EXPECT_EQ(result.surroundings, region);
}

}  // namespace
}  // namespace tidemark
