// Tries every configuration of the engine on a product, beside cuBLASLt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ci/lab/gemm/cublaslt.hpp"
#include "ci/lab/gemm/draw.hpp"
#include "ci/lab/gemm/duel.hpp"
#include "ci/lab/gemm/heuristics.hpp"
#include "ci/lab/gemm/products.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark {

/// What came of one configuration. `trouble` says why there is no figure; then the rest is 0.
struct Tried {
  std::string name;
  std::string trouble;
  double race = 0;         // ratio to cuBLASLt in the rounds of all; median
  DuelScore steady;        // of finalists; ratio 0 otherwise
  DuelScore cool;          // likewise
  PowerDraw ours, theirs;  // what either side drew in the steady duel
  bool chosen = false;     // what the engine takes for this product by its table
};

/// What came of one product.
struct Tuned {
  Shape shape;
  std::uint64_t copies = 1;  // of its operands, that launches take in turn
  Ranking cublaslt;
  double seconds = 0;        // that it took
  DuelScore beside_steady;   // of what was chosen for a pitched product, with the engine's own
  DuelScore beside_cool;     // neighbour_of() it in place of cuBLASLt; ratio, of rates, 0 otherwise
  std::vector<Tried> tried;  // in the order of the configurations
};

/// What a tuning run does with a product.
struct Effort {
  int ranking_rounds = 1;  // of cuBLASLt's heuristics, rested
  int race_rounds = 3;     // of all configurations; 0 leaves the race out: all are finalists
  int finalists = 3;       // that the race leaves, the chosen one besides
  AtWork at_work = {.settle_s = 0.25, .measure_s = 0.6};
  int pairs = 3;       // of a steady duel
  int cool_pairs = 3;  // of a cool one
};

/// First holds every configuration against the reference engine on integers, of fp8 on such that
/// its sums show whether they are promoted: one element off and it is not timed. Then, on random
/// normal numbers: a race of all, each behind a sample of cuBLASLt's fastest heuristic at work; a
/// steady duel (duel.hpp) of the fastest with it, and a cool one with its fastest rested. A pitched
/// product has duels with neighbour_of() it besides.
Tuned tune(const Shape& shape, const std::vector<EngineConfiguration>& configurations,
           const Effort& effort);

/// Starts each of cuBLASLt's heuristics once, in their order, then each configuration once: what a
/// profiler is to look at. Prints nothing.
void launch_once(const Shape& shape, const std::vector<EngineConfiguration>& configurations);

/// Runs one configuration of `element` on some small and awkward products; what was wrong, or
/// nothing.
std::string check(const EngineConfiguration& configuration, GemmElement element);

/// The configuration that did best in a steady duel; nullptr where none has a figure.
const Tried* best_of(const Tuned& tuned);
/// The one that the engine's table names for this product; nullptr where it was not tried.
const Tried* chosen_of(const Tuned& tuned);

}  // namespace tidemark
