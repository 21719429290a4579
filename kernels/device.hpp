// A device runs operations: a GPU, or the virtual device that stands in where there is none.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/op.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// What went wrong instead of an answer.
enum class DeviceFault : std::uint8_t {
  none,
  encode_refused,  // code is the CUresult
  timeout,         // a bounded wait inside a kernel, or for its end, ended by its bound
  others_late,     // a bounded wait for what other ranks send or read ended by its bound
  sticky,          // code is the cudaError; the process cannot use the GPU any more
  unsupported,     // this GPU cannot start it (a cluster of non-portable size); nothing ran
};

/// Codes of DeviceFault::sticky that a copy may be meant to end in: values of cudaError_t (CUDA
/// 13.0, driver_types.h), whose header stays in kernels/cuda.
inline constexpr std::int32_t kIllegalAddress = 700;
inline constexpr std::int32_t kIllegalInstruction = 715;
inline constexpr std::int32_t kMisalignedAddress = 716;
inline constexpr std::int32_t kLaunchFailure = 719;

/// One of these in words; "error" for any other.
constexpr std::string_view sticky_error_name(std::int32_t code) {
  switch (code) {
    case kIllegalAddress:
      return "illegal address";
    case kIllegalInstruction:
      return "illegal instruction";
    case kMisalignedAddress:
      return "misaligned address";
    case kLaunchFailure:
      return "unspecified launch failure";
    default:
      return "error";
  }
}

struct RunResult {
  DeviceFault fault = DeviceFault::none;
  std::int32_t code = 0;
  std::string note;  // what a person should know: the fault in words, rows that were padded, which
                     // engine ran

  /// Programs: the snapshots, by step and then by CTA. PeerTile: those of peer_program(). Gemm:
  /// C[rows, cols] packed row-major in the output type.
  std::vector<std::uint8_t> bytes;
  /// Programs: the regions, one behind the other. PeerTile: this rank's own allocation. Gemm: the
  /// guards before and behind C, then the padding of its rows.
  std::vector<std::uint8_t> surroundings;
  /// CUtensorMap as encoded: of a program its maps in their order, of an Encode the one.
  std::vector<std::array<std::uint8_t, 128>> maps;
  /// Programs and PeerTile: the trace of step s in CTA c stands at s * ctas_of(program) + c.
  std::vector<std::uint64_t> trace;
  /// Gemm over a transport that votes or is measured: told_digests() of every rank, one behind the
  /// other.
  std::vector<std::uint64_t> digests;
  std::vector<std::uint16_t> sms;      // Programs: %smid of each CTA; empty: not known
  std::vector<StressSm> stress;        // Stress: by SM, those that ran
  std::vector<WrongWord> wrong_words;  // Stress: of each SM the first
  std::vector<DriverAnswer> answers;   // DriverFacts
};

/// The defaults keep a GPU at work for some tenths of a second with the products that tidemark
/// times, so that clocks and power are read under load.
struct Timing {
  std::uint32_t warmups = 50;
  std::uint32_t samples = 200;
  /// Share of extra work that is put into the timed span of every sample, warm-ups excepted: 0.03
  /// is 3 %. For people who want to see that a slowdown is found; Measurement::note says what was
  /// added. Where work has no units, the extra is a time: that share of the warm-ups' median.
  double slow = 0;
};

/// One timed run of an operation.
struct TimedSample {
  double at_unix_s = 0;    // wall clock when it ended
  double total_ns = 0;     // Gemm: from the barrier until C is done
  double exchange_ns = 0;  // Gemm: until both panels were there
  double wait_ns = 0;  // Gemm: that a block waited for rows of other ranks, mean over all blocks
  /// Gemm over a transport: the product alone, panels in place, by all ranks at once, right before
  /// or behind the sample. 0: not measured.
  double local_ns = 0;
  double slowest_total_ns = 0, slowest_local_ns = 0;  // of all ranks; 0: not exchanged
  double cycles = 0;  // of the SM's clock. TileRead: for one read of a warp. Stress: for a load of
                      // 16 bytes that L2 holds, alone on its SM, the mean of all
  double bytes = 0;   // Stress: that boxes brought
  double plain_bytes_per_s = 0;  // Stress: that threads read of the same memory, right before
};

struct Measurement {
  DeviceFault fault = DeviceFault::none;
  std::int32_t code = 0;
  std::string note;
  std::vector<TimedSample> samples;
  /// Gemm: what the last sample left, as run() hands it back. C and the shards of other ranks are
  /// poisoned again before that sample, outside the timed span, so that neither a product nor an
  /// exchange can live on what earlier samples did. Empty where there was a fault, and for
  /// operations that leave nothing to compare. Stress: what all samples found together, also before
  /// a fault.
  RunResult last;
};

/// One of the two virtual interfaces of the project. Throws Error where the tool or the machine
/// fails; what the operation did, faults included, is in the result.
class Device {
 public:
  virtual ~Device() = default;
  virtual RunResult run(const Op& op) = 0;
  /// One result for each program, in their order. They may run side by side and in any order.
  /// Throws Error for a program that is not sound.
  virtual std::vector<RunResult> run_programs(std::span<const Program> programs) = 0;
  virtual Measurement measure(const Op& op, const Timing& timing) = 0;
};

enum class DeviceKind : std::uint8_t { cuda, virtual_device };

/// The first visible GPU, or the virtual device with `fault` built in. Throws Error when the
/// program was built without CUDA, and when `fault` is asked of a GPU.
std::unique_ptr<Device> make_device(DeviceKind kind, Fault fault = kNoFault);

// Work that is added to a timed span on purpose, so that anyone can see a comparison find it.

/// Units of work to add where a timed span has `units`, for Timing::slow: the nearest whole number,
/// at least 1; 0 where `slow` is 0.
std::uint32_t extra_units(std::uint32_t units, double slow);

/// How many times as much work that is: 1 + extra / units.
double slowed_factor(std::uint32_t units, double slow);

/// Nanoseconds to add to each sample where work has no units: `slow` times the median of what
/// samples took without. Throws Error where there are none.
double extra_ns(std::vector<double> untouched_ns, double slow);

/// What the note of a measurement says of it; empty where `slow` is 0. `what` in the plural.
std::string slowed_note(std::uint32_t units, double slow, const std::string& what);

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
