// Sweeps the announcement of a copy. Which of them complete early says in what pieces a GPU
// credits: the PTX ISA does not. On an H200 (driver 580.159.04, November 2026) there is no fixed
// size, and an announcement that completed early in one run did not in the next; but every piece is
// a multiple of 32 bytes where each row of the box is made of whole 32-byte sectors of memory, and
// a multiple of 16 elsewhere. So early completion is a race at multiples of that step, and is wrong
// between them.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

void append_sweep(std::vector<Op>& rows, const TileLoad& load, std::uint32_t step) {
  for (std::uint32_t announced = step; announced < tile_bytes(load.map); announced += step)
    rows.emplace_back(announce(load, announced));
}

// Off the step of every box.
void append_odd(std::vector<Op>& rows, const TileLoad& load) {
  const std::uint32_t bytes = tile_bytes(load.map);
  for (const std::uint32_t announced : {1U, 8U, bytes / 2 + 8, bytes - 8, bytes - 1})
    rows.emplace_back(announce(load, announced));
}

// Rows that begin, or end, in the middle of a sector, both or neither. No two boxes have the same
// size, so that notes tell them apart.
std::vector<TileLoad> boxes_by_sector() {
  return {
      tile(DataType::u8, {128, 16}, {64, 9}, {0, 1}),    // neither: 576 bytes
      tile(DataType::u8, {128, 16}, {64, 6}, {16, 1}),   // both: 384
      tile(DataType::u8, {128, 16}, {48, 6}, {0, 1}),    // end: 288
      tile(DataType::u8, {128, 16}, {48, 10}, {16, 1}),  // begin: 480
  };
}

std::vector<Op> under_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::vector<TileLoad> boxes = boxes_by_sector();
  if (context.level == Level::quick) {
    append_sweep(rows, mismatch_boxes()[3], 16);   // 2 KiB, swizzled, whole sectors
    append_sweep(rows, mismatch_boxes()[5], 128);  // 8 KiB
  } else {
    for (const TileLoad& load : mismatch_boxes()) boxes.push_back(load);
  }
  for (const TileLoad& load : boxes) {
    append_sweep(rows, load, 16);
    append_odd(rows, load);
  }
  return rows;
}

const Register kUnder{{
    .name = "behaviour.expect_tx.under",
    .claim = "under-announced, a phase completes early only at a multiple of 32 bytes where the "
             "box is read in whole sectors and of 16 elsewhere, and owes the rest either way",
    .cites = "measured on an H200, driver 580.159.04, 2026-11; PTX ISA 9.0, 9.7.13.15.6 phase "
             "completion, and 9.7.9.25.5.2, which says nothing of the size of the pieces",
    .rows = under_rows,
}};

}  // namespace
}  // namespace tidemark
