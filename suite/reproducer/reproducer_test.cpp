// Reproducers of whole programs: what stands in one, in which order, and that it compiles and
// links.
#include "suite/reproducer/reproducer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/tile_store.hpp"
#include "suite/testing/hostile_words.hpp"
#include "suite/testing/reproducers.hpp"

namespace tidemark {
namespace {

Program representative() {
  constexpr std::uint16_t kBoth = 3;
  const Step load{
      .verb = Verb::load, .hint = CacheHint::evict_first, .offset = 1024, .at = {-8, 3}};
  Program program = two_ctas({{.verb = Verb::poison, .ctas = kBoth, .bytes = 4096}});
  program.barriers = 4;
  program.payload.inverted = true;
  auto& steps = program.steps;
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.push_back({.verb = Verb::init, .ctas = kBoth, .barrier = i});
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.push_back({.verb = Verb::test, .ctas = kBoth, .barrier = i});
  steps.insert(steps.end(), {{.verb = Verb::cluster_sync, .ctas = kBoth},
                             {.verb = Verb::arrive_expect_tx, .of = 1, .bytes = 256},
                             {.verb = Verb::arrive_expect_tx, .barrier = 1, .bytes = 256},
                             load,
                             {.verb = Verb::delay, .ns = kSettleNs},
                             {.verb = Verb::arrive, .thread = 1, .count = 3},
                             {.verb = Verb::wait, .ns = kSettleNs},
                             {.verb = Verb::missing, .offset = 1024, .bytes = 256},
                             {.verb = Verb::cluster_sync, .ctas = kBoth},
                             {.verb = Verb::delay, .ctas = kBoth, .ns = kSettleNs}});
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.insert(steps.end(),
                 {{.verb = Verb::meter,
                   .ctas = kBoth,
                   .barrier = i,
                   .pending = 1,
                   .bytes = 1280,
                   .stride = 256,
                   .most = 1280},
                  {.verb = Verb::test, .ctas = kBoth, .barrier = i, .parity = kCurrentPhase}});
  const Step wait{.verb = Verb::wait, .parity = kLastPhase, .stops = true, .ns = kMustCompleteNs};
  steps.insert(
      steps.end(),
      {wait,
       {.verb = Verb::snapshot, .ctas = kBoth},
       {.verb = Verb::poison, .bytes = 4096},
       {.verb = Verb::arrive_expect_tx, .bytes = 256},
       load,
       wait,
       {.verb = Verb::snapshot},
       {.verb = Verb::delay, .ns = kLandNs},
       {.verb = Verb::meter, .parity = kCurrentPhase, .pending = 1, .bytes = 1024, .most = 1024},
       {.verb = Verb::test, .parity = kCurrentPhase}});
  for (std::uint8_t i = 0; i < 4; ++i)
    steps.push_back({.verb = Verb::inval, .ctas = kBoth, .barrier = i});
  steps.insert(steps.end(), {{.verb = Verb::read, .ctas = kBoth, .thread = 255},
                             {.verb = Verb::write, .ctas = kBoth, .word = 0x1234},
                             {.verb = Verb::read, .ctas = kBoth, .thread = 255},
                             {.verb = Verb::cluster_sync, .ctas = kBoth}});
  return program;
}

// Four stores, with all the waits and looks that they can have.
Program representative_stores() {
  return with_checks(program_of(TileStore{.map = tensor(2),
                                          .at = {8, 0},
                                          .stores = kMaxStores,
                                          .wait = StoreWait::read,
                                          .empty_groups = 0b11111,
                                          .bystander = true,
                                          .hint = CacheHint::evict_first,
                                          .payload = {.seed = 17}}));
}

Program representative_end() {
  return with_checks(program_of(TileStore{
      .map = tensor(2), .stores = kMaxStores, .wait = StoreWait::only_read, .payload = {}}));
}

// One tile out and back, which threads work on.
Program representative_trip(TileWork work) {
  TensorMapSpec map{.type = DataType::f32, .extent = {32, 16}, .stride = {128}, .box = {32, 8}};
  return with_checks(program_of(TileRoundTrip{.from = map,
                                              .to = map,
                                              .load = {},
                                              .store = {},
                                              .work = work,
                                              .numbers = Numbers::small,
                                              .payload = {.seed = 17}}));
}

// A box that is prefetched, loaded and sent on.
Program representative_send() {
  return with_checks(two_ctas({{.verb = Verb::init, .ctas = 3},
                               {.verb = Verb::prefetch, .at = {-8, 3}},
                               {.verb = Verb::arrive_expect_tx, .bytes = 256},
                               {.verb = Verb::load, .offset = 1024, .at = {-8, 3}},
                               {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs},
                               {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 64},
                               {.verb = Verb::cluster_sync, .ctas = 3},
                               {.verb = Verb::send, .of = 1, .offset = 1024, .bytes = 64}}));
}

// One map that becomes another one.
Program representative_map() {
  const Step expect{.verb = Verb::arrive_expect_tx, .bytes = 256};
  const Step load{.verb = Verb::load, .offset = 1024, .at = {-8, 3}};
  const Step wait{
      .verb = Verb::wait, .parity = kCurrentPhase, .stops = true, .ns = kMustCompleteNs};
  Step other = load;
  other.map = 1;
  return with_checks(remapped({{.verb = Verb::init},
                               {.verb = Verb::acquire, .scope = Scope::sys},
                               expect,
                               load,
                               wait,
                               {.verb = Verb::replace, .map = 1},
                               {.verb = Verb::acquire, .map = 1},
                               expect,
                               other,
                               wait}));
}

// A vector, and a sum of it.
Program representative_async() {
  return with_checks(two_ctas(
      {{.verb = Verb::init, .ctas = 3, .count = 4},
       {.verb = Verb::arrive_drop, .ctas = 2},
       {.verb = Verb::pending_count, .ctas = 2},
       {.verb = Verb::arrive_token, .ctas = 2},
       {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 16},
       {.verb = Verb::cluster_sync, .ctas = 3},
       {.verb = Verb::st_async, .of = 1, .bytes = 16, .at = {1024}, .word = 7},
       {.verb = Verb::wait, .ctas = 2, .stops = true, .ns = kMustCompleteNs},
       {.verb = Verb::arrive_token, .ctas = 2, .count = 2},
       {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 4},
       {.verb = Verb::cluster_sync, .ctas = 3},
       {.verb = Verb::red_async, .of = 1, .reduction = Reduction::add, .at = {1024}, .word = 7}}));
}

Program representative_product() {
  return with_checks(
      program_of(TileConsume{.type = MmaType::e4m3, .n = 32, .k = 128, .payload = {}}));
}

Program representative_read() {
  Program program = matrix({.verb = Verb::place_rows, .offset = 1024, .at = {8192}});
  program.steps.push_back(
      {.verb = Verb::read_columns, .offset = 8192, .stride = 256, .at = {512, 3}});
  return program;
}

TEST(Reproducer, HasAtMost200LinesForRepresentativePrograms) {
  std::set<Verb> verbs;
  for (const Program& program :
       {representative(), representative_stores(), representative_end(), representative_send(),
        representative_map(), representative_async(), representative_product(),
        representative_read(), representative_trip(TileWork::add_one),
        representative_trip(TileWork::thread_copy)}) {
    const std::string source = cuda_reproducer(program, kWords);
    EXPECT_LE(program.steps.size(), 45U);
    EXPECT_LE(lines_of(source).size(), 200U) << source;
    expect_narrow(source);
    for (const Step& step : program.steps) verbs.insert(step.verb);
  }
  EXPECT_EQ(representative().steps.size(), 45U);
  EXPECT_EQ(verbs.size(), kVerbs - 2) << "all but expect_tx and complete_tx, which a meter has";
}

TEST(Reproducer, SaysEachStepInItsOrder) {
  const std::string source = cuda_reproducer(representative(), kWords);
  std::size_t at = 0;
  for (std::size_t i = 0; i < representative().steps.size(); ++i) {
    at = source.find(fmt::format("// step {}: ", i), at);
    ASSERT_NE(at, std::string::npos) << i << '\n' << source;
  }
  EXPECT_EQ(source.find(fmt::format("// step {}: ", representative().steps.size())),
            std::string::npos);
}

TEST(Reproducer, IsTheSameEachTime) {
  EXPECT_EQ(cuda_reproducer(representative(), kWords), cuda_reproducer(representative(), kWords));
}

TEST(Reproducer, SaysWhatIsExpectedAndWasSeen) {
  const std::string source = cuda_reproducer(one_cta({}), kWords);
  EXPECT_TRUE(
      source.starts_with("// A phase completes 16 bytes early\n"
                         "// Expected: residue 0 on barrier 0 of CTA 0\n"
                         "// Seen: residue -16 in 3 of 100 runs on SM 17\n"))
      << source;
  EXPECT_NE(source.find("  std::puts(\"expected: residue 0 on barrier 0 of CTA 0\");"),
            std::string::npos);
}

TEST(Reproducer, WordsOfAReportAreNoCode) {
  const Program program = one_cta({{.verb = Verb::init}});
  const ReproducerWords plain{.title = "a", .expected = "a", .seen = "a"};
  const std::string expected = code_of(cuda_reproducer(program, plain));
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(TIDEMARK_HOSTILE_WORDS)) {
    const std::string words = read_file(file.path());
    const std::string source =
        cuda_reproducer(program, {.title = words, .expected = words, .seen = words});
    EXPECT_EQ(code_of(source), expected) << file.path() << '\n' << source;
    ++files;
  }
  EXPECT_GE(files, 7U);
}

TEST(Reproducer, WordsOfAReportArePrintedAsTheyStand) {
  const std::string source = cuda_reproducer(
      one_cta({}), {.title = "t", .expected = "e", .seen = R"raw(a "b" \ )words" ?)raw"});
  EXPECT_NE(source.find(R"raw(puts("seen before: a \"b\" \\ )words\" \?");)raw"), std::string::npos)
      << source;
}

TEST(Reproducer, LeavesOutWhatNoStepNeeds) {
  const std::string source =
      cuda_reproducer(one_cta({{.verb = Verb::init}, {.verb = Verb::delay, .ns = 1}}), kWords);
  for (const std::string_view name :
       {"stopped", "phase[", "trace", "windows", "PTX_TEST", "meter", "load_2d", "poison_byte",
        "kSteps", "normal(", "u8* region0) {", "fill("})
    EXPECT_EQ(source.find(name), std::string::npos) << name << '\n' << source;
}

TEST(Reproducer, TakesStepsInTheThreadsThatAreNamed) {
  const std::string source = cuda_reproducer(
      [] {
        Program program = two_ctas({{.verb = Verb::arrive, .ctas = 3, .thread = 3, .count = 32},
                                    {.verb = Verb::arrive, .ctas = 2, .count = 256},
                                    {.verb = Verb::arrive, .thread = 192, .count = 64},
                                    {.verb = Verb::init, .ctas = 5, .thread = 7},
                                    {.verb = Verb::snapshot, .ctas = 2},
                                    {.verb = Verb::snapshot, .ctas = 7}});
        program.cluster = {3, 1, 1};
        return program;
      }(),
      kWords);
  for (const std::string_view line :
       {"  if (next((0x3 >> cta & 1) && t >= 3 && t < 35)) arrive(bar0); ",
        "  if (next(cta == 1)) arrive(bar0); ", "  if (next(cta == 0 && t >= 192)) arrive(bar0); ",
        "  if (next((0x5 >> cta & 1) && t == 7)) init(bar0, 1); ",
        "  if (cta == 1) snapshot(4, 0); ", "  snapshot(5, 1); "})
    EXPECT_NE(source.find(line), std::string::npos) << line << '\n' << source;
}

TEST(Reproducer, BehindLeaveOneThreadTakesStepsBackToBack) {
  const std::string source =
      cuda_reproducer(one_cta({{.verb = Verb::fill, .bytes = 4096},
                               {.verb = Verb::leave, .thread = 32},
                               {.verb = Verb::store, .thread = 32},
                               {.verb = Verb::commit, .thread = 32},
                               {.verb = Verb::wait_group_read, .thread = 32, .pending = 2}}),
                      kWords);
  std::size_t at = 0;
  for (const std::string_view line :
       {"  if (!next(t == 32)) return; ", "\n  store_2d(0, &map0, 0, 0); ", "\n  commit(); ",
        "\n  wait_group_read<2>(); "}) {
    at = source.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << '\n' << source;
  }
}

TEST(Reproducer, ACtaThatStoppedTakesNothingBehindLeave) {
  Program program = one_cta(
      {{.verb = Verb::wait, .stops = true, .ns = 1}, {.verb = Verb::leave}, {.verb = Verb::store}});
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_NE(source.find("{ return __syncthreads(), taker && !stopped[blockIdx.x]; }"),
            std::string::npos)
      << source;
  EXPECT_NE(source.find("  if (!next(t == 0)) return; "), std::string::npos) << source;
}

TEST(Reproducer, TheThreadThatWaitsForReadsIsNamedAndAllOverwrite) {
  Program program = two_ctas({{.verb = Verb::wait_group_read,
                               .ctas = 2,
                               .thread = 3,
                               .pending = 4,
                               .offset = 1024,
                               .bytes = 256}});
  program.maps[0].spec.type = DataType::tf32;
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_NE(
      source.find("  if (next(cta == 1)) { if (t == 3) wait_group_read<4>(); __syncthreads(); "
                  "fill(1024, 256, ~normal(source_word(i), 0x7fe000)); }\n"),
      std::string::npos)
      << source;
}

TEST(Reproducer, TheKernelTakesTheRegionsThatItReads) {
  Program program = one_cta({{.verb = Verb::wait_group, .region = 2, .word = 1032},
                             {.verb = Verb::look, .thread = 32, .region = 2, .word = 16}});
  program.regions = {{.bytes = 16384}, {.bytes = 16}, {.bytes = 16384}};
  const std::string source = cuda_reproducer(program, kWords);
  for (const std::string_view part :
       {"map0,\n    u8* region2) {", "reproduce<<<1, kThreads, kWindow + 1023>>>(map0, region2);",
        "if (next(t == 0)) wait_group<0>(), trace[0][cta] = {'r', *(u64*)(region2 + 1032)};",
        "if (next(t == 32)) trace[1][cta] = {'r', __ldcv((u64*)(region2 + 16))};"})
    EXPECT_NE(source.find(part), std::string::npos) << part << '\n' << source;
}

TEST(Reproducer, AWaitForGroupsThatReadsNothingLeavesNoTrace) {
  const std::string source = cuda_reproducer(one_cta({{.verb = Verb::wait_group}}), kWords);
  EXPECT_NE(source.find("  if (next(t == 0)) wait_group<0>(); "), std::string::npos) << source;
  EXPECT_EQ(source.find("trace"), std::string::npos) << source;
}

TEST(Reproducer, RefusesAProgramThatIsNotSound) {
  EXPECT_THROW(cuda_reproducer(one_cta({{.verb = Verb::load, .map = 1}}), kWords), Error);
}

TEST_F(Compiled, RepresentativeProgramsToExecutables) {
  for (const Program& program :
       {representative(), representative_stores(), representative_end(), representative_send(),
        representative_async(), representative_map(), representative_product(),
        representative_read(), remapped({{.verb = Verb::replace, .map = 2, .scope = Scope::sys}})})
    executable(cuda_reproducer(program, kWords));
}

TEST_F(Compiled, APlainProgramToAnExecutable) {
  executable(cuda_reproducer(one_cta({{.verb = Verb::init}}), kWords));
}

TEST_F(Compiled, AProgramOfNothing) { ptx_of(cuda_reproducer(Program{}, kWords)); }

TEST_F(Compiled, MemoryOfEverySourceAndTheLargestCluster) {
  Program program = two_ctas({{.verb = Verb::cluster_sync, .ctas = 0xffff},
                              {.verb = Verb::load, .ctas = 0x8000, .map = 1}});
  program.cluster = {16, 1, 1};
  program.regions = {{.bytes = 16384, .source = MemorySource::device},
                     {.bytes = 16384, .source = MemorySource::async},
                     {.bytes = 16384, .source = MemorySource::pinned},
                     {.bytes = 16384, .source = MemorySource::mapped, .element = DataType::f32_ftz},
                     {.bytes = 16384, .source = MemorySource::edge, .cold = true},
                     {.bytes = 16384, .source = MemorySource::peer, .element = DataType::tf32}};
  program.maps = {{.spec = tensor(1)},
                  {.spec = tensor(5), .region = 3},
                  {.spec = {.rank = 0xffffffff, .extent = {0xffffffffffffffff}}}};
  const std::string source = cuda_reproducer(program, kWords);
  expect_narrow(source);
  executable(source);
}

TEST_F(Compiled, WordsOfEveryKind) {
  const std::string longest(300, 'x');
  const std::string source = cuda_reproducer(
      one_cta({}), {.title = "ends with \\",
                    .expected = R"({"op": "tile_load", "at": "\n"} %d /* */ " )" + longest + " ??",
                    .seen = "two\nlines\r\n\tand \xce\xbcs \x7f"});
  expect_narrow(source);
  executable(source);
}

// What the functions of the file give has to be what kernels/ops says.
TEST_F(Compiled, MulticastsOfEveryRankInAClusterOfThreeDimensions) {
  Program program = one_cta({});
  program.cluster = {2, 2, 2};
  for (std::uint8_t map = 0; map < 5; ++map) {
    program.maps.resize(map + 1U);
    program.maps[map].spec = tensor(map + 1U);
    program.steps.push_back({.verb = Verb::load, .map = map, .mask = 0x81});
    program.steps.push_back(
        {.verb = Verb::load, .map = map, .hint = CacheHint::evict_first, .mask = 0x81});
  }
  const std::string source = cuda_reproducer(program, kWords);
  EXPECT_EQ(source.find("blockIdx.x"), std::string::npos) << source;
  const std::string ptx = ptx_of(source);
  for (const std::string_view form :
       {"1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [",
        "5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [",
        "5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
        ".L2::cache_hint ["})
    EXPECT_NE(ptx.find(form), std::string::npos) << form;
}

TEST_F(Compiled, FillsOfEveryElement) {
  Program program = one_cta({});
  program.maps = {{.spec = tensor(2)}, {.spec = tensor(2)}, {.spec = tensor(2)}};
  program.maps[1].spec.type = DataType::f32_ftz;
  program.maps[2].spec.type = DataType::tf32;
  program.regions[0].bytes = 32768;
  for (std::uint8_t map = 0; map < 3; ++map)
    program.steps.push_back({.verb = Verb::fill, .map = map, .offset = 16, .bytes = 64});
  const std::string source = cuda_reproducer(program, kWords);
  for (const std::string_view call :
       {"fill(16, 64, source_word(i));", "fill(16, 64, normal(source_word(i), 0x7fffff));",
        "fill(16, 64, normal(source_word(i), 0x7fe000));"})
    EXPECT_NE(source.find(call), std::string::npos) << source;
  ptx_of(source);
}

TEST_F(Compiled, SourcesAndPoisonAreThoseOfTheDevices) {
  for (const bool inverted : {false, true}) {
    Program program = one_cta({{.verb = Verb::poison, .bytes = 16}});
    program.payload = {.seed = 0xfedcba9876543210, .inverted = inverted};
    program.regions = {{.bytes = 16384, .element = DataType::bf16},
                       {.bytes = 16384, .element = DataType::f32_ftz},
                       {.bytes = 16384, .element = DataType::tf32_ftz},
                       {.bytes = 16384, .poison = true}};
    std::string source = cuda_reproducer(program, kWords);
    const auto expect_pair = [&](std::string_view code, DataType type, std::uint64_t i) {
      const std::uint64_t pair =
          source_element_word(program.payload, type, 2 * i) |
          std::uint64_t{source_element_word(program.payload, type, 2 * i + 1)} << 32;
      source += fmt::format("static_assert({} == {:#x});\n",
                            fmt::format(fmt::runtime(code), fmt::arg("i", i)), pair);
    };
    for (const std::uint64_t i : {0, 1, 2, 3, 2047}) {
      expect_pair("source_word({i})", DataType::bf16, i);
      expect_pair("normal(source_word({i}), 0x7fffff)", DataType::f32_ftz, i);
      expect_pair("normal(source_word({i}), 0x7fe000)", DataType::tf32, i);
    }
    for (const std::uint32_t i : {0, 1, 255, 256, 4711, 65535})
      source += fmt::format("static_assert(poison_byte({}, 3) == {});\n", i,
                            cta_poison_byte(program.payload, 3, i)) +
                fmt::format("static_assert(poison_byte({}, 0) == {});\n", i,
                            poison_byte(program.payload, i));
    for (const std::string_view word :
         {"= source_word(i);", "= normal(source_word(i), 0x7fffff);",
          "= normal(source_word(i), 0x7fe000);", "= poison_byte((u32)i, 0);"})
      EXPECT_NE(source.find(word), std::string::npos) << source;
    ptx_of(source);
  }
}

}  // namespace
}  // namespace tidemark
