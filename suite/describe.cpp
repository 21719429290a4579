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

constexpr const char* kPromotions[] = {"none", "64B", "128B", "256B"};

Json json_of(const TileLoad& load) {
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

Json json_of(const TensorMapSpec& map) {
  return {{"type", name_of(map.type)},
          {"rank", map.rank},
          {"extent", first(map.extent, map.rank)},
          {"stride", first(map.stride, map.rank == 0 ? 0 : map.rank - 1)},
          {"box", first(map.box, map.rank)},
          {"element_stride", first(map.element_stride, map.rank)},
          {"swizzle", swizzle_bytes(map.swizzle)},
          {"l2_promotion", kPromotions[static_cast<std::size_t>(map.l2_promotion)]},
          {"fill", map.fill == Fill::zero ? "zero" : "nan"},
          {"base_offset", map.base_offset}};
}

Json json_of(const TileWalk& walk, std::uint32_t rank) {
  return {{"at", first(walk.at, rank)},
          {"step", first(walk.step, rank)},
          {"tiles", first(walk.tiles, rank)}};
}

Json json_of(const TileRoundTrip& trip) {
  static constexpr const char* kWork[] = {"identity", "add_one", "add_index", "thread_copy"};
  static constexpr const char* kNumbers[] = {"hash", "small", "counting"};
  return {{"op", "tile_round_trip"},
          {"from", json_of(trip.from)},
          {"to", json_of(trip.to)},
          {"load", json_of(trip.load, trip.from.rank)},
          {"store", json_of(trip.store, trip.to.rank)},
          {"work", kWork[static_cast<std::size_t>(trip.work)]},
          {"numbers", kNumbers[static_cast<std::size_t>(trip.numbers)]},
          {"in_place", trip.in_place},
          {"ctas", trip.ctas},
          {"stages", trip.stages},
          {"stores_per_group", trip.stores_per_group},
          {"issuer", trip.issuer},
          {"seed", trip.payload.seed},
          {"inverted", trip.payload.inverted}};
}

Json json_of(const BarrierCycle& cycle) {
  Json lives = Json::array();
  for (std::uint32_t i = 0; i < cycle.life_count && i < kCycleLives; ++i)
    lives.push_back({{"count", cycle.lives[i].count}, {"phases", cycle.lives[i].phases}});
  return {{"op", "barrier_cycle"},
          {"map", json_of(cycle.map)},
          {"at", first(cycle.at, cycle.map.rank)},
          {"step", first(cycle.step, cycle.map.rank)},
          {"lives", lives},
          {"copy_first", cycle.copy_first},
          {"seed", cycle.payload.seed},
          {"inverted", cycle.payload.inverted}};
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

}  // namespace

std::string describe(const Op& op) {
  return std::visit([](const auto& row) { return json_of(row).dump(); }, op);
}

}  // namespace tidemark
