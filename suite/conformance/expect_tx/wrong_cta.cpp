// Announced on the barrier of the other block in a cluster, as by a wrong rank, with the
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
        op.on = AnnouncedOn::peer;
        op.arrival = arrival;
        op.order = order;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.wrong_cta",
    .claim = "bytes announced in the other block of a cluster are owed there, and the copy "
             "lands and credits in its own block alone",
    .cites = "PTX ISA 9.0, 9.7.13.15.8 mbarrier support with shared memory; 9.7.13.15.11 "
             "mbarrier.expect_tx, shared::cluster; 9.7.9.25.5.2 cp.async.bulk.tensor",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
