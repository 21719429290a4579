// Announced less than comes. Where the arrival waits for the data the phase cannot complete; where
// it does not, only what is owed afterwards is promised. Single credits by hand go past zero or
// meet it.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

// Two credits by hand, 512 and 256 bytes: zero is met after the first, jumped over, or never near.
void append_simulated(std::vector<Op>& rows) {
  for (const std::uint32_t announced : {16U, 256U, 496U, 512U, 528U, 752U, 767U})
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::issued_first}) {
      ExpectTx op = announce(mismatch_boxes().front(), announced);
      op.simulated = {512, 256};
      op.order = order;
      rows.emplace_back(op);
    }
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    for (const std::uint32_t less : {1U, 16U, bytes / 2, bytes - 16}) {
      const ExpectTx racing = announce(load, bytes - less);
      ExpectTx landed = racing;
      landed.order = IssueOrder::landed_first;
      ExpectTx late = racing;
      late.arrival = Arrival::late;
      rows.insert(rows.end(), {racing, landed, late});
    }
  }
  append_simulated(rows);
  return rows;
}

const Register kCase{{
    .name = "expect_tx.under",
    .claim = "a phase announced d bytes too few owes exactly d less than nothing, in this "
             "phase or in the next, completes only if a credit ends where the count is zero, "
             "and can be brought back",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.5 tx-count; 9.7.13.15.6 "
             "phase completion",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
