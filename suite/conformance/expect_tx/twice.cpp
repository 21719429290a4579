// The same announcement made twice, as by two producers that each think they are the only one; and
// two halves, which make a whole.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    for (const std::uint32_t part : {1U, 2U})
      for (const Arrival arrival : {Arrival::with_announcement, Arrival::separate, Arrival::late}) {
        ExpectTx op = announce(load, tile_bytes(load.map) / part);
        op.announcements = 2;
        op.arrival = arrival;
        rows.emplace_back(op);
        op.order = IssueOrder::landed_first;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.twice",
    .claim = "two announcements add up: a whole copy announced twice owes it once more, and "
             "two halves complete it",
    .cites = "PTX ISA 9.0, 9.7.13.15.5.1 expect-tx operation; 9.7.13.15.11 mbarrier.expect_tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
