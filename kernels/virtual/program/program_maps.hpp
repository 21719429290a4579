// Tensor maps of a program on the virtual device, and what is illegal.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// Tensor maps that a program changes: what is in global memory, and what each CTA takes it for.

/// The map that a copy of the step goes by. A CTA that has used one from global memory before keeps
/// it until its next acquire.
Map map_of(const Turn& turn);

/// Whether a copy by what map_of() gives ends the program: such a map cannot be encoded, or has
/// another rank than the instruction. ProgramRun::lost has the error then.
bool is_lost(const Turn& turn, const Map& map);

void take_replace(const Turn& turn);
void take_acquire(const Turn& turn);

// Where the loads and stores of a program start, and whether they may.

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

}  // namespace tidemark
