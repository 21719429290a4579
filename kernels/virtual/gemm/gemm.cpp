// Runs and times a matrix multiplication on the virtual device: panels, gather, product.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"
#include "kernels/virtual/virtual_device.hpp"

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

Workspace make_workspace(const Gemm& gemm, Fault fault) {
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
  if (gemm.transport == nullptr && gemm.engine == GemmEngine::fast)
    leave_out_late_bytes(space.a, space.b, fault);
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

/// Whether the product runs beside the gather of its panels.
bool runs_beside(const Gemm& gemm) {
  return gemm.transport != nullptr && delivers_beside(gemm.route);
}

/// Gathers both panels with nothing beside it.
std::string gather_panels(const Gemm& gemm, Workspace& space, const GatherEpoch& epoch) {
  if (gemm.transport == nullptr) return {};
  const PanelBuffer panels[] = {buffer_of(space.a, kPanelA, epoch),
                                buffer_of(space.b, kPanelB, epoch)};
  return gather(*gemm.transport, panels, gemm.rank, gemm.deadline_s);
}

/// Returns when every rank has called it.
std::string wait_for_everybody(const Gemm& gemm) {
  if (gemm.transport == nullptr) return {};
  std::vector<std::byte> rows(gemm.everybody.size() * kBarrierRowBytes);
  const PanelBuffer panels[] = {{.id = kPanelEverybody,
                                 .base = rows.data(),
                                 .row_bytes = kBarrierRowBytes,
                                 .shards = gemm.everybody}};
  return gather(*gemm.transport, panels, gemm.rank, gemm.deadline_s);
}

/// False where rows did not come in time, as arrivals->late() says.
bool multiply(const Gemm& gemm, const Workspace& space, Fault fault,
              GemmArrivals* arrivals = nullptr) {
  if (gemm.engine == GemmEngine::fast)
    return multiply_blocked(space.a, space.b, space.block, fault, arrivals);
  if (arrivals != nullptr && !arrivals->wait_for_all()) return false;
  multiply_plain(space.a, space.b, space.block);
  return true;
}

double nanoseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::nano>(duration).count();
}

/// What one product came to, from the start of its gather on.
struct Span {
  TimedSample sample;
  std::string late;  // what did not come in time; the times are then worth nothing
};

void end_span(std::chrono::steady_clock::time_point start, double added_ns, TimedSample& sample) {
  spin_on_host(added_ns);
  sample.total_ns = nanoseconds(std::chrono::steady_clock::now() - start);
  const std::chrono::duration<double> at = std::chrono::system_clock::now().time_since_epoch();
  sample.at_unix_s = at.count();
}

/// Gathers, then multiplies.
Span multiply_behind(const Gemm& gemm, Workspace& space, Fault fault, double added_ns) {
  const auto start = std::chrono::steady_clock::now();
  Span span{.sample = {}, .late = gather_panels(gemm, space, {})};
  if (!span.late.empty()) return span;
  if (gemm.transport != nullptr)
    span.sample.exchange_ns = nanoseconds(std::chrono::steady_clock::now() - start);
  multiply(gemm, space, fault);
  end_span(start, added_ns, span.sample);
  return span;
}

/// Multiplies while both panels are gathered.
Span multiply_beside(const Gemm& gemm, Workspace& space, const GatherEpoch& epoch, Fault fault,
                     double added_ns) {
  const auto start = std::chrono::steady_clock::now();
  Span span;
  GemmArrivals arrivals(gemm, space.a, space.b, epoch,
                        gemm.engine == GemmEngine::fast ? fault : kNoFault);
  // A block without elements needs no rows, and receives some all the same.
  if (multiply(gemm, space, fault, &arrivals) && arrivals.wait_for_all()) {
    end_span(start, added_ns, span.sample);
    span.sample.exchange_ns = nanoseconds(arrivals.complete() - start);
    span.sample.wait_ns = arrivals.wait_ns();
    arrivals.finish();
  }
  span.late = arrivals.late();
  return span;
}

/// One product; `epoch` is that of a gather beside it.
Span product(const Gemm& gemm, Workspace& space, const GatherEpoch& epoch, Fault fault,
             double added_ns) {
  return runs_beside(gemm) ? multiply_beside(gemm, space, epoch, fault, added_ns)
                           : multiply_behind(gemm, space, fault, added_ns);
}

RunResult others_late(std::string late) {
  RunResult result;
  result.fault = DeviceFault::others_late;
  result.note = std::move(late);
  return result;
}

Measurement others_late(Measurement measurement, std::string late) {
  measurement.fault = DeviceFault::others_late;
  measurement.note = std::move(late);
  measurement.last = {};
  return measurement;
}

/// The product alone, by all ranks at once: what `sample` would take if no rank waited.
std::string time_alone(const Gemm& gemm, const Workspace& space, Fault fault, TimedSample& sample) {
  std::string late = wait_for_everybody(gemm);
  if (!late.empty()) return late;
  const auto start = std::chrono::steady_clock::now();
  multiply(gemm, space, fault);
  sample.local_ns = nanoseconds(std::chrono::steady_clock::now() - start);
  return {};
}

/// What one rank tells the others of a sample.
struct SampleTimes {
  double total_ns = 0, local_ns = 0;
};

/// Tells all ranks what this one's block came to, and hears what theirs did.
std::string exchange_digests(const Gemm& gemm, RunResult& result) {
  if (gemm.transport == nullptr || gemm.everybody.empty()) return {};
  const std::vector<std::uint64_t> mine = told_digests(gemm, result.bytes);
  const std::size_t ranks = gemm.everybody.size();
  result.digests.assign(ranks * mine.size(), 0);
  PanelBuffer panel{.id = kPanelDigests,
                    .base = reinterpret_cast<std::byte*>(result.digests.data()),
                    .row_bytes = mine.size() * sizeof(std::uint64_t),
                    .shards = gemm.everybody};
  for (std::size_t i = 0; i < ranks; ++i)
    if (gemm.everybody[i].owner == gemm.rank)
      std::copy(mine.begin(), mine.end(),
                result.digests.begin() + static_cast<std::ptrdiff_t>(i * mine.size()));
  return gather(*gemm.transport, {&panel, 1}, gemm.rank, gemm.deadline_s);
}

/// Without a transport two healthy devices stand in for the other ranks.
void play_other_voters(const Gemm& gemm, Fault fault, RunResult& result) {
  result.digests = told_digests(gemm, result.bytes);
  const std::vector<std::uint64_t> right =
      fault == kNoFault ? result.digests
                        : told_digests(gemm, run_virtual_gemm(gemm, kNoFault).bytes);
  for (int other = 0; other < 2; ++other)
    result.digests.insert(result.digests.end(), right.begin(), right.end());
}

/// Fills in the slowest times of all ranks, which must have as many samples each.
std::string exchange_times(const Gemm& gemm, std::vector<TimedSample>& samples) {
  const std::size_t ranks = gemm.everybody.size();
  std::vector<SampleTimes> times(ranks * samples.size());
  PanelBuffer panel{.id = kPanelTimes,
                    .base = reinterpret_cast<std::byte*>(times.data()),
                    .row_bytes = sizeof(SampleTimes),
                    .shards = {}};
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::uint32_t owner = gemm.everybody[i].owner;
    panel.shards.push_back({owner, i * samples.size(), samples.size()});
    if (owner != gemm.rank) continue;
    for (std::size_t at = 0; at < samples.size(); ++at)
      times[i * samples.size() + at] = {samples[at].total_ns, samples[at].local_ns};
  }
  std::string late = gather(*gemm.transport, {&panel, 1}, gemm.rank, gemm.deadline_s);
  if (!late.empty()) return late;
  for (std::size_t i = 0; i < times.size(); ++i) {
    TimedSample& sample = samples[i % samples.size()];
    sample.slowest_total_ns = std::max(sample.slowest_total_ns, times[i].total_ns);
    sample.slowest_local_ns = std::max(sample.slowest_local_ns, times[i].local_ns);
  }
  return {};
}

}  // namespace

RunResult run_virtual_gemm(const Gemm& gemm, Fault fault) {
  Workspace space = make_workspace(gemm, fault);
  std::string late;
  if (runs_beside(gemm)) {
    late = gather_panels(gemm, space, {.number = 1, .last = false});
    // Before the barrier: behind it the others' rows may land at any time.
    if (late.empty()) poison_again(gemm, space);
    if (late.empty()) late = wait_for_everybody(gemm);
  }
  if (late.empty()) late = product(gemm, space, {.number = 2, .last = true}, fault, 0).late;
  if (!late.empty()) return others_late(std::move(late));
  RunResult result;
  result.note = note_of(gemm, space.a);
  read_back(space, result);
  if (gemm.vote) late = exchange_digests(gemm, result);
  if (gemm.vote && gemm.transport == nullptr) play_other_voters(gemm, fault, result);
  return late.empty() ? result : others_late(std::move(late));
}

Measurement measure_virtual_gemm(const Gemm& gemm, const Timing& timing, Fault fault) {
  Workspace space = make_workspace(gemm, fault);
  Measurement measurement;
  measurement.note = note_of(gemm, space.a);
  std::vector<double> untouched_ns;
  double added_ns = 0;
  const std::uint32_t runs = timing.warmups + timing.samples;
  std::string late;
  if (runs_beside(gemm)) late = gather_panels(gemm, space, {.number = 1, .last = runs == 0});
  for (std::uint32_t i = 0; i < runs && late.empty(); ++i) {
    if (i == timing.warmups && timing.slow > 0) added_ns = extra_ns(untouched_ns, timing.slow);
    const bool last = i + 1 == runs;
    // Before the barrier: behind it the others' rows may land at any time.
    if (last) poison_again(gemm, space);
    late = wait_for_everybody(gemm);
    if (!late.empty()) break;
    Span span = product(gemm, space, {.number = i + 2, .last = last}, fault, added_ns);
    late = std::move(span.late);
    if (!late.empty()) break;
    if (last) read_back(space, measurement.last);  // the product alone writes C once more
    if (i < timing.warmups) {
      untouched_ns.push_back(span.sample.total_ns);
      continue;
    }
    if (gemm.transport != nullptr) late = time_alone(gemm, space, fault, span.sample);
    measurement.samples.push_back(span.sample);
  }
  if (late.empty() && gemm.transport != nullptr) late = exchange_times(gemm, measurement.samples);
  if (late.empty()) late = exchange_digests(gemm, measurement.last);
  if (!late.empty()) return others_late(std::move(measurement), std::move(late));
  if (added_ns > 0) measurement.note += "; " + host_spin_note(added_ns);
  return measurement;
}

}  // namespace tidemark
