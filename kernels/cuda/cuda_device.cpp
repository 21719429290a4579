// Sends each operation to the code that runs it on the GPU. A new operation is one more overload
// here.
#include "kernels/cuda/cuda_device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <variant>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/column_rate.hpp"
#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/peer_tile.hpp"
#include "kernels/cuda/program/program.hpp"
#include "kernels/cuda/stress/stress.hpp"
#include "kernels/cuda/transport/stream_words.hpp"

namespace tidemark {
namespace {

class CudaDevice final : public Device {
 public:
  RunResult run(const Op& op) override {
    return std::visit([this](const auto& which) { return run_one(which); }, op);
  }

  std::vector<RunResult> run_programs(std::span<const Program> programs) override {
    return tidemark::run_programs(rows_, programs);
  }

  Measurement measure(const Op& op, const Timing& timing) override {
    return std::visit([&](const auto& which) { return measure_one(which, timing); }, op);
  }

 private:
  RunResult run_one(const Gemm& gemm) { return run_gemm(gemm); }
  template <class RunAsProgram>
  RunResult run_one(const RunAsProgram& /*op*/) {
    throw Error("this operation runs as a program: make one of it with program_of()");
  }
  RunResult run_one(const PeerTile& peer) { return run_peer_tile(rows_, peers_, peer); }
  RunResult run_one(const Stress& stress) { return measure_stress(rows_, stress).last; }

  Measurement measure_one(const Gemm& gemm, const Timing& timing) {
    return measure_gemm(gemm, timing);
  }
  Measurement measure_one(const TileRead& read, const Timing& timing) {
    return measure_column_rate(rows_, read, timing);
  }
  Measurement measure_one(const Stress& stress, const Timing& /*timing*/) {
    return measure_stress(rows_, stress);
  }
  template <typename Untimed>
  Measurement measure_one(const Untimed& /*op*/, const Timing& /*timing*/) {
    throw Error("this operation has no timed form: give it a conformance case");
  }

  RowWorkspace rows_;
  PeerWorkspace peers_;
};

}  // namespace

std::unique_ptr<Device> make_cuda_device() {
  constexpr int kFirst = 0;
  // Not over what the user says. CUDA reads it with its first call.
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(kQueuesToHold).c_str(), 0);
  cuda_check(cudaSetDevice(kFirst), "take the first visible GPU");
  int major = 0;
  int minor = 0;
  cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, kFirst),
             "ask for the compute capability");
  cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, kFirst),
             "ask for the compute capability");
  if (major != 9 || minor != 0)
    throw Error(
        fmt::format("the first visible GPU has compute capability {}.{}: tidemark needs "
                    "9.0 (Hopper); choose another with CUDA_VISIBLE_DEVICES",
                    major, minor));
  return std::make_unique<CudaDevice>();
}

}  // namespace tidemark
