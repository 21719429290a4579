// Tries every configuration of the engine on a product, beside cuBLASLt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/opponent/cublaslt.hpp"

namespace tidemark {

/// What came of one configuration. `trouble` says why there is no figure; then the rest is 0.
struct Tried {
  std::string name;
  std::string trouble;
  double tflops = 0;  // median of the rounds
  double ratio = 0;   // to cuBLASLt's best in the same round, median of the rounds
  double spread = 0;  // of the ratios: third quartile less first
};

/// What came of one product.
struct Tuned {
  Shape shape;
  int heuristics = 0;   // of cuBLASLt, all of them timed
  int best = 0;         // the one whose median over the rounds is least
  double opponent = 0;  // its TFLOP/s, median of the rounds
  double first = 0;     // TFLOP/s of the first heuristic
  double drift = 0;     // largest median of a round over the least, of the best one
  int rounds = 0;
  double seconds = 0;        // that it took
  std::vector<Tried> tried;  // in the order of the configurations
};

/// First holds every configuration against the reference engine on small integers: one element off
/// and it is not timed. Then times them in turn, round after round, cuBLASLt's three best
/// heuristics in each, on random normal numbers, until `seconds` have passed (three rounds at
/// least, 15 at most).
Tuned tune(const Shape& shape, const std::vector<EngineConfiguration>& configurations,
           double seconds);

/// Runs one configuration on some small and awkward products; what was wrong, or nothing.
std::string check(const EngineConfiguration& configuration);

/// The best configuration that has a figure; nullptr where none has.
const Tried* best_of(const Tuned& tuned);

}  // namespace tidemark
