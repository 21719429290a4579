// Sweeps the announcement of a copy from 16 bytes to all but 16. Which of them complete early says
// in what pieces a GPU credits: the PTX ISA does not. Recorded, and judged only where it was
// measured.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark {
namespace {

// Bytes in which a GPU was measured to credit a copy, with driver, GPU and date; 0 where it was
// not, so that nothing is judged.
constexpr std::uint32_t kMeasuredGranule = 0;

void append_sweep(std::vector<Op>& rows, const RunContext& context, const TileLoad& load,
                  std::uint32_t step) {
  for (std::uint32_t announced = step; announced < tile_bytes(load.map); announced += step) {
    ExpectTx op = announce(load, announced);
    if (context.device == DeviceKind::cuda) op.credit_granule = kMeasuredGranule;
    rows.emplace_back(op);
  }
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  if (context.level == Level::quick) {
    append_sweep(rows, context, mismatch_boxes()[0], 16);   // 256 bytes, rank 1
    append_sweep(rows, context, mismatch_boxes()[3], 64);   // 2 KiB, swizzled
    append_sweep(rows, context, mismatch_boxes()[5], 128);  // 8 KiB
    return rows;
  }
  for (const TileLoad& load : mismatch_boxes()) append_sweep(rows, context, load, 16);
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
}  // namespace tidemark
