// A worker process that tries configurations of the GEMM engine on one GPU, and the bounds on it.
#pragma once

#include <string>

#include "harness/supervisor/worker_process.hpp"
#include "kernels/gemm_tuning.hpp"

namespace tidemark {

/// What became of one product in the worker.
struct Tuned {
  enum class Kind { tried, refused, lost };

  Kind kind = Kind::tried;
  TriedProduct product = {};  // of `tried`
  std::string reason = {};    // of the others, one line. refused: the worker lives on; lost: it is
                              // gone, by a crash or because it was silent for too long
};

/// Owns the worker. Its end is waited for at most two seconds.
class Tuner {
 public:
  /// Starts it. Throws Error where no process can be started.
  Tuner(const WorkerStart& start, const SetupOrder& setup);

  /// Tries all configurations on a product, in about `seconds`, 0: in as many as it needs. Once a
  /// worker is lost there is no other.
  Tuned tune(const GemmProduct& product, double seconds);

 private:
  WorkerProcess worker_;
  bool ready_ = false;
};

}  // namespace tidemark
