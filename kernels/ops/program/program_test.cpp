// What makes a program that stores unsound, said in one line.
#include "kernels/ops/program/program.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tidemark {
namespace {

constexpr std::uint32_t kTileAt = 1024, kWindow = 1024 + 512 + 1024;

// One CTA and a box of 64 x 8 bytes in a region of poison.
Program storing(std::vector<Step> steps) {
  const TileLoad box{.map = {.extent = {160, 20}, .stride = {160}, .box = {64, 8}}, .payload = {}};
  Program program{.window = kWindow,
                  .regions = {region_of(box)},
                  .maps = {{.spec = box.map}},
                  .steps = std::move(steps),
                  .payload = {}};
  program.regions[0].poison = true;
  return program;
}

Step fill() { return {.verb = Verb::fill, .bytes = kWindow}; }
Step store(std::uint16_t thread = 0) {
  return {.verb = Verb::store, .thread = thread, .offset = kTileAt, .at = {16, 3}};
}
Step wait_group(std::uint32_t pending = 0) {
  return {.verb = Verb::wait_group, .pending = pending};
}
Step look(std::uint64_t word) { return {.verb = Verb::look, .region = 0, .word = word}; }

TEST(SoundProgram, StoreFromOutsideTheWindowIsUnsound) {
  Step outside = store();
  outside.offset = kWindow - 128;
  EXPECT_EQ(unsound(storing({outside})),
            "program: step 0: 512 bytes from 2432 on in a window of 2560");
  outside.map = 1;
  EXPECT_EQ(unsound(storing({outside})), "program: step 0: map 1 of 1");
}

TEST(SoundProgram, FillAndOverwriteOutsideTheWindowAreUnsound) {
  const std::string why = "program: step 0: 2576 bytes from 0 on in a window of 2560";
  EXPECT_EQ(unsound(storing({{.verb = Verb::fill, .bytes = kWindow + 16}})), why);
  EXPECT_EQ(unsound(storing({{.verb = Verb::wait_group_read, .bytes = kWindow + 16}})), why);
  EXPECT_EQ(unsound(storing({{.verb = Verb::fill, .bytes = 8}})),
            "program: step 0: 8 bytes from 0 on; take multiples of 16");
}

// A bulk copy of 32 elements from 16 on, of 80 of u64.
Program bulk_storing() {
  Program program = storing({{.verb = Verb::store, .offset = kTileAt + 16, .at = {16}}});
  program.maps[0].spec = {
      .type = DataType::u64, .rank = 1, .extent = {80}, .box = {32}, .bulk = true};
  return program;
}

TEST(SoundProgram, BulkCopiesStayInsideTheirMemoryOn16Bytes) {
  Program program = bulk_storing();
  EXPECT_EQ(unsound(program), "");
  program.steps[0].at[0] = 49;
  EXPECT_EQ(unsound(program), "program: step 0: a bulk copy of 32 elements from 49 on, of 80");
  program.steps[0].at[0] = 17;
  EXPECT_EQ(
      unsound(program),
      "program: step 0: a bulk copy of element 17 and byte 1040 of the window; take multiples "
      "of 16 bytes");
  program.steps[0] = {.verb = Verb::store, .offset = kTileAt + 8, .at = {16}};
  EXPECT_NE(unsound(program), "");
}

TEST(SoundProgram, BulkMapsHaveNoSwizzleFillOrSecondDimension) {
  const std::string why =
      "program: map 0: a bulk map of several dimensions, with a swizzle, NaN fill or an element "
      "stride; take none of them";
  Program program = bulk_storing();
  program.maps[0].spec.rank = 2;
  EXPECT_EQ(unsound(program), why);
  program = bulk_storing();
  program.maps[0].spec.swizzle = Swizzle::b32;
  EXPECT_EQ(unsound(program), why);
  program = bulk_storing();
  program.maps[0].spec.box[0] = 31;
  EXPECT_EQ(unsound(program), "program: map 0: a bulk map off 16 bytes; take multiples of them");
}

TEST(SoundProgram, BulkReductionsAreOfTypesThatHaveThem) {
  Program program = bulk_storing();
  program.steps[0].reduction = Reduction::add;
  EXPECT_EQ(unsound(program), "");
  program.steps[0].reduction = Reduction::inc;
  EXPECT_EQ(unsound(program), "program: step 0: a bulk reduction of u64 that there is not");
}

TEST(SoundProgram, AddsAreToU32S32AndF32) {
  Program program = storing({{.verb = Verb::add, .offset = kTileAt}});
  EXPECT_EQ(unsound(program), "program: step 0: an add to u8 elements; take u32, s32 or f32");
  program.maps[0].spec.type = DataType::u32;
  program.maps[0].spec.extent[0] = 40;
  program.maps[0].spec.box[0] = 16;
  EXPECT_EQ(unsound(program), "");
}

TEST(SoundProgram, ThreadsCopyWhatNoLoadConverts) {
  Program program = storing({{.verb = Verb::copy, .offset = kTileAt}});
  EXPECT_EQ(unsound(program), "");
  program.maps[0].spec.fill = Fill::nan;
  EXPECT_EQ(unsound(program),
            "program: step 0: a copy by threads of a type that loads convert, or with NaN fill; "
            "take another");
}

TEST(SoundProgram, ThreadsFindNoRowsNarrowerThanTheSwizzle) {
  Program program = storing({{.verb = Verb::copy, .offset = kTileAt}});
  program.maps[0].spec.swizzle = Swizzle::b128;
  EXPECT_EQ(unsound(program),
            "program: step 0: threads at a tile whose rows are narrower than its swizzle; take "
            "rows as wide");
}

TEST(SoundProgram, ThreadsWorkInsideTheWindow) {
  EXPECT_EQ(unsound(storing({{.verb = Verb::copy, .offset = kWindow - 128}})),
            "program: step 0: 512 bytes from 2432 on in a window of 2560");
  EXPECT_EQ(unsound(storing({{.verb = Verb::add, .map = 1}})), "program: step 0: map 1 of 1");
}

TEST(SoundProgram, NumbersAreOfU32S32AndF32) {
  Program program = storing({});
  program.regions[0].numbers = Numbers::small;
  EXPECT_NE(unsound(program), "");
  program.regions[0].element = DataType::s32;
  EXPECT_EQ(unsound(program), "");
}

// As storing(), with memory for the box at row 3 alone.
Program sparse(std::vector<Step> steps) {
  Program program = storing(std::move(steps));
  program.regions[0].source = MemorySource::mapped;
  const BoxStart at{16, 3};
  keep_islands(program.regions[0], islands_around(program.maps[0].spec, {&at, 1}));
  return program;
}

TEST(SoundProgram, CopiesTouchIslandsAlone) {
  EXPECT_EQ(unsound(sparse({fill(), store()})), "");
  Step behind = store();
  behind.at[1] = 12;
  EXPECT_EQ(unsound(sparse({fill(), behind})),
            "program: step 1: a box that touches address 3760 of its region, where no island is");
}

TEST(SoundProgram, IslandsAreOfMappedMemoryAndAscend) {
  Program program = sparse({});
  program.regions[0].islands.push_back({.at = 0, .bytes = 16});
  EXPECT_EQ(unsound(program),
            "program: region 0: an island of 16 bytes at 0; take multiples of 16, ascending");
  program = sparse({});
  program.regions[0].source = MemorySource::device;
  EXPECT_EQ(unsound(program),
            "program: region 0: islands of memory that is not mapped; take the source mapped");
  program = sparse({});
  program.regions[0].bytes += 16;
  EXPECT_EQ(unsound(program).substr(0, 29), "program: region 0: islands of");
}

TEST(SoundProgram, NobodyReadsAWordOfIslands) {
  EXPECT_EQ(unsound(sparse({look(1024)})), "program: step 0: a word of a region with islands");
}

TEST(SoundProgram, WordOutsideItsRegionIsUnsound) {
  const std::uint64_t bytes = storing({}).regions[0].bytes;
  EXPECT_EQ(unsound(storing({look(bytes - 8)})), "");
  EXPECT_NE(unsound(storing({look(bytes)})), "");
  EXPECT_NE(unsound(storing({look(4)})), "");
  EXPECT_EQ(unsound(storing({{.verb = Verb::wait_group, .region = 1}})),
            "program: step 0: region 1 of 1");
}

TEST(SoundProgram, SendsAreOf16BytesFromWindowToWindow) {
  Program program = storing({{.verb = Verb::send, .offset = 16, .bytes = 32, .at = {kTileAt}}});
  EXPECT_EQ(unsound(program), "program: step 0: barrier 0 of 0");
  program.barriers = 1;
  EXPECT_EQ(unsound(program), "");
  program.steps[0].at[0] = kWindow - 16;
  EXPECT_EQ(unsound(program),
            "program: step 0: a send of 32 bytes to byte 2544 of a window of 2560; take multiples "
            "of 16");
  program.steps[0].at[0] = -16;
  EXPECT_NE(unsound(program), "");
  program.steps[0].at[0] = 8;
  EXPECT_NE(unsound(program), "");
  program.steps[0] = {.verb = Verb::send, .offset = 8, .bytes = 32};
  EXPECT_EQ(unsound(program), "program: step 0: 32 bytes from 8 on; take multiples of 16");
  program.steps[0] = {.verb = Verb::send};
  EXPECT_EQ(unsound(program), "program: step 0: a send of 0 bytes; take 16 or more");
}

Step st_async(DataType type, std::uint32_t bytes, std::int32_t at) {
  return {.verb = Verb::st_async, .type = type, .bytes = bytes, .at = {at}};
}
Step red_async(Reduction reduction, DataType type, std::int32_t at) {
  return {.verb = Verb::red_async, .reduction = reduction, .type = type, .at = {at}};
}

TEST(SoundProgram, RegistersAreWrittenByOneTwoOrFourElementsOnTheirSize) {
  const auto why = [](const Step& step) {
    Program program = storing({step});
    program.barriers = 1;
    return unsound(program);
  };
  for (const std::uint32_t bytes : {4U, 8U, 16U})
    EXPECT_EQ(why(st_async(DataType::u32, bytes, kWindow - 16)), "");
  EXPECT_EQ(why(st_async(DataType::u64, 16, 0)), "");
  EXPECT_EQ(why(st_async(DataType::u64, 32, 0)),
            "program: step 0: 32 bytes at once; take at most 16");
  EXPECT_EQ(why(st_async(DataType::u32, 12, 0)),
            "program: step 0: 12 bytes of u32; take 1, 2 or 4 elements");
  EXPECT_EQ(why(st_async(DataType::s32, 4, 0)),
            "program: step 0: an st_async of s32; take u32 or u64");
  EXPECT_EQ(why(st_async(DataType::u32, 8, 4)),
            "program: step 0: 8 bytes at byte 4 of a window of 2560; take a multiple of them");
  EXPECT_NE(why(st_async(DataType::u32, 4, kWindow)), "");
  EXPECT_NE(why(st_async(DataType::u32, 4, -4)), "");
}

TEST(SoundProgram, ReductionsInWindowsAreThoseOfTheDocuments) {
  std::uint32_t sound = 0;
  for (std::uint32_t type = 0; type < kDataTypes; ++type)
    for (std::uint32_t i = 0; i < kReductions; ++i) {
      Program program =
          storing({red_async(static_cast<Reduction>(i), static_cast<DataType>(type), 16)});
      program.barriers = 1;
      sound += unsound(program).empty() ? 1 : 0;
    }
  Program program = storing({red_async(Reduction::add, DataType::u32, 16)});
  program.barriers = 1;
  program.steps[0].thread = 200;
  program.steps[0].count = 56;
  EXPECT_EQ(unsound(program), "");
  program.steps[0].count = 57;
  EXPECT_NE(unsound(program), "");
  EXPECT_EQ(sound, 12U);  // eight of u32, three of s32, one of u64
  Program send = storing({{.verb = Verb::send,
                           .reduction = Reduction::min,
                           .type = DataType::u64,
                           .bytes = 32,
                           .at = {64}}});
  send.barriers = 1;
  EXPECT_EQ(unsound(send), "program: step 0: a reduction of u64 that shared memory does not have");
}

TEST(LandingOf, RegistersCreditTheirBytesToTheCtaThatIsNamed) {
  Step step = st_async(DataType::u64, 16, 48);
  step.of = 3;
  Landing landing = landing_of(storing({}), step, 1);
  EXPECT_EQ(landing.ctas, 8U);
  EXPECT_EQ(landing.begin, 48U);
  EXPECT_EQ(landing.end, 64U);
  EXPECT_EQ(landing.credited, 16U);
  landing = landing_of(storing({}), red_async(Reduction::add, DataType::u64, 48), 1);
  EXPECT_EQ(landing.ctas, 2U);
  EXPECT_EQ(landing.credited, 8U);
  step = red_async(Reduction::add, DataType::u64, 48);
  step.count = 32;
  EXPECT_EQ(landing_of(storing({}), step, 1).credited, 256U);
}

TEST(SoundProgram, PrefetchesTakeAnyBoxThatHasMemoryAndNoWindow) {
  EXPECT_EQ(unsound(storing({{.verb = Verb::prefetch, .offset = kWindow, .at = {-64, 300}}})), "");
  EXPECT_EQ(unsound(storing({{.verb = Verb::prefetch, .map = 1}})), "program: step 0: map 1 of 1");
  Program program = bulk_storing();
  program.steps[0] = {.verb = Verb::prefetch, .at = {17}};
  EXPECT_NE(unsound(program), "");
}

// Map 1 is made of map 0, map 2 of map 1, map 3 of zeros; map 4 is a kernel parameter.
Program replacing(std::vector<Step> steps) {
  Program program = storing(std::move(steps));
  const TensorMapSpec spec = program.maps[0].spec;
  program.maps = {{.spec = spec},
                  {.spec = spec, .from = 0},
                  {.spec = spec, .from = 1},
                  {.spec = spec, .from = kZeroed},
                  {.spec = spec}};
  return program;
}

TEST(SoundProgram, MapsThatAreMadeOfEachOtherAreAtOnePlace) {
  const Program program = replacing({});
  EXPECT_EQ(unsound(program), "");
  for (std::uint8_t map = 0; map < 3; ++map) EXPECT_EQ(place_of_map(program, map), 0);
  EXPECT_EQ(place_of_map(program, 3), 3);
  EXPECT_EQ(place_of_map(program, 4), kEncoded);
}

TEST(SoundProgram, OnlyMapsInGlobalMemoryAreReplacedAndAcquired) {
  EXPECT_EQ(unsound(replacing({{.verb = Verb::replace, .map = 2},
                               {.verb = Verb::acquire, .map = 0, .scope = Scope::sys}})),
            "");
  EXPECT_EQ(unsound(replacing({{.verb = Verb::replace, .map = 0}})),
            "program: step 0: map 0 is made of no other");
  EXPECT_EQ(unsound(replacing({{.verb = Verb::acquire, .map = 4}})),
            "program: step 0: map 4 is not in global memory");
  EXPECT_EQ(unsound(replacing({{.verb = Verb::acquire, .scope = static_cast<Scope>(4)}})),
            "program: step 0: an unknown scope");
}

TEST(SoundProgram, AMapIsMadeOfAnEarlierOneThatHasAllThatIsNotReplaced) {
  Program program = replacing({});
  program.maps[1].from = 1;
  EXPECT_EQ(unsound(program), "program: map 1: made of map 1; take an earlier one");
  program.maps[1].from = 0;
  program.maps[3].spec.l2_promotion = L2Promotion::b64;
  EXPECT_EQ(unsound(program),
            "program: map 3: of another L2 promotion than what it is made of; take the same");
  program.maps[3].spec.l2_promotion = L2Promotion::none;
  program.maps[0].spec = {.rank = 1, .extent = {160}, .box = {64}, .bulk = true};
  EXPECT_EQ(unsound(program),
            "program: map 1: made of a bulk or im2col map, or one itself; take tiled ones");
}

// Twelve pixels of 16 bytes out of images of 5 x 4.
Program of_pixels(std::vector<Step> steps) {
  Program program = storing(std::move(steps));
  program.maps[0].spec = {
      .rank = 4, .extent = {16, 5, 4, 1}, .stride = {16, 80, 320}, .box = {16, 12}, .im2col = true};
  return program;
}

TEST(SoundProgram, CopiesByIm2colMapsHaveOffsetsThatTheRankLetsThem) {
  EXPECT_EQ(unsound(of_pixels({{.verb = Verb::prefetch, .im2col_offsets = {255, 255}}})), "");
  EXPECT_EQ(unsound(of_pixels({{.verb = Verb::prefetch, .im2col_offsets = {0, 256}}})),
            "program: step 0: im2col offset 256 of a tensor of rank 4; take at most 255");
  EXPECT_EQ(
      unsound(of_pixels({{.verb = Verb::store, .offset = kTileAt, .im2col_offsets = {0, 256}}})),
      "");  // a store has none
  EXPECT_EQ(unsound(of_pixels({{.verb = Verb::copy, .offset = kTileAt}})),
            "program: step 0: threads at the tile of an im2col map; take a tiled one");
}

// Eight units of 16 bytes, of one slice.
Program of_units(std::vector<Step> steps) {
  Program program = storing(std::move(steps));
  program.maps[0].spec = {.type = DataType::u16,
                          .rank = 3,
                          .extent = {8, 2, 1},
                          .stride = {128, 256},
                          .box = {8, 2, 1},
                          .interleave = Interleave::b16};
  return program;
}

TEST(SoundProgram, ThreadsDoNotWorkAtTilesOfInterleavedMaps) {
  EXPECT_EQ(unsound(of_units({{.verb = Verb::store, .offset = kTileAt}})), "");
  EXPECT_EQ(unsound(of_units({{.verb = Verb::copy, .offset = kTileAt}})),
            "program: step 0: threads at the tile of an interleaved map; take another");
}

TEST(SoundProgram, RegionsOfInterleavedMapsHaveNoIslands) {
  Program program = of_units({{.verb = Verb::store, .offset = kTileAt}});
  program.regions[0].source = MemorySource::mapped;
  program.regions[0].islands = {{.at = 0, .bytes = program.regions[0].bytes}};
  EXPECT_EQ(unsound(program), "program: step 0: an interleaved map of a region with islands");
}

TEST(SoundProgram, AnInterleavedMapIsTiled) {
  Program program = of_units({});
  program.maps[0].spec.im2col = true;
  EXPECT_EQ(unsound(program),
            "program: map 0: an interleaved map that is bulk or im2col; take a tiled one");
  program.maps[0].spec.im2col = false;
  program.maps[0].spec.interleave = static_cast<Interleave>(3);
  EXPECT_EQ(unsound(program),
            "program: map 0: an unknown type, interleave, swizzle, promotion or fill");
}

TEST(SoundProgram, NoMapIsMadeOfAnInterleavedOne) {
  Program program = replacing({});
  program.maps[0].spec.extent[0] = 10;  // of 16 bytes
  program.maps[0].spec.interleave = Interleave::b16;
  EXPECT_EQ(unsound(program),
            "program: map 1: made of an interleaved map, or one itself; take others");
}

TEST(SoundProgram, AMapIsNotBulkAndIm2col) {
  Program program = of_pixels({});
  program.maps[0].spec.bulk = true;
  EXPECT_EQ(unsound(program), "program: map 0: a map that is bulk and im2col");
}

TEST(SoundProgram, SixteenGroupsPendingAreUnsound) {
  EXPECT_EQ(unsound(storing({wait_group(15)})), "");
  EXPECT_EQ(unsound(storing({wait_group(16)})), "program: step 0: 16 groups pending, above 15");
}

TEST(SoundProgram, BehindLeaveOneThreadStoresAndNothingElse) {
  const Step leave{.verb = Verb::leave};
  const std::string why = "program: step 2 is none that thread 0 takes behind leave";
  EXPECT_EQ(unsound(storing({fill(), leave, wait_group()})), why);
  EXPECT_EQ(unsound(storing({fill(), leave, store(1)})), why);
  EXPECT_EQ(unsound(storing({fill(), leave, leave})), why);
  EXPECT_EQ(unsound(storing({fill(), leave, {.verb = Verb::wait_group_read, .bytes = 16}})), why);
}

TEST(SoundProgram, OneOfSeveralCtasCannotLeave) {
  Program two_ctas = storing({{.verb = Verb::leave, .ctas = 3}});
  two_ctas.cluster = {2, 1, 1};
  EXPECT_EQ(unsound(two_ctas), "program: step 0: leave in a cluster of several CTAs");
}

}  // namespace
}  // namespace tidemark
