// The rounds of a tuning run: every configuration and the opponent's best meet the same heat.
#include "kernels/cuda/gemm/opponent/tune.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/opponent/differences.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr double kSampleNs = 12e6;     // about as long as one sample takes
constexpr std::size_t kFinalists = 3;  // heuristics that are in every round
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 15;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A configuration that is still in the race.
struct Runner {
  std::size_t index = 0;  // of Tuned::tried
  ReadyEngine ready;
  bool timed_out = false;  // one of its waits ended by its bound while it was timed
  std::vector<double> ns, ratios;
};

std::uint64_t c_elements(const Product& product) { return product.local.m * product.local.ldc; }

/// What one launch left is what the reference engine makes of the same integers.
std::string differs(const Product& product, const ReadyEngine& ready, const std::byte* expected) {
  const cudaStream_t stream = product.stream.get();
  cuda_check(cudaMemsetAsync(product.c.data(), 0xff, product.c.size(), stream), "poison C");
  start_engine(ready, product.timed_out.as<std::uint32_t>(), stream);
  cuda_check(cudaStreamSynchronize(stream), "wait for a configuration");
  if (take_timed_out(product) != 0) return "a wait inside the kernel ended by its bound";
  const std::uint64_t wrong =
      count_differences(product.c.data(), expected, c_elements(product), stream);
  if (wrong != 0) return fmt::format("{} of {} elements are wrong", wrong, c_elements(product));
  return {};
}

/// The reference engine's product of integers, in the memory of its own that is handed back.
DeviceBuffer expected_integers(const Product& product) {
  DeviceBuffer expected(product.c.size());
  LocalGemm reference = product.local;
  reference.c = expected.data();
  cuda_check(cudaMemsetAsync(expected.data(), 0xff, expected.size(), product.stream.get()),
             "poison the reference");
  launch_reference(reference, product.stream.get());
  cuda_check(cudaStreamSynchronize(product.stream.get()), "wait for the reference engine");
  return expected;
}

std::vector<Runner> those_that_are_exact(const Product& product,
                                         const std::vector<EngineConfiguration>& configurations,
                                         std::vector<Tried>& tried) {
  const DeviceBuffer expected = expected_integers(product);
  std::vector<Runner> runners;
  for (const EngineConfiguration& configuration : configurations) {
    tried.emplace_back().name = name_of(configuration);
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

/// Launches of a sample, for something that takes `ns` each.
int launches_for(double ns) {
  return std::clamp(static_cast<int>(kSampleNs / std::max(ns, 1.0)), 2, 1000);
}

/// The heuristics, fastest first; the time of the first of all by the way.
std::vector<int> ranked_heuristics(const Product& product, const Opponent& opponent,
                                   double& first_ns) {
  std::vector<double> ns;
  for (int which = 0; which < opponent.algorithms(); ++which) {
    const auto launch = [&] { opponent.launch(which); };
    (void)time_of(product, 1, launch);  // a kernel's first launch also loads it
    const double once = time_of(product, 2, launch);
    ns.push_back(time_of(product, launches_for(once), launch));
  }
  first_ns = ns.at(0);
  std::vector<int> order(ns.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int left, int right) {
    return ns[static_cast<std::size_t>(left)] < ns[static_cast<std::size_t>(right)];
  });
  return order;
}

double quartiles_apart(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4] - values[values.size() / 4];
}

/// One round: the opponent's finalists, every runner, beginning with another one each time, and the
/// finalists again. What they took before and after is averaged, so that a chip that warms up in
/// between favours nobody.
void run_round(const Product& product, const Opponent& opponent, const std::vector<int>& finalists,
               int launches, std::size_t round, std::vector<Runner>& runners,
               std::vector<std::vector<double>>& opponent_ns) {
  const auto their_time = [&](int which) {
    return time_of(product, launches, [&] { opponent.launch(which); });
  };
  std::vector<double> before;
  for (const int which : finalists) before.push_back(their_time(which));
  std::vector<double> times(runners.size());
  for (std::size_t i = 0; i < runners.size(); ++i) {
    const std::size_t at = (i + round * 7) % runners.size();
    const ReadyEngine& ready = runners[at].ready;
    times[at] = time_of(product, launches, [&] {
      start_engine(ready, product.timed_out.as<std::uint32_t>(), product.stream.get());
    });
    // Left standing it would make every launch after it give up at once, whoever's it is.
    if (take_timed_out(product) != 0) runners[at].timed_out = true;
  }
  double least = 0;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    const double ns = (before[i] + their_time(finalists[i])) / 2;
    opponent_ns[i].push_back(ns);
    least = i == 0 ? ns : std::min(least, ns);
  }
  for (std::size_t i = 0; i < runners.size(); ++i) {
    runners[i].ns.push_back(times[i]);
    runners[i].ratios.push_back(least / times[i]);
  }
}

}  // namespace

Tuned tune(const Shape& shape, const std::vector<EngineConfiguration>& configurations,
           double seconds) {
  const Clock::time_point start = Clock::now();
  Tuned tuned;
  tuned.shape = shape;
  const Product product = make_product(shape, GemmInputs::small_integers);
  std::vector<Runner> runners = those_that_are_exact(product, configurations, tuned.tried);
  fill_product(product, GemmInputs::normal);

  const Opponent opponent(product);
  tuned.heuristics = opponent.algorithms();
  double first_ns = 0;
  std::vector<int> finalists = ranked_heuristics(product, opponent, first_ns);
  finalists.resize(std::min(finalists.size(), kFinalists));
  const int launches = launches_for(first_ns);
  std::vector<std::vector<double>> opponent_ns(finalists.size());
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    if (round >= kLeastRounds && seconds_since(start) > seconds) break;
    run_round(product, opponent, finalists, launches, round, runners, opponent_ns);
    ++tuned.rounds;
    for (const Runner& runner : runners) {
      if (runner.timed_out)
        tuned.tried[runner.index].trouble = "a wait ended by its bound while it was timed";
    }
    std::erase_if(runners, [](const Runner& runner) { return runner.timed_out; });
  }

  const double operations = operations_of(shape) * 1e-3;  // TFLOP/s of nanoseconds
  std::size_t best = 0;
  for (std::size_t i = 1; i < finalists.size(); ++i)
    if (median(opponent_ns[i]) < median(opponent_ns[best])) best = i;
  const auto [least, most] =
      std::minmax_element(opponent_ns[best].begin(), opponent_ns[best].end());
  tuned.best = finalists[best];
  tuned.opponent = operations / median(opponent_ns[best]);
  tuned.first = operations / first_ns;
  tuned.drift = *most / *least - 1;
  for (const Runner& runner : runners) {
    Tried& tried = tuned.tried[runner.index];
    tried.tflops = operations / median(runner.ns);
    tried.ratio = median(runner.ratios);
    tried.spread = quartiles_apart(runner.ratios);
  }
  tuned.seconds = seconds_since(start);
  return tuned;
}

std::string check(const EngineConfiguration& configuration) {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{257, 513, 65}, Shape{384, 304, 1032},
                             Shape{2047, 4097, 200}, Shape{6400, 5120, 192}}) {
    const Product product = make_product(shape, GemmInputs::small_integers);
    const ReadyEngine ready = prepare_engine(configuration, product.local);
    if (ready.code != CUDA_SUCCESS) return "a tensor map was refused";
    const DeviceBuffer expected = expected_integers(product);
    for (int again = 0; again < 3; ++again) {
      const std::string wrong = differs(product, ready, expected.data());
      if (!wrong.empty()) return fmt::format("{} x {} x {}: {}", shape.m, shape.n, shape.k, wrong);
    }
  }
  return {};
}

const Tried* best_of(const Tuned& tuned) {
  const Tried* best = nullptr;
  for (const Tried& tried : tuned.tried)
    if (tried.trouble.empty() && (best == nullptr || tried.ratio > best->ratio)) best = &tried;
  return best;
}

}  // namespace tidemark
