// All products of a tuning run, one after the other, and what the run as a whole came to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/tuning/tuned_table.hpp"
#include "harness/tuning/tuner.hpp"

namespace tidemark::harness {

struct TuningRun {
  std::vector<DecidedProduct> decided;  // of those that were begun, in order
  std::string ended = {};               // why there is no more of them; empty where all were begun
  bool believed = true;                 // what was decided may become a table
  /// ok; incomplete: some product has no answer; failed: the GPU multiplied wrong, or its worker
  /// crashed, hung or met a CUDA error.
  ExitCode code = ExitCode::ok;
};

/// Tries `products` beside what `present` has for them. Of `time_limit_s`, 0: none, each gets the
/// same share of what is left when it begins; none begins behind it. `now` is a clock in seconds,
/// `try_one` takes a product and the seconds that it may take (0: any), `told` hears of each.
TuningRun tune_all(const GemmTable& present, const std::vector<GemmShape>& products,
                   double time_limit_s, const std::function<double()>& now,
                   const std::function<Tuned(const GemmShape&, double)>& try_one,
                   const std::function<void(const DecidedProduct&)>& told);

}  // namespace tidemark::harness
