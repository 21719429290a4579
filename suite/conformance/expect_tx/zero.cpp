// Nothing announced: by an announcement of 0, or by none. The arrival alone then decides, and it
// depends on whether the data had come before it.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::landed_first}) {
      ExpectTx op = announce(load, 0);
      op.order = order;
      rows.emplace_back(op);
      op.arrival = Arrival::separate;
      rows.emplace_back(op);
      op.announcements = 0;
      rows.emplace_back(op);
      op.arrival = Arrival::late;
      rows.emplace_back(op);
    }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.zero",
    .claim = "without an announcement a phase completes with its arrival if no byte has come, "
             "and not at all if all have, and either way owes the whole copy",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; 9.7.13.15.7 arrive-on",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
