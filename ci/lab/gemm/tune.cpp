// A tuning run: a race of all configurations, then duels of the fastest with cuBLASLt.
#include "ci/lab/gemm/tune.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ci/lab/gemm/exact.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr double kRestSeconds = 0.15;
constexpr double kRaceSampleNs = 8e6;

using Clock = std::chrono::steady_clock;

/// A configuration that is still in the race.
struct Runner {
  std::size_t index = 0;  // among those that are tried
  ReadyEngine ready;
  std::vector<double> ratios;  // of times, theirs over its own, a round each
};

std::vector<Runner> those_that_are_exact(const Product& product,
                                         const std::vector<EngineConfiguration>& configurations,
                                         std::vector<Tried>& tried) {
  const DeviceBuffer expected = expected_integers(product);
  std::vector<Runner> runners;
  const EngineConfiguration chosen = chosen_configuration(embedded_gemm_table(), product.local);
  for (const EngineConfiguration& configuration : configurations) {
    Tried& entry = tried.emplace_back();
    entry.name = name_of(configuration);
    entry.chosen = configuration == chosen;
    Runner runner;
    runner.index = tried.size() - 1;
    try {
      runner.ready = prepare_engine(configuration, product.local);
      if (runner.ready.code != CUDA_SUCCESS)
        tried.back().trouble = "a tensor map was refused";
      else
        tried.back().trouble = differs(product, runner.ready, expected.data());
    } catch (const StickyError&) {
      throw;
    } catch (const Error& error) {
      tried.back().trouble = error.what();
    }
    if (tried.back().trouble.empty()) runners.push_back(std::move(runner));
  }
  return runners;
}

/// Left standing it would make every launch after it give up at once, whoever's it is.
bool has_timed_out(const Product& product, Tried& tried) {
  if (take_timed_out(product) == 0) return false;
  tried.trouble = "a wait ended by its bound while it was timed";
  return true;
}

/// Rounds of all runners, beginning with another one each time. Each follows a sample of `theirs`,
/// so that none gains by a slow neighbour that let the chip rest. Who gives up is out; the fastest
/// of the others stay, in their order, and the chosen one.
void race(const Product& product, const Launch& theirs, const Effort& effort, Tuned& tuned,
          std::vector<Runner>& runners) {
  const double their_ns = tuned.cublaslt.at_work_ns();
  for (int round = 0; round < effort.race_rounds; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      Runner& runner = runners[(i + static_cast<std::size_t>(round) * 7) % runners.size()];
      const Launch ours = launch_of(product, runner.ready.configuration);
      const Series of_theirs(product, theirs, their_ns);
      const Series of_ours(product, ours, their_ns);
      const double before_ns = sample_of(product, of_theirs, their_ns, kRaceSampleNs);
      runner.ratios.push_back(before_ns / sample_of(product, of_ours, their_ns, kRaceSampleNs));
      (void)has_timed_out(product, tuned.tried[runner.index]);
    }
    std::erase_if(runners,
                  [&](const Runner& runner) { return !tuned.tried[runner.index].trouble.empty(); });
  }
  for (const Runner& runner : runners) tuned.tried[runner.index].race = median(runner.ratios);
  std::stable_sort(runners.begin(), runners.end(), [&](const Runner& left, const Runner& right) {
    return tuned.tried[left.index].race > tuned.tried[right.index].race;
  });
  for (std::size_t i = runners.size(); i-- > static_cast<std::size_t>(effort.finalists);)
    if (!tuned.tried[runners[i].index].chosen)
      runners.erase(runners.begin() + static_cast<std::ptrdiff_t>(i));
}

/// Theirs, ours, theirs and so on without a pause; each of theirs is of the pair before it and of
/// the one behind it.
struct SteadyDuel {
  DuelScore score;
  PowerDraw ours, theirs;
};
SteadyDuel duel_steady(const DrawMeter& meter, const Launch& theirs, const Launch& ours,
                       double launch_ns, const Effort& effort) {
  std::vector<PowerDraw> of_theirs = {meter.of(theirs, launch_ns, effort.at_work)};
  std::vector<PowerDraw> of_ours;
  std::vector<PairTimes> pairs;
  for (int i = 0; i < effort.pairs; ++i) {
    of_ours.push_back(meter.of(ours, launch_ns, effort.at_work));
    of_theirs.push_back(meter.of(theirs, launch_ns, effort.at_work));
    pairs.push_back({.before_ns = of_theirs.end()[-2].launch_ns,
                     .ours_ns = of_ours.back().launch_ns,
                     .behind_ns = of_theirs.back().launch_ns});
  }
  DuelScore score = score_of(pairs);
  // Pairs share samples, so that medians of what was before and behind can hardly differ: the
  // largest step from one of theirs to the next counts.
  for (const PairTimes& pair : pairs)
    if (const double step = pair.behind_ns / pair.before_ns - 1;
        std::abs(step) > std::abs(score.drift))
      score.drift = step;
  return {.score = score, .ours = mean_of(of_ours), .theirs = mean_of(of_theirs)};
}

DuelScore duel_cool(const Product& product, const Launch& theirs, const Launch& ours,
                    double launch_ns, const Effort& effort) {
  std::vector<PairTimes> pairs;
  for (int i = 0; i < effort.cool_pairs; ++i)
    pairs.push_back(pair_rested(product, theirs, ours, launch_ns, kRestSeconds));
  return score_of(pairs);
}

/// What was chosen for a pitched product, beside the engine's own product of neighbour_of() it.
void hold_against_neighbour(const Product& product, const Effort& effort, Tuned& tuned,
                            const std::vector<Runner>& runners) {
  for (const Runner& runner : runners) {
    Tried& tried = tuned.tried[runner.index];
    if (!tried.chosen || !tried.trouble.empty()) continue;
    const Product neighbour = make_product(neighbour_of(product.shape));
    const double operations = operations_of(product.shape) / operations_of(neighbour.shape);
    // On the one stream that is timed.
    const Launch theirs = launch_beside(
        product, neighbour, chosen_configuration(embedded_gemm_table(), neighbour.local));
    const Launch ours = launch_of(product, runner.ready.configuration);
    (void)time_of(product, 1, theirs);  // a kernel's first launch also loads it
    const DrawMeter meter(product, operations_of(product.shape));
    warm_up(product, theirs, tried.steady.ours_ns, kWarmSeconds);
    DuelScore steady = duel_steady(meter, theirs, ours, tried.steady.ours_ns, effort).score;
    DuelScore cool = duel_cool(product, theirs, ours, tried.steady.ours_ns, effort);
    if (has_timed_out(product, tried)) return;
    steady.ratio *= operations;
    cool.ratio *= operations;
    tuned.beside_steady = steady;
    tuned.beside_cool = cool;
  }
}

}  // namespace

Tuned tune(const Shape& shape, const std::vector<EngineConfiguration>& configurations,
           const Effort& effort) {
  const Clock::time_point start = Clock::now();
  Tuned tuned;
  tuned.shape = shape;
  const Product product = make_product(shape, integers_for(shape.element));
  tuned.copies = product.copies;
  std::vector<Runner> runners = those_that_are_exact(product, configurations, tuned.tried);
  fill_product(product, GemmInputs::normal);

  const Opponent opponent(product);
  const Ranking& cublaslt = tuned.cublaslt =
      rank_heuristics(product, opponent, effort.ranking_rounds, kRestSeconds, effort.at_work);
  const Launch at_work = [&] { opponent.launch(cublaslt.at_work); };
  const Launch rested = [&] { opponent.launch(cublaslt.rested); };
  if (effort.race_rounds > 0) race(product, at_work, effort, tuned, runners);
  const DrawMeter meter(product, operations_of(shape));
  for (const Runner& runner : runners) {
    Tried& tried = tuned.tried[runner.index];
    const SteadyDuel duel =
        duel_steady(meter, at_work, launch_of(product, runner.ready.configuration),
                    cublaslt.at_work_ns(), effort);
    if (has_timed_out(product, tried)) continue;
    tried.steady = duel.score;
    tried.ours = duel.ours;
    tried.theirs = duel.theirs;
  }
  for (const Runner& runner : runners) {
    Tried& tried = tuned.tried[runner.index];
    if (!tried.trouble.empty()) continue;
    const DuelScore score =
        duel_cool(product, rested, launch_of(product, runner.ready.configuration),
                  cublaslt.rested_ns(), effort);
    if (!has_timed_out(product, tried)) tried.cool = score;
  }
  if (is_pitched(shape)) hold_against_neighbour(product, effort, tuned, runners);
  tuned.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return tuned;
}

void launch_once(const Shape& shape, const std::vector<EngineConfiguration>& configurations) {
  const Product product = make_product(shape);
  const Opponent opponent(product);
  for (int which = 0; which < opponent.algorithms(); ++which) opponent.launch(which);
  for (const EngineConfiguration& configuration : configurations)
    launch_of(product, configuration)();
  cuda_check(cudaStreamSynchronize(product.stream.get()), "wait for all kernels");
}

std::string check(const EngineConfiguration& configuration, GemmElement element) {
  for (Shape shape :
       {Shape{1, 1, 1}, Shape{257, 513, 65}, Shape{257, 513, 160}, Shape{257, 513, 176},
        Shape{384, 304, 1032}, Shape{130, 264, 4104}, Shape{2047, 4097, 200},
        Shape{2047, 4097, 1031}, Shape{6400, 5120, 192}, Shape{1, 1, 1, 3, 2, 1},
        Shape{257, 513, 65, 67, 0, 0}, Shape{257, 513, 65, 0, 71, 0},
        Shape{257, 513, 65, 0, 0, 515}, Shape{2047, 4097, 1031, 1031, 1031, 4097},
        Shape{6400, 5120, 192, 193, 197, 5121}}) {
    shape.element = element;
    if (is_fp8(element)) {  // whose rows are nowhere else
      shape.lda = (shape.lda + 15) / 16 * 16;
      shape.ldb = (shape.ldb + 15) / 16 * 16;
    }
    const Product product = make_product(shape, integers_for(element));
    const ReadyEngine ready = prepare_engine(configuration, product.local);
    if (ready.code != CUDA_SUCCESS) return "a tensor map was refused";
    const DeviceBuffer expected = expected_integers(product);
    for (int again = 0; again < 3; ++again) {
      const std::string wrong = differs(product, ready, expected.data());
      if (!wrong.empty()) return fmt::format("{}: {}", name_of(shape), wrong);
    }
  }
  return {};
}

const Tried* best_of(const Tuned& tuned) {
  const Tried* best = nullptr;
  for (const Tried& tried : tuned.tried)
    if (tried.trouble.empty() && tried.steady.ratio > 0 &&
        (best == nullptr || tried.steady.ratio > best->steady.ratio))
      best = &tried;
  return best;
}

const Tried* chosen_of(const Tuned& tuned) {
  for (const Tried& tried : tuned.tried)
    if (tried.chosen) return &tried;
  return nullptr;
}

}  // namespace tidemark
