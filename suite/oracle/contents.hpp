// What memory holds before a program changes it, and what ordinary accesses of threads and
// reductions make of it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "kernels/ops/reduction.hpp"

namespace tidemark {

// What memory holds before a program changes it.

/// Poison repeats: kept whole, it costs a copy.
inline constexpr std::uint32_t kPoisonPeriod = 65536;
using Poison = std::array<std::uint8_t, kPoisonPeriod>;
const Poison& poison_of(bool inverted);

/// The bytes of a region of `program` as it is filled.
std::vector<std::uint8_t> contents(const Program& program, const Region& region);

// What ordinary accesses of threads make of a tile.

/// Adds to each element of the tile what Verb::add adds. Throws Error where a sum in f32 would be
/// rounded.
void add_to_tile(const TileLoad& tile, const Step& add, std::vector<std::uint8_t>& window);

// What a reduction leaves in memory.

/// Reduces the 16 bytes at `from` into those at `to`, element by element of `type`. PTX ISA 9.0,
/// 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 9.7.13 red. Throws Error where no document says what
/// comes of this reduction of this type.
void reduce_chunk(Reduction reduction, DataType type, const std::uint8_t* from, std::uint8_t* to);

}  // namespace tidemark
