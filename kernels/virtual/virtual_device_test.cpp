// The device without a GPU.
#include "kernels/virtual/virtual_device.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"

namespace tidemark {
namespace {

TileLoad small_load() {
  return {.map = {.rank = 1, .extent = {64}, .box = {16}}, .at = {16}, .payload = {.seed = 5}};
}

TileStore small_store() {
  return {.map = {.rank = 1, .extent = {64}, .box = {16}}, .at = {16}, .payload = {.seed = 5}};
}

PeerTile small_peer(std::int32_t at) {
  return {.map = {.rank = 1, .extent = {64}, .box = {16}}, .at = {at}, .ranks = 2};
}

TEST(VirtualDevice, RunsATileStore) {
  VirtualDevice device(kNoFault);
  const Program program = checked_program(small_store());
  const RunResult result = device.run_programs({&program, 1}).front();
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.surroundings[1024 + 16], source_byte({.seed = 5}, 1024));
}

TEST(VirtualDevice, RunsAGemm) {
  VirtualDevice device(kNoFault);
  const RunResult result = device.run(Gemm{
      .m = 8, .n = 8, .k = 8, .rows = {.first = 0, .count = 8}, .cols = {.first = 0, .count = 4}});
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.bytes.size(), 8U * 4 * 4);
}

TEST(VirtualDevice, HasItsFaultBuiltIn) {
  VirtualDevice device(fault_named("load_chunk_dropped"));
  const Program program = checked_program(small_load());
  EXPECT_EQ(device.run_programs({&program, 1}).front().bytes[1024], poison_byte({.seed = 5}, 1024));
}

TEST(VirtualDevice, IsSpentAfterAStickyFault) {
  VirtualDevice device(kNoFault);
  EXPECT_EQ(device.run(small_peer(1)).code, 715);
  EXPECT_EQ(device.run(small_peer(16)).fault, DeviceFault::sticky);
  EXPECT_EQ(device.measure(small_peer(16), {}).fault, DeviceFault::sticky);
}

TEST(VirtualDevice, GoesOnAfterARefusedMap) {
  VirtualDevice device(kNoFault);
  PeerTile refused = small_peer(16);
  refused.map.box[0] = 0;
  EXPECT_EQ(device.run(refused).fault, DeviceFault::encode_refused);
  EXPECT_EQ(device.run(small_peer(16)).fault, DeviceFault::none);
}

Program probe(std::int32_t at) {
  const TileLoad load = small_load();
  return {.window = 128,
          .barriers = 1,
          .regions = {region_of(load)},
          .maps = {{.spec = load.map}},
          .steps = {{.verb = Verb::init},
                    {.verb = Verb::arrive_expect_tx, .bytes = 16},
                    {.verb = Verb::load, .at = {at}},
                    {.verb = Verb::wait},
                    {.verb = Verb::snapshot}},
          .payload = load.payload};
}

TEST(VirtualDevice, RunsProgramsInTheirOrder) {
  VirtualDevice device(kNoFault);
  const std::vector<Program> programs{probe(0), probe(16)};
  const std::vector<RunResult> results = device.run_programs(programs);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].bytes[0], source_byte({.seed = 5}, 1024));
  EXPECT_EQ(results[1].bytes[0], source_byte({.seed = 5}, 1024 + 16));
}

TEST(VirtualDevice, ProgramsBehindAStickyFaultAreSpent) {
  VirtualDevice device(kNoFault);
  const std::vector<Program> programs{probe(0), probe(1), probe(0)};
  const std::vector<RunResult> results = device.run_programs(programs);
  EXPECT_EQ(results[0].fault, DeviceFault::none);
  EXPECT_EQ(results[1].fault, DeviceFault::sticky);
  EXPECT_EQ(results[2].fault, DeviceFault::sticky);
  EXPECT_EQ(results[2].code, 715);
  EXPECT_EQ(device.run(small_peer(16)).fault, DeviceFault::sticky);
}

TEST(VirtualDevice, ProgramsGoOnAfterARefusedMap) {
  VirtualDevice device(kNoFault);
  std::vector<Program> programs{probe(0), probe(0)};
  programs[0].maps[0].spec.box[0] = 0;
  const std::vector<RunResult> results = device.run_programs(programs);
  EXPECT_EQ(results[0].fault, DeviceFault::encode_refused);
  EXPECT_EQ(results[1].fault, DeviceFault::none);
}

TEST(VirtualDevice, ProgramsOfACallRunOnSmsOneAfterTheOther) {
  VirtualDevice device(kNoFault);
  const std::vector<Program> programs(133, probe(0));
  const std::vector<RunResult> results = device.run_programs(programs);
  EXPECT_EQ(results[1].sms, std::vector<std::uint16_t>{1});
  EXPECT_EQ(results[131].sms, std::vector<std::uint16_t>{131});
  EXPECT_EQ(results[132].sms, std::vector<std::uint16_t>{0});
}

TEST(VirtualDevice, AClusterRunsOnNeighbouringSms) {
  VirtualDevice device(kNoFault);
  std::vector<Program> programs(131, probe(0));
  const Program pair =
      program_of(ExpectTx{.load = small_load(), .announced = 96, .on = AnnouncedOn::peer});
  programs.insert(programs.begin() + 1, pair);
  programs.push_back(pair);
  const std::vector<RunResult> results = device.run_programs(programs);
  EXPECT_EQ(results[1].sms, (std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(results[2].sms, std::vector<std::uint16_t>{3});
  EXPECT_EQ(results[132].sms, (std::vector<std::uint16_t>{1, 2})) << "no cluster crosses the end";
}

TEST(VirtualDevice, SmsAreNotKnownWhereNothingRan) {
  VirtualDevice device(kNoFault);
  std::vector<Program> programs{probe(0), probe(1)};
  programs[0].maps[0].spec.box[0] = 0;
  const std::vector<RunResult> results = device.run_programs(programs);
  EXPECT_EQ(results[0].fault, DeviceFault::encode_refused);
  EXPECT_TRUE(results[0].sms.empty());
  EXPECT_EQ(results[1].fault, DeviceFault::sticky);
  EXPECT_TRUE(results[1].sms.empty());
}

TEST(VirtualDevice, WhatIsAProgramIsRefusedAsAnOperation) {
  VirtualDevice device(kNoFault);
  EXPECT_THROW(device.run(TileLoad{}), Error);
  EXPECT_THROW(device.run(small_store()), Error);
  EXPECT_THROW(device.run(ExpectTx{}), Error);
  EXPECT_THROW(device.run(BarrierCycle{}), Error);
}

TEST(VirtualDevice, WhatIsAProgramHasNoTimedForm) {
  VirtualDevice device(kNoFault);
  EXPECT_THROW(device.measure(small_load(), {}), Error);
  EXPECT_THROW(device.measure(small_store(), {}), Error);
}

TEST(VirtualDevice, MeasuresAGemm) {
  VirtualDevice device(kNoFault);
  const Gemm gemm{
      .m = 8, .n = 8, .k = 8, .rows = {.first = 0, .count = 8}, .cols = {.first = 0, .count = 4}};
  EXPECT_EQ(device.measure(gemm, {.warmups = 0, .samples = 2}).samples.size(), 2U);
}

TEST(Faults, ValuesAscendAndNamesAreUnique) {
  std::set<std::string_view> names;
  Fault before = kNoFault;
  for (const FaultInfo& info : faults()) {
    EXPECT_GT(info.fault, before) << info.name;
    before = info.fault;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
}

TEST(Faults, EveryOperationHasSome) {
  const auto has = [](OpKind op) {
    return std::any_of(faults().begin(), faults().end(),
                       [op](const FaultInfo& info) { return info.op == op; });
  };
  EXPECT_TRUE(has(OpKind::tile_load));
  EXPECT_TRUE(has(OpKind::gemm));
}

TEST(Faults, EachIsFoundByItsName) {
  for (const FaultInfo& info : faults()) EXPECT_EQ(fault_named(info.name), info.fault);
}

TEST(Faults, UnknownNameIsNoFault) { EXPECT_EQ(fault_named("load_nothing"), kNoFault); }

}  // namespace

}  // namespace tidemark
