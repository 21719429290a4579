// The text of kernels/cuda/gemm/tuning/table.json, put in by the build.
#pragma once

#include <string_view>

namespace tidemark {

extern const std::string_view kGemmTableText;

}  // namespace tidemark
