// Samples of two kernels in turn.
#include "ci/lab/gemm/duel.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/cuda/check.hpp"

namespace tidemark {
namespace {

constexpr double kBatchNs = 20e6;  // of launches that wait for the GPU
constexpr double kRestedSampleNs = 4e6;
/// Of which there are two: a stream takes some 1000 launches before the host has to wait for it.
constexpr int kMostInBatch = 400;

/// Launches that were put on a stream, and how many times the GPU waited for more of them.
struct Load {
  int launches = 0, batches = 0, waits = 0;
};

/// Keeps the stream busy for `seconds`, at least one batch, never more than two ahead of the GPU.
Load put_to_work(const Product& product, const Series& series, int batch, double seconds) {
  const std::array ends{Event(), Event()};
  const std::chrono::duration<double> enough(seconds);
  const auto start = std::chrono::steady_clock::now();
  Load load;
  do {
    const Event& end = ends[static_cast<std::size_t>(load.batches) % 2];
    const Event& before = ends[static_cast<std::size_t>(load.batches + 1) % 2];
    if (load.batches >= 2) cuda_check(cudaEventSynchronize(end.get()), "wait for launches");
    for (int i = 0; i < batch; i += series.launches(), load.launches += series.launches())
      series.start();
    // The batch before is done already: these launches took the host longer than the GPU.
    if (load.batches >= 1 && cudaEventQuery(before.get()) == cudaSuccess) ++load.waits;
    cuda_check(cudaEventRecord(end.get(), product.stream.get()), "record an end");
    ++load.batches;
  } while (std::chrono::steady_clock::now() - start < enough);
  return load;
}

int batch_of(double launch_ns) { return std::min(launches_for(launch_ns, kBatchNs), kMostInBatch); }

double quartiles_apart(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 3 / 4] - values[values.size() / 4];
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

DuelScore score_of(const std::vector<PairTimes>& pairs) {
  if (pairs.empty()) return {};
  std::vector<double> before, between, behind, ratios;
  for (const PairTimes& pair : pairs) {
    before.push_back(pair.before_ns);
    between.push_back(pair.ours_ns);
    behind.push_back(pair.behind_ns);
    ratios.push_back((pair.before_ns + pair.behind_ns) / 2 / pair.ours_ns);
  }
  const double first = median(before);
  const double second = median(behind);
  return {.ours_ns = median(between),
          .theirs_ns = (first + second) / 2,
          .ratio = median(ratios),
          .spread = quartiles_apart(ratios),
          .drift = second / first - 1,
          .pairs = pairs};
}

AtWorkSample sample_at_work(const Product& product, const Launch& launch, double launch_ns,
                            const AtWork& at_work, const Witness& witness) {
  const cudaStream_t stream = product.stream.get();
  const int batch = batch_of(launch_ns);
  const Series series(product, launch, launch_ns);
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  put_to_work(product, series, batch, at_work.settle_s);
  if (witness.begins) witness.begins();
  cuda_check(cudaEventRecord(began.get(), stream), "record a start");
  const Load load = put_to_work(product, series, batch, at_work.measure_s);
  cuda_check(cudaEventRecord(ended.get(), stream), "record an end");
  if (witness.ends) witness.ends();
  cuda_check(cudaEventSynchronize(ended.get()), "wait for a sample");
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
  return {.ns = double{milliseconds} * 1e6 / load.launches,
          .host_bound = 10 * load.waits > load.batches};
}

void warm_up(const Product& product, const Launch& launch, double launch_ns, double seconds) {
  put_to_work(product, Series(product, launch, launch_ns), batch_of(launch_ns), seconds);
}

double sample_of(const Product& product, const Series& series, double launch_ns, double sample_ns) {
  const int starts = launches_for(launch_ns * series.launches(), sample_ns);
  return time_of(product, starts, [&] { series.start(); }) / series.launches();
}

double sample_rested(const Product& product, const Launch& launch, double launch_ns,
                     double rest_s) {
  const Series series(product, launch, launch_ns);
  std::this_thread::sleep_for(std::chrono::duration<double>(rest_s));
  return sample_of(product, series, launch_ns, kRestedSampleNs);
}

PairTimes pair_rested(const Product& product, const Launch& theirs, const Launch& ours,
                      double launch_ns, double rest_s) {
  const double before = sample_rested(product, theirs, launch_ns, rest_s);
  const double between = sample_rested(product, ours, launch_ns, rest_s);
  return {.before_ns = before,
          .ours_ns = between,
          .behind_ns = sample_rested(product, theirs, launch_ns, rest_s)};
}

int launches_for(double ns, double sample_ns) {
  return std::clamp(static_cast<int>(sample_ns / std::max(ns, 1.0)), 2, 1000);
}

}  // namespace tidemark
