// Writes a row's parameters as one line of JSON, from which a person or a tool can make it again.
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "suite/case.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the structs, so that lines can be diffed

template <typename Array>
Json first(const Array& values, std::uint32_t count) {
  Json list = Json::array();
  for (std::uint32_t i = 0; i < count && i < values.size(); ++i) list.push_back(values[i]);
  return list;
}

Json json_of(const TileLoad& load) {
  static constexpr const char* kPromotions[] = {"none", "64B", "128B", "256B"};
  const TensorMapSpec& map = load.map;
  return {{"op", "tile_load"},
          {"type", name_of(map.type)},
          {"rank", map.rank},
          {"extent", first(map.extent, map.rank)},
          {"stride", first(map.stride, map.rank == 0 ? 0 : map.rank - 1)},
          {"box", first(map.box, map.rank)},
          {"element_stride", first(map.element_stride, map.rank)},
          {"swizzle", swizzle_bytes(map.swizzle)},
          {"l2_promotion", kPromotions[static_cast<std::size_t>(map.l2_promotion)]},
          {"fill", map.fill == Fill::zero ? "zero" : "nan"},
          {"base_offset", map.base_offset},
          {"at", first(load.at, map.rank)},
          {"destination_offset", load.destination_offset},
          {"seed", load.payload.seed},
          {"inverted", load.payload.inverted}};
}

Json json_of(const Range& range) { return {{"first", range.first}, {"count", range.count}}; }

Json json_of(const std::vector<Shard>& shards) {
  Json list = Json::array();
  for (const Shard& shard : shards)
    list.push_back({{"owner", shard.owner}, {"first_row", shard.first_row}, {"rows", shard.rows}});
  return list;
}

Json json_of(const Gemm& gemm) {
  return {{"op", "gemm"},
          {"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"rows", json_of(gemm.rows)},
          {"cols", json_of(gemm.cols)},
          {"inputs", gemm.inputs == GemmInputs::normal ? "normal" : "small_integers"},
          {"output", gemm.output == GemmOutput::f32 ? "f32" : "bf16"},
          {"engine", gemm.engine == GemmEngine::fast ? "fast" : "reference"},
          {"seed", gemm.seed},
          {"transport", gemm.transport != nullptr},
          {"rank", gemm.rank},
          {"a_shards", json_of(gemm.a_shards)},
          {"b_shards", json_of(gemm.b_shards)},
          {"everybody", json_of(gemm.everybody)},
          {"deadline_s", gemm.deadline_s}};
}

Json json_of(const ConsumedOperand& operand) {
  return {{"major", operand.major == Major::k ? "k" : "mn"},
          {"swizzle", swizzle_bytes(operand.swizzle)},
          {"read_as", swizzle_bytes(operand.read_as)},
          {"base_offset", operand.base_offset},
          {"destination_offset", operand.destination_offset}};
}

Json json_of(const TileConsume& op) {
  return {{"op", "tile_consume"},
          {"type", name_of(op.type)},
          {"n", op.n},
          {"k", op.k},
          {"a", json_of(op.a)},
          {"b", json_of(op.b)},
          {"extent", op.extent},
          {"at", op.at},
          {"seed", op.payload.seed},
          {"inverted", op.payload.inverted}};
}

}  // namespace

std::string describe(const Op& op) {
  return std::visit([](const auto& row) { return json_of(row).dump(); }, op);
}

}  // namespace tidemark
