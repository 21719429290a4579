// CUDA Driver API, stream memory operations.
#include "kernels/cuda/transport/stream_words.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <cstdlib>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/driver_entry.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
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
  if (mps != 0) return 1;
  const char* const given = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  return given == nullptr ? kEnoughQueues
                          : static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10));
}

}  // namespace tidemark::kernels
