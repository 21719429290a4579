// What the loaded machine code of kernels takes.
#pragma once

#include "kernels/device.hpp"

namespace tidemark {

/// See CompiledKernel. Throws Error where there is no such kernel or the driver does not say.
RunResult run_compiled(const CompiledKernel& op);

}  // namespace tidemark
