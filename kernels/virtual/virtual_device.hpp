// The device without a GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/device.hpp"

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

// The extra work of a slowed benchmark on the virtual device, where work has no units.

/// Keeps the host at work for so long.
void spin_on_host(double ns);

/// What a note says of it.
std::string host_spin_note(double ns);

}  // namespace tidemark
