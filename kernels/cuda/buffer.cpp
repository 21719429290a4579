// Taking and giving back what the CUDA runtime owns. The destructors drop error codes: after a
// sticky error every call fails, and the process is about to end anyway.
#include "kernels/cuda/buffer.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/error.hpp"

namespace tidemark {

std::byte* DeviceMemory::take(std::size_t bytes) {
  void* memory = nullptr;
  const std::string what = "allocate " + std::to_string(bytes) + " bytes on the GPU";
  cuda_check(cudaMalloc(&memory, bytes), what.c_str());
  return static_cast<std::byte*>(memory);
}

void DeviceMemory::give_back(std::byte* data) { (void)cudaFree(data); }

std::byte* PoolMemory::take(std::size_t bytes) {
  void* memory = nullptr;
  const std::string what = "allocate " + std::to_string(bytes) + " bytes from the GPU's pool";
  cuda_check(cudaMallocAsync(&memory, bytes, nullptr), what.c_str());
  // Until the allocation has passed on its stream, no other stream may touch it.
  cuda_check(cudaStreamSynchronize(nullptr), "wait for memory from the GPU's pool");
  return static_cast<std::byte*>(memory);
}

void PoolMemory::give_back(std::byte* data) { (void)cudaFreeAsync(data, nullptr); }

std::byte* PinnedMemory::take(std::size_t bytes) {
  void* memory = nullptr;
  const std::string what = "allocate " + std::to_string(bytes) + " bytes of pinned host memory";
  cuda_check(cudaMallocHost(&memory, bytes), what.c_str());
  return static_cast<std::byte*>(memory);
}

void PinnedMemory::give_back(std::byte* data) { (void)cudaFreeHost(data); }

Stream::Stream(Priority priority) {
  int lowest = 0;
  int highest = 0;
  if (priority == Priority::high)
    cuda_check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "ask for stream priorities");
  cuda_check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest),
             "create a stream");
}

Stream::~Stream() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

Event::Event(Kind kind) {
  const unsigned flags = kind == Kind::timing ? cudaEventDefault : cudaEventDisableTiming;
  cuda_check(cudaEventCreateWithFlags(&event_, flags), "create an event");
}

Event::~Event() {
  if (event_ != nullptr) (void)cudaEventDestroy(event_);
}

// CUDA Driver API, stream memory operations.

namespace {

struct StreamWords {
  decltype(&cuStreamWriteValue32) write = nullptr;
  decltype(&cuStreamWaitValue32) wait = nullptr;

  static const StreamWords& get() {
    static const StreamWords words = {.write = reinterpret_cast<decltype(&cuStreamWriteValue32)>(
                                          driver_entry("cuStreamWriteValue32", 12000)),
                                      .wait = reinterpret_cast<decltype(&cuStreamWaitValue32)>(
                                          driver_entry("cuStreamWaitValue32", 12000))};
    return words;
  }
};

void stream_check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  throw Error(fmt::format("{}: CUDA driver error {}", what, static_cast<int>(code)));
}

}  // namespace

void require_stream_words() { static_cast<void>(StreamWords::get()); }

void write_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value) {
  // The default flag orders all earlier work of the stream before the word, for the whole system:
  // without it a reader could see the word before the bytes.
  stream_check(StreamWords::get().write(stream, reinterpret_cast<CUdeviceptr>(word), value,
                                        CU_STREAM_WRITE_VALUE_DEFAULT),
               "write a word in order of a stream");
}

void wait_for_word(cudaStream_t stream, std::uint32_t* word, std::uint32_t value) {
  stream_check(StreamWords::get().wait(stream, reinterpret_cast<CUdeviceptr>(word), value,
                                       CU_STREAM_WAIT_VALUE_GEQ),
               "wait for a word in order of a stream");
}

std::uint32_t stream_queues() {
  int device = 0;
  int mps = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&mps, cudaDevAttrMpsEnabled, device), "ask for MPS");
  return mps != 0 ? 1 : queues_by_environment();
}

std::uint32_t queues_by_environment() {
  const auto given = [](const char* name) -> std::string_view {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const std::string_view blocking = given("CUDA_LAUNCH_BLOCKING");
  if ((!blocking.empty() && blocking != "0") || !given("CUDA_INJECTION64_PATH").empty()) return 1;
  const std::string_view connections = given("CUDA_DEVICE_MAX_CONNECTIONS");
  return connections.empty()
             ? kEnoughQueues
             : static_cast<std::uint32_t>(std::strtoul(connections.data(), nullptr, 10));
}

}  // namespace tidemark
