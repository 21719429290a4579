// CUDA Driver API, stream memory operations.
#include "kernels/cuda/transport/stream_words.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/error.hpp"

namespace tidemark {
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
