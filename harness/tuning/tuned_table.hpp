// What a tuning run makes of the table that it began with, and how it is told.
#pragma once

#include <string>
#include <vector>

#include "harness/room.hpp"
#include "kernels/cuda/gemm/tuning/gemm_tuning.hpp"

namespace tidemark::harness {

/// A product and what was decided about it.
struct DecidedProduct {
  GemmShape product;
  std::string present;  // configuration that it had
  TuningVerdict verdict;
};

/// `present` with what was decided: choices replaced and kept carry what was measured in their
/// notes, a product that it does not have is added, all others say where they come from. Undecided
/// products stay as they are. The name is empty.
GemmTable tuned_table(const GemmTable& present, const std::vector<DecidedProduct>& decided,
                      GemmTableOrigin measured);

/// Heading of the lines below.
std::string decision_heading();
/// One product as a line or two: configuration, TFLOP/s at work and rested, gain, how sure.
std::string decision_text(const DecidedProduct& decided);

}  // namespace tidemark::harness
