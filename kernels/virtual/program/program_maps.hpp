// Tensor maps that a program changes: what is in global memory, and what each CTA takes it for.
#pragma once

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark::kernels {

/// The map that a copy of the step goes by. A CTA that has used one from global memory before keeps
/// it until its next acquire.
Map map_of(const Turn& turn);

/// Whether a copy by what map_of() gives ends the program: such a map cannot be encoded, or has
/// another rank than the instruction. ProgramRun::lost has the error then.
bool is_lost(const Turn& turn, const Map& map);

void take_replace(const Turn& turn);
void take_acquire(const Turn& turn);

}  // namespace tidemark::kernels
