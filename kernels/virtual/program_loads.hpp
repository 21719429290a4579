// The loads of a program: whether they may start, and their issue.
#pragma once

#include "kernels/virtual/program_run.hpp"

namespace tidemark::kernels {

/// What ends a program before its first step: a map that the driver would refuse, or a load that
/// starts where none may. No fault where nothing does.
RunResult preflight(const Program& program, const IllegalCopyRules& rules);

/// Issues the load. Nothing of it lands yet.
void take_load(const Turn& turn);

}  // namespace tidemark::kernels
