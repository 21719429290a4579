// Announced when everything has landed: the tx-count has gone below zero, which is legal, and comes
// back.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const std::uint32_t announcements : {1U, 2U})
      for (const Arrival arrival :
           {Arrival::with_announcement, Arrival::separate, Arrival::late, Arrival::missing}) {
        ExpectTx op = announce(load, tile_bytes(load.map) / announcements);
        op.announcements = announcements;
        op.arrival = arrival;
        op.order = IssueOrder::landed_first;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.late",
    .claim = "a copy that landed before it was announced leaves the tx-count negative, and an "
             "exact announcement then completes the phase with the arrival",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.6 phase completion",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
