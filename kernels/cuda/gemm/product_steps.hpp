// The steps of one product on the GPU: make its inputs, bring its panels, multiply, look for
// trouble. Everything that waits has a bound; memory that a kernel may still use when its bound has
// passed is never given back.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/resident_gemm.hpp"
#include "kernels/cuda/transport/gather.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

/// Panels of a few bytes a rank that are exchanged beside the operands.
inline constexpr std::uint32_t kPanelTimes = 5, kPanelDigests = 6;

/// A fault and its words; none where all is well.
struct Trouble {
  DeviceFault fault = DeviceFault::none;
  std::int32_t code = 0;
  std::string note;

  explicit operator bool() const { return fault != DeviceFault::none; }
};

Trouble sticky(const StickyError& error);

/// Puts trouble into a RunResult or a Measurement, in place of the note about how all went well.
template <class Result>
void take(Result& result, const Trouble& trouble) {
  if (!trouble) return;
  result.fault = trouble.fault;
  result.code = trouble.code;
  result.note = trouble.note;
}

/// Waits for the block's stream. Where that takes too long the block is let go of, not freed:
/// cudaFree would wait for the kernel without a bound.
Trouble wait_or_leave(std::unique_ptr<ResidentGemm>& block, double seconds, const char* what);

/// Allocates and fills the block, and waits for it. Says where a tensor map was refused.
Trouble make_block(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block);

/// Gathers both panels; nothing to do without a transport. `last`: PanelBuffer's. Where a gather is
/// given up, here or in multiply_beside(), the block is let go of: others may have its panels open.
Trouble exchange(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, bool last);

/// Returns when every rank has called it. `before_abort`: Gather's.
Trouble barrier(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block,
                const BeforeAbort& before_abort = {});

/// Poisons C and what the next gather brings, then barrier(): behind it the others' rows may land
/// at any time.
Trouble poison_and_meet(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block);

/// Events around a product, and when the host saw the last row of another rank.
struct ProductClock {
  Event began = Event(Event::Kind::timing);
  Event ended = Event(Event::Kind::timing);
  double exchange_ns = 0;

  double total_ns() const;
};

/// All rows are there: the product alone, from began to ended, and `spin_ns` of all SMs behind it.
/// The caller has recorded `began`.
Trouble multiply(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, std::uint64_t spin_ns,
                 const ProductClock& clock);

/// The same from a barrier of all ranks on. Where streams have queues of their own, the host queues
/// it before: what it takes to launch a product is not in the time.
Trouble multiply_from_barrier(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block,
                              const ProductClock& clock);

/// When multiply_beside() begins.
enum class Start : bool {
  at_once,
  at_barrier,  // of all ranks; where copy engines bring the panels, both are queued before it
};

/// The product beside the next gather of its panels, of a block that runs_beside(). Where a row
/// does not come within Gemm::deadline_s, the product is ended, too.
Trouble multiply_beside(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, bool last,
                        Start from, std::uint64_t spin_ns, ProductClock& clock);

/// Exchanges what all ranks say of their blocks, which are in `result`. Nothing without a
/// transport.
Trouble exchange_digests(const Gemm& gemm, RunResult& result);

/// What the kernels before this call say about their own waits.
Trouble kernel_trouble(const ResidentGemm& block);

// Brings C from the GPU to the host as fast as one core writes memory. A vector that is resized and
// then copied into costs six times as much: its pages are mapped one by one, zeroed, and filled by
// way of the driver's own staging memory.

/// Appends `rows` rows of `row_bytes` to `to`, which has the capacity for them, by way of two
/// `halves` of one size that hold a row or more: start(half, first, count) starts to copy rows into
/// the beginning of a half, wait(half) returns when they are there. One half is filled while the
/// other is emptied.
template <class Start, class Wait>
void append_rows(std::uint64_t rows, std::uint64_t row_bytes,
                 const std::array<std::span<const std::byte>, 2>& halves, const Start& start,
                 const Wait& wait, std::vector<std::uint8_t>& to) {
  const std::uint64_t step = halves[0].size() / row_bytes;
  const auto count_at = [&](std::uint64_t first) { return std::min(step, rows - first); };
  if (rows != 0) start(std::size_t{0}, std::uint64_t{0}, count_at(0));
  std::size_t half = 0;
  for (std::uint64_t first = 0; first < rows; first += step, half ^= 1U) {
    const std::uint64_t next = first + step;
    if (next < rows) start(half ^ 1U, next, count_at(next));
    wait(half);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(halves[half].data());
    to.insert(to.end(), bytes, bytes + count_at(first) * row_bytes);
  }
}

/// C without its padding into result.bytes; both guards, and the padding, into surroundings, as
/// RunResult has them. The block's kernels are done. Throws Error where the machine fails.
void read_back(const Gemm& gemm, const ResidentGemm& block, RunResult& result);

}  // namespace tidemark
