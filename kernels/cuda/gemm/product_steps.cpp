// The host's half of a product.
#include "kernels/cuda/gemm/product_steps.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/gemm/reference.hpp"
#include "kernels/cuda/transport/gather.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

Trouble late_shard(std::string missing) {
  if (missing.empty()) return {};
  return {.fault = DeviceFault::others_late, .code = 0, .note = std::move(missing)};
}

Trouble refused(const ResidentGemm& block) {
  const CUresult code = block.encoded();
  if (code == CUDA_SUCCESS) return {};
  return {.fault = DeviceFault::encode_refused,
          .code = static_cast<std::int32_t>(code),
          .note = encode_refusal(code)};
}

/// Holds the stream of a block until give(): what is queued meanwhile starts when the GPU sees the
/// word. The destructor gives it, too: else the stream would never end.
class StartSignal {
 public:
  explicit StartSignal(ResidentGemm& block) {
    if (block.started.size() == 0) {
      block.started = PinnedBuffer(sizeof(std::uint32_t));
      *block.started.as<volatile std::uint32_t>() = 0;
    }
    word_ = block.started.as<std::uint32_t>();
    value_ = ++block.held;
    wait_for_word(block.stream.get(), word_, value_);
  }
  ~StartSignal() { give(); }
  StartSignal(const StartSignal&) = delete;
  StartSignal& operator=(const StartSignal&) = delete;

  std::uint32_t* word() const { return word_; }
  std::uint32_t value() const { return value_; }
  void give() const { *static_cast<volatile std::uint32_t*>(word_) = value_; }

 private:
  std::uint32_t* word_ = nullptr;  // outlives the block's owner: a block is let go of, not freed
  std::uint32_t value_ = 0;
};

/// Both panels, for their next gather, which waits for `signal` where there is one.
std::array<NamedPanel, 2> next_gather(const Gemm& gemm, ResidentGemm& block, bool last,
                                      const StartSignal* signal = nullptr) {
  const std::uint64_t row_bytes = panel_row_bytes(gemm);
  const bool beside = delivers_beside(gemm.route);  // else no words: the host waits
  ++block.epoch;
  return {{{{.id = 0,
             .base = block.a.data(),
             .row_bytes = row_bytes,
             .shards = gemm.a_shards,
             .arrived = beside ? block.arrivals.a() : nullptr,
             .epoch = block.epoch,
             .last = last,
             .begin = signal == nullptr ? nullptr : signal->word(),
             .begin_value = signal == nullptr ? 0 : signal->value(),
             .route = gemm.route},
            "panel A"},
           {{.id = 1,
             .base = block.b.data(),
             .row_bytes = row_bytes,
             .shards = gemm.b_shards,
             .arrived = beside ? block.arrivals.b : nullptr,
             .epoch = block.epoch,
             .last = last,
             .begin = signal == nullptr ? nullptr : signal->word(),
             .begin_value = signal == nullptr ? 0 : signal->value(),
             .route = gemm.route},
            "panel B"}}};
}

/// A block whose gather is given up is let go of: others may have its panels open, and freeing its
/// memory would wait for a kernel of NCCL that waits for the rank that did not come.
Trouble gather_or_leave(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block,
                        std::span<const NamedPanel> panels, const BeforeAbort& before_abort = {}) {
  std::string late;
  try {
    late = gather_or_abort(*gemm.transport, panels, gemm.rank, gemm.deadline_s, before_abort);
  } catch (...) {
    static_cast<void>(block.release());
    throw;
  }
  if (!late.empty()) static_cast<void>(block.release());
  return late_shard(std::move(late));
}

/// Ends a product that waits for rows: it looks at this word while it waits. On a stream of its
/// own, since the product's is busy.
void end_product(const ResidentGemm& block) {
  const Stream stream;
  cuda_check(cudaMemcpyAsync(block.words.data(), &kCancelled, sizeof(kCancelled),
                             cudaMemcpyHostToDevice, stream.get()),
             "end a product that waits for rows");
}

/// Ends a product that waits for rows, also before it could begin. One that cannot be ended waits
/// for them until its own bound.
void end_held_product(const ResidentGemm& block, const StartSignal* signal) noexcept {
  try {
    end_product(block);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the caller reports why
  }
  if (signal != nullptr) signal->give();
}

/// In one queue with it the barrier of the ranks would stand behind the stream that waits for it.
bool may_hold_streams() { return stream_queues() >= kQueuesToHold; }

void record(const Event& event, const ResidentGemm& block, const char* what) {
  cuda_check(cudaEventRecord(event.get(), block.stream.get()), what);
}

}  // namespace

Trouble sticky(const StickyError& error) {
  return {.fault = DeviceFault::sticky,
          .code = static_cast<std::int32_t>(error.code),
          .note = error.what()};
}

Trouble wait_or_leave(std::unique_ptr<ResidentGemm>& block, double seconds, const char* what) {
  if (wait_for_stream(block->stream.get(), seconds)) return {};
  static_cast<void>(block.release());
  return {.fault = DeviceFault::timeout,
          .code = 0,
          .note = fmt::format("{} did not end within {:g} s; this process should not use the GPU "
                              "any more",
                              what, seconds)};
}

Trouble make_block(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block) {
  block = make_resident(gemm);
  Trouble trouble = wait_or_leave(block, gemm.deadline_s, "making the inputs");
  return trouble ? trouble : refused(*block);
}

Trouble exchange(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, bool last) {
  if (gemm.transport == nullptr) return {};
  return gather_or_leave(gemm, block, next_gather(gemm, *block, last));
}

Trouble barrier(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block,
                const BeforeAbort& before_abort) {
  if (gemm.everybody.empty())
    throw Error(
        "gemm: `everybody` is empty, but a timed run, and a product beside the exchange of its "
        "panels, need one row of each rank");
  const NamedPanel panels[] = {{{.id = 2,
                                 .base = block->barrier.data(),
                                 .row_bytes = kBarrierRowBytes,
                                 .shards = gemm.everybody},
                                "barrier"}};
  return gather_or_leave(gemm, block, panels, before_abort);
}

Trouble poison_and_meet(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block) {
  poison_again(gemm, *block);
  Trouble trouble = wait_or_leave(block, gemm.deadline_s, "poisoning C again");
  return trouble ? trouble : barrier(gemm, block);
}

double ProductClock::total_ns() const {
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
  return double{milliseconds} * 1e6;
}

Trouble multiply(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, std::uint64_t spin_ns,
                 const ProductClock& clock) {
  launch_engine(gemm, *block);
  if (spin_ns > 0) launch_spin(spin_ns, block->stream.get());
  record(clock.ended, *block, "record the end of a product");
  return wait_or_leave(block, gemm.deadline_s, "the kernel");
}

Trouble multiply_from_barrier(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block,
                              const ProductClock& clock) {
  if (!may_hold_streams()) {
    Trouble trouble = barrier(gemm, block);
    if (trouble) return trouble;
    record(clock.began, *block, "record the start of a product");
    return multiply(gemm, block, 0, clock);
  }
  const StartSignal start(*block);
  record(clock.began, *block, "record the start of a product");
  launch_engine(gemm, *block);
  record(clock.ended, *block, "record the end of a product");
  // What aborts the transport frees memory, and so waits for the stream that is held.
  Trouble trouble = barrier(gemm, block, [&] { start.give(); });
  if (trouble) return trouble;
  start.give();
  return wait_or_leave(block, gemm.deadline_s, "the kernel");
}

Trouble multiply_beside(const Gemm& gemm, std::unique_ptr<ResidentGemm>& block, bool last,
                        Start from, std::uint64_t spin_ns, ProductClock& clock) {
  // Only copy engines: a kernel that moves panels may need the host behind the barrier.
  const bool queued =
      from == Start::at_barrier && gemm.route == PanelRoute::copy_engine && may_hold_streams();
  std::optional<StartSignal> signal;
  const ResidentGemm& begun = *block;  // also when the block was let go of
  bool is_ended = false;               // not twice: what follows an abort may wait for it
  const BeforeAbort before_abort = [&] {
    if (!std::exchange(is_ended, true)) end_held_product(begun, signal ? &*signal : nullptr);
  };
  std::optional<Gather> gather;
  std::string late;
  try {
    if (queued) signal.emplace(*block);
    const std::array<NamedPanel, 2> panels =
        next_gather(gemm, *block, last, queued ? &*signal : nullptr);
    if (from == Start::at_barrier && !queued) {
      Trouble trouble = barrier(gemm, block);
      if (trouble) return trouble;
    }
    auto start = Clock::now();
    record(clock.began, *block, "record the start of a product");
    // The gather first: where all streams share one queue (CUDA_DEVICE_MAX_CONNECTIONS=1) what it
    // puts there must not come behind a product that waits for it.
    gather.emplace(*gemm.transport, panels, gemm.rank, before_abort);
    // Queued, no copy may need the host behind the barrier.
    if (queued) gather->set_off();
    launch_beside(gemm, *block);
    if (spin_ns > 0) launch_spin(spin_ns, block->stream.get());
    record(clock.ended, *block, "record the end of a product");
    if (queued) {
      Trouble trouble = barrier(gemm, block, before_abort);
      if (trouble) return trouble;
      start = Clock::now();
      signal->give();
      gather->count_from_now();
    }
    late = gather->wait_for_others(gemm.deadline_s);
    const std::chrono::duration<double, std::nano> exchanged = Clock::now() - start;
    clock.exchange_ns = exchanged.count();
    if (late.empty()) {
      Trouble trouble = wait_or_leave(block, gemm.deadline_s, "the kernel");
      if (trouble) return trouble;
      // Others may still read this rank's shards.
      late = gather->wait(gemm.deadline_s);
    }
  } catch (...) {
    static_cast<void>(block.release());
    throw;
  }
  if (late.empty()) return {};
  gather.reset();
  static_cast<void>(wait_for_stream(begun.stream.get(), gemm.deadline_s));
  static_cast<void>(block.release());
  return late_shard(std::move(late));
}

Trouble exchange_digests(const Gemm& gemm, RunResult& result) {
  if (gemm.transport == nullptr || gemm.everybody.empty()) return {};
  const std::vector<std::uint64_t> mine = told_digests(gemm, result.bytes);
  std::vector<std::byte> row(mine.size() * sizeof(std::uint64_t));
  std::memcpy(row.data(), mine.data(), row.size());
  std::vector<std::byte> all;
  std::string late =
      gather_rows(*gemm.transport, kPanelDigests, "digests", gemm.rank,
                  static_cast<std::uint32_t>(gemm.everybody.size()), row, gemm.deadline_s, all);
  result.digests.resize(all.size() / sizeof(std::uint64_t));
  std::memcpy(result.digests.data(), all.data(), all.size());
  return late_shard(std::move(late));
}

Trouble kernel_trouble(const ResidentGemm& block) {
  std::uint32_t word = 0;
  cuda_check(cudaMemcpyAsync(&word, block.words.data(), sizeof(word), cudaMemcpyDeviceToHost,
                             block.stream.get()),
             "read the time-out word");
  cuda_check(cudaStreamSynchronize(block.stream.get()), "read the time-out word");
  if (word == 0) return {};
  const TimedOutWait wait = timed_out_wait(word);
  return {
      .fault = DeviceFault::timeout,
      .code = 0,
      .note = fmt::format(
          "in block {} of the kernel a {} waited longer than it may", wait.block,
          wait.rows       ? "producer for rows of other ranks"
          : wait.producer ? "producer for a free stage"
                          : "consumer for the bytes of a stage or the sums of another cluster")};
}

// Large blocks of C go through page-locked memory into huge pages, small ones straight.

namespace {

constexpr std::uint64_t kLarge = std::uint64_t{8} << 20;  // worth page-locking memory first
constexpr std::uint64_t kHalf = std::uint64_t{2} << 20;   // small enough for a core's cache

/// Rows as they lie on the GPU.
struct DeviceRows {
  const std::byte* first = nullptr;
  std::uint64_t count = 0, bytes = 0, pitch = 0;  // of a row; from one row to the next
};

void start_copy(const DeviceRows& rows, void* to, cudaStream_t stream) {
  cuda_check(cudaMemcpy2DAsync(to, rows.bytes, rows.first, rows.pitch, rows.bytes, rows.count,
                               cudaMemcpyDeviceToHost, stream),
             "read rows of C back");
}

/// Asks for pages of 2 MiB where the capacity of `bytes` lies: mapping it by 4 KiB takes longer
/// than filling it. A kernel that has none goes on with small ones.
void want_huge_pages(std::vector<std::uint8_t>& bytes) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (begin + bytes.capacity()) / kPage * kPage;
  if (first < last)
    static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
}

void read_large(const DeviceRows& rows, std::vector<std::uint8_t>& to, cudaStream_t stream) {
  const PinnedBuffer pinned(2 * kHalf);
  const std::array<Event, 2> arrived;
  const std::array<std::span<const std::byte>, 2> halves = {
      std::span(pinned.data(), kHalf), std::span(pinned.data() + kHalf, kHalf)};
  to.clear();
  to.reserve(rows.count * rows.bytes);
  want_huge_pages(to);
  append_rows(
      rows.count, rows.bytes, halves,
      [&](std::size_t half, std::uint64_t first, std::uint64_t count) {
        DeviceRows part = rows;
        part.first += first * rows.pitch;
        part.count = count;
        start_copy(part, pinned.data() + half * kHalf, stream);
        cuda_check(cudaEventRecord(arrived[half].get(), stream), "read rows of C back");
      },
      [&](std::size_t half) {
        cuda_check(cudaEventSynchronize(arrived[half].get()), "read rows of C back");
      },
      to);
}

}  // namespace

void read_back(const Gemm& gemm, const ResidentGemm& block, RunResult& result) {
  const cudaStream_t stream = block.stream.get();
  const std::uint64_t element = c_element_bytes(gemm.output);
  const DeviceRows c = {.first = block.local.c,
                        .count = block.local.m,
                        .bytes = block.local.n * element,
                        .pitch = block.local.ldc * element};
  DeviceRows padding = c;
  padding.first += c.bytes;
  padding.bytes = c.pitch - c.bytes;
  if (padding.bytes == 0) padding.count = 0;
  result.surroundings.resize(2 * kGuardBytes + padding.count * padding.bytes);
  // No kernel is left that could hang: copies of a healthy GPU end.
  if (c.count * c.bytes >= kLarge && c.bytes <= kHalf) {
    read_large(c, result.bytes, stream);
  } else {
    result.bytes.resize(c.count * c.bytes);
    if (!result.bytes.empty()) start_copy(c, result.bytes.data(), stream);
  }
  if (padding.count != 0) start_copy(padding, result.surroundings.data() + 2 * kGuardBytes, stream);
  cuda_check(cudaMemcpyAsync(result.surroundings.data(), block.c.data(), kGuardBytes,
                             cudaMemcpyDeviceToHost, stream),
             "read the guard before C");
  cuda_check(
      cudaMemcpyAsync(result.surroundings.data() + kGuardBytes, block.local.c + block.c_bytes(),
                      kGuardBytes, cudaMemcpyDeviceToHost, stream),
      "read the guard behind C");
  cuda_check(cudaStreamSynchronize(stream), "read C back");
}

}  // namespace tidemark
