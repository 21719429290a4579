// A worker process that tries configurations of the GEMM engine on one GPU, and the bounds on it.
#pragma once

#include <string>

#include "harness/room.hpp"
#include "harness/supervisor/worker_process.hpp"
#include "kernels/cuda/gemm/tuning/gemm_tuning.hpp"

namespace tidemark::harness {

/// What became of one product in the worker.
struct Tuned {
  enum class Kind {
    tried,
    refused,   // it cannot be tried, for lack of memory; the worker lives on
    unusable,  // the worker left, without a device or the right table, or was killed from outside
    lost,      // the worker crashed, or was silent for too long and was killed
  };

  Kind kind = Kind::tried;
  TriedProduct product = {};  // of `tried`
  std::string reason = {};    // of the others, one line
};

/// Bounds of a worker, in seconds.
struct TunerBounds {
  double ready = 120;       // until it has its device
  double grace = 120;       // beyond what a product may take: inputs, the reference product and one
                            // last round of pairs
  double unlimited = 1200;  // of a product that may take as long as it needs
};

/// Owns the worker. Its end is waited for at most two seconds.
class Tuner {
 public:
  /// Starts it. Throws Error where no process can be started.
  Tuner(const WorkerStart& start, const SetupOrder& setup, const TunerBounds& bounds = {});

  /// Tries all configurations on a product, in about `seconds`, 0: in as many as it needs. Once a
  /// worker is lost there is no other.
  Tuned tune(const GemmShape& product, double seconds);

 private:
  WorkerProcess worker_;
  TunerBounds bounds_;
  bool ready_ = false;
};

}  // namespace tidemark::harness
