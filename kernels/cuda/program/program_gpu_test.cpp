// Programs on a real GPU against expectations written out here; the suite's oracle has no part in
// it.
#include "kernels/ops/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/barrier_cycle.hpp"
#include "kernels/ops/expect_tx.hpp"
#include "kernels/ops/program/meter.hpp"

namespace tidemark::kernels {
namespace {

class ProgramOnGpu : public GpuTest {
 protected:
  static RunResult run(const Program& program) {
    return make_cuda_device()->run_programs({&program, 1}).front();
  }
};

/// 128 x 64 bytes out of rows of 256: 8192 bytes.
TileLoad box() {
  TileLoad load;
  load.map.extent = {256, 80};
  load.map.stride = {256};
  load.map.box = {128, 64};
  load.at = {32, 7};
  load.payload.seed = 21;
  return load;
}

std::vector<std::uint8_t> poisoned_window(std::uint32_t cta = 0) {
  std::vector<std::uint8_t> window(1024 + 8192 + 1024);
  for (std::uint32_t i = 0; i < window.size(); ++i)
    window[i] = static_cast<std::uint8_t>(poison_byte(box().payload, i) ^ (cta | cta << 4));
  return window;
}

std::vector<std::uint8_t> landed_window() {
  std::vector<std::uint8_t> window = poisoned_window();
  for (std::uint32_t y = 0; y < 64; ++y)
    for (std::uint32_t x = 0; x < 128; ++x)
      window[1024 + 128 * y + x] = source_byte(box().payload, 1024 + 256 * (7 + y) + 32 + x);
  return window;
}

/// Poison, and barrier 0 with `count` arrivals a phase.
Program begun(std::uint32_t count = 1) {
  const TileLoad load = box();
  Program program{.window = window_bytes(load),
                  .barriers = 2,
                  .regions = {region_of(load)},
                  .maps = {{.spec = load.map}},
                  .steps = {},
                  .payload = load.payload};
  program.steps = {{.verb = Verb::poison, .bytes = program.window},
                   {.verb = Verb::init, .count = count}};
  return program;
}

constexpr Step kLoad{.verb = Verb::load, .offset = 1024, .at = {32, 7}};
constexpr Step kWait{
    .verb = Verb::wait, .parity = kCurrentPhase, .stops = true, .ns = kMustCompleteNs};
constexpr Step kSettle{.verb = Verb::delay, .ns = kSettleNs};

Step announce(std::uint32_t bytes) { return {.verb = Verb::arrive_expect_tx, .bytes = bytes}; }

/// The meter of a barrier that was announced `announced` and is credited one box.
Step meter(std::uint32_t announced, std::uint32_t pending = 0) {
  const BarrierAccount account{.announced = announced, .credited = 8192};
  return {.verb = Verb::meter,
          .count = 1,
          .pending = pending,
          .bytes = meter_slack(account),
          .stride = meter_stride(account),
          .most = meter_most(account)};
}

Program& operator+=(Program& program, const Step& step) {
  program.steps.push_back(step);
  return program;
}

/// What the last step left, in CTA 0.
std::uint64_t last(const Program& program, const RunResult& result) {
  return result.trace.at((program.steps.size() - 1) * ctas_of(program));
}

/// The pending tx-count after `announced` bytes were announced for one box.
std::int32_t residue_after(std::uint32_t announced, const RunResult& result,
                           const Program& program) {
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note << " announced " << announced;
  EXPECT_NE(last(program, result) & kMeterSettled, 0U);
  return residue_of(last(program, result));
}

TEST_F(ProgramOnGpu, AnExactCopyLandsAndNothingElseChanges) {
  Program program = begun();
  program += announce(8192);
  program += kLoad;
  program += kWait;
  program += Step{.verb = Verb::snapshot};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.trace[4], 1U);
  EXPECT_EQ(result.bytes, landed_window());
  ASSERT_EQ(result.surroundings.size(), region_of(box()).bytes);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte(box().payload, i)) << i;
}

TEST_F(ProgramOnGpu, EveryHintAndEverySourceBringsTheSameBytes) {
  std::vector<Program> programs;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
    for (const MemorySource source :
         {MemorySource::device, MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
      Program program = begun();
      program.regions[0].source = source;
      program += announce(8192);
      program += kLoad;
      program.steps.back().hint = hint;
      program += kWait;
      program += Step{.verb = Verb::snapshot};
      programs.push_back(program);
    }

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  for (const RunResult& result : results) {
    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.bytes, landed_window());
  }
}

TEST_F(ProgramOnGpu, TheMeterCountsWhatWasAnnouncedTooMuchOrTooLittle) {
  for (const std::uint32_t announced : {8208U, 8191U, 4096U, 16U, 1048575U}) {
    Program program = begun();
    program += announce(announced);
    program += kLoad;
    program += kSettle;
    program += meter(announced);
    const RunResult result = run(program);
    EXPECT_EQ(residue_after(announced, result, program),
              static_cast<std::int32_t>(announced) - 8192);
  }
}

TEST_F(ProgramOnGpu, WithoutAnArrivalThePhaseWaitsForTheMeters) {
  Program program = begun();
  program += Step{.verb = Verb::expect_tx, .bytes = 8192};
  program += kLoad;
  program += kSettle;
  program += meter(8192, 1);

  const RunResult result = run(program);

  EXPECT_EQ(last(program, result), meter_trace(false, true, 0)) << result.note;
}

TEST_F(ProgramOnGpu, AnUnlikelyParityReadsAsThePhaseBefore) {
  Program program = begun();
  program += Step{.verb = Verb::test, .parity = 0};
  program += Step{.verb = Verb::test, .parity = 1};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2], 0U);
  EXPECT_EQ(result.trace[3], 1U);
}

TEST_F(ProgramOnGpu, AWaitInVainStopsTheProgramButNotItsSnapshots) {
  Program program = begun();
  program += Step{.verb = Verb::wait, .stops = true, .ns = kLandNs};
  program += Step{.verb = Verb::test, .parity = 1};
  program += Step{.verb = Verb::snapshot};

  const RunResult result = run(program);

  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "step 2: the wait of CTA 0 on barrier 0 ended by its bound");
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.bytes, poisoned_window());
}

TEST_F(ProgramOnGpu, AnnouncementsForThePeerAreOwedThere) {
  Program program = begun();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::expect_tx, .of = 1, .bytes = 4096};
  program += Step{.verb = Verb::arrive_expect_tx, .of = 1, .bytes = 4096};
  program += kLoad;
  program += Step{.verb = Verb::delay, .ctas = 3, .ns = kSettleNs};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  Step of_peer = meter(8192);
  of_peer.ctas = 2;
  program += of_peer;
  program += meter(0, 1);
  program += Step{.verb = Verb::wait, .parity = kLastPhase, .ns = kMustCompleteNs};
  program += Step{.verb = Verb::snapshot, .ctas = 3};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(residue_of(result.trace[2 * 8 + 1]), 8192);
  EXPECT_EQ(residue_of(result.trace[2 * 9 + 0]), -8192);
  ASSERT_EQ(result.bytes.size(), 2U * 10240);
  const auto middle = result.bytes.begin() + 10240;
  EXPECT_EQ(std::vector<std::uint8_t>(result.bytes.begin(), middle), landed_window());
  EXPECT_EQ(std::vector<std::uint8_t>(middle, result.bytes.end()), poisoned_window(1));
}

TEST_F(ProgramOnGpu, ARemoteArrivalCompletesThePhaseOfThePeer) {
  Program program = begun();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::arrive, .of = 1};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::test, .ctas = 3};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2 * 5 + 0], 0U);
  EXPECT_EQ(result.trace[2 * 5 + 1], 1U);
}

// Of each pair, itself too: 2048 bytes from byte 1024 of `from` to byte 6160 of `to`.
TEST_F(ProgramOnGpu, ASendLandsInTheWindowThatIsNamedAndCreditsTheBarrierThere) {
  std::vector<Program> programs;
  for (std::uint32_t from = 0; from < 4; ++from)
    for (std::uint8_t to = 0; to < 4; ++to) {
      Program program = begun();
      program.cluster = {4, 1, 1};
      for (Step& step : program.steps) step.ctas = 0xf;
      const auto sender = static_cast<std::uint16_t>(1U << from);
      const auto peer = static_cast<std::uint16_t>(1U << to);
      program += Step{.verb = Verb::arrive_expect_tx, .ctas = peer, .bytes = 2048};
      program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
      program += Step{.verb = Verb::send,
                      .ctas = sender,
                      .thread = 77,
                      .of = from == to ? kOwnCta : to,
                      .offset = 1024,
                      .bytes = 2048,
                      .at = {6160}};
      program += kWait;
      program.steps.back().ctas = peer;
      program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
      program += Step{.verb = Verb::test, .ctas = 0xf};
      program += Step{.verb = Verb::snapshot, .ctas = 0xf};
      programs.push_back(program);
    }

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t from = i / 4, to = i % 4;
    ASSERT_EQ(results[i].fault, DeviceFault::none) << results[i].note;
    ASSERT_EQ(results[i].bytes.size(), 4U * 10240);
    for (std::uint32_t cta = 0; cta < 4; ++cta) {
      std::vector<std::uint8_t> window = poisoned_window(cta);
      const std::vector<std::uint8_t> source = poisoned_window(from);
      if (cta == to) std::copy_n(&source[1024], 2048, &window[6160]);
      const auto begin = results[i].bytes.begin() + 10240 * cta;
      EXPECT_EQ(std::vector<std::uint8_t>(begin, begin + 10240), window)
          << from << " to " << to << ", window " << cta;
      EXPECT_EQ(results[i].trace[4 * 7 + cta], cta == to ? 1U : 0U) << from << " to " << to;
    }
  }
}

TEST_F(ProgramOnGpu, ALoadThatWasSentOnIsThatOfThePeer) {
  Program program = begun();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program += announce(8192);
  program += kLoad;
  program += kWait;
  program += Step{.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 8192};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::send, .of = 1, .offset = 1024, .bytes = 8192, .at = {1024}};
  program += kWait;
  program.steps.back().ctas = 2;
  program += Step{.verb = Verb::snapshot, .ctas = 2};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::vector<std::uint8_t> window = landed_window();
  std::copy_n(poisoned_window(1).begin(), 1024, window.begin());
  std::copy_n(poisoned_window(1).begin() + 9216, 1024, window.begin() + 9216);
  EXPECT_EQ(result.bytes, window);
}

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

/// Four CTAs whose CTA 2 waits for `bytes`, which come by `steps`; then all windows.
Program to_cta_2(std::uint32_t bytes, const std::vector<Step>& steps) {
  Program program = begun();
  program.cluster = {4, 1, 1};
  for (Step& step : program.steps) step.ctas = 0xf;
  program += Step{.verb = Verb::arrive_expect_tx, .ctas = 4, .bytes = bytes};
  program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
  for (Step step : steps) {
    step.of = 2;
    program += step;
  }
  program += kWait;
  program.steps.back().ctas = 4;
  program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
  program += Step{.verb = Verb::test, .ctas = 0xf};
  program += Step{.verb = Verb::snapshot, .ctas = 0xf};
  return program;
}

/// Only the barrier of CTA 2 completed, and only its window changed, to `wanted`.
void expect_in_cta_2(const Program& program, const RunResult& result,
                     const std::vector<std::uint8_t>& wanted) {
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), 4U * 10240);
  for (std::uint32_t cta = 0; cta < 4; ++cta) {
    const auto begin = result.bytes.begin() + 10240 * cta;
    EXPECT_EQ(std::vector<std::uint8_t>(begin, begin + 10240),
              cta == 2 ? wanted : poisoned_window(cta))
        << "window " << cta;
    EXPECT_EQ(result.trace[(program.steps.size() - 2) * 4 + cta], cta == 2 ? 1U : 0U) << cta;
  }
}

template <class Element>
Element element_in(const std::vector<std::uint8_t>& window, std::size_t at) {
  Element element;
  std::memcpy(&element, &window[at], sizeof element);
  return element;
}
template <class Element>
void put_in(std::vector<std::uint8_t>& window, std::size_t at, Element element) {
  std::memcpy(&window[at], &element, sizeof element);
}

TEST_F(ProgramOnGpu, EveryWidthOfRegistersLandsInThePeerAndIsCreditedThere) {
  const auto from_cta = [](std::uint16_t cta, DataType type, std::uint32_t bytes, std::int32_t at) {
    return Step{.verb = Verb::st_async,
                .ctas = static_cast<std::uint16_t>(1U << cta),
                .thread = 255,
                .type = type,
                .bytes = bytes,
                .at = {at},
                .word = 0x0123456789abcdef};
  };
  const Program program =
      to_cta_2(52, {from_cta(0, DataType::u32, 4, 1028), from_cta(1, DataType::u32, 8, 1048),
                    from_cta(3, DataType::u32, 16, 1072), from_cta(2, DataType::u64, 8, 1096),
                    from_cta(0, DataType::u64, 16, 8208)});

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  put_in(wanted, 1028, 0x89abcdefU);
  put_in(wanted, 1048, 0x0123456789abcdefULL);
  put_in(wanted, 1072, 0x0123456789abcdefULL);
  put_in(wanted, 1080, 0x0123456889abcdf0ULL);
  put_in(wanted, 1096, 0x0123456789abcdefULL);
  put_in(wanted, 8208, 0x0123456789abcdefULL);
  put_in(wanted, 8216, 0x0123456889abcdf0ULL);
  expect_in_cta_2(program, result, wanted);
}

/// One element at `at` by CTA 0.
Step red_async(Reduction reduction, DataType type, std::int32_t at, std::uint64_t word) {
  return {.verb = Verb::red_async, .reduction = reduction, .type = type, .at = {at}, .word = word};
}

// The words there are poison, whose highest bit is set.
TEST_F(ProgramOnGpu, EveryReductionOfRegistersIsMadeInThePeer) {
  constexpr DataType kU32 = DataType::u32, kS32 = DataType::s32;
  const Program program = to_cta_2(
      52, {red_async(Reduction::add, kU32, 1024, 0x90000001),
           red_async(Reduction::min, kU32, 1028, 5), red_async(Reduction::max, kU32, 1032, 5),
           red_async(Reduction::inc, kU32, 1036, 5), red_async(Reduction::dec, kU32, 1040, 5),
           red_async(Reduction::bit_and, kU32, 1044, 0xff00ff00),
           red_async(Reduction::bit_or, kU32, 1048, 0xff00ff00),
           red_async(Reduction::bit_xor, kU32, 1052, 0xff00ff00),
           red_async(Reduction::add, kS32, 1056, 0xffffffff),
           red_async(Reduction::min, kS32, 1060, 5), red_async(Reduction::max, kS32, 1064, 5),
           red_async(Reduction::add, DataType::u64, 1072, 0xffffffff)});

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  const auto before = [&](std::size_t at) { return element_in<std::uint32_t>(wanted, at); };
  for (const std::size_t at : {1028U, 1036U, 1060U}) ASSERT_GE(before(at), 0x80000000U);
  put_in(wanted, 1024, before(1024) + 0x90000001);
  put_in(wanted, 1028, 5U);
  put_in(wanted, 1036, 0U);
  put_in(wanted, 1040, 5U);
  put_in(wanted, 1044, before(1044) & 0xff00ff00);
  put_in(wanted, 1048, before(1048) | 0xff00ff00);
  put_in(wanted, 1052, before(1052) ^ 0xff00ff00);
  put_in(wanted, 1056, before(1056) - 1);
  put_in(wanted, 1064, 5U);
  put_in(wanted, 1072, element_in<std::uint64_t>(wanted, 1072) + 0xffffffff);
  expect_in_cta_2(program, result, wanted);
}

// By 1 to 190 threads of each.
TEST_F(ProgramOnGpu, NoneOfTheSumsOfAllOtherCtasInOneWordIsLost) {
  std::vector<Step> sums;
  for (std::uint32_t i = 0; i < 64; ++i) {
    sums.push_back(red_async(Reduction::add, DataType::u32, 1028, i + 1));
    sums.back().ctas = 0xb;
    sums.back().thread = static_cast<std::uint16_t>(i);
    sums.back().count = 3 * i + 1;
  }
  const Program program = to_cta_2((3 * 64 * 63 / 2 + 64) * 3 * 4, sums);

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 64; ++i) sum += 3 * (3 * i + 1) * (i + 1);
  put_in(wanted, 1028, element_in<std::uint32_t>(wanted, 1028) + sum);
  expect_in_cta_2(program, result, wanted);
}

// Of all CTAs a copy of 64 bytes and a vector of registers; of the others a sum of 256 bytes and of
// one word, too.
TEST_F(ProgramOnGpu, CopiesReductionsAndRegistersAddUpOnOneBarrier) {
  std::vector<Step> steps;
  for (std::int32_t cta = 0; cta < 4; ++cta) {
    const auto by = static_cast<std::uint16_t>(1U << cta);
    steps.push_back(
        {.verb = Verb::send, .ctas = by, .offset = 4096, .bytes = 64, .at = {1024 + 64 * cta}});
    steps.push_back(
        {.verb = Verb::st_async, .ctas = by, .bytes = 16, .at = {3072 + 16 * cta}, .word = 9});
    if (cta == 2) continue;
    steps.push_back({.verb = Verb::send,
                     .ctas = by,
                     .reduction = Reduction::add,
                     .type = DataType::u64,
                     .offset = 4096,
                     .bytes = 256,
                     .at = {2048}});
    steps.push_back(red_async(Reduction::add, DataType::u32, 3584, 1U << cta));
    steps.back().ctas = by;
  }
  const Program program = to_cta_2(4 * (64 + 16) + 3 * (256 + 4), steps);

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  for (std::uint32_t cta = 0; cta < 4; ++cta) {
    const std::vector<std::uint8_t> from = poisoned_window(cta);
    std::copy_n(&from[4096], 64, &wanted[1024 + 64 * cta]);
    for (std::size_t i = 0; i < 256 && cta != 2; i += 8)
      put_in(
          wanted, 2048 + i,
          element_in<std::uint64_t>(wanted, 2048 + i) + element_in<std::uint64_t>(from, 4096 + i));
    put_in(wanted, 3072 + 16 * cta, 9ULL);
    put_in(wanted, 3080 + 16 * cta, 0x10000000aULL);
  }
  put_in(wanted, 3584, element_in<std::uint32_t>(wanted, 3584) + 11);
  expect_in_cta_2(program, result, wanted);
}

TEST_F(ProgramOnGpu, PrefetchesOfBoxesAnywhereAreNotNoticed) {
  Program program = begun();
  for (const BoxStart& at : {BoxStart{32, 7}, BoxStart{-64, -32}, BoxStart{192, 40},
                             BoxStart{0, 4000}, BoxStart{-2147483647 - 1, 2147483647}})
    program += Step{.verb = Verb::prefetch, .at = at};
  program += announce(8192);
  program += kLoad;
  program += Step{.verb = Verb::prefetch, .thread = 32, .at = {32, 7}};
  program += kWait;
  program += Step{.verb = Verb::snapshot};
  program += Step{.verb = Verb::delay, .ns = kLandNs};
  program += Step{.verb = Verb::test, .parity = kCurrentPhase};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, landed_window());
  EXPECT_EQ(last(program, result), 0U);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte(box().payload, i)) << i;
}

TEST_F(ProgramOnGpu, CreditByHandCompletesThePhase) {
  Program program = begun();
  program += announce(1048575);
  program += Step{.verb = Verb::complete_tx, .bytes = 1048574};
  program += Step{.verb = Verb::test};
  program += Step{.verb = Verb::complete_tx, .bytes = 1};
  program += Step{.verb = Verb::test};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[4], 0U);
  EXPECT_EQ(result.trace[6], 1U);
}

TEST_F(ProgramOnGpu, ManyThreadsArriveOnceEach) {
  Program program = begun(256);
  program += Step{.verb = Verb::arrive, .count = 255};
  program += Step{.verb = Verb::test};
  program += Step{.verb = Verb::arrive, .thread = 255};
  program += Step{.verb = Verb::test};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[5], 1U);
}

TEST_F(ProgramOnGpu, ASecondLifeStartsAnewAndBetweenThemTheMemoryIsPlain) {
  Program program = program_of(BarrierCycle{
      .map = box().map, .life_count = 2, .lives = {{{1, 3}, {256, 2}}}, .payload = {.seed = 31}});

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Verb verb = program.steps[i].verb;
    if (verb == Verb::read) words.push_back(result.trace[i]);
    if (verb != Verb::test && verb != Verb::wait) continue;
    EXPECT_EQ(result.trace[i], verb == Verb::wait ? 1U : 0U) << i;
  }
  EXPECT_EQ(words, (std::vector<std::uint64_t>{splitmix64(source_word(program.payload, 0)),
                                               splitmix64(source_word(program.payload, 1))}));
}

TEST_F(ProgramOnGpu, WhatIsStillPoisonIsCounted) {
  Program program = begun();
  program += Step{.verb = Verb::missing, .offset = 1024, .bytes = 8192};
  program += announce(8192);
  program += kLoad;
  program += kWait;
  program += Step{.verb = Verb::missing, .offset = 1008, .bytes = 8192};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2], 512U);
  EXPECT_EQ(result.trace[6], 1U);
}

TEST_F(ProgramOnGpu, ManyProgramsAreKeptApartAndReachEverySm) {
  std::vector<Program> programs;
  for (std::uint32_t i = 0; i < 400; ++i) {
    Program program = begun();
    program.payload.seed = i;
    program += announce(i % 7 == 3 ? 8208 : 8192);
    program += kLoad;
    program += kSettle;
    program += meter(i % 7 == 3 ? 8208 : 8192);
    program += Step{.verb = Verb::wait, .parity = kLastPhase, .ns = kMustCompleteNs};
    program += Step{.verb = Verb::snapshot};
    programs.push_back(program);
  }

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  std::set<std::uint16_t> sms;
  for (std::uint32_t i = 0; i < 400; ++i) {
    ASSERT_EQ(results[i].fault, DeviceFault::none) << results[i].note;
    EXPECT_EQ(residue_of(results[i].trace[5]), i % 7 == 3 ? 16 : 0) << i;
    EXPECT_EQ(results[i].bytes[1024], source_byte({.seed = i}, 1024 + 256 * 7 + 32)) << i;
    sms.insert(results[i].sms.at(0));
  }
  EXPECT_EQ(sms.size(), visible_gpus().front().sm_count);
}

TEST_F(ProgramOnGpu, ARefusedMapIsTheResultOfItsProgramAlone) {
  std::vector<Program> programs(3, begun());
  programs[1].maps[0].spec.element_stride[0] = 9;

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  EXPECT_EQ(results[0].fault, DeviceFault::none);
  EXPECT_EQ(results[1].fault, DeviceFault::encode_refused);
  EXPECT_EQ(results[2].fault, DeviceFault::none);
}

TEST_F(ProgramOnGpu, AnElementStrideOfZeroIsRefusedInTheInnermostDimension) {
  Program program = begun();
  program.maps[0].spec.element_stride[0] = 0;

  EXPECT_EQ(run(program).fault, DeviceFault::encode_refused);
}

TEST_F(ProgramOnGpu, AnIllegalCopyIsTheResultOfItsLaunch) {
  std::vector<Program> programs(3, begun());
  programs[1] += announce(8192);
  programs[1] += Step{.verb = Verb::load, .offset = 1024, .at = {33, 7}};  // off 16 bytes
  programs[1] += kWait;
  const auto run_in_child = [&] {
    const auto results = make_cuda_device()->run_programs(programs);
    std::_Exit(results[0].fault == DeviceFault::sticky && results[2].code == results[1].code ? 0
                                                                                             : 1);
  };
  // The context is lost with the error, so that this needs a process of its own.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_in_child(), testing::ExitedWithCode(0), "");
}

TEST_F(ProgramOnGpu, AnUnsoundProgramIsRefusedInWords) {
  Program program = begun();
  program += Step{.verb = Verb::test, .barrier = 2};
  EXPECT_THROW((void)run(program), Error);
}

TEST_F(ProgramOnGpu, AClusterOfSixteenRunsOrIsUnsupported) {
  Program program = begun();
  program.cluster = {16, 1, 1};
  for (Step& step : program.steps) step.ctas = 0xffff;
  program += Step{.verb = Verb::cluster_sync, .ctas = 0xffff};
  program += Step{.verb = Verb::snapshot, .ctas = 0xffff};

  const RunResult result = run(program);

  if (result.fault == DeviceFault::unsupported) GTEST_SKIP() << result.note;
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.sms.size(), 16U);
  ASSERT_EQ(result.bytes.size(), 16U * 10240);
  for (std::uint32_t cta = 0; cta < 16; ++cta) {
    const auto begin = result.bytes.begin() + 10240 * cta;
    EXPECT_EQ(std::vector<std::uint8_t>(begin, begin + 10240), poisoned_window(cta)) << cta;
  }
}

}  // namespace
}  // namespace tidemark::kernels
