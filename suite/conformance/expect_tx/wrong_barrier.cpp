// Announced on another barrier of the same block, as by a wrong stage index, with the
// arrival there, here or nowhere.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const Arrival arrival :
         {Arrival::with_announcement, Arrival::separate, Arrival::late, Arrival::missing})
      for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::landed_first}) {
        ExpectTx op = announce_exactly(load);
        op.on = AnnouncedOn::other_barrier;
        op.arrival = arrival;
        op.order = order;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.wrong_barrier",
    .claim = "bytes announced on another barrier of the block are owed there, and the copy's "
             "own barrier is credited what nobody announced",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tx-count; 9.7.13.15.6 phase completion; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, mbarrier operand",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
