// A device that answers as a test tells it to, and the case it is asked with.
#pragma once

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/device.hpp"
#include "suite/case.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {

inline TileLoad small_load() {
  TileLoad load;
  load.map.extent = {64, 5};
  load.map.stride = {80};
  load.map.box = {32, 3};
  return load;
}

inline std::vector<Op> three_rows(const RunContext&) {
  return {small_load(), small_load(), small_load()};
}

inline constexpr Case kThreeRows{
    .name = "test.three", .claim = "none", .cites = "none", .rows = three_rows};

inline RunResult right_answer(const Program& program) {
  const ProgramExpectation expected = predict(program);
  RunResult result;
  for (const ExpectedSnapshot& snapshot : expected.snapshots)
    result.bytes.insert(result.bytes.end(), snapshot.window.bytes.begin(),
                        snapshot.window.bytes.end());
  result.surroundings = expected.regions;
  for (const ExpectedTrace& trace : expected.trace) result.trace.push_back(trace.value);
  return result;
}

inline RunResult faulted(DeviceFault fault, std::int32_t code) {
  RunResult result;
  result.fault = fault;
  result.code = code;
  return result;
}

/// Answers right, after `change` has had its way with the answer to each run, counted from 0.
class ScriptedDevice : public Device {
 public:
  using Change = std::function<void(int, const Program&, RunResult&)>;
  explicit ScriptedDevice(Change change) : change_(std::move(change)) {}

  RunResult run(const Op&) override { return {}; }

  std::vector<RunResult> run_programs(std::span<const Program> programs) override {
    std::vector<RunResult> results;
    for (const Program& program : programs) {
      results.push_back(right_answer(program));
      change_(runs_++, program, results.back());
    }
    return results;
  }

  Measurement measure(const Op&, const Timing& timing) override {
    slow_ = timing.slow;
    Measurement measurement;
    measurement.samples.assign(timing.samples, TimedSample{.total_ns = 2000});
    return measurement;
  }

  int runs() const { return runs_; }
  double slow() const { return slow_; }  // of the last measurement

 private:
  Change change_;
  int runs_ = 0;
  double slow_ = 0;
};

}  // namespace tidemark
