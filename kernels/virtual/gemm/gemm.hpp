// The matrix multiplication of the virtual device.
#pragma once

#include "kernels/device.hpp"
#include "kernels/fault.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

/// Runs one Gemm in host memory. A shard that does not come in time is
/// DeviceFault::others_late, and the transport is then aborted. Throws Error when the block or a
/// shard lies outside its matrix, or when the transport fails.
RunResult run_virtual_gemm(const Gemm& gemm, Fault fault);

/// Times the host: per run a barrier through `everybody`, the gather and the product, one beside
/// the other where the route delivers_beside(). C and the shards of other ranks are poisoned again
/// before the last of these barriers. Over a transport each sample is followed by another barrier
/// and the product alone, and at the end all ranks, which take as many samples each, exchange their
/// times by a gather of panel id 5.
Measurement measure_virtual_gemm(const Gemm& gemm, const Timing& timing, Fault fault);

}  // namespace tidemark
