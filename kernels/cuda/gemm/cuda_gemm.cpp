// The host's half of a GEMM. Everything that waits has a bound; memory that a kernel may still use
// when its bound has passed is never given back.
#include "kernels/cuda/gemm/cuda_gemm.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/gemm/gather.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/cuda/gemm/read_back.hpp"
#include "kernels/cuda/gemm/resident_gemm.hpp"
#include "kernels/cuda/spin.hpp"
#include "kernels/cuda/wait.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/slowdown.hpp"

namespace tidemark::kernels {
namespace {

/// A fault and its words; none where all is well.
struct Trouble {
  DeviceFault fault = DeviceFault::none;
  std::int32_t code = 0;
  std::string note;
};

/// Waits for the block's stream. Where that takes too long the block is let go of, not freed:
/// cudaFree would wait for the kernel without a bound.
Trouble wait_or_leave(std::unique_ptr<ResidentGemm>& block, double seconds, const char* what) {
  if (wait_for_stream(block->stream.get(), seconds)) return {};
  static_cast<void>(block.release());
  return {.fault = DeviceFault::timeout,
          .code = 0,
          .note = fmt::format("{} did not end within {:g} s; this process should not use the GPU "
                              "any more",
                              what, seconds)};
}

Trouble refused(const ResidentGemm& block) {
  const CUresult code = block.encoded();
  if (code == CUDA_SUCCESS) return {};
  return {.fault = DeviceFault::encode_refused,
          .code = static_cast<std::int32_t>(code),
          .note = encode_refusal(code)};
}

/// Gathers both panels; nothing to do without a transport.
Trouble exchange(const Gemm& gemm, const ResidentGemm& block) {
  if (gemm.transport == nullptr) return {};
  const std::uint64_t row_bytes = block.local.pitch * sizeof(std::uint16_t);
  const NamedPanel panels[] = {
      {{.id = 0, .base = block.a.data(), .row_bytes = row_bytes, .shards = gemm.a_shards},
       "panel A"},
      {{.id = 1, .base = block.b.data(), .row_bytes = row_bytes, .shards = gemm.b_shards},
       "panel B"}};
  std::string late = gather_or_abort(*gemm.transport, panels, gemm.deadline_s);
  if (late.empty()) return {};
  return {.fault = DeviceFault::timeout, .code = 0, .note = std::move(late)};
}

/// Returns when every rank has called it.
Trouble barrier(const Gemm& gemm, const ResidentGemm& block) {
  const NamedPanel panels[] = {{{.id = 2,
                                 .base = block.barrier.data(),
                                 .row_bytes = kBarrierRowBytes,
                                 .shards = gemm.everybody},
                                "barrier"}};
  std::string late = gather_or_abort(*gemm.transport, panels, gemm.deadline_s);
  if (late.empty()) return {};
  return {.fault = DeviceFault::timeout, .code = 0, .note = std::move(late)};
}

/// What the kernel says about its own waits.
Trouble kernel_trouble(const ResidentGemm& block) {
  std::uint32_t word = 0;
  cuda_check(cudaMemcpyAsync(&word, block.words.data(), sizeof(word), cudaMemcpyDeviceToHost,
                             block.stream.get()),
             "read the time-out word");
  cuda_check(cudaStreamSynchronize(block.stream.get()), "read the time-out word");
  if (word == 0) return {};
  const TimedOutWait wait = timed_out_wait(word);
  return {.fault = DeviceFault::timeout,
          .code = 0,
          .note = fmt::format("in block {} of the kernel a {} waited more than {:g} s", wait.block,
                              wait.producer ? "producer for a free stage or packed rows"
                                            : "consumer for the bytes of a stage",
                              static_cast<double>(kKernelWaitNs) * 1e-9)};
}

/// Runs and reads back; the first thing that goes wrong ends it.
Trouble run_block(const Gemm& gemm, RunResult& result) {
  std::unique_ptr<ResidentGemm> block = make_resident(gemm);
  Trouble trouble = wait_or_leave(block, gemm.deadline_s, "making the inputs");
  if (trouble.fault == DeviceFault::none) trouble = exchange(gemm, *block);
  if (trouble.fault == DeviceFault::none) trouble = refused(*block);
  if (trouble.fault != DeviceFault::none) return trouble;
  launch_engine(gemm, *block);
  trouble = wait_or_leave(block, gemm.deadline_s, "the kernel");
  if (trouble.fault == DeviceFault::none) trouble = kernel_trouble(*block);
  if (trouble.fault == DeviceFault::none) read_back(gemm, *block, result);
  return trouble;
}

double unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double elapsed_ns(const Event& began, const Event& ended) {
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
  return double{milliseconds} * 1e6;
}

/// What the last sample left, unless a kernel says that it gave up.
Trouble read_last(const Gemm& gemm, const ResidentGemm& block, Measurement& measurement) {
  Trouble trouble = kernel_trouble(block);
  if (trouble.fault == DeviceFault::none) read_back(gemm, block, measurement.last);
  return trouble;
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

/// With a transport: barrier, exchange, kernel. The total is taken by events, which a host that
/// polls late cannot stretch: the stream is idle at the first one, so it stands for the host's now.
Trouble measure_exchanged(const Gemm& gemm, const Timing& timing,
                          std::unique_ptr<ResidentGemm>& block, Measurement& measurement) {
  if (gemm.everybody.empty())
    throw Error("gemm: `everybody` is empty, but a timed run needs one row of each rank");
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  const std::uint32_t launches = timing.warmups + timing.samples;
  std::vector<double> untouched_ns;
  std::uint64_t spin_ns = 0;
  for (std::uint32_t i = 0; i < launches; ++i) {
    if (i == timing.warmups) spin_ns = spin_of(timing, untouched_ns, measurement);
    Trouble trouble;
    if (i + 1 == launches) {
      // Before the barrier, and waited for: behind it the others' rows may land at any time.
      poison_again(gemm, *block);
      trouble = wait_or_leave(block, gemm.deadline_s, "poisoning C again");
      if (trouble.fault != DeviceFault::none) return trouble;
    }
    trouble = barrier(gemm, *block);
    if (trouble.fault != DeviceFault::none) return trouble;
    const auto start = std::chrono::steady_clock::now();
    cuda_check(cudaEventRecord(began.get(), block->stream.get()), "record the start of a sample");
    trouble = exchange(gemm, *block);
    if (trouble.fault != DeviceFault::none) return trouble;
    const std::chrono::duration<double, std::nano> exchanged =
        std::chrono::steady_clock::now() - start;
    launch_engine(gemm, *block);
    if (spin_ns > 0) launch_spin(spin_ns, block->stream.get());
    cuda_check(cudaEventRecord(ended.get(), block->stream.get()), "record the end of a sample");
    trouble = wait_or_leave(block, gemm.deadline_s, "the kernel");
    if (trouble.fault != DeviceFault::none) return trouble;
    if (i < timing.warmups) {
      untouched_ns.push_back(elapsed_ns(began, ended));
      continue;
    }
    measurement.samples.push_back({.at_unix_s = unix_seconds(),
                                   .total_ns = elapsed_ns(began, ended),
                                   .exchange_ns = exchanged.count()});
  }
  return read_last(gemm, *block, measurement);
}

/// Without one: launches back to back, each between events of its own.
Trouble measure_alone(const Gemm& gemm, const Timing& timing, std::unique_ptr<ResidentGemm>& block,
                      Measurement& measurement) {
  const std::uint32_t launches = timing.warmups + timing.samples;
  std::vector<Event> began;
  std::vector<Event> ended;
  for (std::uint32_t i = 0; i < launches; ++i) {
    began.emplace_back(Event::Kind::timing);
    ended.emplace_back(Event::Kind::timing);
  }
  std::uint64_t spin_ns = 0;
  for (std::uint32_t i = 0; i < launches; ++i) {
    if (i == timing.warmups && timing.slow > 0) {
      // Only here: without a slowdown nothing may come between two launches.
      const Trouble trouble = wait_or_leave(block, gemm.deadline_s * (i + 1), "the warm-ups");
      if (trouble.fault != DeviceFault::none) return trouble;
      std::vector<double> untouched_ns;
      for (std::uint32_t j = 0; j < i; ++j) untouched_ns.push_back(elapsed_ns(began[j], ended[j]));
      spin_ns = spin_of(timing, untouched_ns, measurement);
    }
    if (i + 1 == launches) poison_again(gemm, *block);  // in order of the stream, before the event
    cuda_check(cudaEventRecord(began[i].get(), block->stream.get()), "record a start");
    launch_engine(gemm, *block);
    if (spin_ns > 0) launch_spin(spin_ns, block->stream.get());
    cuda_check(cudaEventRecord(ended[i].get(), block->stream.get()), "record an end");
  }
  Trouble trouble = wait_or_leave(block, gemm.deadline_s * (launches + 1), "the kernels");
  if (trouble.fault != DeviceFault::none) return trouble;
  const double now = unix_seconds();
  for (std::uint32_t i = timing.warmups; i < launches; ++i)
    measurement.samples.push_back({.at_unix_s = now - elapsed_ns(ended[i], ended.back()) * 1e-9,
                                   .total_ns = elapsed_ns(began[i], ended[i]),
                                   .exchange_ns = 0});
  return read_last(gemm, *block, measurement);
}

Trouble measure_block(const Gemm& gemm, const Timing& timing, Measurement& measurement) {
  std::unique_ptr<ResidentGemm> block = make_resident(gemm);
  Trouble trouble = wait_or_leave(block, gemm.deadline_s, "making the inputs");
  if (trouble.fault == DeviceFault::none) trouble = refused(*block);
  if (trouble.fault != DeviceFault::none) return trouble;
  return gemm.transport == nullptr ? measure_alone(gemm, timing, block, measurement)
                                   : measure_exchanged(gemm, timing, block, measurement);
}

/// Puts trouble into a RunResult or a Measurement, in place of the note about how all went well.
template <class Result>
void take(Result& result, const Trouble& trouble) {
  if (trouble.fault == DeviceFault::none) return;
  result.fault = trouble.fault;
  result.code = trouble.code;
  result.note = trouble.note;
}

Trouble sticky(const StickyError& error) {
  return {.fault = DeviceFault::sticky,
          .code = static_cast<std::int32_t>(error.code),
          .note = error.what()};
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

}  // namespace tidemark::kernels
