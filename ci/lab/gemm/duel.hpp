// One kernel against another, sample by sample: the only way to time two kernels on a chip whose
// clock follows what it has just been doing.
#pragma once

#include <functional>
#include <vector>

#include "ci/lab/gemm/product.hpp"
#include "ci/lab/gemm/series.hpp"

namespace tidemark {

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

/// Drift above which a duel is void: the chip changed more than the figure is worth.
inline constexpr double kVoidDrift = 0.02;

/// How long a sample at work takes. Under its power limit a chip's clock goes up and down, on an
/// H200 by 2 % about twice a second, and for the first two seconds by more: samples of 1.2 s differ
/// by 0.5 %, those of 0.06 s by 3 (`ci/baselines/h200-gemm-power-trace.csv`).
struct AtWork {
  double settle_s = 0.25;  // of the same kernel before it, untimed, which pays for what came before
  double measure_s = 0.25;
};

/// What looks at a sample while it is taken: called on the host when all is about to be put on the
/// stream, and when all has been. Either may be empty.
struct Witness {
  std::function<void()> begins, ends;
};

struct AtWorkSample {
  double ns = 0;            // of a launch
  bool host_bound = false;  // the GPU waited for launches
};

/// Launches back to back; `launch_ns` is about what one takes.
AtWorkSample sample_at_work(const Product& product, const Launch& launch, double launch_ns,
                            const AtWork& at_work, const Witness& witness = {});

inline constexpr double kWarmSeconds = 2;

/// Launches for `seconds`, untimed: what the power limit does in the first two would be the first
/// sample's alone.
void warm_up(const Product& product, const Launch& launch, double launch_ns, double seconds);

/// Nanoseconds of a launch, over about `sample_ns` of them, at `launch_ns` each or so.
double sample_of(const Product& product, const Series& series, double launch_ns, double sample_ns);

/// The same, over 4 ms of them on a chip that has rested for `rest_s`: they are over
/// before the power limit has noticed.
double sample_rested(const Product& product, const Launch& launch, double launch_ns, double rest_s);

/// Theirs, ours, theirs, a sample_rested() each.
PairTimes pair_rested(const Product& product, const Launch& theirs, const Launch& ours,
                      double launch_ns, double rest_s);

/// Launches, 2 to 1000 of them, that make a sample of about `sample_ns`, at `ns` each.
int launches_for(double ns, double sample_ns);

}  // namespace tidemark
