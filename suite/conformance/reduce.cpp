// Reductions and the types that have them.
#include "suite/conformance/reduce.hpp"

namespace tidemark::suite {

std::vector<ReducedType> reduced_types() {
  std::vector<ReducedType> all;
  for (std::uint32_t i = 0; i < kReductions; ++i)
    for (std::uint32_t type = 0; type < kDataTypes; ++type)
      if (reduces(static_cast<Reduction>(i), static_cast<DataType>(type)))
        all.push_back(
            {.reduction = static_cast<Reduction>(i), .type = static_cast<DataType>(type)});
  return all;
}

TileStore random_reduction(std::uint64_t seed) {
  const std::vector<ReducedType> all = reduced_types();
  for (std::uint64_t drawn = seed;; drawn = splitmix64(drawn)) {
    TileStore store = random_store(drawn);
    if (store.held_to != HeldTo::documents) continue;
    std::vector<Reduction> possible;
    for (const ReducedType& one : all)
      if (one.type == store.map.type) possible.push_back(one.reduction);
    if (possible.empty()) continue;
    store.destination = MemorySource::device;
    store.reduction = possible[splitmix64(drawn + 1) % possible.size()];
    store.one_box = store.stores > 1 && commutes(store.reduction, store.map.type) && drawn % 2 == 0;
    return store;
  }
}

}  // namespace tidemark::suite
