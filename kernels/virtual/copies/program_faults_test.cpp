// Every fault of a program must change what some program leaves, and none where its step does not
// occur.
#include "kernels/virtual/copies/program_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/tile_store.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kTile = 512, kWindow = 1024 + kTile + 1024;
constexpr std::uint8_t kA = 0, kB = 1, kPeer = 1;

Step init(std::uint8_t barrier, std::uint16_t ctas = 1) {
  return {.verb = Verb::init, .ctas = ctas, .barrier = barrier};
}
Step announce(std::uint32_t bytes) { return {.verb = Verb::arrive_expect_tx, .bytes = bytes}; }
Step expect(std::uint32_t bytes) { return {.verb = Verb::expect_tx, .bytes = bytes}; }
Step load() { return {.verb = Verb::load, .offset = kGuardBytes}; }
Step arrive() { return {.verb = Verb::arrive}; }
Step settle() { return {.verb = Verb::delay, .ns = kSettleNs}; }
Step wait(std::uint8_t parity, bool stops = false) {
  return {.verb = Verb::wait, .parity = parity, .stops = stops, .ns = kMustCompleteNs};
}

Step meter(const BarrierAccount& account, std::uint32_t pending) {
  return {.verb = Verb::meter,
          .pending = pending,
          .bytes = meter_slack(account),
          .stride = meter_stride(account),
          .most = meter_most(account)};
}

Step on_b(Step step) {
  step.barrier = kB;
  return step;
}

Step in_peer(Step step) {
  step.of = kPeer;
  return step;
}

Program empty(std::uint32_t ctas) {
  const TileLoad load{.map = {.extent = {64, 8}, .stride = {64}, .box = {64, 8}},
                      .payload = {.seed = 3}};
  return {.cluster = {ctas, 1, 1},
          .window = kWindow,
          .barriers = 2,
          .regions = {region_of(load)},
          .maps = {{.spec = load.map}},
          .steps = {},
          .payload = load.payload};
}

// `told` comes between the inits and a wait. Barrier A of CTA 0 is metered and takes an exact
// copy afterwards.
Program metered(const std::vector<Step>& told, const BarrierAccount& account,
                std::uint32_t pending = 0, std::uint32_t ctas = 1) {
  Program program = empty(ctas);
  const auto all = static_cast<std::uint16_t>((1U << ctas) - 1);
  const Step poison{.verb = Verb::poison, .ctas = all, .bytes = kWindow};
  const Step snapshot{.verb = Verb::snapshot, .ctas = all};
  program.steps = {poison, init(kA, all), init(kB, all), {.verb = Verb::test}};
  program.steps.insert(program.steps.end(), told.begin(), told.end());
  const std::vector<Step> rest{wait(0),
                               {.verb = Verb::missing, .offset = kGuardBytes, .bytes = kTile},
                               settle(),
                               meter(account, pending),
                               snapshot,
                               poison,
                               announce(kTile),
                               load(),
                               wait(kCurrentPhase),
                               snapshot};
  program.steps.insert(program.steps.end(), rest.begin(), rest.end());
  return program;
}

Program announced(std::uint32_t bytes) {
  return metered({announce(bytes), load()}, {.announced = bytes, .credited = kTile});
}

Program announced_in_bulk(std::uint32_t bytes) {
  Program program = announced(bytes);
  program.maps[0].spec = {.rank = 1, .extent = {kTile}, .box = {kTile}, .bulk = true};
  return program;
}

Program announced_to_mask(std::uint32_t bytes) {
  Step multicast = load();
  multicast.mask = 1;
  return metered({announce(bytes), multicast}, {.announced = bytes, .credited = kTile});
}

// Phase 1 expects `bytes` for a copy that has landed by its arrival.
Program announced_later(std::uint32_t bytes) {
  Program program = empty(1);
  program.steps = {init(kA), announce(kTile), load(),   wait(0, true), expect(bytes),
                   load(),   settle(),        arrive(), wait(1)};
  return with_checks(program);
}

// Each to a place of its own, by a map of its own or all by the first.
Program many_loads(std::uint8_t loads, bool maps) {
  Program program = empty(1);
  program.window = 2048 + 256 * loads;
  program.regions[0].bytes = 8192;
  program.steps = {init(kA), announce(128U * loads)};
  for (std::uint8_t i = 0; i < loads; ++i) {
    if (maps && i > 0) program.maps.push_back(program.maps[0]);
    program.maps.back().spec.box = {64, 2};
    program.maps.back().spec.base_offset = 16U * i;
    program.steps.push_back(
        {.verb = Verb::load, .map = maps ? i : std::uint8_t{0}, .offset = kGuardBytes + 128U * i});
  }
  program.steps.push_back(wait(0, true));
  return with_checks(program);
}

// An arrival of more than 4,096.
Program counted() {
  Program program = empty(1);
  program.steps = {{.verb = Verb::init, .count = 4097}, arrive(), {.verb = Verb::test}};
  return with_checks(program);
}

// Two lives of a barrier: three phases of 2 arrivals, then two of 3.
Program lives(bool copy_first) {
  Program program = empty(1);
  auto& steps = program.steps;
  for (const std::uint32_t life : {0U, 1U}) {
    const std::uint32_t count = 2 + life;
    steps.push_back({.verb = Verb::init, .count = count});
    for (std::uint8_t phase = 0; phase < 3 - life; ++phase) {
      const auto parity = static_cast<std::uint8_t>(phase & 1U);
      const Step test{.verb = Verb::test, .parity = parity};
      steps.push_back(test);
      if (copy_first) steps.insert(steps.end(), {load(), settle()});
      steps.push_back(announce(kTile));
      if (!copy_first) steps.push_back(load());
      for (std::uint32_t i = 2; i < count; ++i) steps.push_back(arrive());
      steps.insert(steps.end(), {settle(), test, arrive(), wait(parity, true)});
    }
    steps.push_back({.verb = Verb::inval});
    steps.push_back({.verb = Verb::write, .word = 0x0123456789abcdef});
    steps.push_back({.verb = Verb::read});
  }
  return program;
}

Program wrong_barrier() { return metered({on_b(announce(kTile)), load()}, {.credited = kTile}, 1); }

Program remote() {
  Program program = metered({in_peer(announce(kTile)), load()}, {.credited = kTile}, 1, 2);
  program.steps.push_back(meter({.announced = kTile}, 0));
  program.steps.back().ctas = 1U << kPeer;
  return program;
}

// The peer's arrival ends the phase of CTA 0, and CTA 0's own that of its peer.
Program released_by_peer() {
  Program program = empty(2);
  Step from_peer = arrive(), to_peer = in_peer(arrive()), own = wait(0), peers = wait(0);
  from_peer.of = 0;
  from_peer.ctas = peers.ctas = 1U << kPeer;
  program.steps = {init(kA, 3), {.verb = Verb::cluster_sync, .ctas = 3}, to_peer, peers, from_peer,
                   own};
  return program;
}

// Two of three arrivals are dropped in the first phase; the second ends with one.
Program dropped() {
  Program program = empty(1);
  const Step test{.verb = Verb::test}, next{.verb = Verb::test, .parity = 1};
  program.steps = {{.verb = Verb::init, .count = 3},
                   {.verb = Verb::arrive_drop, .count = 2},
                   test,
                   arrive(),
                   test,
                   next,
                   arrive(),
                   next};
  return program;
}

// Three of four arrivals at once, and what the tokens say; the other CTA takes the bytes off.
Program by_tokens() {
  Program program = empty(2);
  const Step meet{.verb = Verb::cluster_sync, .ctas = 3};
  const Step first{.verb = Verb::test}, second{.verb = Verb::test, .parity = 1};
  program.steps = {{.verb = Verb::init, .ctas = 3, .count = 4},
                   {.verb = Verb::pending_count, .count = 1},
                   {.verb = Verb::arrive_token, .count = 2},
                   {.verb = Verb::arrive_token},
                   first,
                   {.verb = Verb::arrive_expect_tx, .bytes = 16},
                   {.verb = Verb::arrive, .count = 3},
                   meet,
                   {.verb = Verb::complete_tx, .ctas = 1U << kPeer, .of = 0, .bytes = 16},
                   meet,
                   first,
                   second};
  return program;
}

// The peer looks at its phase when they have met behind each arrival of CTA 0.
Program met() {
  Program program = empty(2);
  const Step meet{.verb = Verb::cluster_sync, .ctas = 3};
  program.steps = {init(kA, 3), meet};
  for (std::uint8_t phase = 0; phase < 4; ++phase) {
    Step seen{.verb = Verb::test, .ctas = 1U << kPeer};
    seen.parity = phase & 1U;
    program.steps.insert(program.steps.end(), {in_peer(arrive()), meet, seen, meet});
  }
  return program;
}

// Three tiles of 32-byte rows that hang over two dimensions, through a ring of two stages, and
// once more behind it.
TileRoundTrip ring() {
  const TensorMapSpec map{.type = DataType::f32,
                          .extent = {12, 11},
                          .stride = {48},
                          .box = {8, 4},
                          .swizzle = Swizzle::b32};
  const TileWalk walk{.at = {4, 0}, .step = {0, 4}, .tiles = {1, 3, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = Numbers::small,
          .in_place = true,
          .stages = 2,
          .payload = {.seed = 4}};
}

Program added() { return with_checks(program_of(ring())); }

Program copied() {
  TileRoundTrip trip = ring();
  trip.load.at[0] = trip.store.at[0] = 8;
  trip.work = TileWork::thread_copy;
  trip.in_place = false;
  return with_checks(program_of(trip));
}

// CTA 0 sends 512 bytes to its peer, to another place than it has them at.
Program sent(std::uint32_t ctas = 2) {
  Program program = empty(ctas);
  const std::uint16_t all = all_ctas(program);
  Step announced = announce(kTile);
  announced.ctas = 1U << kPeer;
  program.steps = {init(kA, all),
                   announced,
                   {.verb = Verb::cluster_sync, .ctas = all},
                   {.verb = Verb::send,
                    .of = kPeer,
                    .offset = kGuardBytes,
                    .bytes = kTile,
                    .at = {kGuardBytes + 16}}};
  return with_checks(program);
}

// 32 x 4 x 2 elements, 512 bytes, which hang over the far end of two dimensions.
TensorMapSpec remapped_from() {
  return {.type = DataType::f16,
          .rank = 3,
          .extent = {64, 8, 3},
          .stride = {256, 2560},
          .box = {32, 4, 2}};
}

Step reduce(Reduction reduction, DataType type, std::int32_t at, std::uint64_t word) {
  return in_peer(
      {.verb = Verb::red_async, .reduction = reduction, .type = type, .at = {at}, .word = word});
}

// A vector, a sum by two CTAs, and one of each reduction that a fault changes.
Program written_by_registers() {
  Program program = empty(3);
  Step announced = announce(56), vector = in_peer({.verb = Verb::st_async, .bytes = 16});
  announced.ctas = 1U << kPeer;
  vector.at[0] = kGuardBytes;
  vector.word = 0x0123456789abcdef;
  Step sum = reduce(Reduction::add, DataType::u32, kGuardBytes + 16, 5);
  sum.ctas = 5;
  Step twice = reduce(Reduction::bit_xor, DataType::u32, kGuardBytes + 48, 3);
  twice.count = 2;
  program.steps = {init(kA, 7),
                   announced,
                   {.verb = Verb::cluster_sync, .ctas = 7},
                   vector,
                   sum,
                   reduce(Reduction::add, DataType::u64, kGuardBytes + 24, 0xffffffff),
                   reduce(Reduction::min, DataType::s32, kGuardBytes + 32, 1),
                   reduce(Reduction::min, DataType::u32, kGuardBytes + 36, 1),
                   reduce(Reduction::inc, DataType::u32, kGuardBytes + 40, 3),
                   reduce(Reduction::dec, DataType::u32, kGuardBytes + 44, 3),
                   twice};
  return with_checks(program);
}

// A box that hangs out, and one that is stored over before it is loaded.
Program prefetched() {
  Program program = empty(1);
  program.steps = {init(kA),
                   {.verb = Verb::prefetch, .at = {16, 0}},
                   {.verb = Verb::fill, .offset = kGuardBytes, .bytes = kTile},
                   {.verb = Verb::store, .offset = kGuardBytes, .at = {0, 2}},
                   {.verb = Verb::commit},
                   {.verb = Verb::wait_group},
                   announce(kTile),
                   load()};
  return with_checks(program);
}

// CTAs load a box by a map, and another one by what becomes of it: `to`, or `to` out of zeros.
Program remapped(const TensorMapSpec& to, std::uint32_t ctas = 1, bool zeroed = false) {
  const TensorMapSpec from = remapped_from();
  const auto all = static_cast<std::uint16_t>((1U << ctas) - 1);
  Program program = empty(ctas);
  program.window = 1024 + 8192 + 1024;
  program.regions[0] = {.bytes = 16384};
  program.maps = {{.spec = from}, {.spec = to, .from = zeroed ? kZeroed : std::uint8_t{0}}};
  if (zeroed) program.maps.erase(program.maps.begin());
  const auto add = [&](Step step) {
    step.ctas = all;
    program.steps.push_back(step);
  };
  add(init(kA));
  for (std::uint8_t map = 0; map < program.maps.size(); ++map) {
    if (map > 0 || zeroed) {
      if (ctas > 1) add({.verb = Verb::cluster_sync});
      program.steps.push_back({.verb = Verb::replace, .map = map});
      if (ctas > 1) add({.verb = Verb::cluster_sync});
    }
    add({.verb = Verb::acquire, .map = map, .scope = Scope::sys});
    add(announce(tile_bytes(program.maps[map].spec)));
    add({.verb = Verb::load, .map = map, .offset = kGuardBytes, .at = {48, 4, 2}});
    add(wait(kCurrentPhase, true));
    add({.verb = Verb::snapshot});
  }
  return program;
}

// One field each.
std::vector<Program> remapped_each() {
  std::vector<TensorMapSpec> specs(9, remapped_from());
  specs[0].base_offset = 16;
  specs[1].rank = 2;
  specs[2].extent = {56, 8, 3};
  specs[3].stride = {288, 2560};
  specs[4].box = {16, 4, 2};
  specs[5].element_stride[1] = 2;
  specs[6].type = DataType::f64;
  specs[7].swizzle = Swizzle::b64;
  specs[8].fill = Fill::nan;
  std::vector<Program> programs;
  for (const TensorMapSpec& spec : specs) programs.push_back(remapped(spec));
  programs.push_back(remapped(specs[0], 2));
  programs.push_back(remapped(specs[0], 1, true));
  return programs;
}

std::vector<Program> programs() {
  const Step by_hand{.verb = Verb::complete_tx, .bytes = 44};
  std::vector<Program> all{
      released_by_peer(),
      met(),
      dropped(),
      by_tokens(),
      announced(512),
      announced(513),
      announced(1536),
      announced(70000),
      announced(1040000),
      announced(0),
      announced(511),
      announced(272),
      metered({expect(512), announce(512), load()}, {.announced = 1024, .credited = kTile}),
      metered({load(), settle(), announce(496)}, {.announced = 496, .credited = kTile}),
      metered({expect(512), load()}, {.announced = 512, .credited = kTile}, 1),
      metered({by_hand, arrive()}, {.credited = 44}),
      wrong_barrier(),
      remote(),
      lives(false),
      lives(true),
      added(),
      copied(),
      sent(),
      sent(3),
      announced_in_bulk(kTile + 4),
      announced_to_mask(kTile + 4),
      announced_later(kTile - 4),
      many_loads(33, false),
      many_loads(32, true),
      counted(),
      written_by_registers(),
      prefetched()};
  for (Program& program : remapped_each()) all.push_back(std::move(program));
  return all;
}

TEST(ProgramFaults, AMapIsSeenOldWhereACtaKeepsIt) {
  TensorMapSpec to = remapped_from();
  to.base_offset = 16;
  const Program program = remapped(to, 2);
  const auto right = run_virtual_program(program, kNoFault).bytes;
  const auto old = run_virtual_program(program, kFaultAcquireIgnored).bytes;
  const auto half = static_cast<std::ptrdiff_t>(right.size() / 2);
  EXPECT_TRUE(std::equal(right.begin(), right.begin() + half, old.begin()));
  EXPECT_TRUE(std::equal(old.begin(), old.begin() + half, old.begin() + half));
  EXPECT_FALSE(std::equal(right.begin(), right.begin() + half, right.begin() + half));
}

TEST(ProgramFaults, AZeroedMapThatIsNotPublishedIsAnError) {
  const Program program = remapped(remapped_from(), 1, true);
  EXPECT_EQ(run_virtual_program(program, kNoFault).fault, DeviceFault::none);
  EXPECT_EQ(run_virtual_program(program, kFaultPublishLost).code, kIllegalInstruction);
}

bool differ(const RunResult& a, const RunResult& b) {
  return a.fault != b.fault || a.code != b.code || a.bytes != b.bytes || a.trace != b.trace ||
         a.surroundings != b.surroundings;
}

bool is_visible(Fault fault, const Program& program) {
  return differ(run_virtual_program(program, kNoFault), run_virtual_program(program, fault));
}

TEST(ProgramFaults, EachShowsInSomeProgram) {
  const std::vector<Program> all = programs();
  for (const FaultInfo& info : program_faults())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Program& program) {
      return is_visible(info.fault, program);
    })) << info.name;
}

TEST(ProgramFaults, NoTwoDoTheSameInEveryProgram) {
  const std::vector<Program> all = programs();
  const auto faults = program_faults();
  for (std::size_t i = 0; i < faults.size(); ++i)
    for (std::size_t j = i + 1; j < faults.size(); ++j)
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const Program& program) {
                                return differ(run_virtual_program(program, faults[i].fault),
                                              run_virtual_program(program, faults[j].fault));
                              }))
          << faults[i].name << " and " << faults[j].name;
}

TEST(ProgramFaults, NoneThrowsWhereTheCountLeavesItsRange) {
  Program program = announced(kTxCountMax);
  const Step more = expect(kTxCountMax);
  program.steps.insert(program.steps.begin() + 4, {more, more, announce(1)});
  for (const FaultInfo& info : faults())
    EXPECT_NO_THROW((void)run_virtual_program(program, info.fault)) << info.name;
}

TEST(ProgramFaults, ValuesAscend) {
  Fault before = kNoFault;
  for (const FaultInfo& info : program_faults()) {
    EXPECT_GT(info.fault, before) << info.name;
    EXPECT_EQ(info.op, OpKind::program) << info.name;
    before = info.fault;
  }
}

TEST(ProgramFaults, RemoteOnesNeedAPeer) {
  for (const Fault fault :
       {kFaultExpectRemoteLost, kFaultExpectRemoteLocal, kFaultExpectPeerWritten,
        kFaultArriveRemoteLost, kFaultArriveRemoteLocal}) {
    EXPECT_FALSE(is_visible(fault, wrong_barrier()));
    EXPECT_TRUE(is_visible(fault, remote()) || is_visible(fault, released_by_peer()));
  }
}

TEST(ProgramFaults, CreditOnOtherNeedsAnother) {
  Program program = announced(512);
  EXPECT_TRUE(is_visible(kFaultExpectCreditOnOther, program));
  program.barriers = 1;
  program.steps.erase(program.steps.begin() + 2);  // the init of B
  EXPECT_FALSE(is_visible(kFaultExpectCreditOnOther, program));
}

TEST(ProgramFaults, SurplusForgivenNeedsASurplus) {
  EXPECT_FALSE(is_visible(kFaultExpectSurplusForgiven, announced(512)));
  EXPECT_TRUE(is_visible(kFaultExpectSurplusForgiven, announced(528)));
}

TEST(ProgramFaults, LostCreditShowsOnlyWhereTheCopyIsFirst) {
  EXPECT_FALSE(is_visible(kFaultCycleEarlyCreditLost, lives(false)));
  EXPECT_TRUE(is_visible(kFaultCycleEarlyCreditLost, lives(true)));
}

TEST(ProgramFaults, APhaseThatSurvivesItsLifeReadsAsCompleteEarly) {
  const Program program = lives(false);
  const auto right = run_virtual_program(program, kNoFault).trace;
  const auto wrong = run_virtual_program(program, kFaultCyclePhaseSurvives).trace;
  const auto second = std::find_if(program.steps.begin() + 1, program.steps.end(),
                                   [](const Step& step) { return step.verb == Verb::init; });
  const auto test = static_cast<std::size_t>(second - program.steps.begin()) + 1;
  EXPECT_EQ(right[test], 0U);
  EXPECT_EQ(wrong[test], 1U);
}

TEST(ProgramFaults, MissingArrivalStopsTheCycle) {
  const RunResult result = run_virtual_program(lives(false), kFaultCycleArrivalLate);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "step 7: the wait of CTA 0 on barrier 0 ended by its bound");
}

TEST(ProgramFaults, FaultsOfTheTileLoadShowToo) {
  for (const Fault fault :
       {kFaultChunkDropped, kFaultCreditShort, kFaultSecondCopyShort, kFaultSourceOverwritten,
        kFaultCreditLate, kFaultCreditBeforeLastChunk, kFaultWaitReturnsAtOnce})
    EXPECT_TRUE(is_visible(fault, announced(512)) || is_visible(fault, announced(528)))
        << static_cast<std::uint32_t>(fault);
}

TEST(ProgramFaults, RulesOfIllegalCopiesChangeToo) {
  Program program = announced(512);
  program.steps[5].offset = kGuardBytes + 64;
  EXPECT_EQ(run_virtual_program(program, kNoFault).code, kMisalignedAddress);
  EXPECT_EQ(run_virtual_program(program, kFaultMisalignedAs719).code, kLaunchFailure);
  EXPECT_EQ(run_virtual_program(program, kFaultMisalignedRoundedDown).fault, DeviceFault::none);
  EXPECT_EQ(run_virtual_program(program, kFaultErrorLost).trace[6], 0U);
}

}  // namespace
}  // namespace tidemark
