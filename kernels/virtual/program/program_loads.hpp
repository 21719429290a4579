// The loads of a program.
#pragma once

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark::kernels {

/// Issues the load. Nothing of it lands yet.
void take_load(const Turn& turn);

}  // namespace tidemark::kernels
