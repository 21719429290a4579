// Tries every configuration of the engine on a product beside the one that its table names.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/tuning/exact.hpp"
#include "kernels/cuda/gemm/tuning/gemm_tuning.hpp"
#include "kernels/cuda/gemm/tuning/race.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

using Clock = std::chrono::steady_clock;
using Standing = TriedConfiguration::Standing;

constexpr int kFirstSamples = 2;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Prepares and multiplies integers once. Says of `one` what came of it.
ReadyEngine tried_on_integers(const Product& product, const EngineConfiguration& configuration,
                              const DeviceBuffer& expected, TriedConfiguration& one) {
  ReadyEngine ready;
  try {
    ready = prepare_engine(configuration, product.local);
  } catch (const StickyError&) {
    throw;
  } catch (const Error& error) {
    one = {.name = one.name, .standing = Standing::refused, .trouble = error.what()};
    return ready;
  }
  if (ready.code != CUDA_SUCCESS) {
    one.standing = Standing::refused;
    one.trouble = "a tensor map was refused";
    return ready;
  }
  one.trouble = differs(product, ready, expected.data());
  if (!one.trouble.empty()) one.standing = Standing::wrong;
  return ready;
}

std::vector<Runner> those_that_are_exact(const Product& product, TriedProduct& tried) {
  const DeviceBuffer expected = expected_integers(product);
  std::vector<Runner> runners;
  for (const EngineConfiguration& configuration : engine_configurations()) {
    TriedConfiguration& one = tried.all.emplace_back();
    one.name = name_of(configuration);
    ReadyEngine ready = tried_on_integers(product, configuration, expected, one);
    if (one.standing == Standing::exact)
      runners.push_back({.index = tried.all.size() - 1, .ready = std::move(ready), .ratios = {}});
  }
  return runners;
}

/// A pair of each finalist in every round, so that what changes with time meets all of them. False
/// where the time is over.
bool rounds_of_pairs(const Product& product, const TuningEffort& effort, Clock::time_point start,
                     const std::vector<Runner>& finalists,
                     std::vector<PairTimes> TriedConfiguration::*pairs,
                     const std::function<PairTimes(const Launch&)>& pair, TriedProduct& tried) {
  for (int round = 0; round < effort.pairs; ++round) {
    for (const Runner& runner : finalists) {
      TriedConfiguration& one = tried.all[runner.index];
      if (one.standing != Standing::exact) continue;
      if (effort.budget_s > 0 && seconds_since(start) > effort.budget_s) {
        tried.cut_short = true;
        return false;
      }
      (one.*pairs).push_back(pair(launch_of(product, runner.ready.configuration)));
      if (take_timed_out(product) == 0) continue;
      one.standing = Standing::wrong;
      one.trouble = kTimedOutInRace;
    }
  }
  return true;
}

/// First all rounds at work, on a chip that has been at work since before the race, then all that
/// let it rest.
void duels(const Product& product, const Launch& present, double present_ns,
           const TuningEffort& effort, Clock::time_point start,
           const std::vector<Runner>& finalists, TriedProduct& tried) {
  const AtWork at_work{.settle_s = effort.settle_s, .measure_s = effort.sample_s};
  const auto pair = [&](const Launch& ours) {
    return pair_at_work(product, present, ours, present_ns, at_work);
  };
  const auto rested_pair = [&](const Launch& ours) {
    return pair_rested(product, present, ours, present_ns, effort.rest_s);
  };
  using Tried = TriedConfiguration;
  if (rounds_of_pairs(product, effort, start, finalists, &Tried::at_work, pair, tried))
    rounds_of_pairs(product, effort, start, finalists, &Tried::rested, rested_pair, tried);
}

/// All of it, into `tried`, which keeps what was known when something throws.
void try_all(const TuningEffort& effort, TriedProduct& tried) {
  const Clock::time_point start = Clock::now();
  const GemmShape& which = tried.product;
  const Product product =
      make_product({.m = which.m, .n = which.n, .k = which.k}, GemmInputs::small_integers);
  std::vector<Runner> runners = those_that_are_exact(product, tried);
  const auto is_present = [&](const Runner& runner) {
    return tried.all[runner.index].name == tried.present;
  };
  const auto found = std::find_if(runners.begin(), runners.end(), is_present);
  const bool all_exact = std::none_of(tried.all.begin(), tried.all.end(), [](const auto& one) {
    return one.standing == Standing::wrong;
  });
  if (found == runners.end() || !all_exact) return;
  fill_product(product, GemmInputs::normal);
  const Launch present = launch_of(product, found->ready.configuration);
  (void)time_of(product, kFirstSamples, present);  // a kernel's first launch also loads it
  const double present_ns = time_of(product, kFirstSamples, present);
  warm_up(product, present, present_ns, effort.warm_s);
  for (const std::size_t late : race(product, present, present_ns, effort.race_rounds, runners)) {
    tried.all[late].standing = Standing::wrong;
    tried.all[late].trouble = kTimedOutInRace;
  }
  keep_finalists(effort.finalists, runners, is_present);
  duels(product, present, present_ns, effort, start, runners, tried);
}

}  // namespace

TriedProduct try_configurations(const GemmShape& product, const TuningEffort& effort,
                                const GemmTable& table) {
  TriedProduct tried{.product = product, .present = nearest_choice(table, product)->configuration};
  try {
    try_all(effort, tried);
  } catch (const StickyError& error) {
    tried.fault = error.what();
  }
  return tried;
}

}  // namespace tidemark::kernels
