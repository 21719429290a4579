// Tensor maps that a kernel changes by tensormap.replace before it loads with them. Boxes hang over
// the far end of their tensors, so that each extent shows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

namespace {

/// Boxes that all CTAs of a cluster load, one after the other, by the map at one place of global
/// memory. Before each box but the first, one CTA makes it the map of that box; then each CTA
/// acquires it.
struct MapChange {
  std::vector<TileLoad> boxes;
  bool zeroed = false;    // before the first, too, out of zeros; else the driver encodes that map
  bool apart = false;     // each box has memory of its own
  bool stores = false;    // to the last box, instead of its load. In one CTA
  bool in_place = false;  // fields are replaced in global memory, but those of zeros
  Scope scope = Scope::gpu;  // not cta between several CTAs
  std::uint32_t ctas = 1;
  std::uint32_t changer = 0;  // CTA that changes the map of box 0; the next CTA that of box 1 ...
  std::uint16_t thread = 0;   // of that CTA
};

std::uint16_t only(std::uint32_t cta) { return static_cast<std::uint16_t>(1U << cta); }

TileLoad over_far_corner(const TileLoad& load) {
  TileLoad moved = in_corner(load, (1U << load.map.rank) - 1, 1);
  moved.at[0] -= moved.at[0] % step_of(load, 0);
  return moved;
}

// Strides leave room for an index more, and the tile starts in the middle of every swizzle.
TileLoad roomy_tile(DataType type, std::uint32_t rank) {
  TileLoad load = tile_of_rank(type, rank);
  for (std::uint32_t i = 1; i + 1 < rank; ++i)
    load.map.stride[i] = (load.map.stride[i - 1] + 32) * load.map.extent[i];
  load.destination_offset = 384;
  return over_far_corner(load);
}

// A type whose elements have another size.
DataType other_type(DataType type) {
  constexpr DataType kOthers[] = {DataType::u16,  DataType::u32, DataType::bf16,    DataType::f64,
                                  DataType::f32,  DataType::u32, DataType::f32_ftz, DataType::f64,
                                  DataType::bf16, DataType::f64};
  return kOthers[static_cast<std::size_t>(type)];
}

class Fields {
 public:
  Fields(DataType type, std::uint32_t rank) : base_(roomy_tile(type, rank)) {}

  std::vector<MapChange> all() {
    const std::uint32_t rank = base_.map.rank;
    vary([](TensorMapSpec& map) { map.base_offset = 256; });
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto step = static_cast<std::uint32_t>(step_of(base_, i));
      vary([&](TensorMapSpec& map) { map.extent[i] -= step; });
      vary([&](TensorMapSpec& map) { map.box[i] -= step; });
      if (i == 0) continue;
      vary([&](TensorMapSpec& map) { map.stride[i - 1] += 16; });
      vary([&](TensorMapSpec& map) { map.element_stride[i] = 2; });
    }
    const Swizzle swizzle = kSwizzles[rank % kSwizzles.size()];
    base_.map.box[0] = elements_in(swizzle_bytes(swizzle), base_.map.type);
    vary([&](TensorMapSpec& map) { map.swizzle = swizzle; });
    if (is_floating(base_.map.type)) vary([](TensorMapSpec& map) { map.fill = Fill::nan; });
    vary_rank();
    vary_type();
    return std::move(changes_);
  }

 private:
  // Every second change is taken back instead.
  template <class Edit>
  void vary(const Edit& edit) {
    TileLoad edited = base_;
    edit(edited.map);
    add(base_, edited);
    if (changes_.size() % 2 == 0) std::swap(changes_.back().boxes[0], changes_.back().boxes[1]);
    add_store();
  }

  void vary_rank() {
    if (base_.map.rank == kMaxRank) return;
    const TileLoad more = roomy_tile(base_.map.type, base_.map.rank + 1);
    TileLoad less = more;
    --less.map.rank;
    add(less, more);
    add_store();
    add(more, less);
    add_store();
  }

  // The smaller elements take as many places as the larger ones.
  void vary_type() {
    const DataType type = base_.map.type, other = other_type(type);
    const bool grows = element_bytes(other) > element_bytes(type);
    TileLoad from = roomy_tile(grows ? other : type, base_.map.rank), to = from;
    from.map.type = type;
    to.map.type = other;
    add(from, to);
  }

  void add(const TileLoad& from, const TileLoad& to) {
    changes_.push_back({.boxes = {over_far_corner(from), over_far_corner(to)}});
    changes_.back().thread = static_cast<std::uint16_t>(changes_.size() * 37 % 256);
  }

  void add_store() {
    const auto stores = [](const TileLoad& box) {
      return box.map.fill == Fill::zero && box.map.element_stride == TensorMapSpec{}.element_stride;
    };
    MapChange change = changes_.back();
    if (!stores(change.boxes[0]) || !stores(change.boxes[1])) return;
    change.stores = true;
    changes_.push_back(std::move(change));
  }

  TileLoad base_;
  std::vector<MapChange> changes_;
};

class Writer {
 public:
  explicit Writer(const MapChange& change) : change_(change) {
    program_.cluster = {change.ctas, 1, 1};
    program_.barriers = 1;
    for (const TileLoad& box : change.boxes) add_map(box);
    program_.window = (program_.window + 15) / 16 * 16;
    program_.what = fmt::format(
        "{} maps at one place, the first {}, replaced {}, published by CTA {} of {}; the last is "
        "of "
        "rank {} and {} by",
        change.boxes.size(), change.zeroed ? "out of zeros" : "encoded",
        change.in_place ? "there" : "in shared memory", change.changer, change.ctas,
        change.boxes.back().map.rank, change.stores ? "stored" : "loaded");
  }

  Program write() {
    add({.verb = Verb::init});
    sync();
    const auto maps = static_cast<std::uint8_t>(program_.maps.size());
    for (std::uint8_t i = 0; i < maps; ++i) {
      const bool encoded = i == 0 && !change_.zeroed;
      if (!encoded) replace(i);
      add({.verb = Verb::acquire, .map = i, .scope = encoded ? Scope::sys : change_.scope});
      if (change_.stores && i + 1 == maps)
        store(i);
      else
        load(i);
    }
    return std::move(program_);
  }

 private:
  void add(Step step) {
    if (step.verb != Verb::replace) step.ctas = all_ctas(program_);
    program_.steps.push_back(step);
  }

  void sync() {
    if (change_.ctas > 1) add({.verb = Verb::cluster_sync});
  }

  void add_map(const TileLoad& box) {
    Region own = region_of(box);
    if (change_.apart || program_.regions.empty()) {
      program_.regions.push_back(own);
    } else {
      own.bytes = std::max(own.bytes, program_.regions[0].bytes);
      program_.regions[0] = own;
    }
    const std::size_t number = program_.maps.size();
    const auto first = change_.zeroed ? kZeroed : kEncoded;
    program_.maps.push_back({.spec = box.map,
                             .region = static_cast<std::uint8_t>(program_.regions.size() - 1),
                             .from = number == 0 ? first : static_cast<std::uint8_t>(number - 1)});
    program_.window = std::max(program_.window, window_bytes(box));
  }

  // No CTA is at the map before, and none comes to it before it is there.
  void replace(std::uint8_t map) {
    sync();
    add({.verb = Verb::replace,
         .ctas = only((change_.changer + map) % change_.ctas),
         .thread = change_.thread,
         .map = map,
         .scope = change_.scope,
         .in_place = change_.in_place && program_.maps[map].from != kZeroed});
    sync();
  }

  std::uint32_t offset_of(const TileLoad& box) const {
    return kGuardBytes + box.destination_offset;
  }

  void load(std::uint8_t map) {
    const TileLoad& box = change_.boxes[map];
    if (map > 0) add({.verb = Verb::poison, .bytes = program_.window});
    add({.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(box.map)});
    add({.verb = Verb::load, .map = map, .hint = box.hint, .offset = offset_of(box), .at = box.at});
    add({.verb = Verb::wait, .parity = kCurrentPhase, .stops = true, .ns = kMustCompleteNs});
    add({.verb = Verb::snapshot});
  }

  void store(std::uint8_t map) {
    const TileLoad& box = change_.boxes[map];
    const std::uint32_t offset = offset_of(box);
    add({.verb = Verb::fill, .map = map, .offset = offset, .bytes = tile_span(box.map)});
    add({.verb = Verb::store, .map = map, .offset = offset, .at = box.at});
    add({.verb = Verb::commit});
    add({.verb = Verb::wait_group});
  }

  const MapChange& change_;
  Program program_;
};

Program program_of(const MapChange& change) { return Writer(change).write(); }

/// Maps of `rank` that become maps in which one entry of one field is another, or the rank is. Each
/// is loaded by; those that have no element stride and no NaN fill are stored by, too.
std::vector<MapChange> one_field_each(DataType type, std::uint32_t rank) {
  return Fields(type, rank).all();
}

/// A map of `type` and `rank` whose fields all are others than zero.
TileLoad full_map(DataType type, std::uint32_t rank) {
  TileLoad load = roomy_tile(type, rank);
  load.map.base_offset = 128;
  load.map.swizzle = Swizzle::b64;
  if (is_floating(type)) load.map.fill = Fill::nan;
  for (std::uint32_t i = 1; i < rank; ++i) load.map.element_stride[i] = 2;
  return over_far_corner(load);
}

/// `count` boxes whose maps differ by address and extents.
std::vector<TileLoad> generations(DataType type, std::uint32_t rank, std::uint32_t count) {
  std::vector<TileLoad> boxes;
  for (std::uint32_t i = 0; i < count; ++i) {
    TileLoad box = roomy_tile(type, rank);
    box.map.base_offset = 128 * (i % 8);
    for (std::uint32_t along = 0; along < rank; ++along)
      if ((i + along) % 2 == 0)
        box.map.extent[along] -= static_cast<std::uint32_t>(step_of(box, along));
    boxes.push_back(over_far_corner(box));
  }
  return boxes;
}

/// Two to four boxes of maps that have nothing in common, in a cluster of 1, 2 or 4; a function of
/// `seed` alone.
MapChange random_change(std::uint64_t seed) {
  Draws draws(splitmix64(seed));
  MapChange change{.boxes = {},
                   .zeroed = draws.below(4) == 0,
                   .apart = true,
                   .in_place = draws.below(2) == 0,
                   .ctas = 1U << draws.below(3)};
  for (std::uint32_t i = draws.between(change.zeroed ? 1 : 2, 4); i > 0; --i) {
    const auto is_tf32 = [](const TileLoad& box) {
      return box.map.type == DataType::tf32 || box.map.type == DataType::tf32_ftz;
    };
    std::uint64_t of_box = splitmix64(seed + i);
    TileLoad box = random_tile(of_box);
    while (i > 1 && is_tf32(box))
      box = random_tile(++of_box);  // no map is made of it: ProgramOracle
    change.boxes.push_back(box);
    change.boxes.back().map.l2_promotion =
        change.zeroed ? L2Promotion::none : change.boxes[0].map.l2_promotion;
  }
  change.scope = static_cast<Scope>(change.ctas == 1 ? draws.below(4) : draws.between(1, 3));
  change.changer = draws.below(change.ctas);
  change.thread = static_cast<std::uint16_t>(draws.below(kProgramThreads));
  return change;
}

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
