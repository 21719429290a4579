// Maps that are drawn at random and made of each other.
#include "suite/case.hpp"
#include "suite/conformance/map_change.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(program_of(random_change(splitmix64(context.seed + i))));
  return rows;
}

const Register kCase{{
    .name = "map.replace.random",
    .claim = "a tensor map of any type but tf32 can be made any other by replacing what differs, "
             "and so can zeros",
    .cites = "PTX ISA 9.0, 9.7.9.26 tensormap.replace; CUDA C++ Programming Guide 13.0, 10.30 "
             "Encoding a Tensor Map on Device",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
