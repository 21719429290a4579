// Up to the ends of the range of a tx-count, by announcements and credits by hand: no copy is large
// enough.
#include "suite/case.hpp"
#include "suite/conformance/mismatch.hpp"

namespace tidemark::suite {
namespace {

struct Credit {
  std::uint32_t announced, first, second;
};

std::vector<Op> rows(const RunContext&) {
  constexpr std::uint32_t kMax = kTxCountMax;
  constexpr std::uint32_t kHalf = 1U << 19;
  std::vector<Op> rows;
  // Announced once, and what comes. The last four leave something owed.
  for (const auto& [announced, first, second] :
       {Credit{kMax, kMax, 0}, Credit{kMax, 1, kMax - 1}, Credit{kMax, kMax - 1, 1},
        Credit{kMax, kHalf, kHalf - 1}, Credit{kMax - 1, kMax - 1, 0},
        Credit{kMax - 15, kMax - 31, 16}, Credit{kHalf, kHalf, 0}, Credit{kHalf - 1, kHalf - 1, 0},
        Credit{kHalf + 1, kHalf, 1}, Credit{65536, 65536, 0}, Credit{kMax, kMax - 1, 0},
        Credit{kMax, 16, 0}, Credit{1, kMax - 1, 0}, Credit{kHalf, kMax - 1, 0}})
    for (const IssueOrder order : {IssueOrder::announced_first, IssueOrder::landed_first})
      for (const Arrival arrival : {Arrival::with_announcement, Arrival::late}) {
        ExpectTx op = announce(mismatch_boxes().front(), announced);
        op.simulated = {first, second};
        op.order = order;
        op.arrival = arrival;
        rows.emplace_back(op);
      }
  return rows;
}

const Register kCase{{
    .name = "expect_tx.limits",
    .claim = "a tx-count reaches 2^20-1 bytes on either side of zero and comes back exactly",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range -(2^20-1) to 2^20-1; 9.7.13.15.12 "
             "mbarrier.complete_tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
