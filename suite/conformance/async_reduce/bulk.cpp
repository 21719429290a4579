// Reducing sends: of several sizes to another CTA, and of several CTAs into one range.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const SharedReduction& how : shared_reductions()) {
    for (const std::uint32_t bytes : {16U, 48U, 272U, 4112U})
      rows.emplace_back(bulk_reductions(how, 2, bytes));
    rows.emplace_back(bulk_reductions(how, 4, 272));
    rows.emplace_back(bulk_reductions(how, 8, 64));
  }
  return rows;
}

const Register kCase{{
    .name = "async.reduce.bulk",
    .claim =
        "a bulk reduction into the window of a CTA reduces each element as operation and type "
        "say, adds up with those of other CTAs and credits its bytes once to the barrier there",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.2 cp.reduce.async.bulk.shared::cluster.shared::cta",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
