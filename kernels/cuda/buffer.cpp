// Taking and giving back what the CUDA runtime owns. The destructors drop error codes: after a
// sticky error every call fails, and the process is about to end anyway.
#include "kernels/cuda/buffer.hpp"

#include <string>

#include "kernels/cuda/check.hpp"

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

}  // namespace tidemark
