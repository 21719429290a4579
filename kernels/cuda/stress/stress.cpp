// The launches of a stress, and the sums of what they leave.
#include "kernels/cuda/stress/stress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/stress/stress_kernel.hpp"

namespace tidemark {
namespace {

constexpr double kSampleSeconds = 0.1;
constexpr std::uint64_t kPlainBytes = std::uint64_t{4} << 30;  // read a sample: a millisecond
constexpr std::size_t kLeftFree = std::size_t{256} << 20;      // for other users of the GPU

/// What the launches of one stress share. Its memory is given back with it: gigabytes.
struct StressBuffers {
  DeviceBuffer memory, results;
  StressLaunch launch{};
  std::uint32_t sms = 0, ctas = 0;  // of the GPU; of the last launch
};

void end_with(Measurement& result, DeviceFault fault, std::int32_t code, std::string note) {
  result.fault = fault;
  result.code = code;
  result.note = std::move(note);
}

/// False, with the refusal in `result`, where the driver refuses a map.
bool encode_maps(const Stress& op, StressBuffers& buffers, Measurement& result) {
  StressLaunch& launch = buffers.launch;
  const std::vector<TensorMapSpec> maps = stress_maps(op, buffers.sms);
  std::ranges::copy(stress_shapes(maps), launch.shapes);
  for (const TensorMapSpec& map : maps) {
    if (!map.bulk) {
      const Encoded encoded = encode(map, buffers.memory.data());
      if (encoded.code != CUDA_SUCCESS) {
        end_with(result, DeviceFault::encode_refused, static_cast<std::int32_t>(encoded.code),
                 encode_refusal(encoded.code, map));
        return false;
      }
      launch.maps[launch.map_count] = encoded.map;
    }
    ++launch.map_count;
  }
  return true;
}

std::uint32_t sm_count() {
  int device = 0, sms = 0;
  cuda_check(cudaGetDevice(&device), "ask for the device");
  cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  return static_cast<std::uint32_t>(sms);
}

/// False, with the reason in `result`, where the memory is not free.
bool take_memory(RowWorkspace& workspace, const Stress& op, StressBuffers& buffers,
                 Measurement& result) {
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total), "ask for free memory");
  if (free < op.memory_bytes + kLeftFree) {
    end_with(result, DeviceFault::unsupported, 0,
             fmt::format("needs {} MiB of free memory, and the GPU has {}",
                         (op.memory_bytes + kLeftFree) >> 20, free >> 20));
    return false;
  }
  buffers.sms = sm_count();
  if (buffers.sms > kStressSms) throw Error(fmt::format("a GPU of {} SMs", buffers.sms));
  buffers.memory = DeviceBuffer(op.memory_bytes);
  buffers.results = DeviceBuffer(sizeof(StressResults));
  grow(workspace.host, sizeof(StressResults));
  StressLaunch& launch = buffers.launch;
  launch.memory = buffers.memory.as<std::uint8_t>();
  launch.memory_bytes = op.memory_bytes;
  launch.word_seed = static_cast<std::uint32_t>(op.seed);
  launch.copy = op.copy;
  launch.cluster = op.cluster;
  launch.spoiled = op.spoiled;
  launch.results = buffers.results.as<StressResults>();
  if (!is_write(op.copy))  // else before each launch
    launch_stress_fill(launch.memory, op.memory_bytes, launch.word_seed, workspace.stream.get());
  return true;
}

/// Adds what the SMs did in one launch.
void add_launch(const StressResults& results, const StressBuffers& buffers, RunResult& sums) {
  sums.stress.resize(kStressSms);
  for (std::uint32_t i = 0; i < buffers.ctas; ++i) {
    const StressSm& sm = results.sms[i];
    if (sm.ns == 0 || sm.sm >= kStressSms)
      throw Error(fmt::format("CTA {} of a stress left no result", i));
    StressSm& sum = sums.stress[sm.sm];
    const auto kept = std::min<std::uint64_t>(sm.wrong_words, kKeptWrongWords);
    if (sum.wrong_words == 0)
      sums.wrong_words.insert(sums.wrong_words.end(), results.wrong[i], results.wrong[i] + kept);
    if (sum.products > 0 && sum.digest != sm.digest) ++sum.wrong_products;
    add_to(sum, sm);
  }
  const auto of_no_cta =
      std::min<std::uint64_t>(results.sms[buffers.ctas].wrong_words, kKeptWrongWords);
  const WrongWord* const first = results.wrong[buffers.ctas];
  if (std::ranges::find(sums.wrong_words, kNoSm, &WrongWord::sm) == sums.wrong_words.end())
    sums.wrong_words.insert(sums.wrong_words.end(), first, first + of_no_cta);
  for (std::uint32_t sm = 0; sm < kStressSms; ++sm) {
    if (results.cycles[sm] == 0) continue;
    StressSm alone{.sm = sm, .latency = results.cycles[sm]};
    if (alone.latency == kLatencyLost) alone = {.sm = sm, .lost = 1, .lost_iteration = kLoneLoad};
    add_to(sums.stress[sm], alone);
  }
}

/// Cycles, the mean of all SMs.
double latency_of(const StressResults& results) {
  double sum = 0, sms = 0;
  for (const std::uint32_t cycles : results.cycles) {
    if (cycles == 0 || cycles == kLatencyLost) continue;
    sum += cycles;
    ++sms;
  }
  return sms == 0 ? 0 : sum / sms;
}

struct Events {
  Event read{Event::Kind::timing}, began{Event::Kind::timing}, ended{Event::Kind::timing};
};

double nanoseconds(const Event& from, const Event& to) {
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, from.get(), to.get()), "time a stress");
  return double{milliseconds} * 1e6;
}

/// Launch number `number`. False where no cluster fits or a kernel did not end.
bool take_sample(RowWorkspace& workspace, StressBuffers& buffers, const Stress& op,
                 std::uint32_t number, const Events& events, Measurement& result) {
  const cudaStream_t stream = workspace.stream.get();
  StressLaunch& launch = buffers.launch;
  launch.seed = stress_launch_seed(op, number);
  const auto times =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, kPlainBytes / op.memory_bytes));
  cuda_check(cudaMemsetAsync(launch.results, 0, sizeof(StressResults), stream),
             "clear the results of a stress");
  // What a launch before it left wrong is not counted again.
  if (is_write(op.copy))
    launch_stress_fill(launch.memory, op.memory_bytes, launch.word_seed, stream);
  launch_stress_latency(launch.memory, buffers.sms, launch.results, stream);
  cuda_check(cudaEventRecord(events.read.get(), stream), "record the start of a plain read");
  launch_plain_read(launch.memory, op.memory_bytes, times, &launch.results->sink, buffers.sms,
                    stream);
  cuda_check(cudaEventRecord(events.began.get(), stream), "record the start of a stress");
  buffers.ctas = launch_stress(launch, buffers.sms, op.products, stream);
  cuda_check(cudaEventRecord(events.ended.get(), stream), "record the end of a stress");
  if (is_write(op.copy)) launch_stress_scan(launch, buffers.ctas, stream);
  cuda_check(cudaMemcpyAsync(workspace.host.data(), launch.results, sizeof(StressResults),
                             cudaMemcpyDeviceToHost, stream),
             "read back the results of a stress");
  if (!wait_for_launch(workspace)) {
    end_with(result, DeviceFault::timeout, 0, hung_note());
    return false;
  }
  if (buffers.ctas == 0) {
    end_with(result, DeviceFault::unsupported, 0,
             fmt::format("needs clusters of {} CTAs", op.cluster));
    return false;
  }
  const auto& results = *workspace.host.as<StressResults>();
  const std::uint64_t before = sum_of(result.last.stress).bytes;
  add_launch(results, buffers, result.last);
  TimedSample sample;
  sample.at_unix_s = unix_seconds();
  sample.total_ns = nanoseconds(events.began, events.ended);
  sample.cycles = latency_of(results);
  sample.bytes = static_cast<double>(sum_of(result.last.stress).bytes - before);
  sample.plain_bytes_per_s =
      static_cast<double>(op.memory_bytes) * times * 1e9 / nanoseconds(events.read, events.began);
  result.samples.push_back(sample);
  return true;
}

/// The median of all samples.
double share_of_plain(const std::vector<TimedSample>& samples) {
  std::vector<double> shares;
  for (const TimedSample& sample : samples)
    shares.push_back(sample.bytes * 1e9 / sample.total_ns / sample.plain_bytes_per_s);
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::nth_element(shares.begin(), middle, shares.end());
  return *middle;
}

void take_samples(RowWorkspace& workspace, StressBuffers& buffers, const Stress& op,
                  Measurement& result) {
  const auto launches =
      static_cast<std::uint32_t>(std::max(1.0, std::round(op.seconds / kSampleSeconds)));
  buffers.launch.ns = static_cast<std::uint64_t>(op.seconds / launches * 1e9);
  const Events events;
  for (std::uint32_t i = 0; i < launches; ++i) {
    if (!take_sample(workspace, buffers, op, i, events, result)) return;
    // The next one would wait as long for what is lost.
    if (sum_of(result.last.stress).lost > 0) break;
  }
  // Clocks come up during the first one.
  if (result.samples.size() > 1) result.samples.erase(result.samples.begin());
}

/// SMs that did not run are no pass: something else holds their shared memory. But clusters leave
/// some out: those of a GPC that are too few for one.
void require_all_sms(const StressBuffers& buffers, Measurement& result) {
  if (buffers.launch.cluster > 1) return;
  if (is_wrong(sum_of(result.last.stress)) || !result.last.wrong_words.empty()) return;
  const auto ran = std::count_if(result.last.stress.begin(), result.last.stress.end(),
                                 [](const StressSm& sm) { return sm.boxes > 0; });
  if (ran < static_cast<std::ptrdiff_t>(buffers.sms))
    end_with(result, DeviceFault::unsupported, 0,
             fmt::format("needs all {} SMs to itself, and ran on {}", buffers.sms, ran));
}

}  // namespace

Measurement measure_stress(RowWorkspace& workspace, const Stress& op) {
  Measurement result;
  auto buffers = std::make_unique<StressBuffers>();
  catch_sticky(result, [&] {
    if (!take_memory(workspace, op, *buffers, result)) return;
    if (!encode_maps(op, *buffers, result)) return;
    take_samples(workspace, *buffers, op, result);
    if (result.fault == DeviceFault::none) require_all_sms(*buffers, result);
  });
  // Giving memory back waits for the kernel that uses it, and that one never ends.
  if (workspace.hung) (void)buffers.release();
  std::erase_if(result.last.stress, [](const StressSm& sm) { return sm.ns == 0 && sm.lost == 0; });
  compare_digests(result.last.stress);
  if (result.fault == DeviceFault::none)
    result.note =
        fmt::format("{}; {:.1f} % of what threads read of the same memory",
                    stress_note(result.last.stress), 100 * share_of_plain(result.samples));
  result.last.fault = result.fault;
  result.last.code = result.code;
  result.last.note = result.note;
  return result;
}

}  // namespace tidemark
