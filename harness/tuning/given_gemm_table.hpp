// The table of GEMM configurations that --gemm-table names.
#pragma once

#include <string>

#include "harness/room.hpp"
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

namespace tidemark::harness {

/// Reads and checks the file; of an empty path the table of the build. Throws UsageError: one line
/// with the option, the file, what is wrong in it and what to do.
GemmTable given_gemm_table(const std::string& path);

}  // namespace tidemark::harness
