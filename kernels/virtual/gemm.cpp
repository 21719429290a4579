// Runs and times a matrix multiplication on the virtual device: panels, gather, product.
#include "kernels/virtual/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/slowdown.hpp"
#include "kernels/virtual/gemm_multiply.hpp"
#include "kernels/virtual/gemm_panels.hpp"
#include "kernels/virtual/host_spin.hpp"

namespace tidemark::kernels {
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

/// An element of C in its own type.
void write_c(const GemmBlock& c, std::uint64_t row, std::uint64_t col, float value) {
  std::uint8_t* const to = c.bytes.data() + c.offset_of(row, col);
  if (c.output == GemmOutput::f32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const std::uint16_t bits = c.output == GemmOutput::bf16 ? to_bf16(value) : to_f16(value);
  std::memcpy(to, &bits, sizeof bits);
}

/// C as it is before the product, where that matters.
void fill_c(const Gemm& gemm, const GemmBlock& c) {
  if (gemm.beta == 0) return;
  for (std::uint64_t row = 0; row < c.rows; ++row)
    for (std::uint64_t col = 0; col < c.cols; ++col)
      write_c(c, row, col,
              gemm_value(gemm.inputs, GemmOperand::c, gemm.seed, gemm.rows.first + row,
                         gemm.cols.first + col));
}

Workspace make_workspace(const Gemm& gemm) {
  if (const std::string_view refusal = layout_refusal(gemm); !refusal.empty())
    throw Error(fmt::format("gemm: {}", refusal));
  check_block(gemm.rows, gemm.m, "rows");
  check_block(gemm.cols, gemm.n, "columns");
  const std::uint64_t size = gemm.rows.count * c_row_pitch(gemm);
  Workspace space{.a = make_gemm_panel(gemm, GemmOperand::a),
                  .b = make_gemm_panel(gemm, GemmOperand::b),
                  .c = std::vector<std::uint8_t>(size + 2 * kGuardBytes, 0xff),
                  .block = {.output = gemm.output,
                            .rows = gemm.rows.count,
                            .cols = gemm.cols.count,
                            .bytes = {},
                            .alpha = gemm.alpha,
                            .beta = gemm.beta,
                            .sm_budget = gemm.sm_budget,
                            .ldc = gemm.ldc}};
  const Payload payload{.seed = gemm.seed};
  for (std::uint64_t i = 0; i < kGuardBytes; ++i) {
    space.c[i] = poison_byte(payload, i);
    space.c[kGuardBytes + size + i] = poison_byte(payload, kGuardBytes + i);
  }
  space.block.bytes = space.c;
  fill_c(gemm, space.block);
  return space;
}

/// What the next sample leaves is then its own work, not that of the samples before it. The guards
/// stay: what those samples wrote there is to be found.
void poison_again(const Gemm& gemm, Workspace& space) {
  std::fill(space.c.begin() + kGuardBytes, space.c.end() - kGuardBytes, std::uint8_t{0xff});
  fill_c(gemm, space.block);
  poison_foreign_shards(space.a, gemm.rank);
  poison_foreign_shards(space.b, gemm.rank);
}

/// C without its padding; both guards, and the padding.
void read_back(const Workspace& space, RunResult& result) {
  const GemmBlock& c = space.block;
  const auto at = [&c](std::uint64_t row, std::uint64_t col) {
    return c.bytes.begin() + static_cast<std::ptrdiff_t>(c.offset_of(row, col));
  };
  result.bytes.clear();
  result.surroundings.assign(c.bytes.begin(), at(0, 0));
  result.surroundings.insert(result.surroundings.end(), at(c.rows, 0), c.bytes.end());
  for (std::uint64_t row = 0; row < c.rows; ++row) {
    result.bytes.insert(result.bytes.end(), at(row, 0), at(row, c.cols));
    result.surroundings.insert(result.surroundings.end(), at(row, c.cols), at(row + 1, 0));
  }
}

std::string note_of(const Gemm& gemm, const GemmPanel& panel) {
  std::string note =
      gemm.engine == GemmEngine::reference ? "virtual plain loop" : "virtual blocked loop";
  if (panel.plain && panel.pitch != panel.k)
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
  if (gemm.engine == GemmEngine::reference)
    multiply_plain(space.a, space.b, space.block);
  else
    multiply_blocked(space.a, space.b, space.block, fault);
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
  result.note = note_of(gemm, space.a);
  read_back(space, result);
  return result;
}

Measurement measure_virtual_gemm(const Gemm& gemm, const Timing& timing, Fault fault) {
  Workspace space = make_workspace(gemm);
  std::vector<std::byte> barrier(gemm.everybody.size() * kBarrierRowBytes);
  Measurement measurement;
  measurement.note = note_of(gemm, space.a);
  std::vector<double> untouched_ns;
  double added_ns = 0;
  const std::uint32_t runs = timing.warmups + timing.samples;
  for (std::uint32_t i = 0; i < runs; ++i) {
    if (i == timing.warmups && timing.slow > 0) added_ns = extra_ns(untouched_ns, timing.slow);
    // Before the barrier: behind it the others' rows may land at any time.
    if (i + 1 == runs) poison_again(gemm, space);
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
    spin_on_host(added_ns);
    const auto done = std::chrono::steady_clock::now();
    const std::chrono::duration<double> at = std::chrono::system_clock::now().time_since_epoch();
    if (i < timing.warmups) {
      untouched_ns.push_back(nanoseconds(done - start));
      continue;
    }
    measurement.samples.push_back(
        {.at_unix_s = at.count(),
         .total_ns = nanoseconds(done - start),
         .exchange_ns = gemm.transport == nullptr ? 0 : nanoseconds(gathered - start)});
  }
  if (added_ns > 0) measurement.note += "; " + host_spin_note(added_ns);
  read_back(space, measurement.last);
  return measurement;
}

}  // namespace tidemark::kernels
