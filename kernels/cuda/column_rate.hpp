// Times a warp's reads of shared memory.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/ops/tile_consume.hpp"

namespace tidemark {

/// 8 warps read at the places of the lanes of `read`, kReadsPerWarp times each. TimedSample::cycles
/// are the SM's clock cycles, total_ns the nanoseconds of the whole launch, divided by all reads;
/// what the places hold makes no difference. Measurement::last is program_of(read), run before
/// them: what that ends in ends the measurement.
Measurement measure_column_rate(RowWorkspace& workspace, const TileRead& read,
                                const Timing& timing);

}  // namespace tidemark
