// What tests of programs on a real GPU share: one box, its window before and after, and the steps
// that bring it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/barriers.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

class ProgramOnGpu : public GpuTest {
 protected:
  static RunResult run(const Program& program) {
    return make_cuda_device()->run_programs({&program, 1}).front();
  }
};

/// 128 x 64 bytes out of rows of 256: 8192 bytes.
inline TileLoad box() {
  TileLoad load;
  load.map.extent = {256, 80};
  load.map.stride = {256};
  load.map.box = {128, 64};
  load.at = {32, 7};
  load.payload.seed = 21;
  return load;
}

inline std::vector<std::uint8_t> poisoned_window(std::uint32_t cta = 0) {
  std::vector<std::uint8_t> window(1024 + 8192 + 1024);
  for (std::uint32_t i = 0; i < window.size(); ++i)
    window[i] = static_cast<std::uint8_t>(poison_byte(box().payload, i) ^ (cta | cta << 4));
  return window;
}

inline std::vector<std::uint8_t> landed_window() {
  std::vector<std::uint8_t> window = poisoned_window();
  for (std::uint32_t y = 0; y < 64; ++y)
    for (std::uint32_t x = 0; x < 128; ++x)
      window[1024 + 128 * y + x] = source_byte(box().payload, 1024 + 256 * (7 + y) + 32 + x);
  return window;
}

/// Poison, and barrier 0 with `count` arrivals a phase.
inline Program begun(std::uint32_t count = 1) {
  const TileLoad load = box();
  Program program{.window = window_bytes(load),
                  .barriers = 2,
                  .regions = {region_of(load)},
                  .maps = {{.spec = load.map}},
                  .steps = {},
                  .payload = load.payload};
  program.steps = {{.verb = Verb::poison, .bytes = program.window},
                   {.verb = Verb::init, .count = count}};
  return program;
}

inline constexpr Step kLoad{.verb = Verb::load, .offset = 1024, .at = {32, 7}};
inline constexpr Step kWait{
    .verb = Verb::wait, .parity = kCurrentPhase, .stops = true, .ns = kMustCompleteNs};
inline constexpr Step kSettle{.verb = Verb::delay, .ns = kSettleNs};

inline Step announce(std::uint32_t bytes) {
  return {.verb = Verb::arrive_expect_tx, .bytes = bytes};
}

/// The meter of a barrier that was announced `announced` and is credited one box.
inline Step meter(std::uint32_t announced, std::uint32_t pending = 0) {
  const BarrierAccount account{.announced = announced, .credited = 8192};
  return {.verb = Verb::meter,
          .count = 1,
          .pending = pending,
          .bytes = meter_slack(account),
          .stride = meter_stride(account),
          .most = meter_most(account)};
}

inline Program& operator+=(Program& program, const Step& step) {
  program.steps.push_back(step);
  return program;
}

/// What the last step left, in CTA 0.
inline std::uint64_t last(const Program& program, const RunResult& result) {
  return result.trace.at((program.steps.size() - 1) * ctas_of(program));
}

}  // namespace tidemark
