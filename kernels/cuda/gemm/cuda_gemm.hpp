// The GEMM of the real device: make or gather the panels, multiply on the current GPU, read C back.
#pragma once

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

/// Runs one Gemm on the current CUDA device. A shard that does not come is
/// DeviceFault::others_late, and the transport is then aborted. A wait inside the kernel that ends
/// by its bound is DeviceFault::timeout, an error that ends the context DeviceFault::sticky. An
/// empty block takes part in the gathers and multiplies nothing. Throws Error for a Gemm that makes
/// no sense (k = 0, a block outside C, shards that do not cover their panel) and where the machine
/// fails.
RunResult run_gemm(const Gemm& gemm);

/// Times one Gemm. With a transport the panels are gathered once, and each sample is a barrier over
/// `everybody` and the product alone, then a barrier and the product with its exchange, beside or
/// behind it; without one the kernel alone, launched back to back over the same memory. C and
/// the shards of other ranks are poisoned again before the last sample, whose C is read back.
Measurement measure_gemm(const Gemm& gemm, const Timing& timing);

}  // namespace tidemark
