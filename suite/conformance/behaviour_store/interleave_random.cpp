// Stores by interleaved maps drawn at random; more of them at the higher levels.
#include "suite/case.hpp"
#include "suite/conformance/interleave.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {128, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_interleaved_store(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.interleave_random",
    .claim = "any store by an interleaved map that the encoder takes moves the units that "
             "behaviour.store.interleave says, however its features meet",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
