// The device without a GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

// The device that stands in where there is no GPU.

/// Runs operations on the host with one fault, or none, built in. Like a process on a GPU it is
/// spent after a sticky fault: every later run gives the same one.
class VirtualDevice : public Device {
 public:
  explicit VirtualDevice(Fault fault) : fault_(fault) {}
  RunResult run(const Op& op) override;
  /// One after the other; RunResult::sms are those of an empty GPU that takes them side by side.
  std::vector<RunResult> run_programs(std::span<const Program> programs) override;
  Measurement measure(const Op& op, const Timing& timing) override;

 private:
  Fault fault_;
  std::int32_t sticky_code_ = 0;  // 0 while the device can be used
};

// The matrix multiplication of the virtual device.

/// Runs one Gemm in host memory. A shard that does not come in time is
/// DeviceFault::others_late, and the transport is then aborted. Throws Error when the block or a
/// shard lies outside its matrix, or when the transport fails.
RunResult run_virtual_gemm(const Gemm& gemm, Fault fault);

/// Times the host: per run a barrier through `everybody`, the gather and the product, one beside
/// the other where the route delivers_beside(). C and the shards of other ranks are poisoned again
/// before the last of these barriers. Over a transport each sample is followed by another barrier
/// and the product alone, and at the end all ranks, which take as many samples each, exchange their
/// times by a gather of panel id 5.
Measurement measure_virtual_gemm(const Gemm& gemm, const Timing& timing, Fault fault);

// The extra work of a slowed benchmark on the virtual device, where work has no units.

/// Keeps the host at work for so long.
void spin_on_host(double ns);

/// What a note says of it.
std::string host_spin_note(double ns);

}  // namespace tidemark
