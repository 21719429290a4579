// Each width at each place that its alignment allows, in lines of 32 bytes whose rest must stay.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const AsyncWidth& width : kAsyncWidths) rows.emplace_back(stores_at_places(width));
  return rows;
}

const Register kCase{{
    .name = "async.store.places",
    .claim = "st.async writes its bytes and no others at any multiple of their number",
    .cites = "PTX ISA 9.0, 9.7.9.12 st.async",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
