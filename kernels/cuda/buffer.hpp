// Owners of what the CUDA runtime hands out: memory, streams, events. All move-only.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tidemark {

/// Device memory on the current device, aligned to at least 256 bytes (CUDA C Programming Guide,
/// "Device Memory Accesses").
struct DeviceMemory {
  static std::byte* take(std::size_t bytes);
  static void give_back(std::byte* data);
};

/// Device memory from the current device's default pool (cudaMallocAsync): usable on any stream as
/// soon as it is made.
struct PoolMemory {
  static std::byte* take(std::size_t bytes);
  static void give_back(std::byte* data);
};

/// Page-locked host memory: asynchronous copies need it.
struct PinnedMemory {
  static std::byte* take(std::size_t bytes);
  static void give_back(std::byte* data);
};

/// Owns `size()` bytes of `Memory`. Throws Error when there is not enough; 0 bytes are allowed, and
/// data() is then null.
template <class Memory>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes)
      : data_(bytes == 0 ? nullptr : Memory::take(bytes)), size_(bytes) {}
  ~Buffer() {
    if (data_ != nullptr) Memory::give_back(data_);
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

using DeviceBuffer = Buffer<DeviceMemory>;
using PoolBuffer = Buffer<PoolMemory>;
using PinnedBuffer = Buffer<PinnedMemory>;

/// Makes `buffer` (any of the above, or a MappedBuffer) hold at least `bytes`; what was in it is
/// lost when it grows. Nothing in flight may use it.
template <class AnyBuffer>
void grow(AnyBuffer& buffer, std::size_t bytes) {
  if (buffer.size() >= bytes) return;
  buffer = AnyBuffer();  // give the old memory back before asking for more
  // Half as much again: a case whose rows get slowly larger allocates a few times, not every row.
  buffer = AnyBuffer(bytes + bytes / 2);
}

/// A stream that does not synchronise with the legacy default stream.
class Stream {
 public:
  enum class Priority : bool { usual, high };

  explicit Stream(Priority priority = Priority::usual);
  ~Stream();
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event. Without timing it is cheaper to record and to query.
class Event {
 public:
  enum class Kind : bool { no_timing, timing };

  explicit Event(Kind kind = Kind::no_timing);
  ~Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Words of device memory that streams write and wait for, without an SM.

/// Looks the functions of the driver up. Throws Error where it has none.
void require_stream_words();

/// Written when all before it on the stream, and what events there wait for, is done and visible to
/// the whole system: who sees the word may read the bytes.
void write_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value);

/// Until the word is `value` or beyond it, as counters go round.
void wait_for_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value);

/// Queues by which streams of the current GPU reach it, of which one is the product's: CUDA C++
/// Programming Guide, CUDA_DEVICE_MAX_CONNECTIONS. Counted as 1 under MPS, which need not give as
/// many as are asked for.
std::uint32_t stream_queues();

/// The same without a look at MPS. 1 where a launch may return only when its kernel has ended:
/// CUDA_LAUNCH_BLOCKING, and profilers, which come by CUDA_INJECTION64_PATH.
std::uint32_t queues_by_environment();

/// With fewer, what a product waits for may stand behind it, whatever the priority of its stream:
/// groups of NCCL, and words behind events. With 1 it does; 2 to 7 were not tried.
inline constexpr std::uint32_t kEnoughQueues = 8;
/// What a worker asks for: a dozen streams of transports and NCCL have one each. With fewer, a
/// stream that is held until ranks have met may stand before one that they meet by.
inline constexpr std::uint32_t kQueuesToHold = 32;

}  // namespace tidemark
