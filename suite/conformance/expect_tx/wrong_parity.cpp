// A wait for the phase before the current one: on a fresh barrier it returns at once, with the copy
// on its way; once the phase is complete it waits for the next one.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes()) {
    const std::uint32_t bytes = tile_bytes(load.map);
    const auto add = [&rows](ExpectTx op, Arrival arrival, IssueOrder order) {
      op.parity = 1;
      op.arrival = arrival;
      op.order = order;
      rows.emplace_back(op);
    };
    add(announce(load, bytes), Arrival::missing, IssueOrder::announced_first);
    add(announce(load, bytes), Arrival::late, IssueOrder::announced_first);
    add(announce(load, bytes), Arrival::with_announcement, IssueOrder::landed_first);
    add(announce(load, bytes), Arrival::with_announcement, IssueOrder::announced_first);
    add(announce(load, bytes + 16), Arrival::with_announcement, IssueOrder::announced_first);
    add(announce(load, bytes - 16), Arrival::late, IssueOrder::announced_first);
    add(announce(load, 0), Arrival::with_announcement, IssueOrder::announced_first);
    add(announce(load, 0), Arrival::separate, IssueOrder::landed_first);
  }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.wrong_parity",
    .claim = "a wait for parity 1 returns at once while phase 0 is incomplete, and does not "
             "return once phase 0 is complete",
    .cites = "PTX ISA 9.0, 9.7.13.15.16 mbarrier.test_wait, mbarrier.try_wait: the current or "
             "the immediately preceding phase",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
