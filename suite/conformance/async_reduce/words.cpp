// Each reduction of any two words at the ends of their ranges, from one CTA to the next.
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const SharedReduction& how : shared_reductions())
    rows.emplace_back(reductions_of_words(how));
  return rows;
}

const Register kCase{{
    .name = "async.reduce.words",
    .claim =
        "red.async reduces a word of another CTA as its operation and type say, at the ends of "
        "its range, too, and credits its bytes once to the barrier there",
    .cites = "PTX ISA 9.0, 9.7.13.7 red.async",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
