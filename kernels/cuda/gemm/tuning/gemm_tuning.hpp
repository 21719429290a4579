// Which configuration of the GEMM engine suits a product on this GPU: the samples that say so, and
// what follows from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

namespace tidemark::kernels {

/// Nanoseconds of one launch: ours, and what it is held against before and behind it.
struct PairTimes {
  double before_ns = 0, ours_ns = 0, behind_ns = 0;
};

/// The upper one of the two in the middle where their number is even. There is at least one.
double median(std::vector<double> values);

/// A duel, of all its pairs.
struct DuelScore {
  double ours_ns = 0, theirs_ns = 0;  // median
  double ratio = 0;   // of times, theirs over ours, each ours with the theirs beside it; median
  double spread = 0;  // of the ratios: third quartile less first
  double drift = 0;   // theirs, behind ours, against its own run before ours; the sign is kept
  std::vector<PairTimes> pairs = {};  // as they were timed
};

/// Of no pairs all zeros.
DuelScore score_of(const std::vector<PairTimes>& pairs);

/// What came of one configuration on one product.
struct TriedConfiguration {
  enum class Standing : std::uint8_t {
    exact,    // multiplied integers exactly
    wrong,    // did not, or a wait of its kernel ended by its bound
    refused,  // this GPU cannot start it
  };

  std::string name;
  Standing standing = Standing::exact;
  std::string trouble = {};             // why it is not exact, one line
  std::vector<PairTimes> at_work = {};  // of finalists: behind tenths of a second of the same
  std::vector<PairTimes> rested = {};   // of finalists: behind a rest
};

/// What came of one product. `present` is tried, too: against itself it shows the noise.
struct TriedProduct {
  GemmShape product;
  std::string present;                       // configuration that the table has for it
  std::vector<TriedConfiguration> all = {};  // in the order of their numbers
  std::string fault = {};  // a CUDA error behind which the process cannot use the GPU any more
  bool cut_short = false;  // its time was over before all pairs were run
};

/// What is done with one product.
struct TuningEffort {
  double warm_s = 2;       // of the present configuration before anything is timed
  int race_rounds = 3;     // of all configurations
  int finalists = 3;       // that the race leaves, the present one besides
  int pairs = 5;           // of each finalist, at work and again rested
  double settle_s = 0.25;  // of the same kernel before each sample at work
  double sample_s = 0.25;  // that a sample at work takes
  double rest_s = 0.15;    // before each rested sample
  double budget_s = 0;     // after it no round of pairs is begun; 0: all are run
};

/// The effort for one product that may take `seconds`, or as long as it needs where that is 0:
/// fewer rounds and finalists where there is little time, never fewer than a decision needs.
TuningEffort effort_for(double seconds);

/// Pairs below which nothing is decided.
inline constexpr std::size_t kFewestPairs = 3;
/// Drift above which a duel is void: the chip changed more than the figure is worth.
inline constexpr double kVoidDrift = 0.02;
/// A gain below this is none, however still the chip was.
inline constexpr double kLeastGain = 0.003;

/// What becomes of a product's choice.
struct TuningVerdict {
  enum class Kind : std::uint8_t {
    replaced,   // another one is faster by more than noise
    kept,       // none is
    undecided,  // the samples say nothing; the choice stays
    broken,     // a configuration multiplies integers wrong: nothing is timed that can be trusted
  };

  Kind kind = Kind::undecided;
  std::string configuration;             // the choice from now on
  double gain = 0;                       // of it over the present one; 0 unless replaced
  double noise = 0;                      // what a gain has to be above; 0 unless replaced or kept
  double at_work_ns = 0, rested_ns = 0;  // of it, a launch; 0 where not known
  std::string reason = {};               // of undecided and broken, one line
};

/// Decides by the samples alone. A configuration takes the place of the present one where it is
/// faster by more than noise, at work and rested together (the geometric mean), or by the one of
/// the two that counts: enough pairs and no drift, of it and of the present one against itself.
/// Noise is the largest of the spread of its own ratios, that of the present one against itself,
/// how far that is from 1, and kLeastGain.
TuningVerdict verdict_of(const TriedProduct& tried);

/// Tries all configurations of the engine on the first visible GPU: first each on small integers,
/// where one element off means that it is not timed; then, on normal numbers, a race of all
/// beside the choice of `table`, and rounds of pairs of the fastest with it. bf16, both operands
/// K-major. Throws Error where the machine fails or the program was built without CUDA.
TriedProduct try_configurations(const GemmShape& product, const TuningEffort& effort,
                                const GemmTable& table);

}  // namespace tidemark::kernels
