// Hands each operation to its virtual engine.
#include "kernels/virtual/virtual_device.hpp"

#include "kernels/error.hpp"
#include "kernels/virtual/gemm.hpp"
#include "kernels/virtual/tile_consume.hpp"
#include "kernels/virtual/tile_load.hpp"

namespace tidemark {
namespace {

// One overload an operation; std::visit picks.
struct Runner {
  Fault fault;
  RunResult operator()(const TileLoad& load) const { return run_virtual_tile_load(load, fault); }
  RunResult operator()(const Gemm& gemm) const { return run_virtual_gemm(gemm, fault); }
  RunResult operator()(const TileConsume& op) const { return run_virtual_tile_consume(op, fault); }
};

struct Timekeeper {
  const Timing& timing;
  Fault fault;
  Measurement operator()(const TileLoad& load) const {
    return measure_virtual_tile_load(load, timing, fault);
  }
  Measurement operator()(const Gemm& gemm) const {
    return measure_virtual_gemm(gemm, timing, fault);
  }
  Measurement operator()(const TileConsume&) const {
    throw Error("tile consume has no timed form");
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

}  // namespace

RunResult VirtualDevice::run(const Op& op) {
  if (sticky_code_ != 0) return spent<RunResult>(sticky_code_);
  RunResult result = std::visit(Runner{.fault = fault_}, op);
  if (result.fault == DeviceFault::sticky) sticky_code_ = result.code;
  return result;
}

Measurement VirtualDevice::measure(const Op& op, const Timing& timing) {
  if (sticky_code_ != 0) return spent<Measurement>(sticky_code_);
  Measurement measurement = std::visit(Timekeeper{.timing = timing, .fault = fault_}, op);
  if (measurement.fault == DeviceFault::sticky) sticky_code_ = measurement.code;
  return measurement;
}

}  // namespace tidemark
