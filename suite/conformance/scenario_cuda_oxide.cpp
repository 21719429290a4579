// The claims of the cuda-oxide article; suite/articles.md lists them.
#include "kernels/ops/barriers.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Every destination on 128 bytes is a legal one.
std::vector<Op> alignment_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128})
    for (std::uint32_t offset = 0; offset <= 2048; offset += 128) {
      TileLoad load = tile(DataType::f32, {96, 20}, {32, 11}, {32, 3});
      load.map.swizzle = swizzle;
      load.destination_offset = offset;
      rows.emplace_back(load);
    }
  return rows;
}

const Register kAlignment{{
    .name = "scenario.cuda_oxide.alignment",
    .claim =
        "a destination in shared memory at any multiple of 128 bytes receives the box exactly, "
        "and nothing beside it changes",
    .cites = "CUDA C++ Programming Guide, 10.29.2 alignment of shared memory; cuda-oxide book, "
             "Alignment requirements",
    .rows = alignment_rows,
}};

constexpr std::array<std::array<BarrierLife, 3>, 8> kLives{{
    {{{1, 1}, {1, 1}, {1, 1}}},
    {{{1, 3}, {128, 2}, {5, 1}}},
    {{{128, 1}, {1, 2}, {128, 1}}},
    {{{128, 2}, {64, 1}, {32, 3}}},
    {{{2, 1}, {3, 1}, {2, 2}}},
    {{{256, 3}, {255, 1}, {256, 1}}},
    {{{33, 1}, {31, 3}, {1, 1}}},
    {{{5, 5}, {7, 1}, {6, 2}}},
}};

// The life of a managed barrier: init, arrive and wait, inval; then the memory is plain data, and a
// barrier again with another count.
std::vector<Op> barrier_cycle_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto& lives : kLives)
    for (std::uint32_t rank = 1; rank <= 3; ++rank) {
      const TileLoad load = tile_of_rank(DataType::f32, rank);
      BarrierCycle cycle{.map = load.map, .payload = {}};
      cycle.step[0] = 4;
      cycle.life_count = 3;
      for (std::uint32_t i = 0; i < 3; ++i) cycle.lives[i] = lives[i];
      rows.emplace_back(cycle);
    }
  return rows;
}

const Register kBarrierCycle{{
    .name = "scenario.cuda_oxide.barrier_cycle",
    .claim = "a barrier that was invalidated leaves plain memory, and initialised again it has its "
             "new count and starts with phase 0, whatever it was before",
    .cites = "PTX ISA 9.0, 9.7.13.15.9 mbarrier.init and 9.7.13.15.10 mbarrier.inval; cuda-oxide "
             "book, The mbarrier dance",
    .rows = barrier_cycle_rows,
}};

// Coordinates count elements, not boxes, and dimensions are given fastest first: the article has
// both the other way round.
std::vector<Op> coordinates_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const std::int32_t x : {1, 2, 3})
      for (const std::int32_t y : {1, 5}) {
        // Four times as wide as high: taken as rows and columns, most of it would be missing. A
        // coordinate in boxes would reach far beyond these.
        const std::uint32_t inner = elements_in(64, type);
        rows.emplace_back(tile(type, {4 * inner, 16}, {inner, 4}, {x * inner_step(type), y}));
      }
  return rows;
}

const Register kCoordinates{{
    .name = "scenario.cuda_oxide.coordinates",
    .claim = "the coordinates of a copy count elements of the tensor, not boxes, with the fastest "
             "dimension first",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 tensorCoords; CUDA Driver API, cuTensorMapEncodeTiled; "
             "cuda-oxide book, Global-to-shared copies",
    .rows = coordinates_rows,
}};

// The article wants the bytes announced before the copy; the documents ask only that the phase
// cannot complete in between.
std::vector<Op> copy_first_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t count : {1U, 2U, 128U})
    for (const std::uint32_t height : {1U, 8U, 32U})
      for (const bool twice : {false, true}) {
        BarrierCycle cycle{.map = map_of(DataType::f32, {32, height + 8}, {32, height}),
                           .payload = {}};
        cycle.step = {0, 1};
        // Of both parities, since a life that goes on where the one before ended shows in one only.
        cycle.lives[0] = {.count = count, .phases = twice ? 2U : 3U};
        cycle.lives[1] = {.count = 4, .phases = 2};
        cycle.life_count = twice ? 2 : 1;
        cycle.copy_first = true;
        rows.emplace_back(cycle);
      }
  return rows;
}

const Register kCopyFirst{{
    .name = "scenario.cuda_oxide.copy_first",
    .claim = "bytes that land before they are announced count: while an arrival is pending the "
             "tx-count may be below zero",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 range of the tx-count and 9.7.13.15.6; CUDA C++ Programming "
             "Guide, 10.30.2; cuda-oxide book, Key barrier rules",
    .rows = copy_first_rows,
}};

// Loads of one to five dimensions of the article's element type, swizzled as there where they can.
std::vector<Op> ranks_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    rows.emplace_back(tile_of_rank(DataType::f32, rank));
    TileLoad swizzled = tile_of_rank(DataType::f32, rank);
    swizzled.map.box[0] = 32;  // 128 bytes
    swizzled.map.swizzle = Swizzle::b128;
    swizzled.map.l2_promotion = L2Promotion::b128;
    rows.emplace_back(swizzled);
    for (std::uint32_t i = 0; i < rank; ++i) {
      TileLoad over = swizzled;  // hangs over the end of one dimension
      over.at[i] = highest_inside(over, i) + step_of(over, i);
      rows.emplace_back(over);
    }
  }
  return rows;
}

const Register kRanks{{
    .name = "scenario.cuda_oxide.ranks",
    .claim = "copies of one to five dimensions move the box of f32 that the descriptor and the "
             "coordinates name, dimension 0 fastest",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 and 5.5.3; cuda-oxide book, Tensor Memory Accelerator, "
             "Global-to-shared copies",
    .rows = ranks_rows,
}};

}  // namespace
}  // namespace tidemark
