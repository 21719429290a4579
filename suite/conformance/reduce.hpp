// Builds tile reductions from tile stores.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/conformance/store.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

struct ReducedType {
  Reduction reduction = Reduction::none;
  DataType type = DataType::u32;
};

/// Every reduction with every type that has it.
std::vector<ReducedType> reduced_types();

/// What random_store() draws, into memory of the device, as a reduction that its
/// type has, one in two into one box; a function of `seed` alone.
TileStore random_reduction(std::uint64_t seed);

}  // namespace tidemark::suite
