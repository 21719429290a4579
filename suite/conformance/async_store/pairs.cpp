// Every width between every two CTAs of clusters of every size.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t ctas = 2; ctas <= 8; ++ctas)
    for (const AsyncWidth& width : kAsyncWidths)
      rows.emplace_back(stores_of_every_pair(ctas, width));
  return rows;
}

const Register kCase{{
    .name = "async.store.pairs",
    .claim = "st.async writes one element of 32 or 64 bits, or a vector of up to 16 bytes, from "
             "any CTA of a cluster to any, credits its bytes once to the barrier of the CTA that "
             "gets them and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.12 st.async",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
