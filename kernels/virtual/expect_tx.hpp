// A mismatched announcement on the virtual device: blocks, barriers and engine put together.
#pragma once

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that ExpectTx describes; preflight() says what ends it before them. Throws Error
/// where the tx-count would leave its range.
RunResult run_virtual_expect_tx(const ExpectTx& op, Fault fault);

}  // namespace tidemark::kernels
