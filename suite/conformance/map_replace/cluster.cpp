// CTAs of a cluster that change one map in turn, and all copy by it.
#include "suite/case.hpp"
#include "suite/conformance/map_change.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kChanges[] = {4, 16, 64};  // by level
  const std::uint32_t count = kChanges[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (const Scope scope : {Scope::cluster, Scope::gpu, Scope::sys})
    for (const bool in_place : {false, true})
      for (const std::uint32_t ctas : {2U, 4U, 8U})
        rows.emplace_back(program_of({.boxes = generations(DataType::u16, 3, count),
                                      .in_place = in_place,
                                      .scope = scope,
                                      .ctas = ctas,
                                      .changer = ctas - 1,
                                      .thread = 100}));
  return rows;
}

const Register kCase{{
    .name = "map.replace.cluster",
    .claim =
        "when one CTA has changed a tensor map and the cluster has met, every CTA that acquires "
        "it copies by the new one",
    .cites = "PTX ISA 9.0, tensormap.cp_fenceproxy and fence.proxy.tensormap; CUDA C++ Programming "
             "Guide 13.0, 10.30 Encoding a Tensor Map on Device",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
