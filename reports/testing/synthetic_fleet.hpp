// Reports of a fleet that does not exist, with noise of known size: what compare says of them can
// be checked, and the same seed makes the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark {

/// Standard deviations, natural logarithm.
struct FleetNoise {
  double gpu = 0.015;          // of a GPU from the others, for good
  double launch = 0.0033;      // of a case from launch to launch; differs between cases by
  double between_cases = 0.5;  // this standard deviation of its logarithm
  double iteration = 0.002;    // of a sample
  double shared = 0.003;       // of all cases of a launch together
  double odd_launches = 0.05;  // share of launches whose case and shared noise are
  double odd_factor = 5;       // this many times as large
  bool apart = false;          // a case's launch noise is each GPU's own, not that of all GPUs
  // Shares of cases from the end, and what is unlike the above in them or in all:
  double counts = 0;   // share of cases that count cycles: 0.006 % of noise, in steps, no shift
  double heavy = 0;    // share of a case's launches that lie apart by 5 %, below all others
  double heat = 0;     // of a walk from launch to launch that all cases share, AR(0.9)
  double drift = 0;    // of the slope of a case from launch to launch
  double clocks = 0;   // what every other launch loses in a case that follows clocks wholly; a case
                       // follows them by a share of its own
  double warm_up = 0;  // the same of the first launch of each side
  double noisy_gpu = 0;      // of the first GPU's own launch noise in each case
  double step = 0;           // to whole steps of which values are rounded
  bool tails = false;        // a case's launch noise is Cauchy's, its quartiles those of the normal
  bool in_sequence = false;  // the fresh side ran behind the base, of up to five launches; else
                             // the launches of both alternate
};

/// What is different after the change, natural logarithm; below 0 for slower.
struct FleetChange {
  double first_case = 0;  // of the first case on all GPUs
  double all_cases = 0;
  double first_node = 0;  // of all cases on the eight GPUs of the first node
  double first_gpu = 0;   // of all cases on the first GPU
  double second_gpu = 0;  // the same on the second one
  double one_result = 0;  // of the first case on the first GPU
  double few_cases = 0;   // of the first three cases on the eight GPUs of the first node
  double one_launch = 0;  // of the first case in one of the launches after the change
  bool vbios = false;     // the VBIOS is another one, too
};

struct SyntheticFleet {
  std::uint32_t gpus = 8, cases = 100;
  std::uint64_t seed = 1;
  FleetNoise noise = {};
};

inline constexpr std::uint32_t kGpusOfNode = 8;

/// Launch number `launch` of one side. The fresh side has another driver, boots and `change`.
Report synthetic_launch(const SyntheticFleet& fleet, std::uint32_t launch, bool fresh,
                        const FleetChange& change);

/// Fills what a comparison of medians does not read, no number twice: a report is as large, and as
/// slow to read, as one of a real fleet.
void add_measured(Report& report);

/// splitmix64, and a normal variable made of its bits (Box and Muller).
std::uint64_t mixed(std::uint64_t x);
double normal_of(std::uint64_t bits);

/// Calls `work` once for each of so many trials, on so many threads.
void for_each_trial(std::uint32_t trials, std::uint32_t threads,
                    const std::function<void(std::uint32_t)>& work);

}  // namespace tidemark
