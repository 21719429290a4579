// The table of configurations: that the one of the build says what it said, and that a file which
// is no table is told why.
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kernels/cuda/gemm/tuning/gemm_table_text.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

std::string choice_for(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return nearest_choice(embedded_gemm_table(), {.m = m, .n = n, .k = k})->configuration;
}

std::string refusal_of(const std::string& json) {
  try {
    parse_gemm_table(json, "t.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal_of_file(const std::string& path) {
  try {
    read_gemm_table(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// A table of these choices, as JSON.
std::string table_of(const std::string& choices) {
  return R"({"format":"tidemark-gemm-table","schema":1,"choices":[)" + choices + "]}";
}

constexpr const char* kOne = R"({"m":1,"n":2,"k":3,"configuration":"128x256_2x1_s4_m8"})";

/// A file that is gone at the end of its test.
class Scratch {
 public:
  explicit Scratch(const char* name)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "." + name)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(GemmTable, EmbeddedOneGivesEachMeasuredProductWhatItGave) {
  EXPECT_EQ(choice_for(512, 512, 512), "64x128_1x1_s7_turn_m8_early");
  EXPECT_EQ(choice_for(1024, 1024, 1024), "64x128_1x1_s7_turn_m8_early");
  EXPECT_EQ(choice_for(1024, 1024, 8192), "128x128_1x1_s6_k2_m8_early");
  EXPECT_EQ(choice_for(2048, 2048, 2048), "128x256_1x1_s4_m16_early");
  EXPECT_EQ(choice_for(4096, 4096, 4096), "128x256_2x1_s4_m8_g1_lead1_early");
  EXPECT_EQ(choice_for(6144, 6144, 6144), "128x192_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(8192, 8192, 8192), "128x192_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(12288, 12288, 12288), "128x256_2x1_s4_m8_g1_lead1_early");
  EXPECT_EQ(choice_for(16384, 16384, 16384), "128x256_2x1_s4_m16_g2_lead1_early");
  EXPECT_EQ(choice_for(8192, 8192, 1024), "128x192_2x1_s5_turn_m16_g2_early");
  EXPECT_EQ(choice_for(8192, 1024, 8192), "128x256_2x1_s4_m16_g2_lead1_early");
  EXPECT_EQ(choice_for(4096, 14336, 4096), "128x184_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(8192, 28672, 8192), "128x192_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(8192, 4096, 8192), "128x256_2x1_s4_m8_g1_lead1_early");
  EXPECT_EQ(embedded_gemm_table().choices.size(), 14U);
}

TEST(GemmTable, EmbeddedNamesAreConfigurationsOfTheEngine) {
  const std::vector<std::string> names = gemm_configuration_names();
  for (const GemmChoice& choice : embedded_gemm_table().choices)
    EXPECT_EQ(names.at(choice.number - 1), choice.configuration);
}

TEST(GemmTable, EmbeddedFileIsAsTablesAreWritten) {
  EXPECT_EQ(json_of(embedded_gemm_table()), kGemmTableText);
}

TEST(GemmTable, ComesBackAsItWasWritten) {
  const GemmTable table{.name = "t.json",
                        .measured = {.gpu = "NVIDIA H100",
                                     .driver = "580.1",
                                     .date = "2026-11-21T00:00:00Z",
                                     .git = "abc",
                                     .run = "a \"run\""},
                        .choices = {{.product = {.m = 1, .n = 2, .k = 3},
                                     .configuration = "128x256_2x1_s4_m8",
                                     .number = 1,
                                     .note = "a note"},
                                    {.product = {.m = 4, .n = 5, .k = 6},
                                     .configuration = "128x256_2x1_s4_m8_lead1",
                                     .number = 2}}};
  const GemmTable back = parse_gemm_table(json_of(table), "t.json");
  EXPECT_EQ(back.measured, table.measured);
  EXPECT_EQ(back.choices, table.choices);
}

TEST(GemmTable, WhatIsNotKnownOfAMeasurementIsLeftOut) {
  const GemmTable table = parse_gemm_table(table_of(kOne), "t.json");
  EXPECT_EQ(table.measured, GemmTableOrigin{});
  EXPECT_EQ(
      json_of(table),
      "{\n\"format\":\"tidemark-gemm-table\",\n\"schema\":1,\n\"measured\":{},\n\"choices\":[\n"
      "{\"m\":1,\"n\":2,\"k\":3,\"configuration\":\"128x256_2x1_s4_m8\"}\n]\n}\n");
}

TEST(GemmTable, HashIsOfWhatItDecides) {
  GemmTable table = parse_gemm_table(table_of(kOne), "t.json");
  EXPECT_EQ(hash_of(table), "f60dfdbb666dda2f");  // FNV-1a 64 of "1x2x3 128x256_2x1_s4_m8\n"
  table.measured.gpu = "another";
  table.choices[0].note = "said otherwise";
  EXPECT_EQ(hash_of(table), "f60dfdbb666dda2f");
  table.choices[0].product.k = 4;
  EXPECT_NE(hash_of(table), "f60dfdbb666dda2f");
}

TEST(GemmTable, ConfigurationThatTheEngineLacksIsNamed) {
  EXPECT_EQ(refusal_of(table_of(R"({"m":1,"n":2,"k":3,"configuration":"8x8"})")),
            "t.json: /choices/0/configuration is '8x8', which the engine of this build does not "
            "have; 'tidemark tune --list' names all");
}

TEST(GemmTable, SizeThatIsNoneIsRefused) {
  const auto with_m = [](const std::string& m) {
    return refusal_of(
        table_of(R"({"m":)" + m + R"(,"n":2,"k":3,"configuration":"128x256_2x1_s4_m8"})"));
  };
  EXPECT_EQ(with_m("0"), "t.json: /choices/0/m is 0; give a whole number, 1 to 2147481600");
  EXPECT_EQ(with_m("2147481601"),
            "t.json: /choices/0/m is 2147481601; give a whole number, 1 to 2147481600");
  EXPECT_EQ(with_m("-1"), "t.json: /choices/0/m is -1; give a whole number, 1 to 2147481600");
  EXPECT_EQ(with_m("1.5"), "t.json: /choices/0/m is 1.5; give a whole number, 1 to 2147481600");
  EXPECT_EQ(with_m("\"8\""), "t.json: /choices/0/m is \"8\"; give a whole number, 1 to 2147481600");
  EXPECT_EQ(
      with_m("1e999"),
      "t.json: /choices/0/m is a number beyond all that can be read; give a table as 'tidemark "
      "tune --out FILE' writes it");
  EXPECT_EQ(with_m("2147481600"), "accepted");
}

TEST(GemmTable, MissingSizeIsNamed) {
  EXPECT_EQ(
      refusal_of(table_of(R"({"m":1,"n":2,"configuration":"128x256_2x1_s4_m8"})")),
      "t.json: /choices/0 has no \"k\"; give a table as 'tidemark tune --out FILE' writes it");
}

TEST(GemmTable, AnotherSchemaIsRefused) {
  EXPECT_EQ(refusal_of(R"({"format":"tidemark-gemm-table","schema":2,"choices":[]})"),
            "t.json: /schema is 2, and this build reads 1; tune again with it");
}

TEST(GemmTable, AnotherFormatIsRefused) {
  EXPECT_EQ(refusal_of(R"({"format":"tidemark-policy","schema":1,"choices":[]})"),
            "t.json: /format is not \"tidemark-gemm-table\"; give a table as 'tidemark tune --out "
            "FILE' writes it");
  EXPECT_EQ(refusal_of("[]"), "t.json: / is array; give an object");
  EXPECT_EQ(refusal_of("{}"),
            "t.json: / has no \"format\"; give a table as 'tidemark tune --out FILE' writes it");
}

TEST(GemmTable, EmptyTableIsRefused) {
  EXPECT_EQ(refusal_of(table_of("")), "t.json: /choices is empty; give at least one choice");
}

TEST(GemmTable, TooManyChoicesAreRefused) {
  std::string choices = kOne;
  for (int i = 2; i <= 1001; ++i)
    choices +=
        R"(,{"m":)" + std::to_string(i) + R"(,"n":2,"k":3,"configuration":"128x256_2x1_s4_m8"})";
  EXPECT_EQ(refusal_of(table_of(choices)), "t.json: /choices has 1001 choices; give at most 1000");
}

TEST(GemmTable, ProductThatStandsThereTwiceIsNamed) {
  EXPECT_EQ(refusal_of(table_of(std::string(kOne) + "," + kOne)),
            "t.json: /choices/1 is 1 x 2 x 3, as /choices/0 is; keep one of them");
}

TEST(GemmTable, TextThatIsNoLineIsRefused) {
  EXPECT_EQ(refusal_of(table_of(
                R"({"m":1,"n":2,"k":3,"configuration":"128x256_2x1_s4_m8","note":"a\u001b[2J"})")),
            "t.json: /choices/0/note has a control character; give one line of plain text");
  EXPECT_EQ(
      refusal_of(table_of(R"({"m":1,"n":2,"k":3,"configuration":"128x256_2x1_s4_m8","note":")" +
                          std::string(301, 'a') + "\"}")),
      "t.json: /choices/0/note has 301 bytes; give at most 300");
  EXPECT_EQ(refusal_of(table_of(R"({"m":1,"n":2,"k":3,"configuration":5})")),
            "t.json: /choices/0/configuration is number; give a text");
}

TEST(GemmTable, TruncatedFileSaysSo) {
  const std::string whole = table_of(kOne);
  EXPECT_EQ(refusal_of(whole.substr(0, 60)),
            "t.json: ends too soon, after 60 bytes; give a table as 'tidemark tune --out FILE' "
            "writes it");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_NE(refusal_of(whole.substr(0, bytes)), "accepted") << bytes;
}

TEST(GemmTable, DeeplyNestedFileIsRefused) {
  const std::string refusal =
      "t.json: /0/0/0/0/0 is nested too deep; give a table as 'tidemark tune --out FILE' writes it";
  EXPECT_EQ(refusal_of(std::string(500000, '[')), refusal);
  EXPECT_EQ(refusal_of(std::string(500000, '[') + std::string(500000, ']')), refusal);
}

// Once it was printed in a message, by as many calls as it has levels: the program crashed.
TEST(GemmTable, DeeplyNestedSizeIsRefused) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_EQ(
      refusal_of(table_of("{\"m\":" + deep + "}")),
      "t.json: /choices/0/m/0/0 is nested too deep; give a table as 'tidemark tune --out FILE' "
      "writes it");
}

TEST(GemmTable, TextBehindANulIsRefused) {
  std::string text = table_of(kOne);
  const std::size_t end = text.size();
  text += '\0';
  EXPECT_EQ(refusal_of(text + "garbage"),
            "t.json: has a NUL after " + std::to_string(end) +
                " bytes; give a table as 'tidemark tune --out FILE' writes it");
}

TEST(GemmTable, FileIsKnownByItsNameWithoutFolders) {
  const Scratch file("table.json");
  std::ofstream(file.path()) << table_of(kOne);
  EXPECT_EQ(read_gemm_table(file.path()).name,
            std::filesystem::path(file.path()).filename().string());
}

TEST(GemmTable, FileLargerThanAnyTableIsRefusedUnread) {
  const Scratch file("large.json");
  std::ofstream(file.path()) << table_of(kOne);
  std::filesystem::resize_file(file.path(), std::uintmax_t{1} << 30);  // of holes
  EXPECT_EQ(refusal_of_file(file.path()),
            file.path() +
                ": is larger than the 1048576 bytes that a table may have; give a table as "
                "'tidemark tune --out FILE' writes it");
}

TEST(GemmTable, WhatIsNoPlainFileIsRefusedWithoutWaiting) {
  const Scratch pipe("pipe");
  ASSERT_EQ(::mkfifo(pipe.path().c_str(), 0600), 0);
  EXPECT_EQ(
      refusal_of_file(pipe.path()),
      pipe.path() + ": is no plain file; give a table as 'tidemark tune --out FILE' writes it");
  EXPECT_EQ(refusal_of_file("/"),
            "/: is no plain file; give a table as 'tidemark tune --out FILE' writes it");
}

TEST(GemmTable, FileThatIsNotThereSaysWhy) {
  EXPECT_EQ(refusal_of_file("/nowhere/t.json"),
            "/nowhere/t.json: cannot be opened: No such file or directory; give a table as "
            "'tidemark tune --out FILE' writes it");
}

GemmTable some_table() {
  return parse_gemm_table(
      table_of(R"({"m":1024,"n":1024,"k":1024,"configuration":"128x256_2x1_s4_m8"},)"
               R"({"m":4096,"n":4096,"k":4096,"configuration":"128x128_1x1_s6_k2_m8_early"},)"
               R"({"m":4096,"n":4096,"k":1024,"configuration":"128x256_2x1_s4_m4"})"),
      "t.json");
}

TEST(NearestChoice, IsTheOneFewestOctavesAway) {
  const GemmTable table = some_table();
  EXPECT_EQ(nearest_choice(table, {.m = 1, .n = 1, .k = 1}), &table.choices[0]);
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 2100}), &table.choices[1]);
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 2000}), &table.choices[2]);
}

TEST(NearestChoice, OfTwoAsLikeIsTheFirst) {
  const GemmTable table = some_table();
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 2048}), &table.choices[1]);
}

TEST(NearestChoice, SizeOfZeroCountsAsOne) {
  const GemmTable table = some_table();
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 0}), &table.choices[2]);
}

TEST(NearestChoice, PassesOverWhatDoesNotSuit) {
  const GemmTable table = some_table();
  const auto not_second = [&](const GemmChoice& choice) { return &choice != &table.choices[1]; };
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 4096}, not_second),
            &table.choices[2]);
}

TEST(NearestChoice, IsNoneWhereNothingSuits) {
  const GemmTable table = some_table();
  const auto never = [](const GemmChoice& /*choice*/) { return false; };
  EXPECT_EQ(nearest_choice(table, {.m = 1, .n = 1, .k = 1}, never), nullptr);
}

}  // namespace
}  // namespace tidemark::kernels
