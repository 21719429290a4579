// Steps that the threads of a CTA take on tiles by ordinary accesses.
#pragma once

#include "kernels/virtual/program/program_run.hpp"

namespace tidemark::kernels {

void take_add(const Turn& turn);
void take_copy(const Turn& turn);

}  // namespace tidemark::kernels
