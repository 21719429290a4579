// A case of its own: where a GPU cannot start such a cluster the whole case is skipped.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  return {stores_of_every_pair(16, kAsyncWidths[0]), stores_of_every_pair(16, kAsyncWidths[4])};
}

const Register kCase{{
    .name = "async.store.cluster16",
    .claim = "where a GPU can start a cluster of sixteen CTAs, st.async goes between any two of "
             "them",
    .cites = "PTX ISA 9.0, 9.7.9.12 st.async",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
