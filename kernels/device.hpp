// A device runs operations: a GPU, or the virtual device that stands in where there is none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/op.hpp"

namespace tidemark {

/// What the mbarrier of a copy was seen to do; a row is right only if the oracle agrees with all of
/// it.
struct BarrierLedger {
  bool complete_before_issue = false;  // test_wait(phase 0) before anything was announced
  bool complete = false;               // phase 0 completed inside the bound
  bool next_complete_early = false;    // test_wait(phase 1) before the second copy
  bool next_complete = false;   // phase 1 completed inside the bound after an exact second copy
  std::uint64_t announced = 0;  // bytes
  std::uint64_t credited = 0;   // bytes, by the meter: announce more, then complete_tx byte by byte

  friend bool operator==(const BarrierLedger&, const BarrierLedger&) = default;
};

/// What went wrong instead of an answer.
enum class DeviceFault : std::uint8_t {
  none,
  encode_refused,  // code is the CUresult
  timeout,         // a bounded wait inside a kernel or for a panel ended by its bound
  sticky,          // code is the cudaError; the process cannot use the GPU any more
};

struct RunResult {
  DeviceFault fault = DeviceFault::none;
  std::int32_t code = 0;
  std::string note;  // what a person should know: the fault in words, rows that were padded, which
                     // engine ran

  /// TileLoad: the shared window (window_bytes). Gemm: C[rows, cols] packed row-major in the output
  /// type. TileConsume: guard, C packed row-major, guard (result_bytes).
  std::vector<std::uint8_t> bytes;
  /// TileLoad: the source allocation read back. Gemm: the guards before and behind C, then the
  /// padding of its rows. TileConsume: the allocation of both tensors.
  std::vector<std::uint8_t> surroundings;
  /// CUtensorMap as encoded; zeros where there is none.
  std::array<std::uint8_t, 128> descriptor{};
  BarrierLedger ledger;
};

/// The defaults keep a GPU at work for some tenths of a second with the products that tidemark
/// times, so that clocks and power are read under load.
struct Timing {
  std::uint32_t warmups = 50;
  std::uint32_t samples = 200;
};

/// One timed run of an operation.
struct TimedSample {
  double at_unix_s = 0;    // wall clock when it ended
  double total_ns = 0;     // Gemm: from the barrier until C is done
  double exchange_ns = 0;  // Gemm: until both panels were there
};

struct Measurement {
  DeviceFault fault = DeviceFault::none;
  std::int32_t code = 0;
  std::string note;
  std::vector<TimedSample> samples;
  /// Gemm: what the last sample left, as run() hands it back. C and the shards of other ranks are
  /// poisoned again before that sample, outside the timed span, so that neither a product nor an
  /// exchange can live on what earlier samples did. Empty where there was a fault, and for
  /// operations that leave nothing to compare.
  RunResult last;
};

/// One of the two virtual interfaces of the project. Throws Error where the tool or the machine
/// fails; what the operation did, faults included, is in the result.
class Device {
 public:
  virtual ~Device() = default;
  virtual RunResult run(const Op& op) = 0;
  virtual Measurement measure(const Op& op, const Timing& timing) = 0;
};

enum class DeviceKind : std::uint8_t { cuda, virtual_device };

/// The first visible GPU, or the virtual device with `fault` built in. Throws Error when the
/// program was built without CUDA, and when `fault` is asked of a GPU.
std::unique_ptr<Device> make_device(DeviceKind kind, Fault fault = kNoFault);

/// What CUDA says of a GPU; asked in a process of its own, since it loads the driver.
struct GpuProperties {
  std::string uuid;  // "GPU-...", or "MIG-..." for a slice
  std::string pci;   // "0000:1b:00.0"
  std::string name;
  std::uint32_t compute_capability = 0;  // 90 for Hopper
  std::uint32_t sm_count = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t driver_version = 0;  // 13000 for 13.0
  std::uint32_t runtime_version = 0;
};

/// The GPUs that CUDA shows this process, in its order, CUDA_VISIBLE_DEVICES obeyed. Empty where
/// there is no driver or no GPU. Throws Error when the driver is there and fails.
std::vector<GpuProperties> visible_gpus();

}  // namespace tidemark
