// The claims of the TIRx book; suite/articles.md lists them.
#include "suite/case.hpp"
#include "suite/conformance/stage_ring.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// `groups` groups of `bytes` in a row of the matrix; dimension 2 walks from group to group.
TensorMapSpec grouped(DataType type, std::uint32_t bytes, std::uint64_t groups,
                      std::uint64_t height, std::uint32_t rows, std::uint32_t taken,
                      Swizzle swizzle) {
  const std::uint32_t inner = elements_in(bytes, type);
  TensorMapSpec map = map_of(type, {inner, height, groups}, {inner, rows, taken}, swizzle);
  map.stride[0] = bytes * groups;
  map.stride[1] = bytes;
  return map;
}

// A matrix seen as (group, row, column): one copy lays a tile out atom by atom and swizzles each.
std::vector<Op> atoms_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : kSwizzles) {
      const std::uint32_t bytes = swizzle_bytes(swizzle);
      const TensorMapSpec from = grouped(type, bytes, 4, 14, 7, 2, swizzle);
      // Back to a matrix of groups one behind the other, so that the destination tells the order.
      const TensorMapSpec to = map_of(type, {elements_in(bytes, type), 14, 4},
                                      {elements_in(bytes, type), 7, 2}, swizzle);
      rows.emplace_back(there_and_back(from, to));
      TileRoundTrip placed = there_and_back(from, to);
      placed.work = TileWork::thread_copy;
      placed.ctas = 2;
      placed.stages = 2;  // the second starts in the middle of a pattern
      rows.emplace_back(placed);
    }
  // The 16 x 16 tile of 16-byte pieces in two groups of 16 x 8, which fill a row of 128 bytes each.
  const TensorMapSpec split = grouped(DataType::bf16, 128, 2, 16, 16, 2, Swizzle::b128);
  rows.emplace_back(
      there_and_back(split, map_of(DataType::bf16, {64, 16, 2}, {64, 16, 2}, Swizzle::b128)));
  return rows;
}

const Register kAtoms{{
    .name = "scenario.tirx.atoms",
    .claim =
        "one three-dimensional copy lays a tile out group by group, each row of a group as wide "
        "as the swizzle, with the swizzle inside",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.7 swizzling modes; TIRx book, 3D TMA for "
             "Tiling and Swizzling",
    .rows = atoms_rows,
}};

// Tiles of 2048 bytes in rows as wide as `swizzle` asks; without one, as wide as `other` asks.
TensorMapSpec rows_of(DataType type, Swizzle swizzle, Swizzle other) {
  const std::uint32_t bytes = swizzle_bytes(swizzle == Swizzle::none ? other : swizzle);
  const std::uint32_t inner = elements_in(bytes, type), height = 2048 / bytes;
  return map_of(type, {inner, 3 * height}, {inner, height}, swizzle);
}

// Load and store that disagree about the swizzle: the hardware does to each what it was asked.
std::vector<Op> disagreement_rows(const RunContext&) {
  constexpr std::array kAll{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};
  std::vector<Op> rows;
  for (const DataType type : {DataType::bf16, DataType::u8})
    for (const Swizzle load : kAll)
      for (const Swizzle store : kAll) {
        if (load == store) continue;
        TileRoundTrip trip = there_and_back(rows_of(type, load, store), rows_of(type, store, load));
        trip.stages = 2;
        trip.ctas = 2;
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kDisagreement{{
    .name = "scenario.tirx.disagreement",
    .claim =
        "a tile that is loaded with one swizzle and stored with another comes back in the order "
        "that the two tables give one after the other",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; TIRx book, Swizzled Layouts",
    .rows = disagreement_rows,
}};

// Whichever thread of a block issues, the whole tile moves and all threads find it.
std::vector<Op> one_thread_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t issuer : {0U, 1U, 31U, 32U, 63U, 64U, 95U, 127U}) {
    const TensorMapSpec operand =
        map_of(DataType::bf16, {128, 24}, {64, 16}, Swizzle::b128);  // an operand tile of a GEMM
    TileRoundTrip moved = there_and_back(operand, operand);
    moved.issuer = issuer;
    rows.emplace_back(moved);
    TileRoundTrip added = in_place(map_of(DataType::u32, {32, 20}, {16, 8}, Swizzle::b64));
    added.work = TileWork::add_index;
    added.issuer = issuer;
    added.ctas = 2;
    rows.emplace_back(added);
  }
  return rows;
}

const Register kOneThread{{
    .name = "scenario.tirx.one_thread",
    .claim =
        "one thread of the block, any of them, issues the loads and stores of whole tiles, and "
        "every thread finds the tile behind its own wait",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 and 9.7.13.15.16; TIRx book, Async Data Movement: TMA",
    .rows = one_thread_rows,
}};

// Stages that are loaded, consumed and loaded again, as the k-blocks of a GEMM are.
std::vector<Op> stage_ring_rows(const RunContext& context) {
  const std::uint32_t height = context.level == Level::quick ? 16 : 64;
  std::vector<Op> rows;
  for (const std::uint32_t ctas : {1U, 2U})
    for (std::uint32_t stages = 1; stages <= 4; ++stages)
      for (const std::uint32_t consumers : {1U, 128U, 255U}) {
        const std::uint32_t blocks = 2 * stages + 1;  // both parities, and one of them again
        const TensorMapSpec map = map_of(DataType::bf16, {std::uint64_t{64} * blocks, height},
                                         {64, height / ctas}, Swizzle::b128);
        rows.emplace_back(program_of(StageRing{map, stages, blocks, consumers, ctas}));
      }
  return rows;
}

const Register kStageRing{{
    .name = "scenario.tirx.stage_ring",
    .claim = "a stage is read when its bytes are there, and loaded again when the last of its "
             "consumers has released it",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; TIRx book, Why TMA Matters for "
             "Pipelining; Croqtile manual, the events full and empty",
    .rows = stage_ring_rows,
}};

// Stores complete by commit group and wait group, behind which a stage is loaded again.
std::vector<Op> store_group_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t stages = 1; stages <= kTripStages; ++stages)
    for (std::uint32_t group = 1; group <= stages; ++group)
      for (const std::uint32_t ctas : {1U, 2U}) {
        const TensorMapSpec map = map_of(DataType::u32, {16, 27}, {8, 3});  // 18 tiles of 96 bytes
        TensorMapSpec padded = map;
        padded.stride[0] += 32;
        TileRoundTrip trip = there_and_back(map, padded);
        trip.ctas = ctas;
        trip.stages = stages;
        trip.stores_per_group = group;
        trip.work = ctas == 1 ? TileWork::identity : TileWork::add_one;
        rows.emplace_back(trip);
        const TensorMapSpec wide = map_of(DataType::bf16, {128, 40}, {64, 8}, Swizzle::b128);
        trip = there_and_back(wide, wide);
        trip.ctas = ctas;
        trip.stages = stages;
        trip.stores_per_group = group;
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kStoreGroup{{
    .name = "scenario.tirx.store_group",
    .claim = "behind the wait for a group of stores to have read shared memory the stage can be "
             "loaded again, and behind the full wait all they wrote is in memory",
    .cites = "PTX ISA 9.0, cp.async.bulk.commit_group and cp.async.bulk.wait_group; TIRx book, "
             "Completion: Stores",
    .rows = store_group_rows,
}};

}  // namespace
}  // namespace tidemark
