// Tensor maps that a kernel changes by tensormap.replace before it loads with them.
#include "suite/case.hpp"
#include "suite/conformance/map_change.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Maps of which every field is written into zeros, with strides up to the longest.
std::vector<Op> all_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const TileLoad& box, bool stores) {
    rows.emplace_back(program_of({.boxes = {box}, .zeroed = true, .stores = stores, .thread = 64}));
  };
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t type = 0; type < kDataTypes; ++type) {
      if (context.level == Level::quick && (type + rank) % 2 == 1) continue;
      add(full_map(static_cast<DataType>(type), rank), false);
      if (type < 4) add(tile_of_rank(static_cast<DataType>(type), rank), true);
    }
  for (const TileLoad& box : far_strides()) add(box, false);
  return rows;
}

const Register kAll{{
    .name = "map.replace.all",
    .claim = "a tensor map of which all fields are written into 128 bytes of zeros is the map that "
             "would be encoded so, of every type and with strides up to 2^40-16 bytes",
    .cites = "PTX ISA 9.0, 9.7.9.26 tensormap.replace; CUDA C++ Programming Guide 13.0, 10.30 "
             "Encoding a Tensor Map on Device",
    .rows = all_rows,
}};

// CTAs of a cluster that change one map in turn, and all copy by it.
std::vector<Op> cluster_rows(const RunContext& context) {
  constexpr std::uint32_t kChanges[] = {4, 16, 64};  // by level
  const std::uint32_t count = kChanges[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (const Scope scope : {Scope::cluster, Scope::gpu, Scope::sys})
    for (const bool in_place : {false, true})
      for (const std::uint32_t ctas : {2U, 4U, 8U})
        rows.emplace_back(program_of({.boxes = generations(DataType::u16, 3, count),
                                      .in_place = in_place,
                                      .scope = scope,
                                      .ctas = ctas,
                                      .changer = ctas - 1,
                                      .thread = 100}));
  return rows;
}

const Register kCluster{{
    .name = "map.replace.cluster",
    .claim =
        "when one CTA has changed a tensor map and the cluster has met, every CTA that acquires "
        "it copies by the new one",
    .cites = "PTX ISA 9.0, tensormap.cp_fenceproxy and fence.proxy.tensormap; CUDA C++ Programming "
             "Guide 13.0, 10.30 Encoding a Tensor Map on Device",
    .rows = cluster_rows,
}};

constexpr DataType kTypes[] = {DataType::f64, DataType::u8,  DataType::f16, DataType::u32,
                               DataType::f32, DataType::u16, DataType::u64, DataType::bf16};

// Maps in which one field is replaced, of every rank.
std::vector<Op> field_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (const DataType type : kTypes) {
      if (context.level == Level::quick && type != kTypes[rank - 1]) continue;
      for (MapChange change : one_field_each(type, rank)) {
        change.in_place = rows.size() % 3 == 2;
        rows.emplace_back(program_of(change));
      }
    }
  return rows;
}

const Register kField{{
    .name = "map.replace.field",
    .claim = "a tensor map of which one field is replaced is the map that would be encoded so, to "
             "loads and stores",
    .cites = "PTX ISA 9.0, 9.7.9.26 tensormap.replace; CUDA C++ Programming Guide 13.0, 10.30 "
             "Encoding a Tensor Map on Device",
    .rows = field_rows,
}};

// Maps that are drawn at random and made of each other.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {32, 1000, 4000},
                    [](std::uint64_t seed) { return program_of(random_change(seed)); });
}

const Register kRandom{{
    .name = "map.replace.random",
    .claim = "a tensor map of any type but tf32 can be made any other by replacing what differs, "
             "and so can zeros",
    .cites = "PTX ISA 9.0, 9.7.9.26 tensormap.replace; CUDA C++ Programming Guide 13.0, 10.30 "
             "Encoding a Tensor Map on Device",
    .rows = random_rows,
}};

// One CTA that changes its map again and again, released and acquired at each scope.
std::vector<Op> scope_rows(const RunContext& context) {
  constexpr std::uint32_t kChanges[] = {4, 16, 64};  // by level
  const std::uint32_t count = kChanges[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (const Scope scope : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys})
    for (const bool in_place : {false, true})
      for (std::uint32_t rank = 2; rank <= kMaxRank; ++rank)
        rows.emplace_back(program_of({.boxes = generations(kTypeOfEachSize[rank - 2], rank, count),
                                      .in_place = in_place,
                                      .scope = scope,
                                      .thread = 255}));
  return rows;
}

const Register kScope{{
    .name = "map.replace.scope",
    .claim =
        "a CTA that has changed a tensor map and acquired it copies by the new one, each time, "
        "at every scope",
    .cites = "PTX ISA 9.0, tensormap.cp_fenceproxy and fence.proxy.tensormap; CUDA C++ Programming "
             "Guide 13.0, 10.30 Encoding a Tensor Map on Device",
    .rows = scope_rows,
}};

}  // namespace
}  // namespace tidemark
