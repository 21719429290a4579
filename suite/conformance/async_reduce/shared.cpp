// All other CTAs of a cluster reduce one word in the window of each, several times.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const SharedReduction& how : shared_reductions())
    for (const std::uint32_t ctas : {2U, 5U, 8U})
      rows.emplace_back(reductions_of_one_word(how, ctas));
  return rows;
}

const Register kCase{{
    .name = "async.reduce.shared",
    .claim =
        "of what all other CTAs of a cluster reduce into one word by red.async nothing is lost "
        "and nothing counts twice",
    .cites = "PTX ISA 9.0, 9.7.13.7 red.async",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
