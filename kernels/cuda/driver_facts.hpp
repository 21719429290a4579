// What the driver says of itself, of a GPU, and of code that it loaded.
#pragma once

#include "kernels/device.hpp"

namespace tidemark {

/// See DriverFacts. Throws Error where there is no such kernel or a query fails that has to work.
RunResult run_driver_facts(const DriverFacts& op);

}  // namespace tidemark
