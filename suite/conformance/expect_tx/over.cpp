// Announced more than comes: by a byte, by pieces of 16, by as much again, and up to the limit of
// the tx-count.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    for (const std::uint32_t more :
         {1U, 8U, 16U, 32U, 48U, 4096U, 65536U, bytes, kTxCountMax - bytes})
      rows.emplace_back(announce(load, bytes + more));
    for (const IssueOrder order : {IssueOrder::issued_first, IssueOrder::landed_first}) {
      ExpectTx op = announce(load, bytes + 16);
      op.order = order;
      rows.emplace_back(op);
    }
    ExpectTx late = announce(load, bytes + 16);
    late.arrival = Arrival::late;
    rows.emplace_back(late);
  }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.over",
    .claim = "a phase announced d bytes too many does not complete, has its data all the "
             "same, owes exactly d and completes when they are taken off",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tx-count; 9.7.13.15.6 phase completion; 9.7.13.15.12 "
             "mbarrier.complete_tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
