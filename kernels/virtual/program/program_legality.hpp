// Where the loads and stores of a program start, and whether they may.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// The box of a load or a store, and the place of its tile in the window, as the engine takes them.
struct CopyStart {
  std::array<std::int32_t, kMaxRank> at;
  std::uint32_t offset;
};

CopyStart start_of(const Program& program, const Step& copy, Fault fault);

/// What comes of a load or a store that starts where none may; no fault where it may.
RunResult legality_of(const Program& program, const Step& copy, Fault fault);

/// What ends a program before its first step: a map that the driver would refuse, or a copy that
/// starts where none may. No fault where nothing does.
RunResult preflight(const Program& program, Fault fault);

}  // namespace tidemark::kernels
