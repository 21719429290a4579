// Runs and times a matrix multiplication on the virtual device: panels, gather, product.
#include "kernels/virtual/gemm.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/virtual/gemm_multiply.hpp"
#include "kernels/virtual/gemm_panels.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kBarrierRowBytes = 16;

void check_block(const Range& range, std::uint64_t extent, const char* name) {
  if (range.first > extent || range.count > extent - range.first)
    throw Error(fmt::format("gemm: {} {} to {} lie outside C, which has {}", name, range.first,
                            range.first + range.count, extent));
}

/// Both panels and C with its guards, ready to multiply.
struct Workspace {
  GemmPanel a, b;
  std::vector<std::uint8_t> c;
  GemmBlock block;
};

Workspace make_workspace(const Gemm& gemm) {
  check_block(gemm.rows, gemm.m, "rows");
  check_block(gemm.cols, gemm.n, "columns");
  const std::uint64_t size = gemm.rows.count * gemm.cols.count * output_bytes(gemm.output);
  Workspace space{.a = make_gemm_panel(gemm, GemmOperand::a),
                  .b = make_gemm_panel(gemm, GemmOperand::b),
                  .c = std::vector<std::uint8_t>(size + 2 * kGuardBytes, 0xff),
                  .block = {gemm.output, gemm.rows.count, gemm.cols.count, {}}};
  const Payload payload{.seed = gemm.seed};
  for (std::uint64_t i = 0; i < kGuardBytes; ++i) {
    space.c[i] = poison_byte(payload, i);
    space.c[kGuardBytes + size + i] = poison_byte(payload, kGuardBytes + i);
  }
  space.block.bytes = space.c;
  return space;
}

std::string note_of(const Gemm& gemm, const GemmPanel& panel) {
  std::string note =
      gemm.engine == GemmEngine::fast ? "virtual blocked loop" : "virtual plain loop";
  if (panel.pitch != panel.k)
    note += fmt::format("; rows of {} elements padded to {}", panel.k, panel.pitch);
  return note;
}

std::string gather_panels(const Gemm& gemm, Workspace& space) {
  if (gemm.transport == nullptr) return {};
  const PanelBuffer panels[] = {buffer_of(space.a, kPanelA), buffer_of(space.b, kPanelB)};
  return gather(*gemm.transport, panels, gemm.deadline_s);
}

/// Returns when every rank has called it.
std::string wait_for_everybody(const Gemm& gemm, std::vector<std::byte>& rows) {
  if (gemm.transport == nullptr) return {};
  const PanelBuffer panels[] = {{.id = kPanelEverybody,
                                 .base = rows.data(),
                                 .row_bytes = kBarrierRowBytes,
                                 .shards = gemm.everybody}};
  return gather(*gemm.transport, panels, gemm.deadline_s);
}

void multiply(const Gemm& gemm, const Workspace& space, Fault fault) {
  if (gemm.engine == GemmEngine::fast)
    multiply_blocked(space.a, space.b, space.block, fault);
  else
    multiply_plain(space.a, space.b, space.block);
}

double nanoseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

}  // namespace

RunResult run_virtual_gemm(const Gemm& gemm, Fault fault) {
  Workspace space = make_workspace(gemm);
  RunResult result;
  result.note = gather_panels(gemm, space);
  if (!result.note.empty()) {
    result.fault = DeviceFault::timeout;
    return result;
  }
  multiply(gemm, space, fault);
  const auto begin = space.c.begin() + kGuardBytes;
  const auto end = space.c.end() - kGuardBytes;
  result.note = note_of(gemm, space.a);
  result.bytes.assign(begin, end);
  result.surroundings.assign(space.c.begin(), begin);
  result.surroundings.insert(result.surroundings.end(), end, space.c.end());
  return result;
}

Measurement measure_virtual_gemm(const Gemm& gemm, const Timing& timing, Fault fault) {
  Workspace space = make_workspace(gemm);
  std::vector<std::byte> barrier(gemm.everybody.size() * kBarrierRowBytes);
  Measurement measurement{
      .fault = DeviceFault::none, .code = 0, .note = note_of(gemm, space.a), .samples = {}};
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    std::string late = wait_for_everybody(gemm, barrier);
    const auto start = std::chrono::steady_clock::now();
    if (late.empty()) late = gather_panels(gemm, space);
    if (!late.empty()) {
      measurement.fault = DeviceFault::timeout;
      measurement.note = std::move(late);
      return measurement;
    }
    const auto gathered = std::chrono::steady_clock::now();
    multiply(gemm, space, fault);
    const auto done = std::chrono::steady_clock::now();
    const std::chrono::duration<double> at = std::chrono::system_clock::now().time_since_epoch();
    if (i < timing.warmups) continue;
    measurement.samples.push_back(
        {.at_unix_s = at.count(),
         .total_ns = nanoseconds(done - start),
         .exchange_ns = gemm.transport == nullptr ? 0 : nanoseconds(gathered - start)});
  }
  return measurement;
}

}  // namespace tidemark
