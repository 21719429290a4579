// What a report says about the rates that `tidemark predict` reckons with.
#pragma once

#include <optional>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark {

struct MeasuredRate {
  double value = 0;
  std::string from;  // "exchange_16384 of gemm.distributed.speed"
};

/// Of the slowest GPU, from passed results.
struct MeasuredRates {
  std::optional<MeasuredRate> product;  // flop/s of one GPU, everything in place
  std::optional<MeasuredRate> link;     // bytes/s received from the node, by copy_engine
  std::string no_link;                  // why a report of that GEMM has none; else empty
  std::optional<MeasuredRate> fixed;    // s that a GEMM over these GPUs takes besides; with a link
};

/// Takes the measured sizes that are nearest to `edge`. The product's rate is that of
/// gemm.distributed.speed, of the slowest rank sample by sample, / (GPUs x efficiency, which is 1
/// of one GPU), else that of gemm.local.speed; the link's is the bytes that a rank receives /
/// exchange; fixed is what the time of that GEMM has more than predict_time() with both.
MeasuredRates measured_rates(const Report& report, double edge);

}  // namespace tidemark
