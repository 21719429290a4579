// Writes a row's parameters as one line of JSON, from which a person or a tool can make it again.
#include <string>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/ops/fnv1a.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the structs, so that lines can be diffed

template <typename Array>
Json first(const Array& values, std::uint32_t count) {
  Json list = Json::array();
  for (std::uint32_t i = 0; i < count && i < values.size(); ++i) list.push_back(values[i]);
  return list;
}

const char* held_to(HeldTo what) {
  static constexpr const char* kWhats[] = {"documents", "measurement", "record"};
  return kWhats[static_cast<std::size_t>(what)];
}

constexpr const char* kPromotions[] = {"none", "64B", "128B", "256B"};

Json json_of(const TensorMapSpec& map) {
  if (map.bulk)
    return {{"bulk", true},
            {"type", name_of(map.type)},
            {"extent", map.extent[0]},
            {"elements", map.box[0]},
            {"base_offset", map.base_offset}};
  if (map.im2col)
    return {{"im2col", true},
            {"type", name_of(map.type)},
            {"rank", map.rank},
            {"extent", first(map.extent, map.rank)},
            {"stride", first(map.stride, map.rank == 0 ? 0 : map.rank - 1)},
            {"lower_corner", first(map.lower_corner, spatial_of(map))},
            {"upper_corner", first(map.upper_corner, spatial_of(map))},
            {"channels", map.box[0]},
            {"pixels", map.box[1]},
            {"element_stride", first(map.element_stride, map.rank)},
            {"swizzle", swizzle_bytes(map.swizzle)},
            {"l2_promotion", kPromotions[static_cast<std::size_t>(map.l2_promotion)]},
            {"fill", map.fill == Fill::zero ? "zero" : "nan"},
            {"base_offset", map.base_offset}};
  Json json;
  if (is_interleaved(map)) json["interleave"] = unit_bytes(map);
  json.update({{"type", name_of(map.type)},
               {"rank", map.rank},
               {"extent", first(map.extent, map.rank)},
               {"stride", first(map.stride, map.rank == 0 ? 0 : map.rank - 1)},
               {"box", first(map.box, map.rank)},
               {"element_stride", first(map.element_stride, map.rank)},
               {"swizzle", swizzle_bytes(map.swizzle)},
               {"l2_promotion", kPromotions[static_cast<std::size_t>(map.l2_promotion)]},
               {"fill", map.fill == Fill::zero ? "zero" : "nan"},
               {"base_offset", map.base_offset}});
  return json;
}

// An operation of one map: its fields stand beside the operation's own.
Json with_map(const char* op, const TensorMapSpec& map, const Json& own) {
  Json json{{"op", op}};
  json.update(json_of(map));
  json.update(own);
  return json;
}

constexpr const char* kHints[] = {"none", "evict_normal", "evict_first", "evict_last"};
constexpr const char* kSources[] = {"device", "async", "pinned", "mapped", "edge", "peer"};

Json json_of(const TileLoad& load) {
  Json json = with_map("tile_load", load.map,
                       {{"at", first(load.at, load.map.rank)},
                        {"destination_offset", load.destination_offset},
                        {"hint", kHints[static_cast<std::size_t>(load.hint)]},
                        {"source", kSources[static_cast<std::size_t>(load.source)]},
                        {"cold", load.cold},
                        {"held_to", held_to(load.held_to)},
                        {"seed", load.payload.seed},
                        {"inverted", load.payload.inverted}});
  if (load.map.im2col) json["im2col_offsets"] = first(load.im2col_offsets, spatial_of(load.map));
  return json;
}

Json json_of(const TileStore& store) {
  static constexpr const char* kReductionNames[kReductions] = {"none", "add", "min", "max", "inc",
                                                               "dec",  "and", "or",  "xor"};
  static constexpr const char* kWaits[] = {"complete", "read", "only_read", "none"};
  return with_map("tile_store", store.map,
                  {{"at", first(store.at, store.map.rank)},
                   {"source_offset", store.source_offset},
                   {"stores", store.stores},
                   {"wait", kWaits[static_cast<std::size_t>(store.wait)]},
                   {"empty_groups", store.empty_groups},
                   {"bystander", store.bystander},
                   {"hint", kHints[static_cast<std::size_t>(store.hint)]},
                   {"reduction", kReductionNames[static_cast<std::size_t>(store.reduction)]},
                   {"one_box", store.one_box},
                   {"destination", kSources[static_cast<std::size_t>(store.destination)]},
                   {"held_to", held_to(store.held_to)},
                   {"seed", store.payload.seed},
                   {"inverted", store.payload.inverted}});
}

Json json_of(const MulticastLoad& multicast) {
  Json json = json_of(multicast.load);
  json["op"] = "multicast_load";
  json["cluster"] = multicast.cluster;
  json["mask"] = multicast.mask;
  json["issuer"] = multicast.issuer;
  json["slices"] = multicast.slices;
  json["late_arm"] = multicast.late_arm;
  return json;
}

Json json_of(const ExpectTx& op) {
  static constexpr const char* kBarriers[] = {"copys_barrier", "other_barrier", "peer"};
  static constexpr const char* kArrivals[] = {"with_announcement", "separate", "late", "missing"};
  static constexpr const char* kOrders[] = {"announced_first", "issued_first", "landed_first"};
  return {{"op", "expect_tx"},
          {"announced", op.announced},
          {"announcements", op.announcements},
          {"on", kBarriers[static_cast<std::size_t>(op.on)]},
          {"arrival", kArrivals[static_cast<std::size_t>(op.arrival)]},
          {"order", kOrders[static_cast<std::size_t>(op.order)]},
          {"parity", op.parity},
          {"simulated", first(op.simulated, 2)},
          {"load", json_of(op.load)}};
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

// Its steps would fill a screen: whoever needs them has `tidemark replay`.
Json json_of(const Program& program) {
  Program steps = program;
  steps.payload = {};
  return {{"op", "program"},
          {"what", program.what},
          {"hash", fmt::format("{:016x}", kernels::fnv1a(program_json(steps)))},
          {"seed", program.payload.seed},
          {"inverted", program.payload.inverted}};
}

Json json_of(const PeerTile& peer) {
  return with_map("peer_tile", peer.map,
                  {{"at", first(peer.at, peer.map.rank)},
                   {"shared_offset", peer.shared_offset},
                   {"way", peer.way == PeerWay::load ? "load" : "store"},
                   {"rank", peer.rank},
                   {"ranks", peer.ranks},
                   {"transport", peer.transport != nullptr},
                   {"deadline_s", peer.deadline_s},
                   {"seed", peer.seed},
                   {"inverted", peer.inverted}});
}

Json json_of(const Stress& stress) {
  return {{"op", "stress"},
          {"boxes", name_of(stress.boxes)},
          {"memory_bytes", stress.memory_bytes},
          {"seconds", stress.seconds},
          {"seed", stress.seed}};
}

Json json_of(const TileRead& read) {
  Json json = json_of(read.load);
  json["op"] = "tile_read";
  json["placement"] = read.placement == TilePlacement::as_loaded ? "as_loaded" : "unsplit";
  json["first_column"] = read.first_column;
  return json;
}

Json json_of(const Range& range) { return {{"first", range.first}, {"count", range.count}}; }

Json json_of(const std::vector<Shard>& shards) {
  Json list = Json::array();
  for (const Shard& shard : shards)
    list.push_back({{"owner", shard.owner}, {"first_row", shard.first_row}, {"rows", shard.rows}});
  return list;
}

const char* engine_text(GemmEngine engine) {
  return engine == GemmEngine::fast ? "fast" : "reference";
}

const char* output_text(GemmOutput output) {
  if (output == GemmOutput::f32) return "f32";
  return output == GemmOutput::bf16 ? "bf16" : "f16";
}

Json json_of(const std::vector<PlantedElement>& planted) {
  constexpr const char* kNames[] = {"nan", "infinity", "-infinity"};
  Json list = Json::array();
  for (const PlantedElement& element : planted)
    list.push_back({{"operand", element.operand == GemmOperand::a ? "a" : "b"},
                    {"row", element.row},
                    {"k", element.k},
                    {"value", kNames[static_cast<std::size_t>(element.value)]}});
  return list;
}

Json json_of(const Gemm& gemm) {
  return {{"op", "gemm"},
          {"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"rows", json_of(gemm.rows)},
          {"cols", json_of(gemm.cols)},
          {"inputs", name_of(gemm.inputs)},
          {"output", output_text(gemm.output)},
          {"engine", engine_text(gemm.engine)},
          {"rung", name_of(gemm.rung)},
          {"configuration", gemm.configuration},
          {"sm_budget", gemm.sm_budget},
          {"element", name_of(gemm.element)},
          {"a_major", gemm.a_major == Major::k ? "k" : "mn"},
          {"b_major", gemm.b_major == Major::k ? "k" : "mn"},
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
}

Json json_of(const WgmmaOperand& operand) {
  return {{"major", operand.major == Major::k ? "k" : "mn"},
          {"swizzle", swizzle_bytes(operand.swizzle)},
          {"read_as", swizzle_bytes(operand.read_as)},
          {"base_offset", operand.base_offset},
          {"destination_offset", operand.offset}};
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

}  // namespace tidemark::suite
