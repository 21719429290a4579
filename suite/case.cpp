// Collects the cases that were linked in, without anybody naming them, and writes down their rows.
#include "suite/case.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"

namespace tidemark {
namespace {

// A function's static: case files register before main, in no particular order.
std::vector<Case>& registered() {
  static std::vector<Case> cases;
  return cases;
}

const std::vector<Case>& catalogue() {
  static const std::vector<Case> sorted = sorted_catalogue(registered());
  return sorted;
}

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

Register::Register(const Case& declared) { registered().push_back(declared); }

bool well_formed_case_name(std::string_view name) {
  bool word_begins = true;
  bool dotted = false;
  for (const char c : name) {
    const bool plain = is_lower(c) || (c >= '0' && c <= '9');
    if (!plain && (word_begins || (c != '.' && c != '_'))) return false;
    word_begins = c == '.';
    dotted = dotted || word_begins;
  }
  return dotted && !word_begins;
}

std::vector<Case> sorted_catalogue(std::vector<Case> cases) {
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string_view name = cases[i].name;
    if (!well_formed_case_name(name))
      throw Error(fmt::format(
          "case '{}': malformed name; use lower-case words with dots between, general to special",
          name));
    if (i > 0 && cases[i - 1].name == name)
      throw Error(
          fmt::format("case '{}' is registered twice; give one of them another name", name));
  }
  return cases;
}

std::span<const Case> all_cases() { return catalogue(); }

const Case* case_named(std::string_view name) {
  for (const Case& which : catalogue())
    if (which.name == name) return &which;
  return nullptr;
}

std::uint64_t case_seed(std::uint64_t launch_seed, std::string_view name) {
  return splitmix64(launch_seed + splitmix64(fnv1a(name)));
}

// What a report stores of a row that failed: enough to run it again without the cases of this
// build.

namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Program& program) {
  std::string text = program_json(program);
  std::erase(text, '\n');
  return text;
}

std::string line_of(const PeerTile& peer) {
  return fmt::format(R"({{"rank":{},"ranks":{},"program":{}}})", peer.rank, peer.ranks,
                     line_of(peer_program(peer)));
}

template <typename Enum>
const char* word_of(std::initializer_list<const char*> words, Enum value) {
  return words.begin()[static_cast<std::size_t>(value)];
}

Json json_of(const Range& range) { return {{"first", range.first}, {"count", range.count}}; }

Json json_of(const Shard& shard) {
  return {{"owner", shard.owner}, {"first_row", shard.first_row}, {"rows", shard.rows}};
}

Json json_of(const PlantedElement& element) {
  return {{"operand", word_of({"a", "b"}, element.operand)},
          {"row", element.row},
          {"k", element.k},
          {"value", word_of({"nan", "infinity", "-infinity"}, element.value)}};
}

template <typename Each>
Json json_of(const std::vector<Each>& all) {
  Json list = Json::array();
  for (const Each& each : all) list.push_back(json_of(each));
  return list;
}

std::string line_of(const Gemm& gemm) {
  const Json json{{"op", "gemm"},
                  {"m", gemm.m},
                  {"n", gemm.n},
                  {"k", gemm.k},
                  {"rows", json_of(gemm.rows)},
                  {"cols", json_of(gemm.cols)},
                  {"inputs", name_of(gemm.inputs)},
                  {"output", word_of({"f32", "bf16", "f16"}, gemm.output)},
                  {"engine", word_of({"fast", "reference"}, gemm.engine)},
                  {"rung", name_of(gemm.rung)},
                  {"configuration", gemm.configuration},
                  {"sm_budget", gemm.sm_budget},
                  {"element", name_of(gemm.element)},
                  {"a_major", word_of({"k", "mn"}, gemm.a_major)},
                  {"b_major", word_of({"k", "mn"}, gemm.b_major)},
                  {"lda", gemm.lda},
                  {"ldb", gemm.ldb},
                  {"ldc", gemm.ldc},
                  {"alpha", gemm.alpha},
                  {"beta", gemm.beta},
                  {"planted", json_of(gemm.planted)},
                  {"seed", gemm.seed},
                  {"transport", gemm.transport != nullptr},
                  {"rank", gemm.rank},
                  {"a_shards", json_of(gemm.a_shards)},
                  {"b_shards", json_of(gemm.b_shards)},
                  {"everybody", json_of(gemm.everybody)},
                  {"deadline_s", gemm.deadline_s}};
  return json.dump();
}

std::string line_of(const Stress& stress) {
  const Json json{{"op", "stress"},
                  {"copy", name_of(stress.copy)},
                  {"boxes", name_of(stress.boxes)},
                  {"cluster", stress.cluster},
                  {"products", stress.products},
                  {"memory_bytes", stress.memory_bytes},
                  {"seconds", stress.seconds},
                  {"seed", stress.seed}};
  return json.dump();
}

std::string line_of(const DriverFacts& facts) {
  return fmt::format(R"({{"op":"driver_facts","subject":{},"number":{}}})",
                     static_cast<int>(facts.subject), facts.number);
}

std::string line_of(const Encode& encode) {
  const TensorMapSpec& map = encode.map;
  const Json json{{"op", "encode"},
                  {"sound", encode.sound},
                  {"change", encode.change},
                  {"im2col", map.im2col},
                  {"type", static_cast<int>(map.type)},
                  {"rank", map.rank},
                  {"address", encode.address + map.base_offset},
                  {"extent", map.extent},
                  {"stride", map.stride},
                  {"box", map.box},
                  {"element_stride", map.element_stride},
                  {"interleave", static_cast<int>(map.interleave)},
                  {"swizzle", static_cast<int>(map.swizzle)},
                  {"l2_promotion", static_cast<int>(map.l2_promotion)},
                  {"fill", static_cast<int>(map.fill)},
                  {"lower_corner", map.lower_corner},
                  {"upper_corner", map.upper_corner},
                  {"replacement", encode.replacement},
                  {"map_offset", encode.map_offset},
                  {"no_strides", encode.no_strides}};
  return json.dump();
}

}  // namespace

std::string parameters_of(const Op& op) {
  return std::visit(
      [](const auto& row) {
        if constexpr (requires { program_of(row); })
          return line_of(program_of(row));
        else
          return line_of(row);
      },
      op);
}

}  // namespace tidemark
