// Announced with expect_tx alone, which is no arrival: a frequent slip, since arrive.expect_tx is.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    for (const std::uint32_t announced : {bytes, bytes + 16, bytes - 16, 0U})
      for (const IssueOrder order :
           {IssueOrder::announced_first, IssueOrder::issued_first, IssueOrder::landed_first}) {
        ExpectTx op = announce(load, announced);
        op.arrival = Arrival::missing;
        op.order = order;
        rows.emplace_back(op);
      }
  }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.missing_arrival",
    .claim = "a phase that nobody arrived on does not complete, whatever was announced and "
             "came, and a plain arrival completes it if nothing is owed",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; 9.7.13.15.11 mbarrier.expect_tx; "
             "9.7.13.15.13 mbarrier.arrive",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
