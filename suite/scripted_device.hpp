// A device that answers as a test tells it to, and the case it is asked with.
#pragma once

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/device.hpp"
#include "suite/case.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

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

inline RunResult right_answer(const Op& op) {
  const Expectation expected = predict(std::get<TileLoad>(op));
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.later.assign(kLaterCopies, expected.bytes);
  result.ledger = expected.ledger;
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
  using Change = std::function<void(int, const TileLoad&, RunResult&)>;
  explicit ScriptedDevice(Change change) : change_(std::move(change)) {}

  RunResult run(const Op& op) override {
    RunResult result = right_answer(op);
    change_(runs_++, std::get<TileLoad>(op), result);
    return result;
  }

  std::vector<RunResult> run_programs(std::span<const Program>) override { return {}; }

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

}  // namespace tidemark::suite
