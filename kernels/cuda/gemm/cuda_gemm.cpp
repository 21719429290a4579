// Runs one product (panels, product, C read back), and times one.
#include "kernels/cuda/gemm/cuda_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/product_steps.hpp"
#include "kernels/cuda/gemm/reference.hpp"
#include "kernels/cuda/gemm/resident_gemm.hpp"
#include "kernels/cuda/row.hpp"
#include "kernels/cuda/transport/gather.hpp"
#include "kernels/device.hpp"

namespace tidemark {
namespace {

/// The product beside a second exchange, into panels that are poisoned and words that the first one
/// has left: a word that is taken for this exchange's, or is there before its bytes, is a NaN in C.
Trouble multiply_beside_again(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block) {
  Trouble trouble = poison_and_meet(gemm, block);
  ProductClock clock;
  return trouble ? trouble : multiply_beside(gemm, block, true, Start::at_once, 0, clock);
}

/// The first thing that goes wrong ends it.
Trouble run_block(const Gemm& gemm, RunResult& result) {
  std::unique_ptr<ResidentGemm> block;
  Trouble trouble = make_block(gemm, block);
  if (!trouble) trouble = exchange(gemm, block, !runs_beside(gemm));
  if (!trouble)
    trouble = runs_beside(gemm) ? multiply_beside_again(gemm, block)
                                : multiply(gemm, block, 0, ProductClock{});
  if (!trouble) trouble = kernel_trouble(*block);
  if (trouble) return trouble;
  read_back(gemm, *block, result);
  return gemm.vote ? exchange_digests(gemm, result) : Trouble{};
}

}  // namespace

RunResult run_gemm(const Gemm& gemm) {
  RunResult result;
  result.note = engine_note(gemm);
  try {
    take(result, run_block(gemm, result));
  } catch (const StickyError& error) {
    take(result, sticky(error));
  }
  return result;
}

// Times one product: alone, or from a barrier of all ranks until C is done.

namespace {

void record(const Event& event, const ResidentGemm& block) {
  cuda_check(cudaEventRecord(event.get(), block.stream.get()), "record the start of a product");
}

/// What the last sample left, unless a kernel says that it gave up.
Trouble read_last(const Gemm& gemm, const ResidentGemm& block, Measurement& measurement) {
  Trouble trouble = kernel_trouble(block);
  if (trouble) return trouble;
  read_back(gemm, block, measurement.last);
  return exchange_digests(gemm, measurement.last);
}

/// How long every sample spins behind its product, and what the measurement says of it. Nothing
/// where the benchmark is not slowed.
std::uint64_t spin_of(const Timing& timing, const std::vector<double>& untouched_ns,
                      Measurement& measurement) {
  if (!(timing.slow > 0)) return 0;
  const double ns = extra_ns(untouched_ns, timing.slow);
  measurement.note += fmt::format(
      "; slowed on purpose: all SMs multiply {:.1f} us more behind each product", ns / 1000);
  return static_cast<std::uint64_t>(ns);
}

/// From a barrier on: exchange and product, one after the other or side by side. The total is taken
/// by events, which a host that polls late cannot stretch. Where the product was queued before the
/// barrier the first one is when the GPU saw it pass, else the host's now: the stream is idle.
Trouble time_exchanged(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, bool last,
                       std::uint64_t spin_ns, TimedSample& sample) {
  ProductClock clock;
  Trouble trouble;
  if (runs_beside(gemm)) {
    trouble = multiply_beside(gemm, block, last, Start::at_barrier, spin_ns, clock);
    if (trouble) return trouble;
    sample.wait_ns = waited_for_rows_ns(*block);
  } else {
    trouble = barrier(gemm, block);
    if (trouble) return trouble;
    const auto start = std::chrono::steady_clock::now();
    record(clock.began, *block);
    trouble = exchange(gemm, block, last);
    if (trouble) return trouble;
    const std::chrono::duration<double, std::nano> exchanged =
        std::chrono::steady_clock::now() - start;
    clock.exchange_ns = exchanged.count();
    trouble = multiply(gemm, block, spin_ns, clock);
    if (trouble) return trouble;
    sample.wait_ns = clock.exchange_ns;
  }
  sample.at_unix_s = unix_seconds();
  sample.total_ns = clock.total_ns();
  sample.exchange_ns = clock.exchange_ns;
  return {};
}

/// From a barrier on: the product alone, by all ranks at once.
Trouble time_alone(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, TimedSample& sample) {
  const ProductClock clock;
  Trouble trouble = multiply_from_barrier(gemm, block, clock);
  if (!trouble) sample.local_ns = clock.total_ns();
  return trouble;
}

/// Fills in what the slowest rank took, sample by sample.
Trouble compare_ranks(const Gemm& gemm, std::vector<TimedSample>& samples) {
  struct Times {
    double total_ns, local_ns;
  };
  const std::size_t count = samples.size();
  std::vector<Times> mine;
  for (const TimedSample& sample : samples) mine.push_back({sample.total_ns, sample.local_ns});
  std::vector<std::byte> row(count * sizeof(Times));
  std::memcpy(row.data(), mine.data(), row.size());
  std::vector<std::byte> all;
  const auto ranks = static_cast<std::uint32_t>(gemm.everybody.size());
  std::string late = gather_rows(*gemm.transport, kPanelTimes, "times", gemm.rank, ranks, row,
                                 gemm.deadline_s, all);
  if (!late.empty()) return {.fault = DeviceFault::others_late, .code = 0, .note = std::move(late)};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::memcpy(mine.data(), all.data() + rank * row.size(), row.size());
    for (std::size_t i = 0; i < count; ++i) {
      samples[i].slowest_total_ns = std::max(samples[i].slowest_total_ns, mine[i].total_ns);
      samples[i].slowest_local_ns = std::max(samples[i].slowest_local_ns, mine[i].local_ns);
    }
  }
  return {};
}

/// With a transport each sample has a product alone before it, in the same heat.
Trouble measure_exchanged(const Gemm& gemm, const Timing& timing,
                          std::unique_ptr<ResidentGemm>& block, Measurement& measurement) {
  const std::uint32_t launches = timing.warmups + timing.samples;
  std::vector<double> untouched_ns;
  std::uint64_t spin_ns = 0;
  Trouble trouble = exchange(gemm, block, false);  // what the first product alone multiplies
  // Kernels are loaded and connections made here: either may wait for all streams, and later one of
  // them is held.
  if (!trouble) trouble = multiply(gemm, block, timing.slow > 0 ? 1 : 0, ProductClock{});
  if (!trouble) trouble = barrier(gemm, block);
  for (std::uint32_t i = 0; i < launches && !trouble; ++i) {
    if (i == timing.warmups) spin_ns = spin_of(timing, untouched_ns, measurement);
    const bool last = i + 1 == launches;
    TimedSample sample;
    trouble = time_alone(gemm, block, sample);
    if (!trouble && last) trouble = poison_and_meet(gemm, block);
    if (!trouble) trouble = time_exchanged(gemm, block, last, spin_ns, sample);
    if (trouble) return trouble;
    if (i < timing.warmups)
      untouched_ns.push_back(sample.total_ns);
    else
      measurement.samples.push_back(sample);
  }
  if (!trouble) trouble = compare_ranks(gemm, measurement.samples);
  return trouble ? trouble : read_last(gemm, *block, measurement);
}

/// Without one: launches back to back, each between events of its own.
Trouble measure_alone(const Gemm& gemm, const Timing& timing, std::unique_ptr<ResidentGemm>& block,
                      Measurement& measurement) {
  const std::uint32_t launches = timing.warmups + timing.samples;
  std::vector<ProductClock> clocks(launches);
  std::uint64_t spin_ns = 0;
  for (std::uint32_t i = 0; i < launches; ++i) {
    if (i == timing.warmups && timing.slow > 0) {
      // Only here: without a slowdown nothing may come between two launches.
      const Trouble trouble = wait_or_leave(block, gemm.deadline_s * (i + 1), "the warm-ups");
      if (trouble) return trouble;
      std::vector<double> untouched_ns;
      for (std::uint32_t j = 0; j < i; ++j) untouched_ns.push_back(clocks[j].total_ns());
      spin_ns = spin_of(timing, untouched_ns, measurement);
    }
    if (i + 1 == launches) poison_again(gemm, *block);  // in order of the stream, before the event
    record(clocks[i].began, *block);
    launch_engine(gemm, *block);
    if (spin_ns > 0) launch_spin(spin_ns, block->stream.get());
    cuda_check(cudaEventRecord(clocks[i].ended.get(), block->stream.get()), "record an end");
  }
  Trouble trouble = wait_or_leave(block, gemm.deadline_s * (launches + 1), "the kernels");
  if (trouble) return trouble;
  const double now = unix_seconds();
  for (std::uint32_t i = timing.warmups; i < launches; ++i) {
    float behind_ms = 0;
    cuda_check(cudaEventElapsedTime(&behind_ms, clocks[i].ended.get(), clocks.back().ended.get()),
               "time a sample");
    measurement.samples.push_back(
        {.at_unix_s = now - double{behind_ms} * 1e-3, .total_ns = clocks[i].total_ns()});
  }
  return read_last(gemm, *block, measurement);
}

Trouble measure_block(const Gemm& gemm, const Timing& timing, Measurement& measurement) {
  std::unique_ptr<ResidentGemm> block;
  Trouble trouble = make_block(gemm, block);
  if (trouble) return trouble;
  return gemm.transport == nullptr ? measure_alone(gemm, timing, block, measurement)
                                   : measure_exchanged(gemm, timing, block, measurement);
}

}  // namespace

Measurement measure_gemm(const Gemm& gemm, const Timing& timing) {
  Measurement measurement;
  measurement.note = engine_note(gemm);
  try {
    take(measurement, measure_block(gemm, timing, measurement));
  } catch (const StickyError& error) {
    take(measurement, sticky(error));
  }
  if (measurement.fault != DeviceFault::none) {
    measurement.samples.clear();
    measurement.last = {};
  }
  return measurement;
}

}  // namespace tidemark
