// One CTA that changes its map again and again, released and acquired at each scope.
#include "suite/case.hpp"
#include "suite/conformance/map_change.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kChanges[] = {4, 16, 64};  // by level
  const std::uint32_t count = kChanges[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (const Scope scope : {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys})
    for (const bool in_place : {false, true})
      for (std::uint32_t rank = 2; rank <= kMaxRank; ++rank)
        rows.emplace_back(program_of({.boxes = generations(kTypeOfEachSize[rank - 2], rank, count),
                                      .in_place = in_place,
                                      .scope = scope,
                                      .thread = 255}));
  return rows;
}

const Register kCase{{
    .name = "map.replace.scope",
    .claim =
        "a CTA that has changed a tensor map and acquired it copies by the new one, each time, "
        "at every scope",
    .cites = "PTX ISA 9.0, tensormap.cp_fenceproxy and fence.proxy.tensormap; CUDA C++ Programming "
             "Guide 13.0, 10.30 Encoding a Tensor Map on Device",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
