// The right announcement, in every order of announcing, arriving and issuing: the control of the
// family.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::issued_first})
      for (const Arrival arrival : {Arrival::with_announcement, Arrival::separate, Arrival::late}) {
        ExpectTx op = announce_exactly(load);
        op.order = order;
        op.arrival = arrival;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.exact",
    .claim = "a phase completes once, with the last byte, when exactly the bytes of the copy "
             "are announced, in whatever order announcement, arrival and issue come",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tx-count; 9.7.13.15.6 phase completion; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, complete-tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
