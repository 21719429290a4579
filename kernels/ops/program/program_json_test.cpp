// Programs as JSON: what is written reads back equal, and a text that is no program is refused with
// its place.
#include "kernels/ops/program/program_json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kMost32 = std::numeric_limits<std::uint32_t>::max();

Program back(const Program& program) { return program_from_json(program_json(program), "p.json"); }

std::string refusal_of(std::string_view text) {
  try {
    program_from_json(text, "p.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// No operand has its default value.
Step full_step(Verb verb) {
  return {.verb = verb,
          .ctas = 0x8005,
          .thread = 65535,
          .barrier = 7,
          .of = 3,
          .map = 255,
          .region = 254,
          .product = 9,
          .parity = kLastPhase,
          .stops = true,
          .hint = CacheHint::evict_last,
          .reduction = Reduction::bit_xor,
          .scope = Scope::sys,
          .in_place = true,
          .type = DataType::s64,
          .count = 0,
          .pending = 2,
          .offset = 3,
          .bytes = 4,
          .stride = 5,
          .most = 6,
          .ns = kMost32,
          .at = {-2147483647 - 1, 2147483647, 1, -1, 2},
          .word = kMost64};
}

/// One region, one map, one step; no operand of the step has its default value.
Program small_program() {
  return {.cluster = {2, 1, 1},
          .window = 1024,
          .barriers = 1,
          .regions = {{.bytes = 4096,
                       .source = MemorySource::pinned,
                       .element = DataType::f32,
                       .poison = true}},
          .maps = {{.spec = {.type = DataType::f32,
                             .rank = 2,
                             .extent = {64, 8},
                             .stride = {256},
                             .box = {16, 8},
                             .swizzle = Swizzle::b64,
                             .l2_promotion = L2Promotion::b128,
                             .fill = Fill::nan,
                             .base_offset = 16}}},
          .steps = {full_step(Verb::load)},
          .payload = {.seed = 5, .inverted = true}};
}

/// The JSON of a program with `from` replaced by `to`.
std::string edited(const std::string& from, const std::string& to,
                   const Program& program = small_program()) {
  std::string text = program_json(program);
  const std::size_t place = text.find(from);
  if (place == std::string::npos) return "nothing to replace";
  return text.replace(place, from.size(), to);
}

struct Refused {
  std::string text;
  std::string message;
};

TEST(ProgramJson, VerbsHaveTheNamesOfTheirEnumerators) {
  EXPECT_EQ(name_of(Verb::init), "init");
  EXPECT_EQ(name_of(Verb::inval), "inval");
  EXPECT_EQ(name_of(Verb::arrive), "arrive");
  EXPECT_EQ(name_of(Verb::expect_tx), "expect_tx");
  EXPECT_EQ(name_of(Verb::arrive_expect_tx), "arrive_expect_tx");
  EXPECT_EQ(name_of(Verb::complete_tx), "complete_tx");
  EXPECT_EQ(name_of(Verb::test), "test");
  EXPECT_EQ(name_of(Verb::wait), "wait");
  EXPECT_EQ(name_of(Verb::meter), "meter");
  EXPECT_EQ(name_of(Verb::load), "load");
  EXPECT_EQ(name_of(Verb::store), "store");
  EXPECT_EQ(name_of(Verb::commit), "commit");
  EXPECT_EQ(name_of(Verb::wait_group), "wait_group");
  EXPECT_EQ(name_of(Verb::wait_group_read), "wait_group_read");
  EXPECT_EQ(name_of(Verb::cluster_sync), "cluster_sync");
  EXPECT_EQ(name_of(Verb::delay), "delay");
  EXPECT_EQ(name_of(Verb::fill), "fill");
  EXPECT_EQ(name_of(Verb::add), "add");
  EXPECT_EQ(name_of(Verb::copy), "copy");
  EXPECT_EQ(name_of(Verb::look), "look");
  EXPECT_EQ(name_of(Verb::poison), "poison");
  EXPECT_EQ(name_of(Verb::write), "write");
  EXPECT_EQ(name_of(Verb::read), "read");
  EXPECT_EQ(name_of(Verb::missing), "missing");
  EXPECT_EQ(name_of(Verb::snapshot), "snapshot");
  EXPECT_EQ(name_of(Verb::leave), "leave");
  EXPECT_EQ(name_of(static_cast<Verb>(kVerbs)), "unknown");
}

TEST(ProgramJson, TextIsOneLineARegionMapAndStep) {
  Program program = small_program();
  program.regions.push_back({.bytes = 16});
  program.steps.push_back({.verb = Verb::wait, .parity = kCurrentPhase, .ns = 9});
  program.steps.push_back({});
  EXPECT_EQ(
      program_json(program),
      "{\n"
      "\"format\":\"tidemark-program\",\n"
      "\"schema\":2,\n"
      "\"cluster\":[2,1,1],\n"
      "\"window\":1024,\n"
      "\"barriers\":1,\n"
      "\"held_to\":\"documents\",\n"
      "\"payload\":{\"seed\":5,\"inverted\":true},\n"
      "\"regions\":[\n"
      "{\"bytes\":4096,\"source\":\"pinned\",\"element\":\"f32\",\"poison\":true},\n"
      "{\"bytes\":16,\"source\":\"device\",\"element\":\"u8\"}\n"
      "],\n"
      "\"maps\":[\n"
      "{\"region\":0,\"type\":\"f32\",\"rank\":2,\"extent\":[64,8],\"stride\":[256],"
      "\"box\":[16,8],\"element_stride\":[1,1],\"swizzle\":64,\"l2_promotion\":\"128B\","
      "\"fill\":\"nan\",\"base_offset\":16}\n"
      "],\n"
      "\"steps\":[\n"
      "{\"do\":\"load\",\"ctas\":[0,2,15],\"thread\":65535,\"barrier\":7,\"of\":3,\"map\":255,"
      "\"region\":254,\"product\":9,\"at\":[-2147483648,2147483647,1,-1,2],\"hint\":\"evict_last\","
      "\"reduction\":"
      "\"xor\",\"scope\":\"sys\",\"in_place\":true,\"type\":\"s64\","
      "\"parity\":\"last\","
      "\"stops\":true,\"count\":0,\"pending\":2,\"offset\":3,\"bytes\":4,\"stride\":5,\"most\":6,"
      "\"ns\":4294967295,\"word\":18446744073709551615},\n"
      "{\"do\":\"wait\",\"parity\":\"current\",\"ns\":9},\n"
      "{\"do\":\"cluster_sync\"}\n"
      "]\n"
      "}\n");
}

TEST(ProgramJson, ProgramReadsBackEqual) {
  const Program program = small_program();
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, ProductsReadBackEqualAndOthersDoNotNameThem) {
  Program program = small_program();
  EXPECT_EQ(program_json(program).find("\"products\""), std::string::npos);
  program.products = {{.type = MmaType::e5m2,
                       .n = 128,
                       .k = 96,
                       .a = {.major = Major::mn, .swizzle = Swizzle::b32, .base_offset = 3},
                       .b = {.read_as = Swizzle::none, .offset = 1152}}};
  program.regions[0].numbers = Numbers::integers_e5m2;
  EXPECT_EQ(program_from_json(program_json(program), "p.json"), program);
}

TEST(ProgramJson, EmptyProgramReadsBackEqual) {
  const Program program{};
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachVerbReadsBackEqualWithAllOperands) {
  Program program;
  for (std::uint32_t i = 0; i < kVerbs; ++i)
    program.steps.push_back(full_step(static_cast<Verb>(i)));
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachVerbReadsBackEqualWithDefaults) {
  Program program;
  for (std::uint32_t i = 0; i < kVerbs; ++i)
    program.steps.push_back({.verb = static_cast<Verb>(i)});
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachBlockMaskReadsBackEqual) {
  Program program;
  for (std::uint32_t mask = 0; mask <= 0xffff; mask += 0xff)  // 0 and 0xffff among them
    program.steps.push_back({.ctas = static_cast<std::uint16_t>(mask)});
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachParityReadsBackEqual) {
  Program program;
  program.steps = {{.parity = 0}, {.parity = 1}, {.parity = kCurrentPhase}, {.parity = kLastPhase}};
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachReductionReadsBackEqual) {
  Program program;
  for (std::uint32_t i = 0; i < kReductions; ++i)
    program.steps.push_back({.reduction = static_cast<Reduction>(i)});
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachHintReadsBackEqual) {
  Program program;
  program.steps = {{.hint = CacheHint::none},
                   {.hint = CacheHint::evict_normal},
                   {.hint = CacheHint::evict_first},
                   {.hint = CacheHint::evict_last}};
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachSourceReadsBackEqual) {
  Program program;
  program.regions = {{.bytes = kMost64, .source = MemorySource::device},
                     {.source = MemorySource::async},
                     {.source = MemorySource::pinned},
                     {.source = MemorySource::mapped},
                     {.source = MemorySource::peer}};
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachDataTypeReadsBackEqual) {
  Program program;
  for (std::uint32_t i = 0; i < kDataTypes; ++i) {
    program.regions.push_back({.element = static_cast<DataType>(i)});
    program.maps.push_back({.spec = {.type = static_cast<DataType>(i)}});
  }
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, EachSwizzlePromotionAndFillReadsBackEqual) {
  Program program;
  program.maps = {
      {.spec = {.swizzle = Swizzle::none}},          {.spec = {.swizzle = Swizzle::b32}},
      {.spec = {.swizzle = Swizzle::b64}},           {.spec = {.swizzle = Swizzle::b128}},
      {.spec = {.l2_promotion = L2Promotion::b64}},  {.spec = {.l2_promotion = L2Promotion::b128}},
      {.spec = {.l2_promotion = L2Promotion::b256}}, {.spec = {.fill = Fill::nan}}};
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, BulkMapReadsBackEqualAndOthersDoNotNameIt) {
  Program program;
  program.maps = {{.spec = {.rank = 1, .bulk = true}}};
  EXPECT_EQ(back(program), program);
  program.maps[0].spec.bulk = false;
  EXPECT_EQ(program_json(program).find("bulk"), std::string::npos);
}

TEST(ProgramJson, WhatAMapIsMadeOfReadsBackEqualAndOthersDoNotNameIt) {
  Program program = small_program();
  EXPECT_EQ(program_json(program).find("\"from\""), std::string::npos);
  program.maps.push_back(program.maps[0]);
  program.maps[0].from = kZeroed;
  program.maps[1].from = 0;
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, Im2colMapAndOffsetsReadBackEqualAndOthersDoNotNameThem) {
  Program program;
  program.maps = {
      {.spec = {.rank = 4, .im2col = true, .lower_corner = {-128, 127}, .upper_corner = {1, -3}}}};
  program.steps = {{.verb = Verb::load, .im2col_offsets = {65535, 7}}};
  EXPECT_EQ(back(program), program);
  EXPECT_NE(program_json(program).find("\"lower_corner\":[-128,127]"), std::string::npos);
  program.maps[0].spec.im2col = false;
  program.maps[0].spec.lower_corner = program.maps[0].spec.upper_corner = {};
  program.steps[0].im2col_offsets = {};
  EXPECT_EQ(program_json(program).find("im2col"), std::string::npos);
  EXPECT_EQ(program_json(program).find("corner"), std::string::npos);
}

TEST(ProgramJson, InterleavedMapsReadBackAndOthersDoNotSayIt) {
  Program program;
  program.maps = {{.spec = {.rank = 4, .interleave = Interleave::b16}},
                  {.spec = {.rank = 3, .interleave = Interleave::b32}}};
  EXPECT_EQ(back(program), program);
  EXPECT_NE(program_json(program).find("\"interleave\":32,"), std::string::npos);
  program.maps = {{.spec = {.rank = 4}}};
  EXPECT_EQ(program_json(program).find("interleave"), std::string::npos);
}

TEST(ProgramJson, MapOfAnyRankReadsBackEqual) {
  Program program;
  for (const std::uint32_t rank : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, kMost32})
    program.maps.push_back({.spec = {.rank = rank}, .region = 255});
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, ListsHaveAnEntryForEachDimension) {
  Program program;
  program.maps = {{.spec = {.rank = 3, .box = {0, 0, 0, 1, 1}}}};
  program.steps = {{.verb = Verb::load, .at = {7, 0, 0, 0, 0}}};
  const std::string text = program_json(program);
  EXPECT_NE(text.find("\"extent\":[0,0,0],\"stride\":[0,0],\"box\":[0,0,0],"
                      "\"element_stride\":[1,1,1]"),
            std::string::npos);
  EXPECT_NE(text.find("\"at\":[7,0,0]"), std::string::npos);
}

TEST(ProgramJson, ListThatDoesNotFitTheRankIsRefused) {
  Program program = small_program();
  program.steps[0] = {.verb = Verb::load, .at = {7, 8}, .im2col_offsets = {5}};
  const std::string place = "p.json: /maps/0/", rank = "its map has rank 2: give ";
  const std::vector<Refused> table = {
      {edited("[2,1,1]", "[2,1]"), "p.json: /cluster has 2 entries; give 3"},
      {edited("[64,8]", "[64]"), place + "extent has 1 entries; " + rank + "2"},
      {edited("[256]", "[]"), place + "stride has 0 entries; " + rank + "1"},
      {edited("[16,8]", "[16,8,1]"), place + "box has 3 entries; " + rank + "2"},
      {edited("[7,8]", "[]", program), "p.json: /steps/0/at has 0 entries; " + rank + "2"},
      {edited("offsets\":[]", "offsets\":[5]", program),
       "p.json: /steps/0/im2col_offsets has 1 entries; " + rank + "0"},
  };
  for (const Refused& bad : table) EXPECT_EQ(refusal_of(bad.text), bad.message);
}

TEST(ProgramJson, IslandsReadBackEqual) {
  Program program;
  program.regions = {{.bytes = 4096, .islands = {{0, 2048}, {std::uint64_t{1} << 44, 2048}}}};
  const std::string text = program_json(program);
  EXPECT_NE(text.find("\"islands\":[[0,2048],[17592186044416,2048]]"), std::string::npos) << text;
  EXPECT_EQ(program_from_json(text, "p.json"), program);
}

TEST(ProgramJson, RegionWithoutPoisonHoldsSourceWords) {
  Program program = small_program();
  program.regions[0].poison = false;
  EXPECT_EQ(program_from_json(edited(",\"poison\":true", ""), "p.json"), program);
}

TEST(ProgramJson, StepWithoutRegionReadsNone) {
  Program program = small_program();
  program.steps[0].region = kNoRegion;
  EXPECT_EQ(program_from_json(edited("\"region\":254,", ""), "p.json"), program);
}

TEST(ProgramJson, UnsoundProgramIsRead) {
  Program program;
  program.cluster = {kMost32, kMost32, kMost32};
  program.window = 3;
  program.barriers = kMost32;
  ASSERT_NE(unsound(program), "");
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, SeedOf64BitsAndWhatItIsHeldToReadBackEqual) {
  Program program;
  program.payload.seed = kMost64;
  program.held_to = HeldTo::record;
  EXPECT_EQ(back(program).payload.seed, kMost64);
  EXPECT_EQ(back(program).held_to, HeldTo::record);
}

TEST(ProgramJson, WordsReadBackEqual) {
  Program program;
  program.what = "5 k-blocks \"of\" 64 x 16 bf16";
  EXPECT_EQ(back(program), program);
}

TEST(ProgramJson, TextWithSpacesAndAnyOrderIsRead) {
  Program program;
  program.steps = {{.verb = Verb::delay, .ns = 5}};
  EXPECT_EQ(program_from_json(R"({ "steps": [ { "ns": 5, "do": "delay" } ], "maps": [],
      "regions": [], "payload": { "inverted": false, "seed": 0 }, "barriers": 0, "window": 0, "held_to": "documents",
      "cluster": [1, 1, 1], "schema": 2, "format": "tidemark-program" })",
                              "p.json"),
            program);
}

TEST(ProgramJson, ValueOutsideItsEnumIsWrittenAsItsNumber) {
  Program program;
  program.regions = {
      {.source = static_cast<MemorySource>(6), .element = static_cast<DataType>(13)}};
  program.maps = {{.spec = {.swizzle = static_cast<Swizzle>(255)}}};
  program.steps = {{.verb = static_cast<Verb>(kVerbs), .parity = 4}};
  const std::string text = program_json(program);
  EXPECT_NE(text.find("\"source\":6,\"element\":13"), std::string::npos);
  EXPECT_NE(text.find("\"swizzle\":255"), std::string::npos);
  EXPECT_NE(text.find("{\"do\":" + std::to_string(kVerbs) + ",\"parity\":4}"), std::string::npos);
  EXPECT_NE(refusal_of(text), "accepted");
}

TEST(ProgramJson, ValueThatItsMemberCannotHoldIsRefused) {
  const std::vector<Refused> table = {
      {edited("\"cluster\":[2,1,1],", "\"cluster\":[2,-1,1],"),
       "p.json: /cluster/1 is -1; give a whole number, 0 to 4294967295"},
      {edited("\"window\":1024", "\"window\":4294967296"),
       "p.json: /window is 4294967296; give a whole number, 0 to 4294967295"},
      {edited("\"barriers\":1", "\"barriers\":1.0"),
       "p.json: /barriers is 1.0; give a whole number, 0 to 4294967295"},
      {edited("\"seed\":5", "\"seed\":18446744073709551616"),
       "p.json: /payload/seed is 1.8446744073709552e+19; give a whole number, 0 to "
       "18446744073709551615"},
      {edited("\"window\":1024", "\"what\":5,\"window\":1024"),
       "p.json: /what is 5; give a text of at most 200 ASCII characters"},
      {edited("\"window\":1024", "\"what\":\"\\u001b[2J\",\"window\":1024"),
       "p.json: /what is \"\\u001b[2J\"; give a text of at most 200 ASCII characters"},
      {edited("\"seed\":5", "\"seed\":null"),
       "p.json: /payload/seed is null; give a whole number, 0 to 18446744073709551615"},
      {edited("\"inverted\":true", "\"inverted\":1"),
       "p.json: /payload/inverted is 1; give true or false"},
      {edited("\"poison\":true", "\"poison\":1"),
       "p.json: /regions/0/poison is 1; give true or false"},
      {edited("\"region\":254", "\"region\":256"),
       "p.json: /steps/0/region is 256; give a whole number, 0 to 255"},
      {edited("\"region\":0", "\"region\":256"),
       "p.json: /maps/0/region is 256; give a whole number, 0 to 255"},
      {edited("\"rank\":2", "\"rank\":\"2\""),
       "p.json: /maps/0/rank is \"2\"; give a whole number, 0 to 4294967295"},
      {edited("[16,8]", "[16,-8]"),
       "p.json: /maps/0/box/1 is -8; give a whole number, 0 to 4294967295"},
      {edited("\"rank\":2", "\"rank\":[2]"),
       "p.json: /maps/0/rank is a list; give a whole number, 0 to 4294967295"},
      {edited("[64,8]", "64"), "p.json: /maps/0/extent is 64; give a list"},
      {edited("[64,8]", "[1,2,3,4,5,6]"), "p.json: /maps/0/extent has 6 entries; give at most 5"},
      {edited("\"stride\":[256]", "\"stride\":[1,2,3,4,5]"),
       "p.json: /maps/0/stride has 5 entries; give at most 4"},
      {edited("\"thread\":65535", "\"thread\":65536"),
       "p.json: /steps/0/thread is 65536; give a whole number, 0 to 65535"},
      {edited("\"stops\":true", "\"stops\":\"yes\""),
       "p.json: /steps/0/stops is \"yes\"; give true or false"},
      {edited("-2147483648", "-2147483649"),
       "p.json: /steps/0/at/0 is -2147483649; give a whole number, -2147483648 to 2147483647"},
      {edited("2147483647", "2147483648"),
       "p.json: /steps/0/at/1 is 2147483648; give a whole number, -2147483648 to 2147483647"},
      {edited("[0,2,15]", "[0,2,16]"),
       "p.json: /steps/0/ctas/2 is 16; give a whole number, 0 to 15"},
      {edited("[0,2,15]", "[0,2,0]"), "p.json: /steps/0/ctas/2 is 0 again; keep one"},
      {edited("[0,2,15]", "32773"), "p.json: /steps/0/ctas is 32773; give a list"},
  };
  for (const Refused& bad : table) EXPECT_EQ(refusal_of(bad.text), bad.message);
}

std::string names_of_verbs() {
  std::string names;
  for (const VerbInfo& verb : kVerbTable)
    names += (names.empty() ? "\"" : ", \"") + std::string(verb.name) + "\"";
  return names;
}

TEST(ProgramJson, WordThatIsNoneIsRefused) {
  const std::vector<Refused> table = {
      {edited("\"load\"", "\"lod\""),
       "p.json: /steps/0/do is \"lod\"; give one of " + names_of_verbs()},
      {edited("\"evict_last\"", "\"keep\""),
       "p.json: /steps/0/hint is \"keep\"; give one of \"none\", \"evict_normal\", "
       "\"evict_first\", \"evict_last\""},
      {edited("\"parity\":\"last\"", "\"parity\":2"),
       "p.json: /steps/0/parity is 2; give one of 0, 1, \"current\", \"last\""},
      {edited("\"parity\":\"last\"", "\"parity\":1.0"),
       "p.json: /steps/0/parity is 1.0; give one of 0, 1, \"current\", \"last\""},
      {edited("\"pinned\"", "\"host\""),
       "p.json: /regions/0/source is \"host\"; give one of \"device\", \"async\", \"pinned\", "
       "\"mapped\", \"edge\", \"peer\""},
      {edited("\"element\":\"f32\"", "\"element\":7"),
       "p.json: /regions/0/element is 7; give one of \"u8\", \"u16\", \"u32\", \"s32\", \"u64\", "
       "\"s64\", \"f16\", \"f32\", \"f64\", \"bf16\", \"f32_ftz\", \"tf32\", \"tf32_ftz\""},
      {edited("\"swizzle\":64", "\"swizzle\":\"64B\""),
       "p.json: /maps/0/swizzle is \"64B\"; give one of 0, 32, 64, 128"},
      {edited("\"128B\"", "128"),
       "p.json: /maps/0/l2_promotion is 128; give one of \"none\", \"64B\", \"128B\", \"256B\""},
      {edited("\"nan\"", "\"NaN\""),
       "p.json: /maps/0/fill is \"NaN\"; give one of \"zero\", \"nan\""},
  };
  for (const Refused& bad : table) EXPECT_EQ(refusal_of(bad.text), bad.message);
}

TEST(ProgramJson, MissingMemberIsNamed) {
  const std::vector<Refused> table = {
      {"{}", "p.json: / has no \"format\"; give a program as tidemark writes it"},
      {edited("\"schema\":2,", ""),
       "p.json: / has no \"schema\"; give a program as tidemark writes it"},
      {edited("\"window\":1024,", ""),
       "p.json: / has no \"window\"; give a program as tidemark writes it"},
      {edited("\"seed\":5,", ""),
       "p.json: /payload has no \"seed\"; give a program as tidemark writes it"},
      {edited("\"bytes\":4096,", ""),
       "p.json: /regions/0 has no \"bytes\"; give a program as tidemark writes it"},
      {edited("\"fill\":\"nan\",", ""),
       "p.json: /maps/0 has no \"fill\"; give a program as tidemark writes it"},
      {edited("\"do\":\"load\",", ""),
       "p.json: /steps/0 has no \"do\"; give a program as tidemark writes it"},
  };
  for (const Refused& bad : table) EXPECT_EQ(refusal_of(bad.text), bad.message);
}

TEST(ProgramJson, UnknownMemberIsNamed) {
  const std::vector<Refused> table = {
      {edited("\"schema\":2,", "\"schema\":2,\"grid\":1,"),
       "p.json: / has the unknown member \"grid\"; give only format, schema, cluster, window, "
       "barriers, held_to, payload, what, regions, maps, products, steps"},
      {edited("\"seed\":5", "\"seed\":5,\"salt\":5"),
       "p.json: /payload has the unknown member \"salt\"; give only seed, inverted"},
      {edited("\"source\":", "\"sources\":1,\"source\":"),
       "p.json: /regions/0 has the unknown member \"sources\"; give only bytes, source, element, "
       "numbers, poison, cold, islands"},
      {edited("\"rank\":2", "\"rank\":2,\"dimensions\":2"),
       "p.json: /maps/0 has the unknown member \"dimensions\"; give only region, type, rank, "
       "extent, stride, box, element_stride, interleave, swizzle, l2_promotion, fill, base_offset, "
       "bulk, im2col, lower_corner, upper_corner, from"},
      {edited("\"parity\"", "\"pairty\""),
       "p.json: /steps/0 has the unknown member \"pairty\"; give only do, ctas, thread, barrier, "
       "of, map, region, product, at, im2col_offsets, hint, reduction, scope, in_place, type, "
       "mask, parity, "
       "stops, count, pending, offset, bytes, stride, most, ns, word"},
      {edited("\"seed\":5", "\"seed\":5,\"\\n\\u0000\\u001b[2J\\u007f\":5"),
       "p.json: /payload has the unknown member \"\\n\\u0000\\u001b[2J\\u007f\"; give only seed, "
       "inverted"},
  };
  for (const Refused& bad : table) EXPECT_EQ(refusal_of(bad.text), bad.message);
}

TEST(ProgramJson, MemberThatStandsThereTwiceIsNamed) {
  EXPECT_EQ(refusal_of(edited("\"map\":255", "\"map\":255,\"map\":0")),
            "p.json: /steps/0 has \"map\" twice; keep one");
  EXPECT_EQ(refusal_of(edited("\"regions\":[", "\"regions\":[],\"regions\":[")),
            "p.json: / has \"regions\" twice; keep one");
  EXPECT_EQ(refusal_of(R"({"b":{"c":1},"maps":[0,[],{},{"b":2,"a":1,"a":1}]})"),
            "p.json: /maps/3 has \"a\" twice; keep one");
}

TEST(ProgramJson, ValueInThePlaceOfAnObjectIsRefused) {
  EXPECT_EQ(refusal_of("[]"), "p.json: / is a list; give an object");
  EXPECT_EQ(refusal_of("\"steps\""), "p.json: / is \"steps\"; give an object");
  EXPECT_EQ(refusal_of(edited("{\"seed\":5,\"inverted\":true}", "5")),
            "p.json: /payload is 5; give an object");
  EXPECT_EQ(refusal_of(edited("\"steps\":[", "\"steps\":[5,")),
            "p.json: /steps/0 is 5; give an object");
}

TEST(ProgramJson, ValueInThePlaceOfAListIsRefused) {
  EXPECT_EQ(refusal_of(edited("\"regions\":[]", "\"regions\":{}", {})),
            "p.json: /regions is an object; give a list");
  EXPECT_EQ(refusal_of(edited("\"maps\":[]", "\"maps\":null", {})),
            "p.json: /maps is null; give a list");
  EXPECT_EQ(refusal_of(edited("\"steps\":[]", "\"steps\":{\"do\":\"delay\"}", {})),
            "p.json: /steps is an object; give a list");
}

TEST(ProgramJson, AnotherFormatIsRefused) {
  EXPECT_EQ(refusal_of(R"({"format":"tidemark-gemm-table","schema":1,"choices":[]})"),
            "p.json: /format is \"tidemark-gemm-table\", not \"tidemark-program\"; give a program "
            "as tidemark writes it");
}

TEST(ProgramJson, AnotherSchemaIsRefused) {
  EXPECT_EQ(refusal_of(edited("\"schema\":2", "\"schema\":1")),
            "p.json: /schema is 1; this build reads 2: use the build that wrote the file");
  EXPECT_EQ(refusal_of(edited("\"schema\":2", "\"schema\":\"1\"")),
            "p.json: /schema is \"1\"; give a whole number, 0 to 4294967295");
}

TEST(ProgramJson, TruncatedTextSaysSo) {
  const std::string whole = program_json(small_program());
  EXPECT_EQ(refusal_of(whole.substr(0, 60)),
            "p.json: ends too soon, after 60 bytes; give a program as tidemark writes it");
  for (std::size_t bytes = 0; bytes + 2 < whole.size(); ++bytes)  // "}\n" ends it
    EXPECT_NE(refusal_of(whole.substr(0, bytes)), "accepted") << bytes;
}

TEST(ProgramJson, TextThatIsNoJsonSaysWhere) {
  EXPECT_EQ(refusal_of("{\"format\"=5}"),
            "p.json: is no JSON from byte 10 of 12 on; give a program as tidemark writes it");
  EXPECT_EQ(refusal_of(program_json({}) + "{}"),
            "p.json: is no JSON from byte 189 of 190 on; give a program as tidemark writes it");
}

TEST(ProgramJson, NulIsRefusedWhereverItStands) {
  using namespace std::string_literals;
  EXPECT_EQ(refusal_of(program_json({}) + "\0 and more"s),
            "p.json: has a NUL after 188 bytes; give a program as tidemark writes it");
  EXPECT_EQ(refusal_of("\0"s),
            "p.json: has a NUL after 0 bytes; give a program as tidemark writes it");
}

TEST(ProgramJson, NumberBeyondAllNamesItsPlace) {
  EXPECT_EQ(refusal_of(edited("[16,8]", "[16,1e999]")),
            "p.json: /maps/0/box/1 is a number beyond all that can be read; give a program as "
            "tidemark writes it");
}

TEST(ProgramJson, DeeplyNestedTextIsRefused) {
  EXPECT_EQ(refusal_of(std::string(500000, '[')),
            "p.json: /0/0/0/0/0 is nested too deep; give a program as tidemark writes it");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\\n\":";
  EXPECT_EQ(
      refusal_of(objects),
      "p.json: /a\\n/a\\n/a\\n/a\\n/a\\n is nested too deep; give a program as tidemark writes it");
}

TEST(ProgramJson, ObjectOfVeryManyMembersIsRefused) {
  std::string object = "{\"a\":0";
  for (int i = 0; i < 100000; ++i) object += ",\"a" + std::to_string(i) + "\":0";
  EXPECT_EQ(refusal_of("{\"steps\":[" + object + "}]}"),
            "p.json: /steps/0 has over 64 members; give a program as tidemark writes it");
}

TEST(ProgramJson, LongTextIsCutInAMessage) {
  EXPECT_EQ(refusal_of(edited("true", "\"" + std::string(1000, 'a') + "\"")),
            "p.json: /payload/inverted is \"" + std::string(39, 'a') + "; give true or false");
}

}  // namespace
}  // namespace tidemark
