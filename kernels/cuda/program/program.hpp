// Runs programs on the current GPU, many in one launch, and times a warp's reads.
#pragma once

#include <span>
#include <vector>

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tile_consume.hpp"

namespace tidemark {

/// What Device::run_programs() promises. Programs on clusters of the same shape share launches. A
/// sticky error or a kernel that never ends is the result of every program of its launch and of the
/// launches behind it: which one it was is not known then.
std::vector<RunResult> run_programs(RowWorkspace& workspace, std::span<const Program> programs);

/// One program whose regions of MemorySource::peer are `memory`, which its owner filled: it is not
/// read back.
RunResult run_peer_program(RowWorkspace& workspace, const Program& program, std::byte* memory);

/// 8 warps read at the places of the lanes of `read`, kReadsPerWarp times each. TimedSample::cycles
/// are the SM's clock cycles, total_ns the nanoseconds of the whole launch, divided by all reads;
/// what the places hold makes no difference. Measurement::last is program_of(read), run before
/// them: what that ends in ends the measurement.
Measurement measure_column_rate(RowWorkspace& workspace, const TileRead& read,
                                const Timing& timing);

}  // namespace tidemark
