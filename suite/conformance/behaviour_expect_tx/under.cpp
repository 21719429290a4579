// Sweeps the announcement of a copy from 16 bytes to all but 16. Which of them complete early says
// in what pieces a GPU credits: the PTX ISA does not. There is no such size. On an H200 (driver
// 580.159.04, November 2026, four runs in four processes) announcements of any multiple of 16
// completed early in one run and not in the next: for 8192 bytes 198 of 511 in one process and 172
// in another, in two runs each, most of them only once. So early completion is a race, and only
// what is owed is judged.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

void append_sweep(std::vector<Op>& rows, const TileLoad& load, std::uint32_t step) {
  for (std::uint32_t announced = step; announced < tile_bytes(load.map); announced += step)
    rows.emplace_back(announce(load, announced));
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  if (context.level == Level::quick) {
    append_sweep(rows, mismatch_boxes()[0], 16);   // 256 bytes, rank 1
    append_sweep(rows, mismatch_boxes()[3], 64);   // 2 KiB, swizzled
    append_sweep(rows, mismatch_boxes()[5], 128);  // 8 KiB
    return rows;
  }
  for (const TileLoad& load : mismatch_boxes()) append_sweep(rows, load, 16);
  return rows;
}

const Register kCase{{
    .name = "behaviour.expect_tx.under",
    .claim = "under-announced by any multiple of 16 bytes, a phase completes early only where "
             "a piece of the credit ends on the announcement, and owes the rest either way",
    .cites = "recorded; PTX ISA 9.0, 9.7.13.15.6 phase completion, and 9.7.9.25.5.2, which "
             "says nothing of the size of the pieces",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
