// The device without a GPU, and the list of its faults.
#include "kernels/virtual/virtual_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/error.hpp"
#include "kernels/fault.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/copies/map_faults.hpp"
#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/copies/tile_store_faults.hpp"
#include "kernels/virtual/encode.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/peer_tile.hpp"
#include "kernels/virtual/program/program.hpp"
#include "kernels/virtual/program/program_run.hpp"
#include "kernels/virtual/stress.hpp"

namespace tidemark {

// Hands each operation to its virtual engine.

namespace {

// Counts instead of timing: every sample is predicted_wavefronts() cycles. Says nothing about a
// GPU.
Measurement count_wavefronts(const TileRead& read, const Timing& timing, Fault fault) {
  Measurement measurement;
  measurement.last = run_virtual_program(with_checks(program_of(read)), fault);
  measurement.fault = measurement.last.fault;
  measurement.code = measurement.last.code;
  measurement.note = measurement.last.note;
  if (measurement.fault != DeviceFault::none) return measurement;
  const double wavefronts = predicted_wavefronts(read) * slowed_factor(kReadsPerWarp, timing.slow);
  for (std::uint32_t i = 0; i < timing.samples; ++i) {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    measurement.samples.push_back(
        {.at_unix_s = now.count(), .total_ns = wavefronts, .cycles = wavefronts});
  }
  measurement.note = "the virtual device counts wavefronts and times nothing" +
                     slowed_note(kReadsPerWarp, timing.slow, "reads");
  return measurement;
}

// One overload an operation; std::visit picks.
struct Runner {
  Fault fault;
  RunResult operator()(const Gemm& gemm) const { return run_virtual_gemm(gemm, fault); }
  template <class RunsAsProgram>
  RunResult operator()(const RunsAsProgram& /*op*/) const {
    throw Error("this operation runs as a program: make one of it with program_of()");
  }
  RunResult operator()(const PeerTile& peer) const { return run_virtual_peer_tile(peer, fault); }
  RunResult operator()(const Stress& stress) const {
    return run_virtual_stress(stress, fault).last;
  }
  RunResult operator()(const Encode& encode) const { return run_virtual_encode(encode, fault); }
  RunResult operator()(const DriverFacts& facts) const {
    return run_virtual_driver_facts(facts, fault);
  }
};

struct Timekeeper {
  const Timing& timing;
  Fault fault;
  Measurement operator()(const Gemm& gemm) const {
    return measure_virtual_gemm(gemm, timing, fault);
  }
  Measurement operator()(const TileRead& read) const {
    return count_wavefronts(read, timing, fault);
  }
  Measurement operator()(const Stress& stress) const { return run_virtual_stress(stress, fault); }
  template <typename Untimed>
  Measurement operator()(const Untimed& /*op*/) const {
    throw Error("this operation has no timed form: give it a conformance case");
  }
};

template <typename Result>
Result spent(std::int32_t code) {
  Result result;
  result.fault = DeviceFault::sticky;
  result.code = code;
  result.note = "an earlier operation left the device unusable";
  return result;
}

// SMs as many as an H100 SXM or an H200 has, taken one after the other. A cluster lies on
// neighbours.
class Sms {
 public:
  std::vector<std::uint16_t> next(std::uint32_t ctas) {
    if (next_ + ctas > kSms) next_ = 0;
    std::vector<std::uint16_t> taken;
    for (std::uint32_t cta = 0; cta < ctas; ++cta)
      taken.push_back(static_cast<std::uint16_t>(next_++));
    return taken;
  }

 private:
  static constexpr std::uint32_t kSms = 132;
  std::uint32_t next_ = 0;
};

// Whether the kernel came to its end, where a GPU says which SMs it ran on.
bool ended(const RunResult& result) {
  return result.fault == DeviceFault::none ||
         (result.fault == DeviceFault::timeout && !result.bytes.empty());
}

}  // namespace

RunResult VirtualDevice::run(const Op& op) {
  if (sticky_code_ != 0) return spent<RunResult>(sticky_code_);
  RunResult result = std::visit(Runner{.fault = fault_}, op);
  if (result.fault == DeviceFault::sticky) sticky_code_ = result.code;
  return result;
}

std::vector<RunResult> VirtualDevice::run_programs(std::span<const Program> programs) {
  std::vector<RunResult> results;
  results.reserve(programs.size());
  const bool beside = programs.size() > 1;
  Sms sms;
  for (const Program& program : programs) {
    results.push_back(sticky_code_ != 0 ? spent<RunResult>(sticky_code_)
                                        : run_virtual_program(program, fault_, beside));
    RunResult& result = results.back();
    if (result.fault == DeviceFault::sticky) sticky_code_ = result.code;
    if (ended(result)) result.sms = sms.next(ctas_of(program));
  }
  return results;
}

Measurement VirtualDevice::measure(const Op& op, const Timing& timing) {
  if (sticky_code_ != 0) return spent<Measurement>(sticky_code_);
  Measurement measurement = std::visit(Timekeeper{.timing = timing, .fault = fault_}, op);
  if (measurement.fault == DeviceFault::sticky) sticky_code_ = measurement.code;
  return measurement;
}

// Spins on the host's clock.

void spin_on_host(double ns) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double, std::nano>(ns);
  while (Clock::now() < until) {
  }
}

std::string host_spin_note(double ns) {
  return fmt::format("slowed on purpose: the host spins {:.1f} us more in each sample", ns / 1000);
}

// The list of all faults, put together from those of each operation.

std::span<const FaultInfo> faults() {
  static const std::vector<FaultInfo> all = [] {
    std::vector<FaultInfo> list;
    for (const auto some :
         {tile_load_faults(), im2col_faults(), interleave_faults(), gemm_faults(),
          tile_store_faults(), multicast_load_faults(), program_faults(), tile_consume_faults(),
          tile_read_faults(), peer_tile_faults(), stress_faults(), encode_faults()})
      list.insert(list.end(), some.begin(), some.end());
    // Those of programs have values on either side of those of consumers.
    std::sort(list.begin(), list.end(),
              [](const FaultInfo& a, const FaultInfo& b) { return a.fault < b.fault; });
    return list;
  }();
  return all;
}

Fault fault_named(std::string_view name) {
  const auto all = faults();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const FaultInfo& info) { return info.name == name; });
  return found == all.end() ? kNoFault : found->fault;
}

}  // namespace tidemark
