// Loads that one CTA issues for several CTAs of its cluster.
#include <array>
#include <bit>

#include "suite/case.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/stage_ring.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

TileLoad swizzled(DataType type, Swizzle swizzle, std::uint32_t phase) {
  const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
  TileLoad load = phase % 2 == 0 ? tile(type, {3 * inner, 25}, {inner, 17}, {0, 1})
                                 : tile(type, {3 * inner, 7, 9}, {inner, 3, 6}, {0, 2, 1});
  load.at[0] = static_cast<std::int32_t>(inner);
  load.map.swizzle = swizzle;
  load.destination_offset = 128 * phase;
  return load;
}

// What a tile load can do, done in several blocks at once: types, ranks, swizzles at every phase of
// the destination, element strides.
std::vector<Op> box_rows(const RunContext&) {
  std::vector<Op> rows;
  const auto add = [&rows](const TileLoad& load) {
    const auto turn = static_cast<std::uint32_t>(rows.size());
    const std::uint32_t mask = 0xbU << turn % 3 & 0xfU;
    rows.emplace_back(multicast(load, 4, mask, turn % 4));
  };
  for (std::uint32_t type = 0; type < kDataTypes; ++type)
    for (const std::uint32_t rank : {2U, 3U}) add(tile_of_rank(static_cast<DataType>(type), rank));
  for (const std::uint32_t rank : {1U, 4U, 5U})
    for (const DataType type : kTypeOfEachSize) add(tile_of_rank(type, rank));
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      add(swizzled(kTypeOfEachSize[phase / 2], swizzle, phase));
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileLoad load = tile(DataType::u16, {40, 37}, {24, 17}, {8, 3});
    load.map.element_stride = {2, step, 1, 1, 1};
    load.map.base_offset = 48;
    add(load);
  }
  add(tile(DataType::u64, {258, 3}, {256, 2}, {2, 1}));  // rows of 2,048 bytes
  return rows;
}

const Register kBox{{
    .name = "multicast.box",
    .claim = "every block of the mask gets the same box, of any type, rank, swizzle and element "
             "stride, as a tile load would have brought it",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.7 swizzling modes",
    .rows = box_rows,
}};

// Bulk loads to several blocks at once: masks, issuers, slices, hints.
std::vector<Op> bulk_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t mask = 1; mask < 16; ++mask) {
    TileLoad load = bulk_load(DataType::u32, 16 * (3 + mask), 16 * (mask % 5));
    load.destination_offset = 16 * mask;
    load.hint = static_cast<CacheHint>(mask % 4);
    rows.emplace_back(multicast(load, 4, mask, mask % 4));
  }
  for (const std::uint32_t slices : {2U, 4U, 8U})
    for (const bool late : {false, true}) {
      MulticastLoad sliced = multicast(bulk_load(DataType::u16, 3072, 32), 8, 0xb5, 3);
      sliced.slices = slices;
      sliced.late_arm = late;
      rows.emplace_back(sliced);
    }
  return rows;
}

const Register kBulk{{
    .name = "multicast.bulk",
    .claim =
        "every block of the mask gets the same bytes at the same place, and their credit on its "
        "own barrier; no other block gets anything",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk, .multicast::cluster",
    .rows = bulk_rows,
}};

constexpr std::uint32_t kCluster16Size = 16;

// A cluster of sixteen blocks, which a GPU need not be able to start: single blocks, halves,
// alternations and all of them; and those of 9 to 15. Where it cannot, this case is skipped.
std::vector<Op> cluster16_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 0; rank < kCluster16Size; ++rank) {
    rows.emplace_back(
        multicast(small_box(), kCluster16Size, 1U << rank, (rank + 5) % kCluster16Size));
    rows.emplace_back(multicast(small_box(), kCluster16Size, 0xffffU ^ (1U << rank), rank));
  }
  const auto masks = {0xffffU, 0xff00U, 0x00ffU, 0xaaaaU, 0x5555U, 0x8001U, 0x0ff0U, 0x7c3eU};
  for (const std::uint32_t mask : masks)
    rows.emplace_back(multicast(small_box(), kCluster16Size, mask, mask % 15));
  for (std::uint32_t size = 9; size <= kCluster16Size; ++size) {
    const std::uint32_t all = (1U << size) - 1;
    for (std::uint32_t rank = size % 3; rank < size && size < kCluster16Size; rank += 3) {
      rows.emplace_back(multicast(small_box(), size, 1U << rank, (rank + 1) % size));
      rows.emplace_back(multicast(small_box(), size, all & ~(1U << rank), rank));
    }
    const TileLoad box = tile(DataType::u8, {80, 2 * size + 3}, {64, 2 * size}, {16, 1});
    MulticastLoad sliced = multicast(box, size, all, 1);
    sliced.slices = size;  // one from each block
    rows.emplace_back(sliced);
  }
  return rows;
}

const Register kCluster16{{
    .name = "multicast.cluster16",
    .claim =
        "where a GPU can start a cluster of sixteen blocks, each bit of the 16-bit mask serves "
        "one of them, as in clusters of 9 to 15, and as many slices complete one barrier",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, ctaMask; CUDA C++ Programming Guide, "
             "thread block clusters, cudaFuncAttributeNonPortableClusterSizeAllowed",
    .rows = cluster16_rows,
}};

// Receivers that announce their bytes only when the data has had time to land.
std::vector<Op> late_armed_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f64})
    for (const std::uint32_t size : {2U, 4U, 8U})
      for (std::uint32_t issuer = 0; issuer < size; ++issuer) {
        const std::uint32_t all = (1U << size) - 1;
        MulticastLoad row = multicast(tile_of_rank(type, 3), size, all, issuer);
        row.late_arm = true;
        rows.emplace_back(row);
        row.mask = static_cast<std::uint16_t>(all & ~(1U << issuer));
        rows.emplace_back(row);
      }
  return rows;
}

const Register kLateArmed{{
    .name = "multicast.late_armed",
    .claim = "a receiver may announce its bytes after they have landed: the phase stays open "
             "before, with a negative tx-count, and completes with the announcement",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 (tx-count from -(2^20-1)), 9.7.13.15.5 and 9.7.13.15.6 "
             "phase completion",
    .rows = late_armed_rows,
}};

// Every mask and every issuer of a cluster of two blocks, for each element size.
std::vector<Op> mask2_rows(const RunContext&) {
  std::vector<Op> rows = all_masks_and_issuers(2);
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t mask = 1; mask < 4; ++mask)
      for (std::uint32_t issuer = 0; issuer < 2; ++issuer)
        rows.emplace_back(multicast(tile_of_rank(type, 3), 2, mask, issuer));
  return rows;
}

const Register kMask2{{
    .name = "multicast.mask2",
    .claim = "in a cluster of two blocks a multicast serves the blocks of its mask and no other, "
             "whichever block issues it",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster and ctaMask",
    .rows = mask2_rows,
}};

// Every mask of a cluster of four blocks, from every issuer, in the mask or not.
std::vector<Op> mask4_rows(const RunContext&) { return all_masks_and_issuers(4); }

const Register kMask4{{
    .name = "multicast.mask4",
    .claim = "in a cluster of four blocks a multicast serves the blocks of each of the 15 masks "
             "and no other, whichever block issues it",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster and ctaMask",
    .rows = mask4_rows,
}};

constexpr std::uint32_t kMask8Size = 8;

bool is_quick(std::uint32_t mask) {
  const int blocks = std::popcount(mask);
  return blocks <= 2 || blocks >= 7 || mask == 0x0f || mask == 0xf0 || mask == 0x55 || mask == 0xaa;
}

// Masks of a cluster of eight blocks: one, two and all but one block, halves and alternations with
// the issuers in turn; nightly, every mask from every issuer.
std::vector<Op> mask8_rows(const RunContext& context) {
  if (context.level != Level::quick) return all_masks_and_issuers(kMask8Size);
  std::vector<Op> rows;
  for (std::uint32_t mask = 1; mask < 1U << kMask8Size; ++mask) {
    if (!is_quick(mask)) continue;
    const auto turn = static_cast<std::uint32_t>(rows.size());
    rows.emplace_back(multicast(small_box(), kMask8Size, mask, turn % kMask8Size));
    rows.emplace_back(multicast(small_box(), kMask8Size, mask, (turn + 3) % kMask8Size));
  }
  return rows;
}

const Register kMask8{{
    .name = "multicast.mask8",
    .claim = "in a cluster of eight blocks, the largest portable one, a multicast serves the "
             "blocks of its mask and no other",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster and ctaMask",
    .rows = mask8_rows,
}};

// 13 x 5 elements in padded rows.
TileLoad narrow(std::int32_t x, std::int32_t y, Fill fill) {
  TileLoad load = tile(DataType::f32, {13, 5}, {8, 4}, {x, y});
  load.map.fill = fill;
  return load;
}

// Boxes that hang out of the tensor, in part or whole: each block is filled, and credited in full.
std::vector<Op> outside_rows(const RunContext&) {
  std::vector<Op> rows;
  const auto add = [&rows](const TileLoad& load) {
    const auto turn = static_cast<std::uint32_t>(rows.size());
    rows.emplace_back(multicast(load, 4, 0xfU, turn % 4));
    rows.emplace_back(multicast(load, 4, 0xeU & ~(1U << (turn % 3 + 1)), 0));
  };
  for (const DataType type : {DataType::u8, DataType::u64})
    for (const std::uint32_t rank : {2U, 3U})
      for (std::uint32_t corner = 0; corner < 1U << rank; ++corner)
        add(in_corner(tile_of_rank(type, rank), corner, 1));
  for (const Fill fill : {Fill::zero, Fill::nan})
    for (const std::int32_t x : {-4, 4, 8, 12})
      for (const std::int32_t y : {-2, 3, 40}) add(narrow(x, y, fill));
  return rows;
}

const Register kOutside{{
    .name = "multicast.outside",
    .claim = "what lies outside the tensor is filled in every block of the mask, and each is "
             "credited the full box",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; 9.7.9.25.5.2 cp.async.bulk.tensor, "
             ".multicast::cluster",
    .rows = outside_rows,
}};

// Multicasts drawn at random over box, cluster, mask, issuer, slices and order; more of them at the
// higher levels.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {96, 600, 3000}, random_multicast);
}

const Register kRandom{{
    .name = "multicast.random",
    .claim = "any legal multicast does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster",
    .rows = random_rows,
}};

constexpr std::array<std::array<std::uint32_t, 3>, 15> kShapes{{{3, 1, 1},
                                                                {1, 5, 1},
                                                                {1, 1, 7},
                                                                {6, 1, 1},
                                                                {3, 1, 2},
                                                                {4, 1, 1},
                                                                {1, 4, 1},
                                                                {1, 1, 4},
                                                                {2, 2, 1},
                                                                {1, 2, 2},
                                                                {8, 1, 1},
                                                                {1, 8, 1},
                                                                {1, 1, 8},
                                                                {2, 2, 2},
                                                                {4, 1, 2}}};

// Clusters along x, along y, along z, and in two and three dimensions, of odd sizes too: the bit of
// a block is its rank in the cluster.
std::vector<Op> shape_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto& shape : kShapes) {
    const std::uint32_t size = shape[0] * shape[1] * shape[2];
    const auto add = [&](std::uint32_t mask, std::uint32_t issuer) {
      MulticastLoad row = multicast(small_box(), size, mask, issuer);
      row.cluster = shape;
      rows.emplace_back(row);
    };
    for (std::uint32_t rank = 0; rank < size; ++rank) add(1U << rank, (rank + 1) % size);
    add((1U << size) - 1, size - 1);
    add(3U, size / 2);
    add(5U << (size < 4 ? 0 : size - 4), 0);
  }
  return rows;
}

const Register kShape{{
    .name = "multicast.shape",
    .claim = "bit i of the mask is the block of rank i in the cluster, whatever the shape of the "
             "cluster",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, ctaMask; 10 special registers, "
             "%cluster_ctarank",
    .rows = shape_rows,
}};

// 16 rows of 64 bytes in two or three dimensions, plain or swizzled. Each extent differs.
std::vector<TileLoad> sliced_boxes() {
  TileLoad swizzled = tile(DataType::bf16, {96, 21}, {32, 16}, {32, 2});
  swizzled.map.swizzle = Swizzle::b64;
  swizzled.destination_offset = 384;
  TileLoad strided = tile(DataType::u32, {24, 5, 23}, {16, 2, 16}, {4, 1, 3});
  strided.map.element_stride[2] = 2;
  return {tile(DataType::u8, {112, 19}, {64, 16}, {16, 2}), swizzled, strided,
          tile(DataType::f32, {20, 18}, {16, 16}, {8, 7})};
}

// A box that several blocks share: each multicasts one slice of it to all, and each barrier
// completes when all slices have come.
std::vector<Op> sliced_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& box : sliced_boxes())
    for (const std::uint32_t size : {2U, 4U, 8U})
      for (std::uint32_t slices = 2; slices <= size; slices *= 2)
        for (const bool late : {false, true}) {
          const std::uint32_t all = (1U << size) - 1;
          MulticastLoad row = multicast(box, size, all, 0);
          row.slices = slices;
          row.late_arm = late;
          rows.emplace_back(row);
          row.mask = static_cast<std::uint16_t>(all & ~1U);  // slice 0 comes from outside the mask
          row.issuer = late ? size - 1 : 0;
          rows.emplace_back(row);
          row.mask = static_cast<std::uint16_t>(all >> 1);  // without the last block
          if (!late) rows.emplace_back(row);
        }
  return rows;
}

const Register kSliced{{
    .name = "multicast.sliced",
    .claim = "slices that different blocks multicast arrive each in its place in every block of "
             "the mask, and one barrier completes on the sum of them",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster; 9.7.13.15.5 "
             "tracking asynchronous operations by the mbarrier object",
    .rows = sliced_rows,
}};

// The ring of stages of a GEMM whose CTAs share their operands: consumers release a stage in every
// CTA that loads into it.
std::vector<Op> stage_ring_rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const std::uint32_t ctas : {2U, 4U, 8U})
    for (const std::uint32_t stages : {1U, 3U})
      for (const std::uint32_t consumers : {1U, 2U, 248U})
        for (const Swizzle swizzle : {Swizzle::none, Swizzle::b64}) {
          const bool is_of_quick = consumers != 2 && (stages == 1) == (swizzle == Swizzle::none);
          if (context.level == Level::quick && !is_of_quick) continue;
          const std::uint32_t blocks = stages + 2;
          const TensorMapSpec map =
              map_of(DataType::u32, {std::uint64_t{16} * blocks, 8 * ctas}, {16, 8}, swizzle);
          rows.emplace_back(program_of(StageRing{map, stages, blocks, consumers, ctas}));
        }
  return rows;
}

const Register kStageRing{{
    .name = "multicast.stage_ring",
    .claim =
        "an arrival from another CTA of the cluster counts on the barrier that it names, and a "
        "stage that all CTAs load into is free when the consumers of all have arrived",
    .cites = "PTX ISA 9.0, 9.7.13.15.13 mbarrier.arrive, .shared::cluster; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, .multicast::cluster",
    .rows = stage_ring_rows,
}};

std::vector<TileLoad> unmasked_boxes() {
  TileLoad swizzled = tile(DataType::u8, {384, 19}, {128, 11}, {128, 3});
  swizzled.map.swizzle = Swizzle::b128;
  swizzled.destination_offset = 640;
  return {tile(DataType::u8, {48}, {16}, {16}), tile_of_rank(DataType::u32, 4), swizzled};
}

// Blocks outside the mask as canaries: the issuer itself, all but one block, and neighbours, with
// boxes that leave little or much of the window unwritten.
std::vector<Op> unmasked_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& box : unmasked_boxes())
    for (const std::uint32_t size : {4U, 8U})
      for (std::uint32_t issuer = 0; issuer < size; ++issuer) {
        const std::uint32_t all = (1U << size) - 1;
        const std::uint32_t next = 1U << (issuer + 1) % size;
        rows.emplace_back(multicast(box, size, next, issuer));
        rows.emplace_back(multicast(box, size, all & ~next, issuer));
        rows.emplace_back(multicast(box, size, all & ~(1U << issuer), issuer));
        MulticastLoad sliced = multicast(box, size, all & ~(1U << issuer) & ~next, issuer);
        sliced.slices = 2;  // both from outside the mask
        if (refusal_of(sliced) == nullptr) rows.emplace_back(sliced);
      }
  return rows;
}

const Register kUnmasked{{
    .name = "multicast.unmasked",
    .claim = "a block outside the mask gets no byte and no credit, even where it issues the "
             "multicast",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, ctaMask",
    .rows = unmasked_rows,
}};

}  // namespace
}  // namespace tidemark
