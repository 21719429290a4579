// Whether metrics drift from launch to launch, which looks like a change between sides.
#pragma once

#include <cstddef>
#include <span>

#include "reports/compare/speed/moderated.hpp"

namespace tidemark::reports {

/// Rows that rise or fall from launch to launch within the sides: what goes on at that pace looks
/// like a change where one side ran after the other.
struct Drift {
  std::size_t rows = 0, tested = 0;  // with a slope at 5 %; with launches enough to have one
  double p = 1;                      // Fisher's, of all slopes together, of no drift

  /// Of a change that is no drift: within the sides nothing goes its way from launch to launch. 1
  /// where one side did not run behind the other. All metrics are one number a launch, so that
  /// those that scatter together count once.
  double p_of_change = 1;

  /// The same of what all metrics share, which is in none of the numbers above.
  double p_of_shared = 1;

  bool of_all() const { return p_of_shared < 0.01; }
  bool seen() const { return p < 1e-3 || p_of_change < 0.02 || of_all(); }
};

/// Of the rows that are not exact, without what they share, which would make all of them drift
/// alike, and of that. `effects`: of this matrix; `at`: when each launch ran, in any unit.
Drift drift_in(const LaunchMatrix& matrix, const Effects& effects, std::span<const double> at);

}  // namespace tidemark::reports
