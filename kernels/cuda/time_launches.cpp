// Events around launches.
#include "kernels/cuda/time_launches.hpp"

namespace tidemark {

void time_launches(RowWorkspace& workspace, const TimedLaunch& what, const Timing& timing,
                   Measurement& result) {
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  const cudaStream_t stream = workspace.stream.get();
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    cuda_check(cudaEventRecord(began.get(), stream), "record the start of a sample");
    what.launch();
    cuda_check(cudaEventRecord(ended.get(), stream), "record the end of a sample");
    what.read_answer();
    const bool through = wait_for_launch(workspace);
    const std::string trouble = through ? what.check() : hung_note();
    if (!trouble.empty()) {
      result.fault = DeviceFault::timeout;
      result.note = trouble;
      result.samples.clear();
      return;
    }
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
    if (i < timing.warmups) continue;
    result.samples.push_back({.at_unix_s = unix_seconds(), .total_ns = double{milliseconds} * 1e6});
  }
}

}  // namespace tidemark
