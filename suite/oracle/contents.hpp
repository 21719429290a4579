// What memory holds before a program changes it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Poison repeats: kept whole, it costs a copy.
inline constexpr std::uint32_t kPoisonPeriod = 65536;
using Poison = std::array<std::uint8_t, kPoisonPeriod>;
const Poison& poison_of(bool inverted);

/// The bytes of a region of `program` as it is filled.
std::vector<std::uint8_t> contents(const Program& program, const kernels::Region& region);

}  // namespace tidemark::suite
