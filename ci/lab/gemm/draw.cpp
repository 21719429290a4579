// Measures both sides of a duel at work: energy, clock, and how much of the tensor cores is used.
#include "ci/lab/gemm/draw.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/cuda/check.hpp"

namespace tidemark {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Multiplications and additions of an SM's tensor cores in a clock, 16-bit operands: four wgmma
/// m64n256k16 take 512 clocks (NVIDIA H100 white paper: 989 TFLOP/s of 132 SMs at 1830 MHz). Twice
/// as many of fp8.
constexpr double kTensorOperations = 4096;

}  // namespace

/// NVML's energy meter of the current GPU, by nvml.h's stable names.
class EnergyMeter {
 public:
  EnergyMeter() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW), &dlclose) {
    if (library_ == nullptr) return;
    const auto init = function<int()>("nvmlInit_v2");
    const auto find = function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    energy_ = function<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
    temperature_ = function<int(void*, unsigned, unsigned*)>("nvmlDeviceGetTemperature");
    std::array<char, 32> bus{};
    int device = 0;
    cuda_check(cudaGetDevice(&device), "ask for the current GPU");
    cuda_check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device),
               "ask where the GPU is");
    if (init == nullptr || find == nullptr || init() != 0 || find(bus.data(), &gpu_) != 0)
      gpu_ = nullptr;
  }

  /// Joules since the driver was loaded.
  double joules() const {
    unsigned long long millijoules = 0;
    if (gpu_ == nullptr || energy_ == nullptr || energy_(gpu_, &millijoules) != 0) return kNan;
    return static_cast<double>(millijoules) * 1e-3;
  }
  double temperature() const {
    constexpr unsigned kSensorGpu = 0;  // NVML_TEMPERATURE_GPU
    unsigned degrees = 0;
    if (gpu_ == nullptr || temperature_ == nullptr || temperature_(gpu_, kSensorGpu, &degrees) != 0)
      return kNan;
    return degrees;
  }

 private:
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_.get(), name));
  }

  std::unique_ptr<void, int (*)(void*)> library_;
  void* gpu_ = nullptr;  // nvmlDevice_t
  int (*energy_)(void*, unsigned long long*) = nullptr;
  int (*temperature_)(void*, unsigned, unsigned*) = nullptr;
};

namespace {

/// The meter moves some ten times a second: where and when it next does.
struct Reading {
  double joules = kNan;
  Clock::time_point at;
};
Reading next_reading(const EnergyMeter& meter) {
  constexpr Seconds kMost(0.5);
  const double before = meter.joules();
  const Clock::time_point start = Clock::now();
  Reading reading;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    reading = {.joules = meter.joules(), .at = Clock::now()};
  } while (reading.joules == before && reading.at - start < kMost);
  return reading;
}

double mean_mhz(const SmStamps& first, const SmStamps& last) {
  double sum = 0;
  int seen = 0;
  for (int sm = 0; sm < SmStamps::kMost; ++sm) {
    if (first.nanoseconds[sm] == 0 || last.nanoseconds[sm] == 0) continue;
    sum += static_cast<double>(last.clocks[sm] - first.clocks[sm]) * 1e3 /
           static_cast<double>(last.nanoseconds[sm] - first.nanoseconds[sm]);
    ++seen;
  }
  return seen == 0 ? kNan : sum / seen;
}

}  // namespace

DrawMeter::DrawMeter(const Product& product, double operations)
    : product_(product),
      operations_(operations),
      stamps_(2 * sizeof(SmStamps)),
      meter_(std::make_unique<EnergyMeter>()) {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
}

DrawMeter::~DrawMeter() = default;

PowerDraw DrawMeter::of(const Launch& launch, double launch_ns, const AtWork& at_work) const {
  const cudaStream_t stream = product_.stream.get();
  auto* const stamps = stamps_.as<SmStamps>();
  cuda_check(cudaMemsetAsync(stamps, 0, stamps_.size(), stream), "clear the stamps");
  // The meter is read while the kernel runs: the next reading falls into the work that follows.
  Reading first;
  Reading last;
  std::jthread reader;
  const Witness witness{.begins =
                            [&] {
                              launch_sm_stamps(stamps, stream);
                              reader = std::jthread([&] {
                                first = next_reading(*meter_);
                                std::this_thread::sleep_for(Seconds(at_work.measure_s * 0.6));
                                last = next_reading(*meter_);
                              });
                            },
                        .ends = [&] { launch_sm_stamps(stamps + 1, stream); }};
  const AtWorkSample sample = sample_at_work(product_, launch, launch_ns, at_work, witness);
  reader.join();
  std::vector<SmStamps> read(2);
  cuda_check(cudaMemcpyAsync(read.data(), stamps, stamps_.size(), cudaMemcpyDeviceToHost, stream),
             "read the stamps");
  cuda_check(cudaStreamSynchronize(stream), "wait for the stamps");
  const double mhz = mean_mhz(read[0], read[1]);
  const double watts = (last.joules - first.joules) / Seconds(last.at - first.at).count();
  const double possible = (is_fp8(product_.shape.element) ? 2 : 1) * kTensorOperations;
  const double seconds = sample.ns * 1e-9;
  return {.launch_ns = sample.ns,
          .host_bound = sample.host_bound,
          .watts = watts,
          .joules = watts * seconds,
          .sm_mhz = mhz,
          .temperature = meter_->temperature(),
          .tensor_use = operations_ / (possible * multiprocessors_ * mhz * 1e6 * seconds)};
}

PowerDraw mean_of(const std::vector<PowerDraw>& draws) {
  const auto of = [&](double PowerDraw::*member) {
    double sum = 0;
    for (const PowerDraw& draw : draws) sum += draw.*member;
    return sum / static_cast<double>(draws.size());
  };
  return {.launch_ns = of(&PowerDraw::launch_ns),
          .host_bound = std::any_of(draws.begin(), draws.end(),
                                    [](const PowerDraw& one) { return one.host_bound; }),
          .watts = of(&PowerDraw::watts),
          .joules = of(&PowerDraw::joules),
          .sm_mhz = of(&PowerDraw::sm_mhz),
          .temperature = of(&PowerDraw::temperature),
          .tensor_use = of(&PowerDraw::tensor_use)};
}

}  // namespace tidemark
