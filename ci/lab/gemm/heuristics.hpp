// Which of the algorithms that cuBLASLt's heuristics name is the one to beat.
#pragma once

#include <vector>

#include "ci/lab/gemm/cublaslt.hpp"
#include "ci/lab/gemm/duel.hpp"

namespace tidemark {

/// Nanoseconds of a launch. What is far behind in the first look has no other, and is 0 there.
struct Heuristic {
  double first_look_ns = 0;  // rested, the better of two; infinite where cuBLASLt refuses it
  double rested_ns = 0;      // median, each sample on a chip that has rested
  double at_work_ns = 0;     // of one sample, a short one where that is far behind
};

/// Algorithms that are level on a rested chip may be 3 % apart at work, where the one that draws
/// less power wins: each kind of duel has the opponent that is the fastest there.
struct Ranking {
  std::vector<Heuristic> all;  // in cuBLASLt's order
  int at_work = 0;             // the fastest, by index
  int rested = 0;

  double at_work_ns() const { return all[static_cast<std::size_t>(at_work)].at_work_ns; }
  double rested_ns() const { return all[static_cast<std::size_t>(rested)].rested_ns; }
};

/// Times every algorithm once, then those that are not far behind: in `rounds` rested, then at
/// work, where one short sample each says which have one of `at_work`. It leaves the chip at work.
/// Throws Error where cuBLASLt refuses all.
Ranking rank_heuristics(const Product& product, const Opponent& opponent, int rounds, double rest_s,
                        const AtWork& at_work);

}  // namespace tidemark
